// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <limits>
#include <map>
#include <thread>
#include <vector>

#include <rhino/comm/mpi/check.hpp>
#include <rhino/comm/mpi/environment.hpp>
#include <rhino/comm/mpi/reduce_ops.hpp>

namespace rhino::comm::mpi {

namespace {

/// A datatype of `bytes` bytes, so that counts stay small however large a block is.
class BlockType {
 public:
  explicit BlockType(std::int64_t bytes) {
    constexpr std::int64_t chunk = std::int64_t{1} << 20;
    if (bytes <= std::numeric_limits<int>::max()) {
      RHINO_MPI_CHECK(MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type_));
    } else {
      MPI_Datatype chunk_type = MPI_DATATYPE_NULL;
      RHINO_MPI_CHECK(MPI_Type_contiguous(static_cast<int>(chunk), MPI_BYTE, &chunk_type));
      const int lengths[2] = {static_cast<int>(bytes / chunk), static_cast<int>(bytes % chunk)};
      const MPI_Aint offsets[2] = {0, static_cast<MPI_Aint>(bytes / chunk * chunk)};
      const MPI_Datatype types[2] = {chunk_type, MPI_BYTE};
      RHINO_MPI_CHECK(MPI_Type_create_struct(2, lengths, offsets, types, &type_));
      RHINO_MPI_CHECK(MPI_Type_free(&chunk_type));
    }
    RHINO_MPI_CHECK(MPI_Type_commit(&type_));
  }
  ~BlockType() { MPI_Type_free(&type_); }  // operations in flight keep what they need
  BlockType(const BlockType&) = delete;
  BlockType& operator=(const BlockType&) = delete;
  operator MPI_Datatype() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

class MpiCommunicator final : public Communicator {
 public:
  explicit MpiCommunicator(double watchdog_seconds) : watchdog_seconds_(watchdog_seconds) {
    RHINO_MPI_CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &world_));
    RHINO_MPI_CHECK(MPI_Comm_set_errhandler(world_, MPI_ERRORS_RETURN));
    RHINO_MPI_CHECK(MPI_Comm_rank(world_, &rank_));
    RHINO_MPI_CHECK(MPI_Comm_size(world_, &size_));
  }

  ~MpiCommunicator() override {
    // Freeing is collective: when this rank fails, the others are elsewhere.
    if (!Environment::is_active() || std::uncaught_exceptions() > exceptions_) return;
    for (Group& group : groups_) {
      if (group.comm != MPI_COMM_NULL) MPI_Comm_free(&group.comm);
    }
    MPI_Comm_free(&world_);
  }

  std::int64_t rank() const override { return rank_; }
  std::int64_t size() const override { return size_; }

