// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rhino/ir/program.hpp>
#include <rhino/kernels/reference/element.hpp>

namespace rhino::kernels::reference {

/// Calls `body.template operator()<Operation, T>()` for a well-known reducer on elements of type T and returns true;
/// returns false where there is no such direct form (kind Other, bitwise kinds on floats).
template <class Body>
bool dispatch_reducer(ir::ReducerKind kind, ir::DType dtype, Body&& body) {
  if (kind == ir::ReducerKind::Other) return false;
  return dispatch_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    switch (kind) {
      case ir::ReducerKind::Add:
        body.template operator()<AddOp, T>();
        return true;
      case ir::ReducerKind::Multiply:
        body.template operator()<MultiplyOp, T>();
        return true;
      case ir::ReducerKind::Maximum:
        body.template operator()<MaximumOp, T>();
        return true;
      case ir::ReducerKind::Minimum:
        body.template operator()<MinimumOp, T>();
        return true;
      case ir::ReducerKind::And:
        if constexpr (std::is_integral_v<T>) return body.template operator()<AndOp, T>(), true;
        return false;
      case ir::ReducerKind::Or:
        if constexpr (std::is_integral_v<T>) return body.template operator()<OrOp, T>(), true;
        return false;
      case ir::ReducerKind::Xor:
        if constexpr (std::is_integral_v<T>) return body.template operator()<XorOp, T>(), true;
        return false;
      case ir::ReducerKind::Other:
        return false;
    }
    return false;
  });
}

}  // namespace rhino::kernels::reference
