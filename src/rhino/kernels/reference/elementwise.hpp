// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <rhino/ir/program.hpp>

namespace rhino::kernels::reference {

/// One elementwise op on `count` elements that lie one after the other. The kernels know nothing of shapes, so the same
/// kernel serves whole tensors and single scalars inside a region.
struct ElementwiseCall {
  const ir::Attributes* attrs = nullptr;
  ir::DType dtype = ir::DType::F32;  ///< of the operands (for select: of the two values)
  ir::DType result_dtype = ir::DType::F32;
  std::array<const std::byte*, 3> inputs{};
  std::array<bool, 3> repeated{};  ///< one element stands for all: predicate of select, bounds of clamp
  std::byte* output = nullptr;     ///< must not overlap the inputs, unless it is equal to one of the same element width
  std::int64_t count = 0;
};

using ElementwiseKernel = void (*)(const ElementwiseCall&);

/// The kernel of an elementwise op kind; nullptr for every other kind.
ElementwiseKernel elementwise_kernel(ir::OpKind kind);

// Kernels by family; see elementwise_kernel for which kind uses which.
void abs_kernel(const ElementwiseCall& call);
void negate_kernel(const ElementwiseCall& call);
void not_kernel(const ElementwiseCall& call);
void sign_kernel(const ElementwiseCall& call);
void is_finite_kernel(const ElementwiseCall& call);
void population_count_kernel(const ElementwiseCall& call);
void count_leading_zeros_kernel(const ElementwiseCall& call);
void reduce_precision_kernel(const ElementwiseCall& call);
ElementwiseKernel float_function_kernel(ir::OpKind kind);  ///< functions of one real argument; nullptr for other kinds

void convert_kernel(const ElementwiseCall& call);
void bitcast_kernel(const ElementwiseCall& call);  ///< element types of equal width

void add_kernel(const ElementwiseCall& call);
void subtract_kernel(const ElementwiseCall& call);
void multiply_kernel(const ElementwiseCall& call);
void divide_kernel(const ElementwiseCall& call);
void remainder_kernel(const ElementwiseCall& call);
void power_kernel(const ElementwiseCall& call);
void maximum_kernel(const ElementwiseCall& call);
void minimum_kernel(const ElementwiseCall& call);
void and_kernel(const ElementwiseCall& call);
void or_kernel(const ElementwiseCall& call);
void xor_kernel(const ElementwiseCall& call);
void shift_left_kernel(const ElementwiseCall& call);
void shift_right_arithmetic_kernel(const ElementwiseCall& call);
void shift_right_logical_kernel(const ElementwiseCall& call);
void atan2_kernel(const ElementwiseCall& call);
void next_after_kernel(const ElementwiseCall& call);
void polygamma_kernel(const ElementwiseCall& call);
void zeta_kernel(const ElementwiseCall& call);
void compare_kernel(const ElementwiseCall& call);

void clamp_kernel(const ElementwiseCall& call);
void select_kernel(const ElementwiseCall& call);

}  // namespace rhino::kernels::reference
