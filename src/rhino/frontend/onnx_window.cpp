// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include <rhino/frontend/batch_norm.hpp>
#include <rhino/frontend/onnx_context.hpp>

namespace rhino::frontend::onnx {
namespace {

using ir::ReducerKind;
using ir::WindowDim;

/// Sizes, strides and pads of a window, below which nothing overflows.
constexpr std::int64_t kMostWindow = std::int64_t{1} << 31;

/// One list of numbers per spatial dimension, checked.
std::vector<std::int64_t> spatial_list(Context& c, const char* name, int spatial, std::int64_t least,
                                       std::int64_t otherwise, int per_dimension = 1) {
  std::vector<std::int64_t> list = c.integers(name);
  if (list.empty()) list.assign(static_cast<std::size_t>(spatial * per_dimension), otherwise);
  if (std::ssize(list) != spatial * per_dimension)
    c.fail(fmt::format("attribute '{}' has {} numbers for {} spatial dimensions", name, list.size(), spatial));
  for (const std::int64_t value : list)
    if (value < least || value > kMostWindow) c.fail(fmt::format("attribute '{}' has the value {}", name, value));
  return list;
}

/// The window over the dimensions behind batch and features, by the attributes that convolutions and poolings share.
std::vector<WindowDim> window_of(Context& c, const Tensor& x, const std::vector<std::int64_t>& sizes) {
  const int spatial = x.rank() - 2;
  const auto strides = spatial_list(c, "strides", spatial, 1, 1),
             dilations = spatial_list(c, "dilations", spatial, 1, 1);
  const auto pads = spatial_list(c, "pads", spatial, 0, 0, 2);
  const std::string automatic = c.text("auto_pad", "NOTSET");
  if (automatic != "NOTSET" && automatic != "VALID" && automatic != "SAME_UPPER" && automatic != "SAME_LOWER")
    c.unsupported("auto_pad = " + automatic);
  std::vector<WindowDim> window;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    WindowDim dim{.size = sizes[i], .stride = strides[i], .window_dilation = dilations[i]};
    if (automatic == "NOTSET") {
      dim.pad_low = pads[i];
      dim.pad_high = pads[i + strides.size()];
    } else if (automatic != "VALID") {
      const std::int64_t size = x.dims()[i + 2], reach = (dim.size - 1) * dim.window_dilation + 1;
      const std::int64_t all =
          std::max<std::int64_t>(0, ((size + dim.stride - 1) / dim.stride - 1) * dim.stride + reach - size);
      dim.pad_low = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
      dim.pad_high = all - dim.pad_low;
    }
    window.push_back(dim);
  }
  return window;
}

ir::ConvolutionAttrs convolution_attrs(int rank, DType dtype) {
  ir::ConvolutionAttrs attrs;
  attrs.input_feature = attrs.output_feature = 1;
  attrs.kernel_input_feature = 1;
  for (int i = 2; i < rank; ++i) {
    attrs.input_spatial.push_back(i);
    attrs.kernel_spatial.push_back(i);
    attrs.output_spatial.push_back(i);
  }
  attrs.result_dtype = dtype;
  return attrs;
}

void check_operands(Context& c, const Tensor& x, const Tensor& kernel) {
  if (x.rank() < 3 || kernel.rank() != x.rank())
    c.fail(fmt::format("its operands are {} and {}", ir::to_string(x.type()), ir::to_string(kernel.type())));
}

std::vector<std::int64_t> kernel_sizes(Context& c, const Tensor& kernel) {
  const Dims dims = kernel.dims();
  const std::vector<std::int64_t> sizes(dims.begin() + 2, dims.end());
  if (c.has("kernel_shape") && c.integers("kernel_shape") != sizes)
    c.fail(fmt::format("its kernel_shape is not that of its kernel {}", ir::to_string(kernel.type())));
  return sizes;
}

Tensor with_bias(Context& c, const Tensor& y) {
  if (!c.has(2)) return y;
  Dims dims(static_cast<std::size_t>(y.rank() - 1), 1);
  dims[0] = -1;
  return y + c.g.reshape(c.in(2), std::move(dims));
}

void convolution(Context& c) {
  const Tensor x = c.in(0), kernel = c.in(1);
  check_operands(c, x, kernel);
  ir::ConvolutionAttrs attrs = convolution_attrs(x.rank(), x.dtype());
  attrs.window = window_of(c, x, kernel_sizes(c, kernel));
  attrs.feature_group_count = c.integer("group", 1);
  c.out(with_bias(c, c.g.add(OpKind::Convolution, {x, kernel}, std::move(attrs))));
}

/// The gradient of a convolution: the operand is spread by the stride, the kernel [in, out / groups, spatial..] is
/// turned round.
void transposed_convolution(Context& c) {
  const Tensor x = c.in(0);
  Tensor kernel = c.in(1);
  check_operands(c, x, kernel);
  if (c.has("output_shape") || c.text("auto_pad", "NOTSET").starts_with("SAME"))
    c.unsupported("output_shape or auto_pad");
  const int spatial = x.rank() - 2;
  const auto extra = spatial_list(c, "output_padding", spatial, 0, 0);
  ir::ConvolutionAttrs attrs = convolution_attrs(x.rank(), x.dtype());
  attrs.window = window_of(c, x, kernel_sizes(c, kernel));
  for (std::size_t i = 0; i < attrs.window.size(); ++i) {
    WindowDim& dim = attrs.window[i];
    const std::int64_t reach = (dim.size - 1) * dim.window_dilation;
    dim.base_dilation = dim.stride;
    dim.stride = 1;
    dim.pad_low = reach - dim.pad_low;
    dim.pad_high = reach - dim.pad_high + extra[i];
  }
  const std::int64_t groups = c.integer("group", 1);
  if (groups < 1 || x.dim(1) % groups != 0 || kernel.dim(0) != x.dim(1))
    c.fail(fmt::format("{} groups of a kernel {} do not fit {}", groups, ir::to_string(kernel.type()),
                       ir::to_string(x.type())));
  if (groups > 1) {
    // [in, out / groups, ..] -> [in / groups, out, ..]
    Dims apart = kernel.dims(), together = kernel.dims();
    apart[0] /= groups;
    apart.insert(apart.begin(), groups);
    together[0] /= groups;
    together[1] *= groups;
    std::vector<int> order{1, 0};
    for (int i = 2; i <= kernel.rank(); ++i)
      order.push_back(i);
    kernel = c.g.reshape(c.g.transpose(c.g.reshape(kernel, apart), order), together);
  }
  std::vector<int> turned;
  for (int i = 2; i < kernel.rank(); ++i)
    turned.push_back(i);
  kernel = c.g.add(OpKind::Reverse, {kernel}, ir::DimensionsAttrs{std::move(turned)});
  attrs.kernel_input_feature = 0;
  attrs.kernel_output_feature = 1;
  attrs.feature_group_count = groups;
  c.out(with_bias(c, c.g.add(OpKind::Convolution, {x, kernel}, std::move(attrs))));
}

/// Pads behind the end that make room for a last window that is only partly inside; a window that would lie wholly in
/// them is left out.
std::int64_t pad_of_ceiling(const WindowDim& dim, std::int64_t size) {
  const std::int64_t reach = (dim.size - 1) * dim.window_dilation + 1;
  const std::int64_t room = size + dim.pad_low + dim.pad_high - reach;
  if (room < 0) return 0;
  std::int64_t steps = (room + dim.stride - 1) / dim.stride;
  if (steps * dim.stride >= size + dim.pad_low) --steps;
  return std::max<std::int64_t>(0, steps * dim.stride - room);
}

Tensor window_reduce(Context& c, ReducerKind kind, const Tensor& x, const std::vector<WindowDim>& spatial) {
  std::vector<WindowDim> window(2);
  window.insert(window.end(), spatial.begin(), spatial.end());
  const Tensor start = c.g.constant(ir::reducer_identity(kind, x.dtype()));
  return c.g.add(OpKind::ReduceWindow, {x, start}, ir::ReduceWindowAttrs{std::move(window)},
                 {c.g.reducer(kind, x.dtype())});
}

template <bool average>
void pool(Context& c) {
  const Tensor x = c.in(0);
  if (x.rank() < 3) c.fail("its operand has no spatial dimensions");
  if (!c.has("kernel_shape")) c.fail("it has no kernel_shape");
  const auto sizes = spatial_list(c, "kernel_shape", x.rank() - 2, 1, 1);
  std::vector<WindowDim> window = window_of(c, x, sizes), inside = window;
  const bool ceiling = c.integer("ceil_mode", 0) != 0, counts_pads = c.integer("count_include_pad", 0) != 0;
  bool padded = false;
  ir::TensorType counted{x.dtype(), x.dims()};
  counted.dims[0] = counted.dims[1] = 1;
  double elements = 1;
  for (std::size_t i = 0; i < window.size(); ++i) {
    const std::int64_t extra = ceiling ? pad_of_ceiling(window[i], x.dims()[i + 2]) : 0;
    // What is counted: elements and, where those count, pads; but not the pads of the ceiling.
    if (counts_pads) {
      counted.dims[i + 2] += window[i].pad_low + window[i].pad_high;
      inside[i].pad_low = inside[i].pad_high = 0;
    }
    window[i].pad_high += extra;
    inside[i].pad_high += extra;
    padded = padded || inside[i].pad_low > 0 || inside[i].pad_high > 0;
    elements *= static_cast<double>(sizes[i]);
  }
  if (!average) {
    c.refuse_output(1);
    return c.out(window_reduce(c, ReducerKind::Maximum, x, window));
  }
  const Tensor sum = window_reduce(c, ReducerKind::Add, x, window);
  if (!padded) return c.out(sum / elements);
  c.out(sum / window_reduce(c, ReducerKind::Add, c.g.full(counted, 1), inside));
}

template <ReducerKind kind>
void global_pool(Context& c) {
  const Tensor x = c.in(0);
  std::vector<int> dimensions;
  for (int i = 2; i < x.rank(); ++i)
    dimensions.push_back(i);
  if (dimensions.empty()) return c.out(x);
  c.out(kind == ReducerKind::Add ? c.g.mean(x, dimensions, true) : c.g.reduce(kind, x, dimensions, true));
}

void batch_normalization(Context& c) {
  const Tensor x = c.in(0);
  for (const std::size_t i : {1, 2, 3, 4})
    if (c.in(i).rank() != 1 || x.rank() < 2 || c.in(i).dim(0) != x.dim(1) || c.in(i).dtype() != x.dtype())
      c.fail(
          fmt::format("its operand {} is a {} beside a {}", i, ir::to_string(c.in(i).type()), ir::to_string(x.type())));
  const double epsilon = c.real("epsilon", 1e-5), momentum = c.real("momentum", 0.9);
  const auto id = [&](std::size_t input) { return c.g.use(c.in(input)); };
  if (!c.learns(3))
    return c.out(c.g.wrap(batch_norm_inference(c.g.ops(), id(0), id(1), id(2), id(3), id(4), epsilon, 1)));
  const auto results = batch_norm_training(c.g.ops(), id(0), id(1), id(2), epsilon, 1);
  c.out(c.g.wrap(results[0]));
  for (const std::size_t i : {1, 2}) {
    const Tensor next = c.in(i + 2) * momentum + c.g.wrap(results[i]) * (1 - momentum);
    if (c.target().training()) c.keep(i + 2, next);
    c.out(i, next);
  }
}

}  // namespace

void add_window_converters(ConverterTable& table) {
  table.insert({
      {"AveragePool", pool<true>},
      {"BatchNormalization", batch_normalization},
      {"Conv", convolution},
      {"ConvTranspose", transposed_convolution},
      {"GlobalAveragePool", global_pool<ReducerKind::Add>},
      {"GlobalMaxPool", global_pool<ReducerKind::Maximum>},
      {"MaxPool", pool<false>},
  });
}

}  // namespace rhino::frontend::onnx
