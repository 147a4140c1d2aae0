// SPDX-License-Identifier: Apache-2.0
#include <rhino/kernels/reference/elementwise.hpp>

#include <rhino/kernels/reference/composed_functions.hpp>

namespace rhino::kernels::reference {

ElementwiseKernel elementwise_kernel(ir::OpKind kind) {
  using ir::OpKind;
  switch (kind) {
    case OpKind::Abs: return abs_kernel;
    case OpKind::Convert: return convert_kernel;
    case OpKind::CountLeadingZeros: return count_leading_zeros_kernel;
    case OpKind::IsFinite: return is_finite_kernel;
    case OpKind::Negate: return negate_kernel;
    case OpKind::Not: return not_kernel;
    case OpKind::PopulationCount: return population_count_kernel;
    case OpKind::ReducePrecision: return reduce_precision_kernel;
    case OpKind::Sign: return sign_kernel;

    case OpKind::Cbrt:
    case OpKind::Ceil:
    case OpKind::Cosine:
    case OpKind::Exponential:
    case OpKind::ExponentialMinusOne:
    case OpKind::Floor:
    case OpKind::Log:
    case OpKind::LogPlusOne:
    case OpKind::Logistic:
    case OpKind::RoundNearestAfz:
    case OpKind::RoundNearestEven:
    case OpKind::Rsqrt:
    case OpKind::Sine:
    case OpKind::Sqrt:
    case OpKind::Tan:
    case OpKind::Tanh:
    case OpKind::Acos:
    case OpKind::Asin:
    case OpKind::Atan: return float_function_kernel(kind);

    case OpKind::Acosh:
    case OpKind::Asinh:
    case OpKind::Atanh:
    case OpKind::Cosh:
    case OpKind::Sinh:
    case OpKind::Erf:
    case OpKind::ErfInv:
    case OpKind::Erfc:
    case OpKind::Lgamma:
    case OpKind::Digamma:
    case OpKind::BesselI1e: return composed_function_kernel(kind);

    case OpKind::Add: return add_kernel;
    case OpKind::And: return and_kernel;
    case OpKind::Atan2: return atan2_kernel;
    case OpKind::Compare: return compare_kernel;
    case OpKind::Divide: return divide_kernel;
    case OpKind::Maximum: return maximum_kernel;
    case OpKind::Minimum: return minimum_kernel;
    case OpKind::Multiply: return multiply_kernel;
    case OpKind::NextAfter: return next_after_kernel;
    case OpKind::Or: return or_kernel;
    case OpKind::Polygamma: return polygamma_kernel;
    case OpKind::Power: return power_kernel;
    case OpKind::Remainder: return remainder_kernel;
    case OpKind::ShiftLeft: return shift_left_kernel;
    case OpKind::ShiftRightArithmetic: return shift_right_arithmetic_kernel;
    case OpKind::ShiftRightLogical: return shift_right_logical_kernel;
    case OpKind::Subtract: return subtract_kernel;
    case OpKind::Xor: return xor_kernel;
    case OpKind::Zeta: return zeta_kernel;

    case OpKind::Clamp: return clamp_kernel;
    case OpKind::Select: return select_kernel;

    case OpKind::BitcastConvert:
    case OpKind::BroadcastInDim:
    case OpKind::Concatenate:
    case OpKind::Constant:
    case OpKind::DynamicSlice:
    case OpKind::DynamicUpdateSlice:
    case OpKind::Gather:
    case OpKind::Iota:
    case OpKind::OptimizationBarrier:
    case OpKind::Pad:
    case OpKind::Reshape:
    case OpKind::Reverse:
    case OpKind::Slice:
    case OpKind::Transpose:
    case OpKind::Convolution:
    case OpKind::DotGeneral:
    case OpKind::Reduce:
    case OpKind::ReduceWindow:
    case OpKind::Scatter:
    case OpKind::SelectAndScatter:
    case OpKind::Sort:
    case OpKind::TopK:
    case OpKind::RngBitGenerator:
    case OpKind::Call:
    case OpKind::Case:
    case OpKind::While:
    case OpKind::AllGather:
    case OpKind::AllReduce:
    case OpKind::AllToAll:
    case OpKind::CollectiveBroadcast:
    case OpKind::CollectivePermute:
    case OpKind::PartitionId:
    case OpKind::ReduceScatter:
    case OpKind::ReplicaId:
    case OpKind::CustomCall: return nullptr;
  }
  return nullptr;
}

}  // namespace rhino::kernels::reference
