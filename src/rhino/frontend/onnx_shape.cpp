// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include <rhino/frontend/onnx_context.hpp>

namespace rhino::frontend::onnx {
namespace {

std::size_t at(int dimension) { return static_cast<std::size_t>(dimension); }

Literal integers_literal(const std::vector<std::int64_t>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(std::int64_t));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return {{DType::I64, {static_cast<std::int64_t>(values.size())}}, std::move(bytes)};
}

void constant(Context& c) {
  if (const Attribute* value = c.attribute("value"); value && value->kind == Attribute::Kind::Tensor)
    return c.out(c.g.constant(value->tensor));
  if (c.has("value_int")) return c.out(c.g.scalar_int(DType::I64, c.integer("value_int", 0)));
  if (c.has("value_ints")) return c.out(c.g.constant(integers_literal(c.integers("value_ints"))));
  if (c.has("value_float")) return c.out(c.g.scalar(DType::F32, c.real("value_float", 0)));
  if (const Attribute* list = c.attribute("value_floats"); list && list->kind == Attribute::Kind::Floats) {
    std::vector<std::byte> bytes(list->numbers.size() * sizeof(float));
    for (std::size_t i = 0; i < list->numbers.size(); ++i) {
      const auto number = static_cast<float>(list->numbers[i]);
      std::memcpy(bytes.data() + i * sizeof(float), &number, sizeof(float));
    }
    return c.out(c.g.constant({{DType::F32, {static_cast<std::int64_t>(list->numbers.size())}}, std::move(bytes)}));
  }
  c.unsupported("a constant that is no dense tensor of numbers");
}

void constant_of_shape(Context& c) {
  Dims dims = c.integers(0, "shape");
  c.check_dims(dims);
  Literal value = Literal::splat({DType::F32, {}}, 0);
  if (const Attribute* given = c.attribute("value")) {
    if (given->kind != Attribute::Kind::Tensor || given->tensor.type().elements() != 1)
      c.fail("attribute 'value' is no tensor of one element");
    value = given->tensor;
  }
  const auto bytes = value.stored_bytes();
  const DType dtype = value.type().dtype;
  c.out(c.g.constant(Literal({dtype, std::move(dims)}, {bytes.begin(), bytes.end()}, true)));
}

void shape(Context& c) {
  const Dims dims = c.in(0).dims();
  const auto rank = static_cast<std::int64_t>(dims.size());
  const auto place = [&](std::int64_t position) {
    return std::clamp(position < 0 ? position + rank : position, std::int64_t{0}, rank);
  };
  const std::int64_t start = place(c.integer("start", 0)), end = std::max(start, place(c.integer("end", rank)));
  c.out(c.g.constant(integers_literal({dims.begin() + start, dims.begin() + end})));
}

void size(Context& c) { c.out(c.g.scalar_int(DType::I64, c.in(0).type().elements())); }

void reshape(Context& c) {
  const Tensor x = c.in(0);
  Dims dims = c.opset < 5 ? c.integers("shape") : c.integers(1, "shape");
  const bool zero_means_zero = c.integer("allowzero", 0) != 0;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != 0 || zero_means_zero) continue;
    if (i >= x.dims().size())
      c.fail(fmt::format("size {} of its shape is to be kept, but its operand is a {}", i, ir::to_string(x.type())));
    dims[i] = x.dims()[i];
  }
  Dims given = dims;
  std::erase(given, -1);
  c.check_dims(given);
  c.out(c.g.reshape(x, std::move(dims)));
}

void flatten(Context& c) {
  const Tensor x = c.in(0);
  std::int64_t axis = c.integer("axis", 1);
  if (axis < 0) axis += x.rank();
  if (axis < 0 || axis > x.rank()) c.fail(fmt::format("it flattens at dimension {} of {}", axis, x.rank()));
  std::int64_t rows = 1;
  for (int i = 0; i < axis; ++i)
    rows *= x.dims()[at(i)];
  c.out(c.g.reshape(x, {rows, x.type().elements() / std::max<std::int64_t>(1, rows)}));
}

void transpose(Context& c) {
  const Tensor x = c.in(0);
  std::vector<int> permutation;
  if (c.has("perm"))
    permutation = c.dimensions(c.integers("perm"), x.rank());
  else
    for (int i = x.rank(); i-- > 0;)
      permutation.push_back(i);
  if (std::ssize(permutation) != x.rank())
    c.fail(fmt::format("it permutes {} dimensions of {}", permutation.size(), x.rank()));
  c.out(c.g.transpose(x, std::move(permutation)));
}

