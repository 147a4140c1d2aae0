// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <rhino/base/error.hpp>
#include <rhino/cost/cost_model.hpp>
#include <rhino/ir/op_info.hpp>

namespace rhino::cost {

namespace {

using ir::Op;
using ir::OpKind;
using ir::Program;
using ir::TensorType;
using Types = std::vector<TensorType>;

double elements(const Types& types) {
  double sum = 0;
  for (const TensorType& type : types) sum += static_cast<double>(type.elements());
  return sum;
}

double bytes(const Types& types) {
  double sum = 0;
  for (const TensorType& type : types) sum += static_cast<double>(type.bytes());
  return sum;
}

double product(const ir::Dims& dims, const std::vector<int>& which) {
  double result = 1;
  for (int d : which) result *= static_cast<double>(dims[static_cast<std::size_t>(d)]);
  return result;
}

/// Operations per element that a reducer region makes (at least one).
double reducer_ops(const Program& program, const Op& op) {
  return op.regions.empty() ? 1.0
                            : std::max<double>(1.0, static_cast<double>(program.function(op.regions.back()).ops.size()));
}

// One function per entry of the `cost` column of op_list.def.

OpWork cost_free(const Program&, const Op&, const Types&, const Types&) { return {}; }

OpWork cost_elementwise(const Program&, const Op&, const Types& in, const Types& out) {
  return {elements(out), 0, bytes(in) + bytes(out)};
}

OpWork cost_transcendental(const Program&, const Op&, const Types& in, const Types& out) {
  return {elements(out), elements(out), bytes(in) + bytes(out)};
}

OpWork cost_movement(const Program&, const Op& op, const Types& in, const Types& out) {
  // A gather or slice reads what it returns, not the whole operand.
  const bool reads_part = op.kind == OpKind::Gather || op.kind == OpKind::DynamicSlice || op.kind == OpKind::Slice;
  double read = bytes(in);
  if (reads_part) read = std::min(read, bytes(out) + (in.size() > 1 ? static_cast<double>(in[1].bytes()) : 0.0));
  return {0, 0, read + bytes(out)};
}

OpWork cost_update(const Program& program, const Op& op, const Types& in, const Types& out) {
  // The operand is updated in place where it can be; what moves is the update, read and written.
  const std::size_t update = op.kind == OpKind::Scatter ? in.size() - 1 : 1;
  const double moved = static_cast<double>(in[update].bytes());
  const double flops = op.kind == OpKind::Scatter ? static_cast<double>(in[update].elements()) * reducer_ops(program, op) : 0.0;
  return {flops, 0, 3 * moved + 0.5 * bytes(out)};
}

OpWork cost_dot_general(const Program&, const Op& op, const Types& in, const Types& out) {
  const auto& attrs = op.as<ir::DotGeneralAttrs>();
  Product shape;
  shape.batch = product(in[0].dims, attrs.lhs_batch);
  shape.k = product(in[0].dims, attrs.lhs_contracting);
  shape.m = static_cast<double>(in[0].elements()) / std::max(1.0, shape.batch * shape.k);
  shape.n = static_cast<double>(in[1].elements()) / std::max(1.0, shape.batch * shape.k);
  return {2 * elements(out) * shape.k, 0, bytes(in) + bytes(out), shape};
}

OpWork cost_convolution(const Program&, const Op& op, const Types& in, const Types& out) {
  const auto& attrs = op.as<ir::ConvolutionAttrs>();
  const double taps = product(in[1].dims, attrs.kernel_spatial);
  const double features = static_cast<double>(in[1].dims[static_cast<std::size_t>(attrs.kernel_input_feature)]);
  const double outputs = static_cast<double>(out[0].dims[static_cast<std::size_t>(attrs.output_feature)]);
  Product shape;
  shape.batch = static_cast<double>(std::max(attrs.feature_group_count, attrs.batch_group_count));
  shape.n = outputs / shape.batch;
  shape.k = taps * features;
  shape.m = elements(out) / std::max(1.0, outputs);
  return {2 * elements(out) * taps * features, 0, bytes(in) + bytes(out), shape};
}

OpWork cost_reduce(const Program& program, const Op& op, const Types& in, const Types& out) {
  return {elements({in.begin(), in.begin() + static_cast<std::ptrdiff_t>(in.size() / 2)}) * reducer_ops(program, op), 0,
          bytes(in) + bytes(out)};
}

OpWork cost_window(const Program& program, const Op& op, const Types& in, const Types& out) {
  const auto& window = op.kind == OpKind::ReduceWindow ? op.as<ir::ReduceWindowAttrs>().window
                                                       : op.as<ir::SelectAndScatterAttrs>().window;
  double taps = 1;
  for (const ir::WindowDim& dim : window) taps *= static_cast<double>(dim.size);
  const double positions = op.kind == OpKind::ReduceWindow ? elements(out) : static_cast<double>(in[1].elements());
  return {positions * taps * reducer_ops(program, op), 0, bytes(in) + bytes(out)};
}

OpWork cost_sort(const Program& program, const Op& op, const Types& in, const Types& out) {
  double length = 1;
  if (!in[0].dims.empty()) {
    const int dim = op.kind == OpKind::Sort ? op.as<ir::SortAttrs>().dimension : in[0].rank() - 1;
    length = static_cast<double>(in[0].dims[static_cast<std::size_t>(dim)]);
  }
  double steps = 1;
  while (length > 2) {
    length /= 2;
    steps += 1;
  }
  return {8 * elements(in) * steps * reducer_ops(program, op), 0, bytes(in) + bytes(out)};
}

OpWork cost_collective(const Program&, const Op&, const Types&, const Types&) {
  return {};  // priced by collective_seconds
}

/// Work of a function on the types that it declares.
OpWork function_work(const Program& program, const ir::Function& function) {
  OpWork sum;
  for (const Op& op : function.ops) {
    Types in;
    Types out;
    for (ir::ValueId v : op.operands) in.push_back(function.type(v));
    for (ir::ValueId v : op.results) out.push_back(function.type(v));
    const OpWork work = op_work(program, op, in, out);
    sum.flops += work.flops;
    sum.transcendentals += work.transcendentals;
    sum.bytes += work.bytes;
  }
  return sum;
}

OpWork cost_control(const Program& program, const Op& op, const Types&, const Types&) {
  if (op.kind == OpKind::While) {
    OpWork body = function_work(program, program.function(op.regions[1]));
    const double trips = static_cast<double>(trip_count(program, op).value_or(1));
    body.flops *= trips;
    body.transcendentals *= trips;
    body.bytes *= trips;
    return body;
  }
  OpWork most;
  for (ir::FunctionId region : op.regions) {
    const OpWork work = function_work(program, program.function(region));
    if (work.flops + work.bytes > most.flops + most.bytes) most = work;
  }
  return most;
}

}  // namespace

std::optional<std::int64_t> trip_count(const Program& program, const Op& op) {
  if (op.kind != OpKind::While) return std::nullopt;
  // Counted loop: the condition compares a carried integer with a constant or with a carried value that never changes, and
  // the body adds a constant to it.
  const ir::Function& condition = program.function(op.regions[0]);
  const ir::Function& body = program.function(op.regions[1]);
  const Op* compare = condition.producer(condition.results[0]);
  if (compare == nullptr || compare->kind != OpKind::Compare) return std::nullopt;
  if (compare->as<ir::CompareAttrs>().direction != ir::Comparison::Lt) return std::nullopt;
  const auto constant = [](const ir::Function& f, ir::ValueId v) -> std::optional<std::int64_t> {
    const Op* producer = f.producer(v);
    if (producer == nullptr || producer->kind != OpKind::Constant || f.type(v).elements() != 1) return std::nullopt;
    return producer->as<ir::ConstantAttrs>().value.element_as_int(0);
  };
  const ir::Value& counter = condition.value(compare->operands[0]);
  const auto limit = constant(condition, compare->operands[1]);
  if (counter.producer.valid() || !limit) return std::nullopt;
  const Op* add = body.producer(body.results[counter.result_index]);
  if (add == nullptr || add->kind != OpKind::Add) return std::nullopt;
  for (int side = 0; side < 2; ++side) {
    const auto step = constant(body, add->operands[static_cast<std::size_t>(side)]);
    const ir::ValueId other = add->operands[static_cast<std::size_t>(1 - side)];
    if (step && *step > 0 && other == body.params[counter.result_index]) {
      return std::max<std::int64_t>(0, (*limit + *step - 1) / *step);  // counters start at 0 in every known exporter
    }
  }
  return std::nullopt;
}

OpWork op_work(const Program& program, const Op& op, const Types& operands, const Types& results) {
  switch (op.kind) {
#define RHINO_OP(Kind, spelling, Attrs, infer, factors, cost) \
  case OpKind::Kind:                                          \
    return cost_##cost(program, op, operands, results);
#include <rhino/ir/op_list.def>
#undef RHINO_OP
  }
  RHINO_ASSERT(false, "op kind {}", static_cast<int>(op.kind));
  return {};
}

namespace {

/// Seconds of a product at `rate` operations per second of the whole device. A sum is worth splitting from here on.
constexpr double shortest_split_sum = 512;

double product_seconds(const Product& product, double rate, const cluster::Device& device) {
  const double blocks = product.batch * std::ceil(product.m / device.tile_m) * std::ceil(product.n / device.tile_n);
  const double splits = std::max(1.0, std::min(std::floor(device.units / blocks), std::ceil(product.k / shortest_split_sum)));
  const double turns = std::ceil(blocks * splits / device.units);
  return turns * 2 * device.tile_m * device.tile_n * std::ceil(product.k / splits) / (rate / device.units);
}

}  // namespace

double op_seconds(const OpWork& work, OpKind kind, ir::DType dtype, const cluster::Device& device) {
  const double peak = device.flops(dtype) * device.product_efficiency;
  double arithmetic = work.transcendentals / device.transcendental_rate;
  if (work.product.batch > 0) {
    arithmetic += product_seconds(work.product, kind == OpKind::Convolution ? peak * device.conv_efficiency : peak, device);
  } else {
    arithmetic += work.flops / (0.1 * peak);  // nothing but products and convolutions comes near the peak
  }
  return std::max(arithmetic, work.bytes / device.memory_bandwidth);
}

}  // namespace rhino::cost
