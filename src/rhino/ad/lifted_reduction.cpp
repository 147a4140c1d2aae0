// SPDX-License-Identifier: Apache-2.0
#include <rhino/ad/lifted_reduction.hpp>

#include <fmt/format.h>

#include <rhino/ad/gradient.hpp>
#include <rhino/ad/rules.hpp>
#include <rhino/ir/op_info.hpp>

namespace rhino::ad {

using ir::Dims;
using ir::OpKind;
using ir::ValueId;

namespace {

/// The reduction being written out: some tensors of one shape, combined by the reducer element by element.
class Lifted {
 public:
  explicit Lifted(Rule& r) : r_(r), b_(r.b), reducer_(r.program().function(r.op.regions[0])) {
    for (const ir::Op& op : reducer_.ops)
      if (op.kind != OpKind::Constant && !ir::is_elementwise(op.kind))
        r.refuse(fmt::format("there is no rule for a reducer with {}", ir::qualified_op_name(op.kind)));
  }

  using Tensors = std::vector<ValueId>;

  /// The reducer on two lists of tensors of one shape.
  Tensors combine(const Tensors& left, const Tensors& right) {
    const Dims dims = b_.type(left[0]).dims;
    std::vector<ValueId> image(reducer_.values.size());
    for (std::size_t i = 0; i < left.size(); ++i) {
      image[reducer_.params[i].index()] = left[i];
      image[reducer_.params[left.size() + i].index()] = right[i];
    }
    for (const ir::Op& op : reducer_.ops) {
      Tensors operands;
      for (const ValueId operand : op.operands)
        operands.push_back(image[operand.index()]);
      image[op.results[0].index()] = lift(op, operands, dims);
    }
    Tensors results;
    for (const ValueId result : reducer_.results)
      results.push_back(image[result.index()]);
    return results;
  }

  /// All elements of dimension `d` combined; it keeps the size 1.
  Tensors fold(Tensors x, int d, const Tensors& init) {
    if (b_.type(x[0]).dims[at(d)] == 0) x = padded(x, init, d, 0, 1, 0);
    for (std::int64_t size = b_.type(x[0]).dims[at(d)]; size != 1; size = b_.type(x[0]).dims[at(d)]) {
      // Neighbours are combined, so that the order is kept; an odd one waits.
      const std::int64_t even = size - size % 2;
      Tensors pairs = combine(strided(x, d, 0, even, 2), strided(x, d, 1, even, 2));
      if (even != size) {
        const Tensors last = strided(x, d, even, size, 1);
        for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = b_.concatenate({pairs[i], last[i]}, d);
      }
      x = std::move(pairs);
    }
    return x;
  }

  /// Every window of dimension `d` combined.
  Tensors slide(Tensors x, int d, const ir::WindowDim& window, const Tensors& init) {
    x = padded(x, init, d, window.pad_low, window.pad_high, window.base_dilation - 1);
    const std::int64_t step = window.window_dilation, size = b_.type(x[0]).dims[at(d)];
    const std::int64_t places = size - (window.size - 1) * step;
    if (places < 1) r_.refuse("its windows do not fit");
    Tensors result;
    // Windows of 1, 2, 4 .. elements; those in the binary digits of the size make it up.
    for (std::int64_t length = 1, done = 0; length <= window.size; length *= 2) {
      if ((window.size & length) != 0) {
        const Tensors part = strided(x, d, done * step, done * step + places, 1);
        result = result.empty() ? part : combine(result, part);
        done += length;
      }
      if (2 * length > window.size) break;
      const std::int64_t longer = size - (2 * length - 1) * step;
      x = combine(strided(x, d, 0, longer, 1), strided(x, d, length * step, length * step + longer, 1));
    }
    return window.stride == 1 ? result : strided(result, d, 0, places, window.stride);
  }

