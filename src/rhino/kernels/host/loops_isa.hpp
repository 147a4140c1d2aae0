// SPDX-License-Identifier: Apache-2.0
#pragma once

// Internal to the files that are compiled once per instruction set (RHINO_ISA names the copy). They hold loops over raw
// pointers only: an inline function of a shared header that was compiled here could replace the copy of the whole program.

#include <cstdint>

#include <rhino/kernels/elementwise_bodies.hpp>
#include <rhino/kernels/host/loops.hpp>

namespace rhino::kernels::host::RHINO_ISA {

using ir::Comparison;
using ir::DType;
using ir::OpKind;

Loop find_float_loop(const LoopKey& key);
Loop find_integer_loop(const LoopKey& key);
Loop find_compare_loop(const LoopKey& key);
Loop find_convert_loop(const LoopKey& key);
Loop find_math_loop(const LoopKey& key);
Loop find_select_loop(const LoopKey& key);
ReduceLoops find_reduce_loops(ir::ReducerKind kind, DType dtype);
void transpose_tile(int width, const void* in, std::int64_t in_stride, void* out, std::int64_t out_stride,
                    std::int64_t rows, std::int64_t columns);

// `ivdep`: the output may be the very same array as an input, which is no dependence between iterations.

template <class Body, class T, class R>
void unary_loop(const LoopArgs& args) {
  const T* x = static_cast<const T*>(args.in[0]);
  R* y = static_cast<R*>(args.out);
  const std::int64_t n = args.count;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) y[i] = Body::template apply<T>(x[i]);
}

template <class Body, class T, class R>
void vector_vector_loop(const LoopArgs& args) {
  const T* a = static_cast<const T*>(args.in[0]);
  const T* b = static_cast<const T*>(args.in[1]);
  R* y = static_cast<R*>(args.out);
  const std::int64_t n = args.count;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) y[i] = Body::template apply<T>(a[i], b[i]);
}

template <class Body, class T, class R>
void vector_scalar_loop(const LoopArgs& args) {
  const T* a = static_cast<const T*>(args.in[0]);
  const T b = *static_cast<const T*>(args.in[1]);
  R* y = static_cast<R*>(args.out);
  const std::int64_t n = args.count;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) y[i] = Body::template apply<T>(a[i], b);
}

template <class Body, class T, class R>
void scalar_vector_loop(const LoopArgs& args) {
  const T a = *static_cast<const T*>(args.in[0]);
  const T* b = static_cast<const T*>(args.in[1]);
  R* y = static_cast<R*>(args.out);
  const std::int64_t n = args.count;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) y[i] = Body::template apply<T>(a, b[i]);
}

template <class Body, class T, class R = T>
Loop binary_loop(unsigned scalars) {
  switch (scalars) {
    case 0: return vector_vector_loop<Body, T, R>;
    case 1: return scalar_vector_loop<Body, T, R>;
    case 2: return vector_scalar_loop<Body, T, R>;
    default: return nullptr;
  }
}

}  // namespace rhino::kernels::host::RHINO_ISA
