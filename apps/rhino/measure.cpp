// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <vector>

#include <rhino/ir/builder.hpp>

namespace rhino::app {
namespace {

using ir::DType;

/// Memory that kernels run on.
class Buffer {
 public:
  Buffer(ir::TensorType type, double value) : type_(std::move(type)) {
    bytes_ = ir::Literal::splat(type_, value).expanded_bytes();
  }
  void* data() { return bytes_.data(); }

 private:
  ir::TensorType type_;
  std::vector<std::byte> bytes_;
};

/// Median seconds of one call, after a warm-up; enough calls for about a quarter of a second.
double median_seconds(const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  call();
  std::vector<double> times;
  const auto begin = Clock::now();
  while (times.size() < 5 || (std::chrono::duration<double>(Clock::now() - begin).count() < 0.25 && times.size() < 1000)) {
    const auto start = Clock::now();
    call();
    times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

/// Seconds of the last op of a one-function program on buffers filled with ones.
double op_seconds(const kernels::Backend& backend, ir::Program& program) {
  const ir::Function& entry = program.entry();
  const ir::Op& op = entry.ops.back();
  const auto kernel = backend.make(program, entry, op);
  std::vector<Buffer> buffers;
  for (ir::ValueId operand : op.operands) buffers.emplace_back(entry.type(operand), 1.0);
  for (ir::ValueId result : op.results) buffers.emplace_back(entry.type(result), 0.0);
  std::vector<const void*> operands;
  std::vector<void*> results;
  for (std::size_t i = 0; i < op.operands.size(); ++i) operands.push_back(buffers[i].data());
  for (std::size_t i = 0; i < op.results.size(); ++i) results.push_back(buffers[op.operands.size() + i].data());
  std::vector<std::byte> workspace(static_cast<std::size_t>(kernel->workspace_bytes()) + 64);
  return median_seconds([&] { kernel->run(operands, results, workspace.data()); });
}

double product_rate(const kernels::Backend& backend, DType dtype, std::int64_t n) {
  ir::Program program;
  program.main = program.add_function("product");
  ir::Builder builder(program, program.main);
  const ir::ValueId a = builder.param({dtype, {n, n}});
  const ir::ValueId b = builder.param({dtype, {n, n}});
  builder.add(ir::OpKind::DotGeneral, {a, b}, ir::DotGeneralAttrs{{}, {}, {1}, {0}, dtype});
  return 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n) / op_seconds(backend, program);
}

double convolution_rate(const kernels::Backend& backend) {
  constexpr std::int64_t batch = 4;
  constexpr std::int64_t size = 28;
  constexpr std::int64_t channels = 64;
  ir::Program program;
  program.main = program.add_function("convolution");
  ir::Builder builder(program, program.main);
  const ir::ValueId input = builder.param({DType::F32, {batch, size, size, channels}});
  const ir::ValueId kernel = builder.param({DType::F32, {3, 3, channels, channels}});
  ir::ConvolutionAttrs attrs;
  attrs.window = {{3, 1, 1, 1, 1, 1, false}, {3, 1, 1, 1, 1, 1, false}};
  attrs.input_batch = 0;
  attrs.input_spatial = {1, 2};
  attrs.input_feature = 3;
  attrs.kernel_spatial = {0, 1};
  attrs.kernel_input_feature = 2;
  attrs.kernel_output_feature = 3;
  attrs.output_batch = 0;
  attrs.output_spatial = {1, 2};
  attrs.output_feature = 3;
  builder.add(ir::OpKind::Convolution, {input, kernel}, attrs);
  const double flops = 2.0 * batch * size * size * channels * 9 * channels;
  return flops / op_seconds(backend, program);
}

/// Seconds of a fused pass over `count` f32 elements: y = op(x).
double fused_seconds(const kernels::Backend& backend, ir::OpKind kind, std::int64_t count) {
  ir::FusedExpression expression;
  expression.shape = {count};
  expression.inputs = {{DType::F32, {1}, 0}};
  expression.steps = {{kind, ir::NoAttrs{}, {0}, DType::F32}};
  expression.outputs = {1};
  const auto kernel = backend.make_fused(expression);
  Buffer x({DType::F32, {count}}, 0.5);
  Buffer y({DType::F32, {count}}, 0.0);
  const std::vector<const void*> operands{x.data()};
  const std::vector<void*> results{y.data()};
  return median_seconds([&] { kernel->run(operands, results, nullptr); });
}

double all_reduce_seconds(comm::Communicator& communicator, comm::GroupHandle group, std::int64_t count) {
  std::vector<float> data(static_cast<std::size_t>(count), 1.0f);
  std::vector<double> times;
  for (int i = 0; i < 12; ++i) {  // the same number on every rank
    communicator.barrier();
    const auto start = std::chrono::steady_clock::now();
    communicator.wait(communicator.all_reduce(group, data.data(), data.data(), count, DType::F32, ir::ReducerKind::Maximum),
                      "an all-reduce of rhino calibrate");
    times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

cluster::Cluster measure_cluster(const kernels::Backend& backend, comm::Communicator& communicator) {
  cluster::Cluster cluster = cluster::default_cpu_cluster(communicator.size());
  cluster.name = "calibrated";
  cluster::Device& device = cluster.device;
  communicator.barrier();
  device.flops_f32 = product_rate(backend, DType::F32, 512);
  device.flops_f64 = product_rate(backend, DType::F64, 512);
  device.flops_bf16 = product_rate(backend, DType::BF16, 512);
  device.conv_efficiency = std::min(1.5, convolution_rate(backend) / device.flops_f32);
  constexpr std::int64_t many = std::int64_t{1} << 22;
  constexpr std::int64_t few = std::int64_t{1} << 13;
  device.memory_bandwidth = 8.0 * many / fused_seconds(backend, ir::OpKind::Negate, many);
  device.transcendental_rate = few / fused_seconds(backend, ir::OpKind::Exponential, few);
  device.op_overhead = fused_seconds(backend, ir::OpKind::Negate, 1);
  const double pages = static_cast<double>(sysconf(_SC_PHYS_PAGES));
  device.memory_bytes = 0.8 * pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / static_cast<double>(communicator.size());

  const auto n = static_cast<double>(communicator.size());
  if (communicator.size() > 1) {
    std::vector<std::int64_t> all;
    for (std::int64_t r = 0; r < communicator.size(); ++r) all.push_back(r);
    const comm::GroupHandle group = communicator.make_group(all);
    const double small = all_reduce_seconds(communicator, group, 2);
    const double large = all_reduce_seconds(communicator, group, many / 4);
    // The model (cost::collective_seconds): a small one takes the rounds of a tree or ring, a large one 2 (n - 1) (latency +
    // bytes / (n bandwidth)).
    cluster.levels.front().latency = small / (2 * std::min(n - 1, std::ceil(std::log2(n))));
    cluster.levels.front().bandwidth = 2 * (n - 1) / n * (4.0 * (many / 4)) / std::max(large - small, 1e-9);
  }
  return cluster;
}

}  // namespace rhino::app
