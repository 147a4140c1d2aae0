// SPDX-License-Identifier: Apache-2.0
#include <rhino/runtime/verify/verify.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/ir/text.hpp>
#include <rhino/kernels/reference/virtual_ranks.hpp>
#include <rhino/runtime/verify/local_part.hpp>

namespace rhino::runtime {

using ir::ValueId;
using kernels::reference::Tensor;
using shard::Layout;
using shard::MeshShape;

namespace {

double tolerance_for(ir::DType dtype, const VerifyOptions& options) {
  if (!ir::is_float(dtype)) return 0;
  if (options.relative_tolerance >= 0) return options.relative_tolerance;
  switch (dtype) {
    case ir::DType::F64: return 1e-9;
    case ir::DType::F32: return 1e-4;
    default: return 5e-2;
  }
}

/// One tensor element by element as doubles; integers as well, whose exact comparison is by bytes.
class Elements {
 public:
  explicit Elements(const Tensor& tensor) : literal_(tensor.to_literal()), tensor_(tensor) {}
  double value(std::int64_t index) const { return literal_.element_as_double(index); }
  bool same_bytes(std::int64_t index, const Elements& other, std::int64_t other_index) const {
    const std::size_t width = ir::dtype_bytes(tensor_.type.dtype);
    const auto* a = tensor_.bytes.data() + static_cast<std::size_t>(index) * width;
    const auto* b = other.tensor_.bytes.data() + static_cast<std::size_t>(other_index) * width;
    return std::equal(a, a + width, b);
  }