void squeeze(Context& c) {
  const Tensor x = c.in(0);
  std::vector<bool> gone(at(x.rank()));
  if (const auto axes = c.integers("axes", 1)) {
    for (const int axis : c.dimensions(*axes, x.rank())) {
      if (x.dims()[at(axis)] != 1)
        c.fail(fmt::format("it removes dimension {} of a {}", axis, ir::to_string(x.type())));
      gone[at(axis)] = true;
    }
  } else {
    for (int i = 0; i < x.rank(); ++i)
      gone[at(i)] = x.dims()[at(i)] == 1;
  }
  Dims dims;
  for (int i = 0; i < x.rank(); ++i)
    if (!gone[at(i)]) dims.push_back(x.dims()[at(i)]);
  c.out(c.g.reshape(x, std::move(dims)));
}

void unsqueeze(Context& c) {
  const Tensor x = c.in(0);
  const auto axes = c.integers("axes", 1);
  if (!axes) c.fail("it has no axes");
  if (axes->size() > 64) c.fail(fmt::format("it adds {} dimensions", axes->size()));
  const int rank = x.rank() + static_cast<int>(axes->size());
  Dims dims(at(rank), 0);
  for (const int axis : c.dimensions(*axes, rank))
    dims[at(axis)] = 1;
  std::size_t next = 0;
  const Dims old = x.dims();
  for (std::int64_t& size : dims)
    if (size == 0) size = old[next++];
  c.out(c.g.reshape(x, std::move(dims)));
}

void expand(Context& c) {
  const Tensor x = c.in(0);
  const Dims wanted = c.integers(1, "shape"), old = x.dims();
  Dims dims(std::max(wanted.size(), old.size()), 1);
  std::copy(wanted.begin(), wanted.end(), dims.end() - std::ssize(wanted));
  for (std::size_t i = 0; i < old.size(); ++i) {
    std::int64_t& size = dims[dims.size() - old.size() + i];
    if (size == 1) size = old[i];
  }
  c.check_dims(dims);
  c.out(c.g.broadcast(x, std::move(dims)));
}

/// Every dimension repeated as a whole (tile) or element by element.
Tensor repeated(Context& c, const Tensor& x, const std::vector<std::int64_t>& times, bool whole) {
  Dims with_repeats, result, apart;
  std::vector<int> places;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const std::int64_t size = x.dims()[i];
    std::int64_t all = 0;
    if (times[i] < 1 || __builtin_mul_overflow(size, times[i], &all))
      c.fail(fmt::format("it repeats a dimension {} times", times[i]));
    result.push_back(all);
    if (times[i] == 1) {
      places.push_back(static_cast<int>(with_repeats.size()));
      with_repeats.push_back(size);
      continue;
    }
    places.push_back(static_cast<int>(with_repeats.size()) + whole);
    with_repeats.push_back(whole ? times[i] : size);
    with_repeats.push_back(whole ? size : times[i]);
  }
  c.check_dims(result);
  if (result == x.dims()) return x;
  const ir::ValueId wide = c.g.ops().broadcast(c.g.use(x), std::move(with_repeats), std::move(places));
  return c.g.reshape(c.g.wrap(wide), std::move(result));
}

void tile(Context& c) {
  const std::vector<std::int64_t> times = c.integers(1, "repeats");
  if (std::ssize(times) != c.in(0).rank()) c.fail("it has another number of repeats than dimensions");
  c.out(repeated(c, c.in(0), times, true));
}

void concat(Context& c) {
  const std::vector<Tensor> parts = c.all();
  if (!c.has("axis")) c.fail("it has no axis");
  c.out(c.g.concatenate(parts, c.dimension(c.integer("axis", 0), parts[0].rank())));
}

Tensor sliced(Context& c, const Tensor& x, Dims start, Dims limit, Dims stride) {
  for (std::size_t i = 0; i < start.size(); ++i)
    if (limit[i] <= start[i])
      c.unsupported(fmt::format("a slice of a {} that is empty in dimension {}", ir::to_string(x.type()), i));
  return c.g.add(OpKind::Slice, {x}, ir::SliceAttrs{std::move(start), std::move(limit), std::move(stride)});
}

