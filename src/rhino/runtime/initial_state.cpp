// SPDX-License-Identifier: Apache-2.0
#include <rhino/runtime/initial_state.hpp>

#include <cstring>

#include <rhino/base/error.hpp>
#include <rhino/io/elements.hpp>

namespace rhino::runtime {

namespace {

/// Row-major product of the lists, taken from a whole tensor; -1 gives zeros.
std::vector<std::byte> gather(const ir::Literal& literal, const std::vector<std::vector<std::int64_t>>& indices) {
  const std::size_t width = ir::dtype_bytes(literal.type().dtype);
  const auto stored = literal.stored_bytes();
  const ir::Dims strides = ir::row_major_strides(literal.type().dims);
  std::size_t count = 1;
  for (const auto& list : indices) count *= list.size();
  std::vector<std::byte> out(count * width, std::byte{0});
  std::vector<std::size_t> at(indices.size(), 0);
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t element = 0;
    bool padding = false;
    for (std::size_t d = 0; d < indices.size(); ++d) {
      padding = padding || indices[d][at[d]] < 0;
      element += indices[d][at[d]] * strides[d];
    }
    if (!padding) {
      const std::size_t source = literal.is_splat() ? 0 : static_cast<std::size_t>(element) * width;
      std::memcpy(out.data() + i * width, stored.data() + source, width);
    }
    for (std::size_t d = indices.size(); d-- > 0;) {
      if (++at[d] < indices[d].size()) break;
      at[d] = 0;
    }
  }
  return out;
}

}  // namespace

std::vector<std::vector<std::int64_t>> local_indices(const shard::Layout& layout, const shard::MeshShape& mesh,
                                                     std::int64_t device) {
  std::vector<std::vector<std::int64_t>> indices;
  for (const shard::DimLayout& dim : layout.dims) {
    std::vector<std::int64_t> list(static_cast<std::size_t>(shard::local_size(dim, mesh)));
    for (std::size_t i = 0; i < list.size(); ++i) {
      list[i] = shard::global_index(dim, mesh, device, static_cast<std::int64_t>(i));
    }
    indices.push_back(std::move(list));
  }
  return indices;
}

void load_initial_state(Executor& executor, const io::Model& model) {
  const lower::RankProgram& program = executor.program();
  for (const lower::StateSlot& slot : program.state) {
    const std::string& path = model.signature.params[slot.param].path;
    const auto found = model.state.find(path);
    RHINO_CHECK(found != model.state.end(), "the model has no initial value for {}", path);
    const ir::TensorType& local = program.buffers[slot.current.index()].type;
    const std::span<std::byte> out(executor.address(slot.current), static_cast<std::size_t>(local.bytes()));
    const auto indices = local_indices(slot.layout, program.mesh, program.rank);
    if (const auto* recipe = std::get_if<io::InitRecipe>(&found->second)) {
      const ir::Function& entry = model.program.entry();
      io::evaluate_recipe(*recipe, entry.type(entry.params[slot.param]), indices, out);
      continue;
    }
    const auto& literal = std::get<ir::Literal>(found->second);
    RHINO_CHECK(literal.type().rank() == local.rank(), "the initial value of {} has rank {}, the program wants {}", path,
                literal.type().rank(), local.rank());
    io::convert_elements(literal.type().dtype, gather(literal, indices), local.dtype, out);
  }
}

}  // namespace rhino::runtime