 private:
  ir::Literal literal_;
  const Tensor& tensor_;
};

double distance(double got, double want) {
  if (std::isnan(got) && std::isnan(want)) return 0;
  if (got == want) return 0;
  const double difference = std::abs(got - want);
  return std::isfinite(difference) ? difference : std::numeric_limits<double>::infinity();
}

/// Compares what every device holds under a layout that is not partial.
ValueDifference compare(const Tensor& whole, const std::vector<Tensor>& parts, const Layout& layout, const MeshShape& mesh,
                        const VerifyOptions& options) {
  ValueDifference result;
  const Elements want(whole);
  double scale = ir::is_float(whole.type.dtype) ? options.smallest_magnitude : 1;
  for (std::int64_t i = 0; i < whole.type.elements(); ++i) {
    const double magnitude = std::abs(want.value(i));
    if (std::isfinite(magnitude)) scale = std::max(scale, magnitude);
  }
  for (std::size_t device = 0; device < parts.size(); ++device) {
    const Elements got(parts[device]);
    for_each_local_element(layout, whole.type.dims, mesh, static_cast<std::int64_t>(device),
                           [&](std::int64_t local, std::int64_t global) {
                             if (got.same_bytes(local, want, global)) return;
                             double off = distance(got.value(local), want.value(global));
                             if (off == 0 && ir::is_integer(whole.type.dtype)) off = 1;  // beyond the precision of double
                             if (off <= result.largest) return;
                             result.largest = off;
                             result.where = fmt::format("device {}, element {}: got {:.17g}, want {:.17g}", device, global,
                                                        got.value(local), want.value(global));
                           });
  }
  result.relative = result.largest == 0 ? 0 : result.largest / scale;
  result.equal = result.relative <= tolerance_for(whole.type.dtype, options);
  return result;
}

double combine(shard::PartialKind kind, double a, double b) {
  switch (kind) {
    case shard::PartialKind::Sum: return a + b;
    case shard::PartialKind::Max: return std::isnan(a) ? a : std::isnan(b) ? b : std::max(a, b);
    case shard::PartialKind::Min: return std::isnan(a) ? a : std::isnan(b) ? b : std::min(a, b);
    case shard::PartialKind::And: return a != 0 && b != 0;
    case shard::PartialKind::Or: return a != 0 || b != 0;
  }
  return a;
}

/// Replaces partial values by their combination over each group. And and Or of integers are left out (nullopt): they do
/// not arise from the factor maps of training steps, and doubles do not combine bits.
std::optional<std::vector<Tensor>> combine_partials(const std::vector<Tensor>& parts, const Layout& layout,
                                                    const MeshShape& mesh) {
  const ir::TensorType type = parts.front().type;
  const bool bits = layout.partial_kind == shard::PartialKind::And || layout.partial_kind == shard::PartialKind::Or;
  if (bits && type.dtype != ir::DType::I1) return std::nullopt;
  if (type.dtype == ir::DType::I64 || type.dtype == ir::DType::U64) return std::nullopt;
  std::vector<Tensor> combined = parts;
  for (const auto& group : mesh.groups(layout.partial_axes)) {
    std::vector<ir::Literal> members;
    for (const std::int64_t device : group) members.push_back(parts[static_cast<std::size_t>(device)].to_literal());
    Tensor sum(type);
    const std::size_t width = ir::dtype_bytes(type.dtype);
    for (std::int64_t i = 0; i < type.elements(); ++i) {
      double value = members.front().element_as_double(i);
      for (std::size_t m = 1; m < members.size(); ++m) {
        value = combine(layout.partial_kind, value, members[m].element_as_double(i));
      }
      const auto bytes = ir::Literal::splat({type.dtype, {}}, value).expanded_bytes();
      std::copy(bytes.begin(), bytes.end(), sum.bytes.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(i) * width));
    }
    for (const std::int64_t device : group) combined[static_cast<std::size_t>(device)] = sum;
  }
  return combined;
}

std::vector<kernels::reference::VirtualRank> make_ranks(const ir::Program& program,
                                                        const shard::PartitionedProgram& partitioned,
                                                        const std::vector<Tensor>& arguments) {
  const ir::Function& entry = program.entry();
  RHINO_CHECK(arguments.size() == entry.params.size(), "the program takes {} arguments, {} were given", entry.params.size(),
              arguments.size());
  std::vector<kernels::reference::VirtualRank> ranks(static_cast<std::size_t>(partitioned.mesh.devices()));
  for (std::size_t device = 0; device < ranks.size(); ++device) {
    ranks[device].program = &partitioned.local;
    ranks[device].function = partitioned.local.main;
    for (std::size_t a = 0; a < arguments.size(); ++a) {
      ranks[device].arguments.push_back(
          local_part(arguments[a], partitioned.params[a], partitioned.mesh, static_cast<std::int64_t>(device)));
    }
  }
  return ranks;
}

kernels::reference::RankGrid grid_of(const MeshShape& mesh) { return {1, mesh.devices()}; }

/// Runs both programs once more and compares value by value, in program order.
std::optional<OpDifference> find_first_op(const ir::Program& program, const shard::PartitionedProgram& partitioned,
                                          const std::vector<Tensor>& arguments, const VerifyOptions& options) {
  const ir::Function& entry = program.entry();
  const ir::Function& local_entry = partitioned.local.entry();
  const auto devices = static_cast<std::size_t>(partitioned.mesh.devices());
  std::vector<bool> wanted(local_entry.values.size(), false);
  for (const shard::LocalValue& value : partitioned.values) {
    if (value.value.valid()) wanted[value.value.index()] = true;
  }
  std::vector<std::map<ValueId, Tensor>> kept(devices);
  kernels::reference::RankOptions rank_options;
  rank_options.on_op = [&](std::size_t rank, ir::OpId op, std::span<const Tensor> results) {
    const auto& ids = local_entry.op(op).results;
    for (std::size_t r = 0; r < ids.size(); ++r) {
      if (wanted[ids[r].index()]) kept[rank].insert_or_assign(ids[r], results[r]);
    }
  };
  kernels::reference::run_ranks(grid_of(partitioned.mesh), make_ranks(program, partitioned, arguments), rank_options);

  std::optional<OpDifference> first;
  kernels::reference::RunOptions run_options;
  run_options.on_op = [&](ir::OpId id, std::span<const Tensor> results) {
    if (first) return;
    const ir::Op& op = entry.op(id);
    for (std::size_t r = 0; r < results.size(); ++r) {
      const shard::LocalValue& home = partitioned.values[op.results[r].index()];
      if (!home.value.valid()) continue;
      std::vector<Tensor> parts;
      for (auto& device : kept) {
        if (const auto found = device.find(home.value); found != device.end()) parts.push_back(found->second);
      }
      if (parts.size() != devices) continue;
      Layout layout = home.layout;
      if (layout.is_partial()) {
        auto combined = combine_partials(parts, layout, partitioned.mesh);
        if (!combined) continue;
        parts = std::move(*combined);
        layout.partial_axes.clear();
        layout.partial_kind = shard::PartialKind::Sum;
      }
      ValueDifference difference = compare(results[r], parts, layout, partitioned.mesh, options);
      if (difference.equal) continue;
      first = OpDifference{id, static_cast<std::uint32_t>(r),
                           fmt::format("{} in layout {}", ir::print_op(program, entry, op),
                                       shard::to_string(home.layout, partitioned.mesh)),
                           std::move(difference)};
      return;
    }
  };
  kernels::reference::run(program, program.main, arguments, run_options);
  return first;
}

}  // namespace

bool VerifyReport::equal() const {
  return std::all_of(results.begin(), results.end(), [](const ValueDifference& result) { return result.equal; });
}

VerifyReport verify_partition(const ir::Program& program, const shard::PartitionedProgram& partitioned,
                              const std::vector<Tensor>& arguments, const VerifyOptions& options) {
  const std::vector<Tensor> whole = kernels::reference::run(program, program.main, arguments);
  const auto by_rank =
      kernels::reference::run_ranks(grid_of(partitioned.mesh), make_ranks(program, partitioned, arguments));
  VerifyReport report;
  for (std::size_t r = 0; r < whole.size(); ++r) {
    std::vector<Tensor> parts;
    for (const auto& rank : by_rank) parts.push_back(rank[r]);
    report.results.push_back(compare(whole[r], parts, partitioned.results[r], partitioned.mesh, options));
  }
  if (!report.equal() && options.find_first_op) report.first_op = find_first_op(program, partitioned, arguments, options);
  return report;
}

}  // namespace rhino::runtime
