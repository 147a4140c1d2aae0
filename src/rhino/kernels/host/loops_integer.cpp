// SPDX-License-Identifier: Apache-2.0
#include <rhino/kernels/host/loops_isa.hpp>

namespace rhino::kernels::host::RHINO_ISA {

using namespace bodies;

namespace {

/// Ops whose result does not depend on the sign of the type.
template <class U>
Loop find_any_sign(const LoopKey& key) {
  switch (key.kind) {
    case OpKind::Add: return binary_loop<AddBody, U>(key.scalars);
    case OpKind::Subtract: return binary_loop<SubtractBody, U>(key.scalars);
    case OpKind::Multiply: return binary_loop<MultiplyBody, U>(key.scalars);
    case OpKind::And: return binary_loop<AndBody, U>(key.scalars);
    case OpKind::Or: return binary_loop<OrBody, U>(key.scalars);
    case OpKind::Xor: return binary_loop<XorBody, U>(key.scalars);
    case OpKind::ShiftLeft: return binary_loop<ShiftLeftBody, U>(key.scalars);
    case OpKind::ShiftRightLogical: return binary_loop<ShiftRightLogicalBody, U>(key.scalars);
    case OpKind::ShiftRightArithmetic: return binary_loop<ShiftRightArithmeticBody, U>(key.scalars);
    case OpKind::Not: return key.scalars == 0 ? unary_loop<NotBody, U, U> : nullptr;
    case OpKind::Negate: return key.scalars == 0 ? unary_loop<NegateBody, U, U> : nullptr;
    default: return nullptr;
  }
}

template <class T>
Loop find_signed(const LoopKey& key) {
  switch (key.kind) {
    case OpKind::Maximum: return binary_loop<MaximumBody, T>(key.scalars);
    case OpKind::Minimum: return binary_loop<MinimumBody, T>(key.scalars);
    case OpKind::Divide: return key.scalars == 0 ? vector_vector_loop<DivideBody, T, T> : nullptr;
    case OpKind::Remainder: return key.scalars == 0 ? vector_vector_loop<RemainderBody, T, T> : nullptr;
    case OpKind::Sign: return key.scalars == 0 ? unary_loop<SignBody, T, T> : nullptr;
    case OpKind::Abs:
      if constexpr (T(-1) < T(0)) return key.scalars == 0 ? unary_loop<AbsBody, T, T> : nullptr;
      return nullptr;
    default: return find_any_sign<std::make_unsigned_t<T>>(key);
  }
}

Loop find_bool(const LoopKey& key) {
  using T = std::uint8_t;
  switch (key.kind) {
    case OpKind::Add:
    case OpKind::Or:
    case OpKind::Maximum: return binary_loop<OrBody, T>(key.scalars);
    case OpKind::Multiply:
    case OpKind::And:
    case OpKind::Minimum: return binary_loop<AndBody, T>(key.scalars);
    case OpKind::Subtract:
    case OpKind::Xor: return binary_loop<XorBody, T>(key.scalars);
    case OpKind::Not: return key.scalars == 0 ? unary_loop<NotBoolBody, T, T> : nullptr;
    default: return nullptr;
  }
}

}  // namespace

Loop find_integer_loop(const LoopKey& key) {
  switch (key.in) {
    case DType::I1: return find_bool(key);
    case DType::I8: return find_signed<std::int8_t>(key);
    case DType::I16: return find_signed<std::int16_t>(key);
    case DType::I32: return find_signed<std::int32_t>(key);
    case DType::I64: return find_signed<std::int64_t>(key);
    case DType::U8: return find_signed<std::uint8_t>(key);
    case DType::U16: return find_signed<std::uint16_t>(key);
    case DType::U32: return find_signed<std::uint32_t>(key);
    case DType::U64: return find_signed<std::uint64_t>(key);
    default: return nullptr;
  }
}

}  // namespace rhino::kernels::host::RHINO_ISA
