// SPDX-License-Identifier: Apache-2.0
#include <rhino/runtime/initial_state.hpp>

namespace rhino::runtime {

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

void load_initial_state(Executor& executor, const ir::Signature& signature, const io::ModelReader& values) {
  const lower::RankProgram& program = executor.program();
  for (const lower::StateSlot& slot : program.state) {
    const ir::TensorType& local = program.buffers[slot.current.index()].type;
    const std::span<std::byte> out(executor.address(slot.current), static_cast<std::size_t>(local.bytes()));
    values.read_state(signature.params[slot.param].path, local_indices(slot.layout, program.mesh, program.rank), local.dtype, out);
  }
}

}  // namespace rhino::runtime
