// SPDX-License-Identifier: Apache-2.0
#include <rhino/kernels/reference/interpreter.hpp>

#include <rhino/base/error.hpp>
#include <rhino/kernels/reference/elementwise.hpp>
#include <rhino/kernels/reference/op_context.hpp>

namespace rhino::kernels::reference {
namespace {

std::vector<Tensor> run_elementwise(const OpContext& context, ElementwiseKernel kernel) {
  Tensor result(context.result_type());
  ElementwiseCall call;
  call.attrs = &context.op.attrs;
  call.dtype = context.operand(context.op.kind == ir::OpKind::Select ? 1 : 0).type.dtype;
  call.result_dtype = result.type.dtype;
  call.count = result.type.elements();
  for (std::size_t i = 0; i < context.operands.size(); ++i) {
    call.inputs[i] = context.operand(i).bytes.data();
    call.repeated[i] = context.operand(i).type.dims.empty();
  }
  call.output = result.bytes.data();
  kernel(call);
  return one_result(std::move(result));
}

std::vector<Tensor> run_constant(const OpContext& context) {
  return one_result(Tensor(context.attrs<ir::ConstantAttrs>().value));
}

std::vector<Tensor> run_optimization_barrier(const OpContext& context) {
  std::vector<Tensor> results;
  for (const Tensor* operand : context.operands)
    results.push_back(*operand);
  return results;
}

}  // namespace

std::vector<Tensor> run_custom_call(const OpContext& context) {
  if (context.options.on_custom_call) return context.options.on_custom_call(context.op, context.operands);
  const auto& attrs = context.attrs<ir::CustomCallAttrs>();
  // Placement annotations: the value passes through.
  if ((attrs.target == "Sharding" || attrs.target == "xla.sdy.FuncResultSharding") && context.operands.size() == 1)
    return one_result(context.operand(0));
  RHINO_FAIL(InputError, "{}: the interpreter does not know the custom call \"{}\"", describe(context.op),
             attrs.target);
}

std::vector<Tensor> run_op(const ir::Program& program, const ir::Function& function, const ir::Op& op,
                           std::span<const Tensor* const> operands, const RunOptions& options) {
  using ir::OpKind;
  const OpContext context{program, function, op, operands, options};
  if (const ElementwiseKernel kernel = elementwise_kernel(op.kind)) return run_elementwise(context, kernel);
  switch (op.kind) {
    case OpKind::BitcastConvert:
      return run_bitcast_convert(context);
    case OpKind::BroadcastInDim:
      return run_broadcast_in_dim(context);
    case OpKind::Concatenate:
      return run_concatenate(context);
    case OpKind::Constant:
      return run_constant(context);
    case OpKind::DynamicSlice:
      return run_dynamic_slice(context);
    case OpKind::DynamicUpdateSlice:
      return run_dynamic_update_slice(context);
    case OpKind::Gather:
      return run_gather(context);
    case OpKind::Iota:
      return run_iota(context);
    case OpKind::OptimizationBarrier:
      return run_optimization_barrier(context);
    case OpKind::Pad:
      return run_pad(context);
    case OpKind::Reshape:
      return run_reshape(context);
    case OpKind::Reverse:
      return run_reverse(context);
    case OpKind::Slice:
      return run_slice(context);
    case OpKind::Transpose:
      return run_transpose(context);

    case OpKind::Convolution:
      return run_convolution(context);
    case OpKind::DotGeneral:
      return run_dot_general(context);
    case OpKind::Reduce:
      return run_reduce(context);
    case OpKind::ReduceWindow:
      return run_reduce_window(context);
    case OpKind::Scatter:
      return run_scatter(context);
    case OpKind::SelectAndScatter:
      return run_select_and_scatter(context);
    case OpKind::Sort:
      return run_sort(context);
    case OpKind::TopK:
      return run_top_k(context);

    case OpKind::RngBitGenerator:
      return run_rng_bit_generator(context);

    case OpKind::Call:
    case OpKind::Case:
    case OpKind::While:
      return run_control(context);

    case OpKind::AllGather:
      return run_all_gather(context);
    case OpKind::AllReduce:
      return run_all_reduce(context);
    case OpKind::AllToAll:
      return run_all_to_all(context);
    case OpKind::CollectiveBroadcast:
      return run_collective_broadcast(context);
    case OpKind::CollectivePermute:
      return run_collective_permute(context);
    case OpKind::ReduceScatter:
      return run_reduce_scatter(context);
    case OpKind::PartitionId:
    case OpKind::ReplicaId:
      return run_device_id(context);

    case OpKind::CustomCall:
      return run_custom_call(context);

    // Elementwise: handled above.
    case OpKind::Abs:
    case OpKind::Cbrt:
    case OpKind::Ceil:
    case OpKind::Convert:
    case OpKind::Cosine:
    case OpKind::CountLeadingZeros:
    case OpKind::Exponential:
    case OpKind::ExponentialMinusOne:
    case OpKind::Floor:
    case OpKind::IsFinite:
    case OpKind::Log:
    case OpKind::LogPlusOne:
    case OpKind::Logistic:
    case OpKind::Negate:
    case OpKind::Not:
    case OpKind::PopulationCount:
    case OpKind::ReducePrecision:
    case OpKind::RoundNearestAfz:
    case OpKind::RoundNearestEven:
    case OpKind::Rsqrt:
    case OpKind::Sign:
    case OpKind::Sine:
    case OpKind::Sqrt:
    case OpKind::Tan:
    case OpKind::Tanh:
    case OpKind::Acos:
    case OpKind::Acosh:
    case OpKind::Asin:
    case OpKind::Asinh:
    case OpKind::Atan:
    case OpKind::Atanh:
    case OpKind::Cosh:
    case OpKind::Sinh:
    case OpKind::Erf:
    case OpKind::ErfInv:
    case OpKind::Erfc:
    case OpKind::Lgamma:
    case OpKind::Digamma:
    case OpKind::BesselI1e:
    case OpKind::Add:
    case OpKind::And:
    case OpKind::Atan2:
    case OpKind::Compare:
    case OpKind::Divide:
    case OpKind::Maximum:
    case OpKind::Minimum:
    case OpKind::Multiply:
    case OpKind::NextAfter:
    case OpKind::Or:
    case OpKind::Polygamma:
    case OpKind::Power:
    case OpKind::Remainder:
    case OpKind::ShiftLeft:
    case OpKind::ShiftRightArithmetic:
    case OpKind::ShiftRightLogical:
    case OpKind::Subtract:
    case OpKind::Xor:
    case OpKind::Zeta:
    case OpKind::Clamp:
    case OpKind::Select:
      break;
  }
  RHINO_ASSERT(false, "{} has no kernel", ir::op_name(op.kind));
  return {};
}

}  // namespace rhino::kernels::reference
