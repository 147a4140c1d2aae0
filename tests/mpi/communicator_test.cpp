// SPDX-License-Identifier: Apache-2.0
// Every collective of the MPI communicator against what it should give, for groups of all sizes and shapes.
#include <rhino/comm/communicator.hpp>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/base/half.hpp>
#include <rhino/comm/mpi/environment.hpp>

namespace rhino::comm {
namespace {

class MpiCommunicator : public testing::Test {
 protected:
  std::unique_ptr<Communicator> comm_ = mpi::make_communicator(60);
  std::int64_t rank_ = comm_->rank();
  std::int64_t size_ = comm_->size();

  std::vector<std::int64_t> everyone() const {
    std::vector<std::int64_t> all(static_cast<std::size_t>(size_));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  /// Even ranks and odd ranks, members in descending order.
  std::vector<std::int64_t> every_other() const {
    std::vector<std::int64_t> members;
    for (std::int64_t r = size_ - 1; r >= 0; --r) {
      if (r % 2 == rank_ % 2) members.push_back(r);
    }
    return members;
  }
};

TEST_F(MpiCommunicator, AllReduceAddsOverAGroup) {
  for (const auto& members : {everyone(), every_other()}) {
    const GroupHandle group = comm_->make_group(members);
    std::vector<double> send{1.0 + static_cast<double>(rank_), 10.0};
    std::vector<double> receive(2, -1);
    comm_->wait(comm_->all_reduce(group, send.data(), receive.data(), 2, ir::DType::F64, ir::ReducerKind::Add), "test");
    double sum = 0;
    for (std::int64_t r : members) sum += 1.0 + static_cast<double>(r);
    EXPECT_EQ(receive[0], sum);
    EXPECT_EQ(receive[1], 10.0 * static_cast<double>(members.size()));
    EXPECT_EQ(send[1], 10.0);
    comm_->wait(comm_->all_reduce(group, send.data(), send.data(), 2, ir::DType::F64, ir::ReducerKind::Add), "test");
    EXPECT_EQ(send, receive);  // in place
  }
}

TEST_F(MpiCommunicator, AllReduceOfSixteenBitFloatsRoundsAsFloatsDo) {
  const GroupHandle group = comm_->make_group(everyone());
  std::vector<std::uint16_t> half{float_to_half(1.5f), float_to_half(static_cast<float>(rank_))};
  comm_->wait(comm_->all_reduce(group, half.data(), half.data(), 2, ir::DType::F16, ir::ReducerKind::Add), "test");
  EXPECT_EQ(half_to_float(half[0]), 1.5f * static_cast<float>(size_));
  EXPECT_EQ(half_to_float(half[1]), static_cast<float>(size_ * (size_ - 1) / 2));
  std::vector<std::uint16_t> brain{float_to_bfloat16(static_cast<float>(rank_) - 2.0f)};
  comm_->wait(comm_->all_reduce(group, brain.data(), brain.data(), 1, ir::DType::BF16, ir::ReducerKind::Maximum), "test");
  EXPECT_EQ(bfloat16_to_float(brain[0]), static_cast<float>(size_) - 3.0f);
}

TEST_F(MpiCommunicator, BooleansReduceAsBooleans) {
  const GroupHandle group = comm_->make_group(everyone());
  std::vector<std::uint8_t> flags{static_cast<std::uint8_t>(rank_ == 0), 1};
  auto any = flags;
  comm_->wait(comm_->all_reduce(group, flags.data(), any.data(), 2, ir::DType::I1, ir::ReducerKind::Or), "test");
  EXPECT_EQ(any, (std::vector<std::uint8_t>{1, 1}));
  auto all = flags;
  comm_->wait(comm_->all_reduce(group, flags.data(), all.data(), 2, ir::DType::I1, ir::ReducerKind::And), "test");
  EXPECT_EQ(all, (std::vector<std::uint8_t>{static_cast<std::uint8_t>(size_ == 1), 1}));
}

TEST_F(MpiCommunicator, AReductionThatATypeDoesNotHaveIsAnError) {
  const GroupHandle group = comm_->make_group(everyone());
  double x = 1;
  EXPECT_THROW(comm_->all_reduce(group, &x, &x, 1, ir::DType::F64, ir::ReducerKind::Xor), InputError);
}

TEST_F(MpiCommunicator, AllGatherKeepsMemberOrder) {
  const auto members = every_other();
  const GroupHandle group = comm_->make_group(members);
  const std::vector<std::int32_t> send{static_cast<std::int32_t>(rank_), static_cast<std::int32_t>(100 + rank_)};
  std::vector<std::int32_t> receive(2 * members.size());
  comm_->wait(comm_->all_gather(group, send.data(), receive.data(), 8), "test");
  for (std::size_t m = 0; m < members.size(); ++m) {
    EXPECT_EQ(receive[2 * m], members[m]);
    EXPECT_EQ(receive[2 * m + 1], 100 + members[m]);
  }
}

TEST_F(MpiCommunicator, ReduceScatterGivesEachItsBlock) {
  const auto members = everyone();
  const GroupHandle group = comm_->make_group(members);
  std::vector<float> send(3 * members.size());
  for (std::size_t i = 0; i < send.size(); ++i) send[i] = static_cast<float>(i);
  std::vector<float> receive(3);
  comm_->wait(comm_->reduce_scatter(group, send.data(), receive.data(), 3, ir::DType::F32, ir::ReducerKind::Add), "test");
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(receive[i], static_cast<float>(size_) * static_cast<float>(3 * rank_ + static_cast<std::int64_t>(i)));
  }
}

TEST_F(MpiCommunicator, AllToAllTransposesBlocks) {
  const GroupHandle group = comm_->make_group(everyone());
  std::vector<std::int64_t> send(static_cast<std::size_t>(size_));
  for (std::int64_t r = 0; r < size_; ++r) send[static_cast<std::size_t>(r)] = 100 * rank_ + r;
  std::vector<std::int64_t> receive(send.size());
  comm_->wait(comm_->all_to_all(group, send.data(), receive.data(), 8), "test");
  for (std::int64_t r = 0; r < size_; ++r) EXPECT_EQ(receive[static_cast<std::size_t>(r)], 100 * r + rank_);
}

TEST_F(MpiCommunicator, PermuteShiftsAndLeavesZeros) {
  const double mine = 7.0 + static_cast<double>(rank_);
  double got = -1;
  // A shift to the right without wrap-around: the first rank receives nothing.
  const std::int64_t target = rank_ + 1 < size_ ? rank_ + 1 : -1;
  comm_->wait(comm_->permute(target, rank_ - 1, &mine, &got, 8), "test");
  EXPECT_EQ(got, rank_ == 0 ? 0.0 : mine - 1.0);
  comm_->wait(comm_->permute(rank_, rank_, &mine, &got, 8), "test");
  EXPECT_EQ(got, mine);
}

TEST_F(MpiCommunicator, BroadcastFromAnyMember) {
  const GroupHandle group = comm_->make_group(everyone());
  for (std::int64_t root = 0; root < size_; ++root) {
    std::int32_t value = static_cast<std::int32_t>(rank_ == root ? 40 + root : -1);
    comm_->wait(comm_->broadcast(group, &value, 4, root), "test");
    EXPECT_EQ(value, 40 + root);
  }
}

TEST_F(MpiCommunicator, SeveralCollectivesInFlight) {
  const GroupHandle all = comm_->make_group(everyone());
  const GroupHandle half = comm_->make_group(every_other());
  std::vector<double> a(1000, 1.0);
  std::vector<double> b(1000, 2.0);
  const RequestHandle first = comm_->all_reduce(all, a.data(), a.data(), 1000, ir::DType::F64, ir::ReducerKind::Add);
  const RequestHandle second = comm_->all_reduce(half, b.data(), b.data(), 1000, ir::DType::F64, ir::ReducerKind::Add);
  for (int i = 0; i < 100; ++i) comm_->progress();
  comm_->wait(second, "test");
  comm_->wait(first, "test");
  EXPECT_EQ(a[999], static_cast<double>(size_));
  EXPECT_EQ(b[999], 2.0 * static_cast<double>(every_other().size()));
}

TEST_F(MpiCommunicator, EqualGroupsAreOne) {
  EXPECT_EQ(comm_->make_group(everyone()), comm_->make_group(everyone()));
}

TEST_F(MpiCommunicator, TheWatchdogNamesWhatItWaitedFor) {
  if (size_ == 1) GTEST_SKIP() << "nobody to wait for";
  const auto impatient = mpi::make_communicator(0.2);
  const GroupHandle group = impatient->make_group(everyone());
  double x = 1;
  if (rank_ == 0) {
    const RequestHandle request = impatient->all_reduce(group, &x, &x, 1, ir::DType::F64, ir::ReducerKind::Add);
    try {
      impatient->wait(request, "block7/attention/out");
      ADD_FAILURE() << "the wait ended";
    } catch (const EnvironmentError& error) {
      EXPECT_NE(std::string(error.what()).find("block7/attention/out"), std::string::npos) << error.what();
    }
    comm_->barrier();
    impatient->progress();  // the others join now: the request ends
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  } else {
    comm_->barrier();
    impatient->wait(impatient->all_reduce(group, &x, &x, 1, ir::DType::F64, ir::ReducerKind::Add), "test");
  }
  comm_->barrier();
}

}  // namespace
}  // namespace rhino::comm
