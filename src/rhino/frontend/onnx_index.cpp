// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <rhino/frontend/onnx_context.hpp>

namespace rhino::frontend::onnx {
namespace {

/// Indices that count from the end made such that count from the start.
Tensor from_start(Context& c, std::size_t input, std::int64_t size) {
  const Tensor indices = c.in(input);
  if (ir::is_unsigned_int(indices.dtype())) return indices;
  if (const auto known = c.known(input)) {
    bool negative = false;
    const std::int64_t stored = known->is_splat() ? 1 : known->type().elements();
    for (std::int64_t i = 0; i < stored; ++i) {
      const std::int64_t index = known->element_as_int(i);
      if (index < -size || index >= size) c.fail(fmt::format("index {} is outside of {} elements", index, size));
      negative = negative || index < 0;
    }
    if (!negative) return indices;
  }
  const Tensor wrapped = indices + c.g.scalar_int(indices.dtype(), size);
  return c.g.select(c.g.less(indices, c.g.scalar_int(indices.dtype(), 0)), wrapped, indices);
}

void gather(Context& c) {
  const Tensor x = c.in(0);
  const int axis = c.dimension(c.integer("axis", 0), x.rank());
  const std::int64_t size = x.dim(axis);
  const auto known = c.known(1);
  if (known && known->type().rank() == 0) {
    std::int64_t index = known->element_as_int(0);
    if (index < -size || index >= size) c.fail(fmt::format("index {} is outside of {} elements", index, size));
    if (index < 0) index += size;
    Dims dims = x.dims();
    dims.erase(dims.begin() + axis);
    return c.out(c.g.reshape(c.g.slice(x, axis, index, index + 1), std::move(dims)));
  }
  const Tensor indices = from_start(c, 1, size);
  ir::GatherAttrs attrs;
  for (int i = 0; i < x.rank() - 1; ++i)
    attrs.offset_dims.push_back(i < axis ? i : i + indices.rank());
  attrs.collapsed_slice_dims = {axis};
  attrs.start_index_map = {axis};
  attrs.index_vector_dim = indices.rank();
  attrs.slice_sizes = x.dims();
  attrs.slice_sizes[static_cast<std::size_t>(axis)] = 1;
  c.out(c.g.add(OpKind::Gather, {x, indices}, std::move(attrs)));
}

/// x[.., i, ..] for an i at every place of the result: all other dimensions are batches.
void gather_elements(Context& c) {
  const Tensor x = c.in(0);
  const int axis = c.dimension(c.integer("axis", 0), x.rank());
  const Tensor indices = from_start(c, 1, x.dim(axis));
  if (indices.rank() != x.rank()) c.fail("its operands are of different ranks");
  ir::GatherAttrs attrs;
  for (int i = 0; i < x.rank(); ++i) {
    attrs.slice_sizes.push_back(1);
    if (i == axis) continue;
    if (indices.dim(i) != x.dim(i)) c.unsupported("indices of another shape than the data");
    attrs.operand_batching_dims.push_back(i);
    attrs.start_indices_batching_dims.push_back(i);
  }
  attrs.collapsed_slice_dims = {axis};
  attrs.start_index_map = {axis};
  attrs.index_vector_dim = indices.rank();
  c.out(c.g.add(OpKind::Gather, {x, indices}, std::move(attrs)));
}

void one_hot(Context& c) {
  const auto depth = static_cast<std::int64_t>(c.number(1, "depth"));
  if (depth < 1) c.fail(fmt::format("its depth is {}", depth));
  const Tensor indices = from_start(c, 0, depth), values = c.in(2);
  if (values.rank() != 1 || values.dim(0) != 2) c.fail("its values are not two");
  Dims wide = indices.dims();
  wide.push_back(depth);
  c.check_dims(wide);
  const Tensor hot = c.g.one_hot(indices, depth, DType::I1);
  const auto value = [&](std::int64_t which) { return c.g.reshape(c.g.slice(values, 0, which, which + 1), {}); };
  const Tensor result = c.g.select(hot, value(1), value(0));
  const int axis = c.dimension(c.integer("axis", -1), result.rank());
  std::vector<int> permutation;
  for (int i = 0; i < indices.rank(); ++i)
    permutation.push_back(i);
  permutation.insert(permutation.begin() + axis, indices.rank());
  c.out(c.g.transpose(result, std::move(permutation)));
}

void cumulative_sum(Context& c) {
  const Tensor x = c.in(0);
  const int axis = c.dimension(static_cast<std::int64_t>(c.number(1, "axis")), x.rank());
  const bool reversed = c.integer("reverse", 0) != 0;
  const auto turned = [&](const Tensor& y) {
    return reversed ? c.g.add(OpKind::Reverse, {y}, ir::DimensionsAttrs{{axis}}) : y;
  };
  const Tensor sum = turned(c.g.cumulative_sum(turned(x), axis));
  c.out(c.integer("exclusive", 0) != 0 ? sum - x : sum);
}

}  // namespace

void add_index_converters(ConverterTable& table) {
  table.insert({
      {"CumSum", cumulative_sum},
      {"Gather", gather},
      {"GatherElements", gather_elements},
      {"OneHot", one_hot},
  });
}

}  // namespace rhino::frontend::onnx
