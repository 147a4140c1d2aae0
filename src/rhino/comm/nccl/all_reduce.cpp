// SPDX-License-Identifier: Apache-2.0
#include <rhino/comm/nccl/all_reduce.hpp>

#include <cstring>

#include <nccl.h>

#include <rhino/device/cuda_check.hpp>

#define RHINO_NCCL_CHECK(call)                                                                               \
  do {                                                                                                       \
    const ncclResult_t rhino_nccl_code = (call);                                                             \
    RHINO_CHECK_AS(EnvironmentError, rhino_nccl_code == ncclSuccess, "{} failed: {}", #call,                 \
                   ncclGetErrorString(rhino_nccl_code));                                                     \
  } while (false)

namespace rhino::comm::nccl {
namespace {

static_assert(sizeof(ncclUniqueId) == sizeof(UniqueId));

ncclDataType_t to_nccl(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::I8: return ncclInt8;
    case ir::DType::U8: return ncclUint8;
    case ir::DType::I32: return ncclInt32;
    case ir::DType::U32: return ncclUint32;
    case ir::DType::I64: return ncclInt64;
    case ir::DType::U64: return ncclUint64;
    case ir::DType::F16: return ncclFloat16;
    case ir::DType::BF16: return ncclBfloat16;
    case ir::DType::F32: return ncclFloat32;
    case ir::DType::F64: return ncclFloat64;
    case ir::DType::I1:
    case ir::DType::I16:
    case ir::DType::U16: break;
  }
  RHINO_FAIL(InputError, "NCCL cannot reduce elements of type {}", ir::dtype_name(dtype));
}

ncclRedOp_t to_nccl(ir::ReducerKind reducer) {
  switch (reducer) {
    case ir::ReducerKind::Add: return ncclSum;
    case ir::ReducerKind::Multiply: return ncclProd;
    case ir::ReducerKind::Maximum: return ncclMax;
    case ir::ReducerKind::Minimum: return ncclMin;
    case ir::ReducerKind::And:
    case ir::ReducerKind::Or:
    case ir::ReducerKind::Xor:
    case ir::ReducerKind::Other: break;
  }
  RHINO_FAIL(InputError, "NCCL can reduce by sum, product, maximum and minimum only");
}

}  // namespace

struct Group::State {
  ncclComm_t group = nullptr;
  cudaStream_t stream = nullptr;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (group != nullptr) ncclCommDestroy(group);
    if (stream != nullptr) cudaStreamDestroy(stream);
  }
};

UniqueId make_unique_id() {
  ncclUniqueId id;
  RHINO_NCCL_CHECK(ncclGetUniqueId(&id));
  UniqueId result;
  std::memcpy(result.data(), &id, sizeof(id));
  return result;
}

Group::Group(const UniqueId& id, int rank, int size) : state_(std::make_unique<State>()) {
  ncclUniqueId native;
  std::memcpy(&native, id.data(), sizeof(native));
  RHINO_CUDA_CHECK(cudaStreamCreate(&state_->stream));
  RHINO_NCCL_CHECK(ncclCommInitRank(&state_->group, size, native, rank));
}

Group::~Group() = default;

void Group::all_reduce(const void* send, void* receive, std::int64_t count, ir::DType dtype, ir::ReducerKind reducer) {
  RHINO_NCCL_CHECK(ncclAllReduce(send, receive, static_cast<std::size_t>(count), to_nccl(dtype), to_nccl(reducer),
                                 state_->group, state_->stream));
  RHINO_CUDA_CHECK(cudaStreamSynchronize(state_->stream));
}

}  // namespace rhino::comm::nccl
