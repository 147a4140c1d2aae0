// SPDX-License-Identifier: Apache-2.0
// Rules for ops with windows: each device computes its block of the output from the part of the input that its windows
// touch, neighbours' elements and padding included.
#include <algorithm>

#include <rhino/base/contains.hpp>
#include <rhino/base/error.hpp>
#include <rhino/base/math.hpp>
#include <rhino/shard/partition_rules.hpp>

namespace rhino::shard {

using ir::OpKind;
using ir::ValueId;

namespace {

bool has_no_elements(const ir::Dims& dims) { return contains(dims, 0); }

/// For results of which no device holds an element.
std::vector<ValueId> emit_empty(Emitter& emitter, const OpSite& site) {
  std::vector<ValueId> results;
  for (std::size_t r = 0; r < site.result_types.size(); ++r) {
    const ValueId zero = emitter.zero(site.result_types[r].dtype);
    results.push_back(emitter.builder().broadcast_scalar(zero, local_dims(site.result_layouts[r], emitter.mesh())));
  }
  return results;
}

std::int64_t group_count(std::int64_t whole, std::int64_t part, std::int64_t otherwise) {
  return part > 0 && whole % part == 0 ? whole / part : otherwise;
}

}  // namespace

std::vector<ValueId> emit_convolution(Emitter& emitter, const OpSite& site) {
  const MeshShape& mesh = emitter.mesh();
  ir::ConvolutionAttrs attrs = site.op.as<ir::ConvolutionAttrs>();
  if (has_no_elements(local_dims(site.result_layouts[0], mesh))) return emit_empty(emitter, site);
  const ValueId input_zero = emitter.zero(site.operand_types[0].dtype);
  const ValueId kernel_zero = emitter.zero(site.operand_types[1].dtype);
  // Padding along the contracted dimensions, on both sides, as for dots.
  ValueId input = emitter.mask_padding(site.operands[0], site.operand_layouts[0], {attrs.input_feature}, input_zero);
  std::vector<int> contracted = attrs.kernel_spatial;
  contracted.push_back(attrs.kernel_input_feature);
  const ValueId kernel = emitter.mask_padding(site.operands[1], site.operand_layouts[1], contracted, kernel_zero);

  for (std::size_t s = 0; s < attrs.window.size(); ++s) {
    const DimLayout& in = site.operand_dim(0, attrs.input_spatial[s]);
    const DimLayout& taps = site.operand_dim(1, attrs.kernel_spatial[s]);
    const DimLayout& out = site.result_dim(0, attrs.output_spatial[s]);
    const bool exchanges = site.exchanges(site.operand_factors(0, attrs.input_spatial[s])) ||
                           site.exchanges(site.operand_factors(1, attrs.kernel_spatial[s])) ||
                           site.exchanges(site.result_factors(0, attrs.output_spatial[s]));
    if (!exchanges) {
      attrs.window[s].size = local_size(taps, mesh);
      if (taps.is_split()) {  // image and window are split alike: a contraction
        input = emitter.mask_padding(input, site.operand_layouts[0], {attrs.input_spatial[s]}, input_zero);
      }
      continue;
    }
    const std::int64_t tap_count = local_size(taps, mesh);
    PerDevice first_tap = emitter.block_starts(taps);
    if (attrs.window[s].reversal) {
      for (std::int64_t& first : first_tap) first = taps.size() - first - tap_count;
    }
    const WindowFetch fetched =
        emitter.fetch_window(input, attrs.input_spatial[s], in, attrs.window[s], emitter.block_starts(out),
                             local_size(out, mesh), first_tap, tap_count, input_zero);
    input = fetched.value;
    attrs.window[s] = fetched.window;
  }
  const auto local = [&](ValueId value, int dim) { return emitter.dims(value)[static_cast<std::size_t>(dim)]; };
  if (attrs.feature_group_count > 1) {
    attrs.feature_group_count = group_count(local(input, attrs.input_feature), local(kernel, attrs.kernel_input_feature),
                                            attrs.feature_group_count);
  }
  if (attrs.batch_group_count > 1) {
    attrs.batch_group_count =
        group_count(local(input, attrs.input_batch), local_size(site.result_dim(0, attrs.output_batch), mesh),
                    attrs.batch_group_count);
  }
  return emitter.builder().add_multi(OpKind::Convolution, {input, kernel}, attrs);
}

std::vector<ValueId> emit_reduce_window(Emitter& emitter, const OpSite& site) {
  const MeshShape& mesh = emitter.mesh();
  ir::ReduceWindowAttrs attrs = site.op.as<ir::ReduceWindowAttrs>();
  if (has_no_elements(local_dims(site.result_layouts[0], mesh))) return emit_empty(emitter, site);
  std::vector<ValueId> operands = site.operands;
  const std::size_t inputs = operands.size() / 2;
  for (std::size_t i = 0; i < inputs; ++i) {
    operands[inputs + i] = contribute_once(emitter, site, inputs + i, {}, site.strategy.carried_kind);
  }
  for (std::size_t d = 0; d < attrs.window.size(); ++d) {
    const int dim = static_cast<int>(d);
    const DimLayout& in = site.operand_dim(0, dim);
    const DimLayout& out = site.result_dim(0, dim);
    if (!site.exchanges(site.operand_factors(0, dim)) && !site.exchanges(site.result_factors(0, dim))) continue;
    ir::WindowDim left;
    for (std::size_t i = 0; i < inputs; ++i) {
      const WindowFetch fetched =
          emitter.fetch_window(operands[i], dim, in, attrs.window[d], emitter.block_starts(out), local_size(out, mesh),
                               emitter.uniform(0), attrs.window[d].size, operands[inputs + i]);
      operands[i] = fetched.value;
      left = fetched.window;
    }
    attrs.window[d] = left;
  }
  return emitter.builder().add_multi(OpKind::ReduceWindow, operands, attrs, site.regions);
}

namespace {

/// What one split dimension of a select_and_scatter needs: rows [first, first + length) of the operand, of which `first` is
/// a multiple of the stride, so that local windows are global ones. The op's own padding is then right at the true ends of
/// the operand and wrong at a cut; enough rows are taken that no window which reaches over a cut touches the device's own
/// block.
struct ScatterRange {
  PerDevice first;
  std::int64_t length = 0;
};

ScatterRange scatter_range(const PerDevice& starts, std::int64_t block, std::int64_t size, std::int64_t windows,
                           const ir::WindowDim& window) {
  ScatterRange range;
  range.first.assign(starts.size(), 0);
  range.length = size;
  std::int64_t needed = 1;
  for (std::size_t d = 0; d < starts.size(); ++d) {
    const std::int64_t begin = std::min(starts[d], size);
    const std::int64_t end = std::min(starts[d] + block, size);
    if (begin >= end) continue;
    const std::int64_t first_window = std::max<std::int64_t>(floor_div(begin + window.pad_low - window.size, window.stride) + 1, 0);
    const std::int64_t last_window = std::min(floor_div(end - 1 + window.pad_low, window.stride), windows - 1);
    std::int64_t lower = begin;
    std::int64_t upper = end;
    if (first_window <= last_window) {
      lower = std::clamp<std::int64_t>(first_window * window.stride - window.pad_low, 0, begin);
      upper = std::clamp(last_window * window.stride - window.pad_low + window.size, end, size);
    }
    range.first[d] = lower / window.stride * window.stride;
    needed = std::max(needed, upper - range.first[d]);
  }
  const std::int64_t missing = size - needed;
  if (missing <= 0) {
    std::fill(range.first.begin(), range.first.end(), 0);
    return range;
  }
  range.length = size - missing / window.stride * window.stride;
  for (std::int64_t& first : range.first) first = std::min(first, size - range.length);
  return range;
}

}  // namespace

std::vector<ValueId> emit_select_and_scatter(Emitter& emitter, const OpSite& site) {
  const MeshShape& mesh = emitter.mesh();
  const auto& attrs = site.op.as<ir::SelectAndScatterAttrs>();
  ir::Builder& b = emitter.builder();
  ValueId operand = site.operands[0];
  ValueId source = site.operands[1];
  const ValueId init = contribute_once(emitter, site, 2, {}, site.strategy.carried_kind);
  std::vector<std::pair<int, PerDevice>> cuts;  // dimension, start of the own block in the local result
  for (std::size_t d = 0; d < attrs.window.size(); ++d) {
    const int dim = static_cast<int>(d);
    const ir::WindowDim& window = attrs.window[d];
    const DimLayout& rows = site.operand_dim(0, dim);
    const DimLayout& sources = site.operand_dim(1, dim);
    const DimLayout& out = site.result_dim(0, dim);
    if (!site.exchanges(site.operand_factors(0, dim)) && !site.exchanges(site.result_factors(0, dim))) continue;

    const PerDevice starts = emitter.block_starts(out);
    const std::int64_t block = local_size(out, mesh);
    const ScatterRange range = scatter_range(starts, block, rows.size(), sources.size(), window);
    const std::int64_t padded = range.length + window.pad_low + window.pad_high;
    const std::int64_t count = padded < window.size ? 0 : (padded - window.size) / window.stride + 1;
    PerDevice first_source = range.first;
    PerDevice own = starts;
    for (std::size_t g = 0; g < starts.size(); ++g) {
      const std::int64_t begin = range.first[g];
      first_source[g] = begin / window.stride;
      own[g] = starts[g] >= rows.size() ? 0 : starts[g] - begin;
    }
    operand = emitter.fetch(operand, dim, rows, range.first, range.length, std::nullopt);
    source = emitter.fetch(source, dim, sources, first_source, count, std::nullopt);
    cuts.emplace_back(dim, own);
  }
  ValueId result = b.add(OpKind::SelectAndScatter, {operand, source, init}, attrs, site.regions);
  for (const auto& [dim, own] : cuts) {
    const std::int64_t block = local_size(site.result_dim(0, dim), mesh);
    std::int64_t reach = 0;
    for (const std::int64_t start : own) reach = std::max(reach, start + block);
    const std::int64_t extent = emitter.dims(result)[static_cast<std::size_t>(dim)];
    result = emitter.pad(result, dim, init, 0, std::max<std::int64_t>(reach - extent, 0), 0);
    result = emitter.slice_at(result, dim, own, block);
  }
  return {result};
}

}  // namespace rhino::shard
