// SPDX-License-Identifier: Apache-2.0
#include <rhino/comm/mpi/reduce_ops.hpp>

#include <cmath>
#include <cstdint>

#include <rhino/base/half.hpp>
#include <rhino/comm/mpi/check.hpp>

namespace rhino::comm::mpi {

using ir::DType;
using ir::ReducerKind;

MPI_Datatype datatype_of(DType dtype) {
  switch (dtype) {
    case DType::I1:
    case DType::U8:
      return MPI_UINT8_T;
    case DType::I8:
      return MPI_INT8_T;
    case DType::I16:
      return MPI_INT16_T;
    case DType::I32:
      return MPI_INT32_T;
    case DType::I64:
      return MPI_INT64_T;
    case DType::U16:
    case DType::F16:
    case DType::BF16:
      return MPI_UINT16_T;
    case DType::U32:
      return MPI_UINT32_T;
    case DType::U64:
      return MPI_UINT64_T;
    case DType::F32:
      return MPI_FLOAT;
    case DType::F64:
      return MPI_DOUBLE;
  }
  RHINO_ASSERT(false, "element type {}", static_cast<int>(dtype));
  return MPI_BYTE;
}

namespace {

struct Half {
  static float load(std::uint16_t bits) { return half_to_float(bits); }
  static std::uint16_t store(float value) { return float_to_half(value); }
};
struct BFloat {
  static float load(std::uint16_t bits) { return bfloat16_to_float(bits); }
  static std::uint16_t store(float value) { return float_to_bfloat16(value); }
};
struct AddOf {
  static float apply(float a, float b) { return a + b; }
};
struct MultiplyOf {
  static float apply(float a, float b) { return a * b; }
};
struct MaximumOf {
  static float apply(float a, float b) { return std::isnan(a) || a > b ? a : b; }
};
struct MinimumOf {
  static float apply(float a, float b) { return std::isnan(a) || a < b ? a : b; }
};

template <class Format, class Operation>
void combine(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* a = static_cast<const std::uint16_t*>(in);
  auto* b = static_cast<std::uint16_t*>(inout);
  for (int i = 0; i < *count; ++i) b[i] = Format::store(Operation::apply(Format::load(a[i]), Format::load(b[i])));
}

template <class Format, class Operation>
MPI_Op make_op() {
  MPI_Op op = MPI_OP_NULL;
  RHINO_MPI_CHECK(MPI_Op_create(&combine<Format, Operation>, 1, &op));
  return op;
}

}  // namespace

ReduceOps::ReduceOps() {
  f16_ = {make_op<Half, AddOf>(), make_op<Half, MultiplyOf>(), make_op<Half, MaximumOf>(), make_op<Half, MinimumOf>()};
  bf16_ = {make_op<BFloat, AddOf>(), make_op<BFloat, MultiplyOf>(), make_op<BFloat, MaximumOf>(),
           make_op<BFloat, MinimumOf>()};
}

ReduceOps::~ReduceOps() {
  for (HalfOps* ops : {&f16_, &bf16_}) {
    for (MPI_Op* op : {&ops->add, &ops->multiply, &ops->maximum, &ops->minimum}) MPI_Op_free(op);
  }
}

MPI_Op ReduceOps::op(ReducerKind kind, DType dtype) const {
  if (dtype == DType::F16 || dtype == DType::BF16) {
    const HalfOps& ops = dtype == DType::F16 ? f16_ : bf16_;
    switch (kind) {
      case ReducerKind::Add:
        return ops.add;
      case ReducerKind::Multiply:
        return ops.multiply;
      case ReducerKind::Maximum:
        return ops.maximum;
      case ReducerKind::Minimum:
        return ops.minimum;
      default:
        break;
    }
  } else {
    const bool boolean = dtype == DType::I1;  // stored as 0 and 1: sum is or, product is and
    const bool integer = !ir::is_float(dtype);
    switch (kind) {
      case ReducerKind::Add:
        return boolean ? MPI_MAX : MPI_SUM;
      case ReducerKind::Multiply:
        return boolean ? MPI_MIN : MPI_PROD;
      case ReducerKind::Maximum:
        return MPI_MAX;
      case ReducerKind::Minimum:
        return MPI_MIN;
      case ReducerKind::And:
        if (integer) return MPI_BAND;
        break;
      case ReducerKind::Or:
        if (integer) return MPI_BOR;
        break;
      case ReducerKind::Xor:
        if (integer) return MPI_BXOR;
        break;
      case ReducerKind::Other:
        break;
    }
  }
  RHINO_FAIL(InputError, "a collective cannot reduce {} with reducer number {}", ir::dtype_name(dtype), static_cast<int>(kind));
}

}  // namespace rhino::comm::mpi
