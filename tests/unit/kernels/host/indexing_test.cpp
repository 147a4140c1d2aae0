// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "backend_pair.hpp"

namespace rhino::kernels::host::test {
namespace {

using ir::DType;
using ir::OpKind;

/// Dimension numbers of a random gather (and of the scatter that is its mirror image).
struct Indexing {
  ir::TensorType large, indices, moving;
  ir::GatherAttrs attrs;
};

Indexing random_indexing(Randomness& random, DType dtype, DType index_dtype) {
  Indexing x;
  const int rank = static_cast<int>(random.integer(1, 4));
  x.large.dtype = x.moving.dtype = dtype;
  x.indices.dtype = index_dtype;
  std::vector<bool> kept(static_cast<std::size_t>(rank), false);
  for (int d = 0; d < rank; ++d) {
    x.large.dims.push_back(random.integer(1, 7));
    const auto i = static_cast<std::size_t>(d);
    const std::int64_t form = random.integer(0, 3);
    if (form == 0 && x.attrs.operand_batching_dims.size() < 2) {
      x.attrs.operand_batching_dims.push_back(d);
      x.attrs.slice_sizes.push_back(1);
    } else if (form == 1) {
      x.attrs.collapsed_slice_dims.push_back(d);
      x.attrs.slice_sizes.push_back(1);
    } else {
      kept[i] = true;
      x.attrs.slice_sizes.push_back(random.chance(0.5) ? x.large.dims[i] : random.integer(1, x.large.dims[i]));
    }
    if (form != 0 && random.chance(0.6)) x.attrs.start_index_map.push_back(d);
  }
  if (x.attrs.start_index_map.size() > 1 && random.chance(0.3)) std::swap(x.attrs.start_index_map[0], x.attrs.start_index_map[1]);
  // Index tensor: batching dimensions first, then free ones, the vector dimension last or left out.
  for (int d : x.attrs.operand_batching_dims) {
    x.attrs.start_indices_batching_dims.push_back(static_cast<int>(x.indices.dims.size()));
    x.indices.dims.push_back(x.large.dims[static_cast<std::size_t>(d)]);
  }
  for (std::int64_t free = random.integer(0, 2); free > 0; --free) x.indices.dims.push_back(random.integer(1, 5));
  const std::size_t batch_dims = x.indices.dims.size();
  x.attrs.index_vector_dim = static_cast<int>(batch_dims);
  if (x.attrs.start_index_map.size() != 1 || random.chance(0.5)) {
    x.indices.dims.push_back(static_cast<std::int64_t>(x.attrs.start_index_map.size()));
  }
  // Moving tensor: window dimensions among the batch dimensions.
  std::size_t batch = 0;
  int window = 0;
  while (window < rank || batch < batch_dims) {
    if (window < rank && !kept[static_cast<std::size_t>(window)]) {
      ++window;
    } else if (batch < batch_dims && (window == rank || random.chance(0.6))) {
      x.moving.dims.push_back(x.indices.dims[batch++]);
    } else {
      x.attrs.offset_dims.push_back(static_cast<int>(x.moving.dims.size()));
      x.moving.dims.push_back(x.attrs.slice_sizes[static_cast<std::size_t>(window++)]);
    }
  }
  return x;
}

Tensor random_indices(Randomness& random, const ir::TensorType& type) {
  Tensor indices(type);
  for (std::size_t i = 0; i < static_cast<std::size_t>(type.elements()); ++i) {
    const std::int64_t value = random.integer(-2, 8);  // some lie outside
    if (type.dtype == DType::I32) indices.as<std::int32_t>()[i] = static_cast<std::int32_t>(value);
    else if (type.dtype == DType::I64) indices.as<std::int64_t>()[i] = value;
    else indices.as<std::uint32_t>()[i] = static_cast<std::uint32_t>(value < 0 ? 0 : value);
  }
  return indices;
}

TEST(Gather, RandomDimensionsEqualReference) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Randomness random(seed);
    const DType dtype = random.one_of(std::vector<DType>{DType::F32, DType::F64, DType::BF16, DType::I32, DType::I1});
    const Indexing x = random_indexing(random, dtype, random.one_of(std::vector<DType>{DType::I32, DType::I64, DType::U32}));
    ir::Program program;
    program.main = program.add_function("main");
    ir::Builder builder(program, program.main);
    const ir::ValueId large = builder.param(x.large), indices = builder.param(x.indices);
    builder.set_results({builder.add(OpKind::Gather, {large, indices}, x.attrs)});
    ASSERT_TRUE(has_own_kernel(program));
    ASSERT_EQ(compare_ops(program, {random.tensor(x.large), random_indices(random, x.indices)}, {}), "") << "seed " << seed;
  }
}

