// SPDX-License-Identifier: Apache-2.0
#include <rhino/kernels/host/loops_isa.hpp>

namespace rhino::kernels::host::RHINO_ISA {

using namespace bodies;

namespace {

template <class T>
Loop find_comparison(const LoopKey& key) {
  using R = std::uint8_t;
  // A scalar on the left is rare: the caller writes it out.
  if (key.scalars != 0 && key.scalars != 2) return nullptr;
  const bool scalar = key.scalars == 2;
  switch (key.direction) {
    case Comparison::Eq: return scalar ? vector_scalar_loop<EqualBody, T, R> : vector_vector_loop<EqualBody, T, R>;
    case Comparison::Ne: return scalar ? vector_scalar_loop<NotEqualBody, T, R> : vector_vector_loop<NotEqualBody, T, R>;
    case Comparison::Lt: return scalar ? vector_scalar_loop<LessBody, T, R> : vector_vector_loop<LessBody, T, R>;
    case Comparison::Le: return scalar ? vector_scalar_loop<LessEqualBody, T, R> : vector_vector_loop<LessEqualBody, T, R>;
    case Comparison::Gt: return scalar ? vector_scalar_loop<GreaterBody, T, R> : vector_vector_loop<GreaterBody, T, R>;
    case Comparison::Ge: return scalar ? vector_scalar_loop<GreaterEqualBody, T, R> : vector_vector_loop<GreaterEqualBody, T, R>;
  }
  return nullptr;
}

template <class T, unsigned Scalars>
void select_loop(const LoopArgs& args) {
  const auto* p = static_cast<const std::uint8_t*>(args.in[0]);
  const T* a = static_cast<const T*>(args.in[1]);
  const T* b = static_cast<const T*>(args.in[2]);
  T* y = static_cast<T*>(args.out);
  const std::int64_t n = args.count;
  [[maybe_unused]] const T a0 = *a, b0 = *b;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) {
    T on_true, on_false;
    if constexpr ((Scalars & 2u) != 0) on_true = a0;
    else on_true = a[i];
    if constexpr ((Scalars & 4u) != 0) on_false = b0;
    else on_false = b[i];
    y[i] = SelectBody::apply<T>(p[i], on_true, on_false);
  }
}

template <class T>
void chosen_loop(const LoopArgs& args) {  // one predicate for all
  const bool first = *static_cast<const std::uint8_t*>(args.in[0]) != 0;
  const T* from = static_cast<const T*>(first ? args.in[1] : args.in[2]);
  T* y = static_cast<T*>(args.out);
  const std::int64_t n = args.count;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) y[i] = from[i];
}

template <class U>
Loop find_select(unsigned scalars) {
  switch (scalars) {
    case 0: return select_loop<U, 0>;
    case 1: return chosen_loop<U>;
    case 2: return select_loop<U, 2>;
    case 4: return select_loop<U, 4>;
    case 6: return select_loop<U, 6>;
    default: return nullptr;
  }
}

template <class T>
void clamp_loop(const LoopArgs& args) {  // bounds are scalars
  const T low = *static_cast<const T*>(args.in[0]);
  const T* x = static_cast<const T*>(args.in[1]);
  const T high = *static_cast<const T*>(args.in[2]);
  T* y = static_cast<T*>(args.out);
  const std::int64_t n = args.count;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) y[i] = ClampBody::apply<T>(low, x[i], high);
}

template <class T>
void clamp_vectors_loop(const LoopArgs& args) {
  const T* low = static_cast<const T*>(args.in[0]);
  const T* x = static_cast<const T*>(args.in[1]);
  const T* high = static_cast<const T*>(args.in[2]);
  T* y = static_cast<T*>(args.out);
  const std::int64_t n = args.count;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) y[i] = ClampBody::apply<T>(low[i], x[i], high[i]);
}

template <class T>
Loop find_clamp(unsigned scalars) {
  if (scalars == 0) return clamp_vectors_loop<T>;
  if (scalars == 5) return clamp_loop<T>;
  return nullptr;
}

int width_of(DType dtype) {
  switch (dtype) {
    case DType::I1:
    case DType::I8:
    case DType::U8: return 1;
    case DType::I16:
    case DType::U16:
    case DType::F16:
    case DType::BF16: return 2;
    case DType::I32:
    case DType::U32:
    case DType::F32: return 4;
    default: return 8;
  }
}

}  // namespace

Loop find_compare_loop(const LoopKey& key) {
  switch (key.in) {
    case DType::I1:
    case DType::U8: return find_comparison<std::uint8_t>(key);
    case DType::I8: return find_comparison<std::int8_t>(key);
    case DType::I16: return find_comparison<std::int16_t>(key);
    case DType::I32: return find_comparison<std::int32_t>(key);
    case DType::I64: return find_comparison<std::int64_t>(key);
    case DType::U16: return find_comparison<std::uint16_t>(key);
    case DType::U32: return find_comparison<std::uint32_t>(key);
    case DType::U64: return find_comparison<std::uint64_t>(key);
    case DType::F32: return find_comparison<float>(key);
    case DType::F64: return find_comparison<double>(key);
    default: return nullptr;
  }
}

Loop find_select_loop(const LoopKey& key) {
  if (key.kind == OpKind::Select) {
    switch (width_of(key.out)) {
      case 1: return find_select<std::uint8_t>(key.scalars);
      case 2: return find_select<std::uint16_t>(key.scalars);
      case 4: return find_select<std::uint32_t>(key.scalars);
      default: return find_select<std::uint64_t>(key.scalars);
    }
  }
  switch (key.in) {
    case DType::I32: return find_clamp<std::int32_t>(key.scalars);
    case DType::I64: return find_clamp<std::int64_t>(key.scalars);
    case DType::U32: return find_clamp<std::uint32_t>(key.scalars);
    case DType::F32: return find_clamp<float>(key.scalars);
    case DType::F64: return find_clamp<double>(key.scalars);
    default: return nullptr;
  }
}

}  // namespace rhino::kernels::host::RHINO_ISA