void slice(Context& c) {
  Tensor x = c.in(0);
  const bool old = c.opset < 10;
  const std::vector<std::int64_t> starts = old ? c.integers("starts") : c.integers(1, "starts");
  const std::vector<std::int64_t> ends = old ? c.integers("ends") : c.integers(2, "ends");
  std::vector<std::int64_t> axes, steps(starts.size(), 1);
  if (const auto given = c.integers("axes", 3))
    axes = *given;
  else
    for (std::size_t i = 0; i < starts.size(); ++i)
      axes.push_back(static_cast<std::int64_t>(i));
  if (!old && c.has(4)) steps = c.integers(4, "steps");
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    c.fail("its starts, ends, axes and steps are not equally many");
  Dims start(at(x.rank()), 0), limit = x.dims(), stride(at(x.rank()), 1);
  std::vector<int> reversed;
  const std::vector<int> dimensions = c.dimensions(axes, x.rank());
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const std::size_t d = at(dimensions[i]);
    const std::int64_t size = x.dims()[d], step = steps[i];
    if (step == 0 || step == std::numeric_limits<std::int64_t>::min()) c.fail(fmt::format("it has the step {}", step));
    const std::int64_t least = step > 0 ? 0 : -1, most = step > 0 ? size : size - 1;
    const auto place = [&](std::int64_t position) {
      return std::clamp(position < 0 ? position + size : position, least, most);
    };
    const std::int64_t from = std::max<std::int64_t>(0, place(starts[i])), to = place(ends[i]);
    if (step < 0) reversed.push_back(dimensions[i]);
    start[d] = step > 0 ? from : size - 1 - from;
    limit[d] = step > 0 ? to : size - 1 - to;
    stride[d] = std::min(std::abs(step), size);
  }
  if (!reversed.empty()) x = c.g.add(OpKind::Reverse, {x}, ir::DimensionsAttrs{std::move(reversed)});
  c.out(sliced(c, x, std::move(start), std::move(limit), std::move(stride)));
}

void split(Context& c) {
  const Tensor x = c.in(0);
  const int axis = c.dimension(c.integer("axis", 0), x.rank());
  const std::int64_t size = x.dim(axis), parts = static_cast<std::int64_t>(c.outputs());
  std::vector<std::int64_t> sizes;
  if (const auto given = c.integers("split", 1)) {
    sizes = *given;
  } else {
    const std::int64_t each = (size + parts - 1) / std::max<std::int64_t>(1, parts);
    for (std::int64_t i = 0; i < parts; ++i)
      sizes.push_back(std::min(each, size - i * each));
  }
  std::int64_t total = 0;
  for (const std::int64_t part : sizes)
    if (part < 1 || __builtin_add_overflow(total, part, &total)) c.fail(fmt::format("it has a part of size {}", part));
  if (total != size || std::ssize(sizes) != parts)
    c.fail(fmt::format("its {} parts of {} elements do not make up the {} of dimension {}", sizes.size(), total, size,
                       axis));
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    c.out(i, c.g.slice(x, axis, begin, begin + sizes[i]));
    begin += sizes[i];
  }
}

void pad(Context& c) {
  const Tensor x = c.in(0);
  const std::string mode = c.text("mode", "constant");
  if (mode != "constant") c.unsupported("mode = " + mode);
  const std::vector<std::int64_t> pads = c.opset < 11 ? c.integers("pads") : c.integers(1, "pads");
  std::vector<int> axes;
  if (c.has(3))
    axes = c.dimensions(c.integers(3, "axes"), x.rank());
  else
    for (int i = 0; i < x.rank(); ++i)
      axes.push_back(i);
  if (pads.size() != 2 * axes.size()) c.fail(fmt::format("it has {} pads for {} dimensions", pads.size(), axes.size()));
  Tensor value = c.g.scalar(x.dtype(), c.opset < 11 ? c.real("value", 0) : 0);
  if (c.opset >= 11 && c.has(2)) value = c.g.reshape(c.in(2), {});
  Dims low(at(x.rank()), 0), high = low, result = x.dims();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t d = at(axes[i]);
    low[d] = pads[i];
    high[d] = pads[i + axes.size()];
    if (__builtin_add_overflow(result[d], low[d], &result[d]) || __builtin_add_overflow(result[d], high[d], &result[d]))
      c.fail("its pads are too large");
  }
  c.check_dims(result);
  c.out(c.g.add(OpKind::Pad, {x, value}, ir::PadAttrs{low, high, Dims(at(x.rank()), 0)}));
}

void range(Context& c) {
  const DType dtype = c.in(0).dtype();
  const double start = c.number(0, "start"), limit = c.number(1, "limit"), delta = c.number(2, "delta");
  const double count = std::max(0.0, std::ceil((limit - start) / delta));
  if (!(count >= 1 && count <= 1e9)) c.fail(fmt::format("it has {} elements", count));
  const Tensor places = c.g.convert(c.g.iota({DType::I64, {static_cast<std::int64_t>(count)}}, 0), dtype);
  c.out(places * c.g.reshape(c.in(2), {}) + c.g.reshape(c.in(0), {}));
}