TEST(Scatter, RandomDimensionsEqualReference) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Randomness random(seed);
    const DType dtype = random.one_of(std::vector<DType>{DType::F32, DType::F64, DType::I32});
    const Indexing x = random_indexing(random, dtype, random.one_of(std::vector<DType>{DType::I32, DType::I64, DType::U32}));
    ir::ScatterAttrs attrs;
    attrs.update_window_dims = x.attrs.offset_dims;
    attrs.inserted_window_dims = x.attrs.collapsed_slice_dims;
    attrs.input_batching_dims = x.attrs.operand_batching_dims;
    attrs.scatter_indices_batching_dims = x.attrs.start_indices_batching_dims;
    attrs.scatter_dims_to_operand_dims = x.attrs.start_index_map;
    attrs.index_vector_dim = x.attrs.index_vector_dim;
    ir::Program program;
    program.main = program.add_function("main");
    ir::FunctionId region;
    const std::int64_t form = random.integer(0, 3);
    if (form == 0) {
      region = program.add_function("second");
      ir::Function& second = program.function(region);
      second.add_param({dtype, {}});
      second.results = {second.add_param({dtype, {}})};
    } else {
      region = ir::make_reducer(program, form == 1 ? ir::ReducerKind::Maximum : ir::ReducerKind::Add, dtype);
    }
    ir::Builder builder(program, program.main);
    const ir::ValueId large = builder.param(x.large), indices = builder.param(x.indices), updates = builder.param(x.moving);
    builder.set_results({builder.add(OpKind::Scatter, {large, indices, updates}, attrs, {region})});
    if (form != 0) {
      ASSERT_TRUE(has_own_kernel(program));
    }
    ASSERT_EQ(compare_ops(program,
                          {random.tensor(x.large, 0.5, 1.5), random_indices(random, x.indices), random.tensor(x.moving, 0.5, 1.5)},
                          few_units(dtype, 20)),
              "")
        << "seed " << seed;
  }
}

TEST(DynamicSlice, StartsAreClamped) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Randomness random(seed);
    const ir::TensorType large{DType::F32, {random.integer(1, 6), random.integer(1, 6), random.integer(1, 20)}};
    ir::TensorType part = large;
    for (auto& size : part.dims) size = random.integer(1, size);
    ir::Program program;
    program.main = program.add_function("main");
    ir::Builder builder(program, program.main);
    const ir::ValueId x = builder.param(large), update = builder.param(part);
    std::vector<ir::ValueId> starts;
    std::vector<Tensor> arguments{random.tensor(large), random.tensor(part)};
    for (int d = 0; d < 3; ++d) {
      starts.push_back(builder.param({DType::I32, {}}));
      arguments.push_back(random_indices(random, {DType::I32, {}}));
    }
    const ir::ValueId slice = builder.dynamic_slice(x, starts, part.dims);
    std::vector<ir::ValueId> operands{x, update};
    operands.insert(operands.end(), starts.begin(), starts.end());
    builder.set_results({slice, builder.add(OpKind::DynamicUpdateSlice, operands)});
    ASSERT_TRUE(has_own_kernel(program));
    ASSERT_EQ(compare_ops(program, arguments, {}), "") << seed;
  }
}

}  // namespace
}  // namespace rhino::kernels::host::test
