// SPDX-License-Identifier: Apache-2.0
#include <rhino/kernels/host/loops.hpp>

namespace rhino::kernels::host {

#if defined(RHINO_ONE_ISA)

namespace isa_native {
extern const LoopSet loop_set;
}

const LoopSet& loops() { return isa_native::loop_set; }

#else

namespace isa_base {
extern const LoopSet loop_set;
}
namespace isa_v3 {
extern const LoopSet loop_set;
}
namespace isa_v4 {
extern const LoopSet loop_set;
}

const LoopSet& loops() {
  __builtin_cpu_init();
  static const LoopSet& best = [&]() -> const LoopSet& {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
      return isa_v4::loop_set;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) return isa_v3::loop_set;
    return isa_base::loop_set;
  }();
  return best;
}

#endif

}  // namespace rhino::kernels::host
