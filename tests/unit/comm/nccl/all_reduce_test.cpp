// SPDX-License-Identifier: Apache-2.0
#include <rhino/comm/nccl/all_reduce.hpp>

#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include <rhino/base/error.hpp>
#include <rhino/base/process_context.hpp>
#include <rhino/device/cuda_arena.hpp>

namespace rhino::comm::nccl {
namespace {

UniqueId shared_id() {
  UniqueId id{};
  if (process_context().rank == 0) id = make_unique_id();
  MPI_Bcast(id.data(), static_cast<int>(id.size()), MPI_BYTE, 0, MPI_COMM_WORLD);
  return id;
}

TEST(NcclAllReduce, SumsOverRanks) {
  const auto [rank, ranks] = process_context();
  if (device::cuda_device_count() < ranks) GTEST_SKIP() << "fewer CUDA devices than ranks";
  const auto arena = device::make_cuda_arena(400);
  std::vector<float> values(100, static_cast<float>(rank + 1));
  device::copy_to_device(arena->data(), values.data(), 400);
  Group group(shared_id(), rank, ranks);
  group.all_reduce(arena->data(), arena->data(), 100, ir::DType::F32, ir::ReducerKind::Add);
  device::copy_to_host(values.data(), arena->data(), 400);
  for (const float value : values) EXPECT_EQ(value, static_cast<float>(ranks * (ranks + 1) / 2));
  EXPECT_THROW(group.all_reduce(arena->data(), arena->data(), 1, ir::DType::F32, ir::ReducerKind::Xor), InputError);
}

TEST(NcclAllReduce, SaysWhatFailedWhereThereIsNoDevice) {
  if (device::cuda_device_count() > 0) GTEST_SKIP() << "there is a CUDA device";
  EXPECT_THROW(Group(shared_id(), process_context().rank, process_context().ranks), EnvironmentError);
}

}  // namespace
}  // namespace rhino::comm::nccl