  GroupHandle make_group(const std::vector<std::int64_t>& members) override {
    const auto known = std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) { return g.members == members; });
    // Whether a group is known may differ between ranks; the split below must be joined by all.
    const int color = members.empty() ? MPI_UNDEFINED : static_cast<int>(*std::min_element(members.begin(), members.end()));
    const auto mine = std::find(members.begin(), members.end(), rank_);
    RHINO_ASSERT(members.empty() || mine != members.end(), "rank {} makes a group that it does not belong to", rank_);
    Group group;
    group.members = members;
    RHINO_MPI_CHECK(MPI_Comm_split(world_, color, static_cast<int>(mine - members.begin()), &group.comm));
    if (group.comm != MPI_COMM_NULL) RHINO_MPI_CHECK(MPI_Comm_set_errhandler(group.comm, MPI_ERRORS_RETURN));
    if (known != groups_.end()) {
      if (group.comm != MPI_COMM_NULL) RHINO_MPI_CHECK(MPI_Comm_free(&group.comm));
      return static_cast<GroupHandle>(known - groups_.begin());
    }
    groups_.push_back(std::move(group));
    return static_cast<GroupHandle>(groups_.size() - 1);
  }

  RequestHandle all_reduce(GroupHandle group, const void* send, void* receive, std::int64_t count, ir::DType dtype,
                           ir::ReducerKind reducer) override {
    Pending pending;
    const MPI_Op op = ops_.op(reducer, dtype);
    const auto width = static_cast<std::int64_t>(ir::dtype_bytes(dtype));
    for (std::int64_t done = 0; done < count; done += max_count) {
      const int part = static_cast<int>(std::min(max_count, count - done));
      auto* to = static_cast<std::byte*>(receive) + done * width;
      const void* from = send == receive ? MPI_IN_PLACE : static_cast<const std::byte*>(send) + done * width;
      RHINO_MPI_CHECK(MPI_Iallreduce(from, to, part, datatype_of(dtype), op, comm(group), pending.add()));
    }
    return start(std::move(pending));
  }

  RequestHandle all_gather(GroupHandle group, const void* send, void* receive, std::int64_t bytes) override {
    const BlockType block(bytes);
    Pending pending;
    RHINO_MPI_CHECK(MPI_Iallgather(send, 1, block, receive, 1, block, comm(group), pending.add()));
    return start(std::move(pending));
  }

  RequestHandle reduce_scatter(GroupHandle group, const void* send, void* receive, std::int64_t count, ir::DType dtype,
                               ir::ReducerKind reducer) override {
    RHINO_CHECK(count <= max_count, "a reduce-scatter of blocks of {} elements is too large for one MPI call", count);
    Pending pending;
    RHINO_MPI_CHECK(MPI_Ireduce_scatter_block(send, receive, static_cast<int>(count), datatype_of(dtype),
                                              ops_.op(reducer, dtype), comm(group), pending.add()));
    return start(std::move(pending));
  }

  RequestHandle all_to_all(GroupHandle group, const void* send, void* receive, std::int64_t bytes) override {
    const BlockType block(bytes);
    Pending pending;
    RHINO_MPI_CHECK(MPI_Ialltoall(send, 1, block, receive, 1, block, comm(group), pending.add()));
    return start(std::move(pending));
  }

  RequestHandle broadcast(GroupHandle group, void* buffer, std::int64_t bytes, std::int64_t root_member) override {
    const BlockType block(bytes);
    Pending pending;
    RHINO_MPI_CHECK(MPI_Ibcast(buffer, 1, block, static_cast<int>(root_member), comm(group), pending.add()));
    return start(std::move(pending));
  }

  RequestHandle permute(std::int64_t target, std::int64_t source, const void* send, void* receive,
                        std::int64_t bytes) override {
    Pending pending;
    const BlockType block(bytes);
    if (source < 0) {
      std::memset(receive, 0, static_cast<std::size_t>(bytes));
    } else if (source == rank_) {
      std::memcpy(receive, send, static_cast<std::size_t>(bytes));
    } else {
      RHINO_MPI_CHECK(MPI_Irecv(receive, 1, block, static_cast<int>(source), permute_tag, world_, pending.add()));
    }
    if (target >= 0 && target != rank_) {
      RHINO_MPI_CHECK(MPI_Isend(send, 1, block, static_cast<int>(target), permute_tag, world_, pending.add()));
    }
    return start(std::move(pending));
  }

  void wait(RequestHandle request, std::string_view what) override {
    const auto found = pending_.find(request);
    RHINO_ASSERT(found != pending_.end(), "wait for request {} ({}), which is not in flight", request, what);
    std::vector<MPI_Request>& requests = found->second.requests;
    const auto start_time = std::chrono::steady_clock::now();
    for (std::int64_t tries = 0;; ++tries) {
      int done = 0;
      RHINO_MPI_CHECK(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE));
      if (done != 0) break;
      if (tries < 200) continue;
      // Ranks may share cores: let the one that we wait for run.
      std::this_thread::yield();
      if (watchdog_seconds_ > 0 && tries % 1024 == 0) {
        const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start_time;
        RHINO_CHECK_AS(EnvironmentError, waited.count() < watchdog_seconds_,
                       "rank {} waited {:.0f} s for {}: another rank is stuck or gone (runtime.watchdog_seconds)", rank_,
                       waited.count(), what);
      }
    }
    pending_.erase(found);
  }

  void progress() override {
    if (pending_.empty()) return;
    std::vector<MPI_Request>& requests = pending_.begin()->second.requests;
    int done = 0;
    RHINO_MPI_CHECK(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE));
  }

  void barrier() override {
    Pending pending;
    RHINO_MPI_CHECK(MPI_Ibarrier(world_, pending.add()));
    wait(start(std::move(pending)), "a barrier");
  }

 private:
  static constexpr std::int64_t max_count = std::int64_t{1} << 30;
  static constexpr int permute_tag = 1;

  struct Group {
    std::vector<std::int64_t> members;
    MPI_Comm comm = MPI_COMM_NULL;
  };

  struct Pending {
    std::vector<MPI_Request> requests;
    MPI_Request* add() { return &requests.emplace_back(MPI_REQUEST_NULL); }
  };

  MPI_Comm comm(GroupHandle group) const {
    RHINO_ASSERT(group < groups_.size() && groups_[group].comm != MPI_COMM_NULL, "group {} of {}", group, groups_.size());
    return groups_[group].comm;
  }

  RequestHandle start(Pending pending) {
    pending_.emplace(next_request_, std::move(pending));
    return next_request_++;
  }

  MPI_Comm world_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  int exceptions_ = std::uncaught_exceptions();  ///< in flight when the communicator was made
  double watchdog_seconds_ = 0;
  ReduceOps ops_;
  std::vector<Group> groups_;
  std::map<RequestHandle, Pending> pending_;
  RequestHandle next_request_ = 0;
};

}  // namespace

std::unique_ptr<Communicator> make_communicator(double watchdog_seconds) {
  return std::make_unique<MpiCommunicator>(watchdog_seconds);
}

}  // namespace rhino::comm::mpi
