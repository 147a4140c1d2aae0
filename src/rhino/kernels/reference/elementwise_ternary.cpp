// SPDX-License-Identifier: Apache-2.0
#include <rhino/kernels/reference/element.hpp>
#include <rhino/kernels/reference/elementwise.hpp>

namespace rhino::kernels::reference {

void clamp_kernel(const ElementwiseCall& call) {
  dispatch_dtype(call.dtype, [&]<class T>(std::type_identity<T>) {
    const T* low = reinterpret_cast<const T*>(call.inputs[0]);
    const T* x = reinterpret_cast<const T*>(call.inputs[1]);
    const T* high = reinterpret_cast<const T*>(call.inputs[2]);
    const std::int64_t low_step = call.repeated[0] ? 0 : 1, high_step = call.repeated[2] ? 0 : 1;
    T* y = reinterpret_cast<T*>(call.output);
    for (std::int64_t i = 0; i < call.count; ++i)
      y[i] = MinimumOp::apply<T>(MaximumOp::apply<T>(low[i * low_step], x[i]), high[i * high_step]);
  });
}

void select_kernel(const ElementwiseCall& call) {
  const auto* predicate = reinterpret_cast<const std::uint8_t*>(call.inputs[0]);
  const std::int64_t step = call.repeated[0] ? 0 : 1;
  dispatch_width(call.result_dtype, [&]<class T>(std::type_identity<T>) {
    const T* on_true = reinterpret_cast<const T*>(call.inputs[1]);
    const T* on_false = reinterpret_cast<const T*>(call.inputs[2]);
    T* y = reinterpret_cast<T*>(call.output);
    for (std::int64_t i = 0; i < call.count; ++i) y[i] = predicate[i * step] != 0 ? on_true[i] : on_false[i];
  });
}

}  // namespace rhino::kernels::reference
