// SPDX-License-Identifier: Apache-2.0
#include <rhino/comm/single_communicator.hpp>

#include <cstring>

namespace rhino::comm {

namespace {

class SingleCommunicator final : public Communicator {
 public:
  std::int64_t rank() const override { return 0; }
  std::int64_t size() const override { return 1; }
  GroupHandle make_group(const std::vector<std::int64_t>&) override { return 0; }
  RequestHandle all_reduce(GroupHandle, const void* send, void* receive, std::int64_t count, ir::DType dtype,
                           ir::ReducerKind) override {
    return copy(send, receive, count * static_cast<std::int64_t>(ir::dtype_bytes(dtype)));
  }
  RequestHandle all_gather(GroupHandle, const void* send, void* receive, std::int64_t bytes) override {
    return copy(send, receive, bytes);
  }
  RequestHandle reduce_scatter(GroupHandle, const void* send, void* receive, std::int64_t count, ir::DType dtype,
                               ir::ReducerKind) override {
    return copy(send, receive, count * static_cast<std::int64_t>(ir::dtype_bytes(dtype)));
  }
  RequestHandle all_to_all(GroupHandle, const void* send, void* receive, std::int64_t bytes) override {
    return copy(send, receive, bytes);
  }
  RequestHandle broadcast(GroupHandle, void*, std::int64_t, std::int64_t) override { return 0; }
  RequestHandle permute(std::int64_t, std::int64_t source, const void* send, void* receive, std::int64_t bytes) override {
    if (source == 0) return copy(send, receive, bytes);
    std::memset(receive, 0, static_cast<std::size_t>(bytes));
    return 0;
  }
  void wait(RequestHandle, std::string_view) override {}
  void progress() override {}
  void barrier() override {}

 private:
  static RequestHandle copy(const void* send, void* receive, std::int64_t bytes) {
    if (send != receive) std::memcpy(receive, send, static_cast<std::size_t>(bytes));
    return 0;
  }
};

}  // namespace

std::unique_ptr<Communicator> make_single_communicator() { return std::make_unique<SingleCommunicator>(); }

}  // namespace rhino::comm
