// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include <rhino/kernels/reference/element.hpp>
#include <rhino/kernels/reference/elementwise.hpp>

namespace rhino::kernels::reference {

void convert_kernel(const ElementwiseCall& call) {
  dispatch_dtype(call.dtype, [&]<class From>(std::type_identity<From>) {
    dispatch_dtype(call.result_dtype, [&]<class To>(std::type_identity<To>) {
      const From* x = reinterpret_cast<const From*>(call.inputs[0]);
      To* y = reinterpret_cast<To*>(call.output);
      for (std::int64_t i = 0; i < call.count; ++i) y[i] = convert_element<To, From>(x[i]);
    });
  });
}

void bitcast_kernel(const ElementwiseCall& call) {
  if (call.count > 0 && call.output != call.inputs[0])
    std::memcpy(call.output, call.inputs[0], static_cast<std::size_t>(call.count) * ir::dtype_bytes(call.dtype));
}

}  // namespace rhino::kernels::reference
