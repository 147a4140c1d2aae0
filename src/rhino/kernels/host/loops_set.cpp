// SPDX-License-Identifier: Apache-2.0
#include <rhino/kernels/host/loops_isa.hpp>

#define RHINO_TEXT_OF(x) #x
#define RHINO_TEXT(x) RHINO_TEXT_OF(x)

namespace rhino::kernels::host::RHINO_ISA {

namespace {

Loop find_loop(const LoopKey& key) {
  switch (key.kind) {
    case OpKind::Compare: return find_compare_loop(key);
    case OpKind::Select:
    case OpKind::Clamp: return find_select_loop(key);
    case OpKind::Convert: return find_convert_loop(key);
    default: break;
  }
  if (key.in == DType::F32 || key.in == DType::F64) {
    if (Loop loop = find_float_loop(key)) return loop;
    return find_math_loop(key);
  }
  return find_integer_loop(key);
}

}  // namespace

extern const LoopSet loop_set;
const LoopSet loop_set{RHINO_TEXT(RHINO_ISA), find_loop, find_reduce_loops, transpose_tile};

}  // namespace rhino::kernels::host::RHINO_ISA
