// SPDX-License-Identifier: Apache-2.0
// Random programs under random shardings, partitioned, lowered and run by as many ranks as the test has: every rank's part
// of every result must be what the interpreter gives for the whole program.
#include <cstring>

#include <gtest/gtest.h>

#include <rhino/comm/mpi/environment.hpp>
#include <rhino/ir/passes.hpp>
#include <rhino/runtime/backend.hpp>
#include <rhino/runtime/executor.hpp>
#include <rhino/runtime/initial_state.hpp>
#include <rhino/shard/partition.hpp>

#include "property/random_sharding.hpp"
#include "support/random_program.hpp"
#include "support/run_tasks.hpp"

namespace rhino::runtime {
namespace {

using kernels::reference::Tensor;

/// Fills a local buffer from a whole tensor, or a local tensor from a whole one; padding becomes zero.
Tensor local_part(const Tensor& whole, const shard::Layout& layout, const shard::MeshShape& mesh, std::int64_t rank) {
  const auto indices = local_indices(layout, mesh, rank);
  Tensor part({whole.type.dtype, shard::local_dims(layout, mesh)});
  const ir::Dims strides = ir::row_major_strides(whole.type.dims);
  const std::size_t width = ir::dtype_bytes(whole.type.dtype);
  std::vector<std::size_t> at(indices.size(), 0);
  for (std::int64_t i = 0; i < part.type.elements(); ++i) {
    std::int64_t element = 0;
    bool padding = false;
    for (std::size_t d = 0; d < at.size(); ++d) {
      padding = padding || indices[d][at[d]] < 0;
      element += indices[d][at[d]] * strides[d];
    }
    if (!padding) {
      std::memcpy(part.bytes.data() + static_cast<std::size_t>(i) * width,
                  whole.bytes.data() + static_cast<std::size_t>(element) * width, width);
    }
    for (std::size_t d = at.size(); d-- > 0;) {
      if (++at[d] < indices[d].size()) break;
      at[d] = 0;
    }
  }
  return part;
}

/// Padding may hold anything: zero it before a comparison.
void clear_padding(Tensor& part, const shard::Layout& layout, const shard::MeshShape& mesh, std::int64_t rank) {
  const auto indices = local_indices(layout, mesh, rank);
  const std::size_t width = ir::dtype_bytes(part.type.dtype);
  std::vector<std::size_t> at(indices.size(), 0);
  for (std::int64_t i = 0; i < part.type.elements(); ++i) {
    bool padding = false;
    for (std::size_t d = 0; d < at.size(); ++d) padding = padding || indices[d][at[d]] < 0;
    if (padding) std::memset(part.bytes.data() + static_cast<std::size_t>(i) * width, 0, width);
    for (std::size_t d = at.size(); d-- > 0;) {
      if (++at[d] < indices[d].size()) break;
      at[d] = 0;
    }
  }
}

shard::MeshShape mesh_of(std::int64_t ranks, test::Random& random) {
  if (ranks == 4 && random.chance(0.5)) return shard::MeshShape({{"x", 2}, {"y", 2}});
  return shard::MeshShape({{"x", ranks}});
}

void run_case(std::uint64_t seed, comm::Communicator& communicator, const kernels::Backend& backend) {
  test::Rng rng(seed);
  test::Random random(seed);
  ir::Program program = test::random_program(rng);
  const std::vector<ir::Literal> arguments = test::random_arguments(program, rng);
  ir::inline_calls(program);
  const shard::MeshShape mesh = mesh_of(communicator.size(), random);
  const shard::Sharding sharding = test::random_sharding(program, mesh, random);
  const shard::PartitionedProgram partitioned = shard::partition(program, sharding);

  lower::LowerOptions options = options_for(backend);
  options.bundle_bytes = random.pick(std::vector<std::int64_t>{0, 256, 1 << 20});
  options.overlap = random.chance(0.7);
  const lower::RankProgram tasks =
      lower::lower(partitioned, test::plain_signature(program.entry()), communicator.rank(), options);
  lower::verify(tasks);
  Executor executor(tasks, backend, communicator, device::make_host_arena(tasks.arena_bytes));

  std::vector<Tensor> tensors;
  for (const ir::Literal& argument : arguments) tensors.emplace_back(argument);
  const std::vector<Tensor> want = kernels::reference::run(program, program.main, tensors);
  for (const lower::BatchSlot& slot : tasks.batch) {
    const Tensor part = local_part(tensors[slot.param], slot.layout, mesh, tasks.rank);
    std::memcpy(executor.address(slot.buffer), part.bytes.data(), part.bytes.size());
  }
  executor.run_step();
  for (const lower::ResultSlot& slot : tasks.results) {
    const Tensor part = local_part(want[slot.result], slot.layout, mesh, tasks.rank);
    Tensor got(part.type);
    std::memcpy(got.bytes.data(), executor.address(slot.buffer), got.bytes.size());
    clear_padding(got, slot.layout, mesh, tasks.rank);
    test::expect_near(part, got.bytes.data(), "seed " + std::to_string(seed) + " result " + std::to_string(slot.result));
  }
}

TEST(PartitionedExecution, RandomProgramsUnderRandomShardings) {
  const auto communicator = comm::mpi::make_communicator(60);
  const auto backend = make_backend();
  for (std::uint64_t seed = 1; seed <= 150; ++seed) run_case(seed, *communicator, *backend);
}

}  // namespace
}  // namespace rhino::runtime
