// SPDX-License-Identifier: Apache-2.0
#include <rhino/kernels/host/loops_isa.hpp>

namespace rhino::kernels::host::RHINO_ISA {

using namespace bodies;

namespace {

template <class T>
Loop find_float(const LoopKey& key) {
  switch (key.kind) {
    case OpKind::Add: return binary_loop<AddBody, T>(key.scalars);
    case OpKind::Subtract: return binary_loop<SubtractBody, T>(key.scalars);
    case OpKind::Multiply: return binary_loop<MultiplyBody, T>(key.scalars);
    case OpKind::Divide: return binary_loop<DivideBody, T>(key.scalars);
    case OpKind::Maximum: return binary_loop<MaximumBody, T>(key.scalars);
    case OpKind::Minimum: return binary_loop<MinimumBody, T>(key.scalars);
    default: break;
  }
  if (key.scalars != 0) return nullptr;
  switch (key.kind) {
    case OpKind::Abs: return unary_loop<AbsBody, T, T>;
    case OpKind::Negate: return unary_loop<NegateBody, T, T>;
    case OpKind::Sign: return unary_loop<SignBody, T, T>;
    case OpKind::IsFinite: return unary_loop<IsFiniteBody, T, std::uint8_t>;
    case OpKind::Sqrt: return unary_loop<SqrtBody, T, T>;
    case OpKind::Rsqrt: return unary_loop<RsqrtBody, T, T>;
    case OpKind::Floor: return unary_loop<FloorBody, T, T>;
    case OpKind::Ceil: return unary_loop<CeilBody, T, T>;
    case OpKind::RoundNearestEven: return unary_loop<RoundEvenBody, T, T>;
    default: return nullptr;
  }
}

}  // namespace

Loop find_float_loop(const LoopKey& key) {
  if (key.in == DType::F32) return find_float<float>(key);
  if (key.in == DType::F64) return find_float<double>(key);
  return nullptr;
}

}  // namespace rhino::kernels::host::RHINO_ISA