 private:
  ValueId lift(const ir::Op& op, const Tensors& operands, const Dims& dims) {
    if (op.kind == OpKind::Constant) return b_.broadcast_scalar(b_.constant(op.as<ir::ConstantAttrs>().value), dims);
    const bool largest = op.kind == OpKind::Maximum, extremum = largest || op.kind == OpKind::Minimum;
    if (extremum && ir::is_float(b_.type(operands[0]).dtype))
      return b_.select(b_.compare(operands[0], operands[1], largest ? ir::Comparison::Ge : ir::Comparison::Le),
                       operands[0], operands[1]);
    return b_.add(op.kind, operands, op.attrs);
  }

  Tensors padded(const Tensors& x, const Tensors& init, int d, std::int64_t low, std::int64_t high,
                 std::int64_t interior) {
    if (low == 0 && high == 0 && interior == 0) return x;
    Tensors result;
    for (std::size_t i = 0; i < x.size(); ++i) {
      Dims lows(b_.type(x[i]).dims.size(), 0), highs = lows, interiors = lows;
      lows[at(d)] = low;
      highs[at(d)] = high;
      interiors[at(d)] = interior;
      result.push_back(b_.pad(x[i], init[i], lows, highs, interiors));
    }
    return result;
  }

  Tensors strided(const Tensors& x, int d, std::int64_t start, std::int64_t limit, std::int64_t stride) {
    Tensors result;
    for (const ValueId value : x) {
      Dims starts(b_.type(value).dims.size(), 0), limits = b_.type(value).dims, strides(starts.size(), 1);
      if (start == 0 && limit == limits[at(d)] && stride == 1) {
        result.push_back(value);
        continue;
      }
      starts[at(d)] = start;
      limits[at(d)] = limit;
      strides[at(d)] = stride;
      result.push_back(b_.slice(value, starts, limits, strides));
    }
    return result;
  }

  Rule& r_;
  ir::Builder& b_;
  const ir::Function reducer_;  ///< a copy: the list of functions may grow
};

/// The reduction as elementwise ops; its results have the types of the op's.
std::vector<ValueId> write_out(Rule& r, std::vector<ValueId> x, const std::vector<ValueId>& init) {
  Lifted lifted(r);
  if (r.op.kind == OpKind::ReduceWindow) {
    const auto& window = r.op.as<ir::ReduceWindowAttrs>().window;
    for (std::size_t d = 0; d < window.size(); ++d)
      x = lifted.slide(x, static_cast<int>(d), window[d], init);
  } else {
    for (const int d : r.op.as<ir::ReduceAttrs>().dimensions)
      x = lifted.fold(x, d, init);
  }
  const Dims dims = r.type(r.result()).dims;
  std::vector<ValueId> start;
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = r.b.reshape(x[i], dims);
    start.push_back(r.b.broadcast_scalar(init[i], dims));
  }
  return lifted.combine(start, x);
}

}  // namespace

void rule_lifted_reduction(Rule& r) {
  // Copies of the operands: the reverse pass over what is written out must end at them.
  const std::vector<ValueId> copies = r.b.add_multi(OpKind::OptimizationBarrier, r.op.operands);
  const std::size_t count = copies.size() / 2;
  const std::vector<ValueId> x(copies.begin(), copies.begin() + static_cast<std::ptrdiff_t>(count)),
      init(copies.begin() + static_cast<std::ptrdiff_t>(count), copies.end());
  const std::vector<ValueId> results = write_out(r, x, init);
  std::vector<ValueId> wrt, cotangents;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    if (!r.needs(i)) continue;
    wrt.push_back(copies[i]);
    places.push_back(i);
  }
  for (std::size_t i = 0; i < results.size(); ++i)
    cotangents.push_back(r.cotangent(i));
  const std::vector<ValueId> gradients = vjp(r.program(), r.function(), results, cotangents, wrt);
  for (std::size_t i = 0; i < wrt.size(); ++i)
    r.add(places[i], gradients[i]);
}

}  // namespace rhino::ad