void trilu(Context& c) {
  const Tensor x = c.in(0);
  if (x.rank() < 2) c.fail("its operand has no two dimensions");
  const std::vector<std::int64_t> offset = c.has(1) ? c.integers(1, "k") : std::vector<std::int64_t>{0};
  if (offset.size() != 1) c.fail("its k is not one number");
  const ir::TensorType matrix{DType::I64, {x.dim(-2), x.dim(-1)}};
  const Tensor row = c.g.iota(matrix, 0), column = c.g.iota(matrix, 1);
  const Tensor edge = row + c.g.scalar_int(DType::I64, std::clamp(offset[0], -x.dim(-2), x.dim(-1)));
  const Tensor keep = c.integer("upper", 1) != 0 ? c.g.greater_equal(column, edge) : c.g.greater_equal(edge, column);
  c.out(c.g.select(c.g.broadcast(keep, x.dims()), x, c.g.scalar(x.dtype(), 0)));
}

/// Nearest neighbours, by whole factors: every element repeated.
void resize(Context& c) {
  const Tensor x = c.in(0);
  const bool upsample = c.op() == "Upsample";
  const std::string mode = c.text("mode", "nearest"), rounding = c.text("nearest_mode", "round_prefer_floor");
  const std::string coordinates = c.text("coordinate_transformation_mode", upsample ? "asymmetric" : "half_pixel");
  const bool floors = upsample || rounding == "floor";
  const bool centred = coordinates == "half_pixel" && rounding.starts_with("round_prefer");
  if (mode != "nearest" || c.has("axes") || !((coordinates == "asymmetric" && floors) || centred))
    c.unsupported(
        fmt::format("mode = {}, coordinate_transformation_mode = {}, nearest_mode = {}", mode, coordinates, rounding));
  std::vector<std::int64_t> times;
  const std::size_t place = upsample || c.opset < 11 ? 1 : 2;
  const bool by_size = !upsample && c.has(3);
  const Literal given = c.constant(by_size ? 3 : place, by_size ? "sizes" : "scales");
  if (given.type().elements() != x.rank()) c.fail("it has another number of scales than dimensions");
  for (int i = 0; i < x.rank(); ++i) {
    const double scale = given.element_as_double(i) / (by_size ? static_cast<double>(x.dim(i)) : 1.0);
    if (!(scale >= 1 && scale <= 1e9 && scale == std::floor(scale)))
      c.unsupported(fmt::format("a scale of {}; whole factors are", scale));
    times.push_back(static_cast<std::int64_t>(scale));
  }
  c.out(repeated(c, x, times, false));
}

void depth_to_space(Context& c) {
  const Tensor x = c.in(0);
  const std::int64_t block = c.integer("blocksize", 0);
  if (x.rank() != 4 || block < 1 || block > x.dim(1) || x.dim(1) % (block * block) != 0)
    c.fail(fmt::format("blocks of {} do not fit a {}", block, ir::to_string(x.type())));
  const std::int64_t n = x.dim(0), channels = x.dim(1) / (block * block), h = x.dim(2), w = x.dim(3);
  const bool depth_first = c.text("mode", "DCR") == "DCR";
  const Tensor apart = depth_first ? c.g.reshape(x, {n, block, block, channels, h, w})
                                   : c.g.reshape(x, {n, channels, block, block, h, w});
  const Tensor moved =
      c.g.transpose(apart, depth_first ? std::vector{0, 3, 4, 1, 5, 2} : std::vector{0, 1, 4, 2, 5, 3});
  c.out(c.g.reshape(moved, {n, channels, h * block, w * block}));
}

}  // namespace

void add_shape_converters(ConverterTable& table) {
  table.insert({
      {"Concat", concat},
      {"Constant", constant},
      {"ConstantOfShape", constant_of_shape},
      {"DepthToSpace", depth_to_space},
      {"Expand", expand},
      {"Flatten", flatten},
      {"Pad", pad},
      {"Range", range},
      {"Reshape", reshape},
      {"Resize", resize},
      {"Shape", shape},
      {"Size", size},
      {"Slice", slice},
      {"Split", split},
      {"Squeeze", squeeze},
      {"Tile", tile},
      {"Transpose", transpose},
      {"Trilu", trilu},
      {"Unsqueeze", unsqueeze},
      {"Upsample", resize},
  });
}

}  // namespace rhino::frontend::onnx
