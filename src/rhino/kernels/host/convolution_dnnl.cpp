// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <unordered_map>

#include <dnnl.hpp>

#include <rhino/kernels/host/convolution.hpp>
#include <rhino/kernels/host/odometer.hpp>

namespace rhino::kernels::host {

namespace {

using dnnl::memory;
using Tag = memory::format_tag;

enum class Form {
  Forward,
  DataGradient,    ///< the input is dilated: transposed convolution with the reversed kernel
  WeightGradient,  ///< the window is larger than the result: the result is the gradient of a kernel
};

/// Padding at the high end with which a strided window of reach `reach` gives `out` positions over `in` elements.
std::optional<std::int64_t> high_padding(std::int64_t in, std::int64_t out, std::int64_t stride, std::int64_t reach,
                                         std::int64_t low) {
  const std::int64_t high = (out - 1) * stride + reach - in - low;
  if (high >= 0) return high;
  // A smaller end than the input's is fine as long as no further window fits.
  return (in + low - reach) / stride + 1 == out ? std::optional<std::int64_t>(0) : std::nullopt;
}

/// The three tensors of a oneDNN convolution: source, weights, destination, as dims and strides in oneDNN's order.
struct Descriptors {
  memory::dims source, source_strides, weights, weights_strides, destination, destination_strides;
  memory::dims strides, dilates, low, high;
};

std::optional<Descriptors> describe(const ConvolutionProblem& p, Form form) {
  Descriptors d;
  const std::int64_t groups = p.feature_groups * p.batch_groups;
  const bool grouped = groups > 1;
  const std::int64_t out_per_group = p.out_features / groups;
  if (form == Form::WeightGradient) {
    // Images are summed over: they are the contracted features here; our batch and features are the kernel's sides.
    if (p.feature_groups > 1) return std::nullopt;
    d.source = {p.in_features, p.batch * p.batch_groups};
    d.source_strides = {p.in_feature_stride, p.in_batch_stride};
    d.destination = {p.in_features, p.out_features};
    d.destination_strides = {p.kernel_in_stride, p.kernel_out_stride};
    if (grouped) {
      d.weights = {groups, out_per_group, p.batch};
      d.weights_strides = {out_per_group * p.out_feature_stride, p.out_feature_stride, p.out_batch_stride};
    } else {
      d.weights = {p.out_features, p.batch};
      d.weights_strides = {p.out_feature_stride, p.out_batch_stride};
    }
  } else {
    if (p.batch_groups > 1) return std::nullopt;
    d.source = {p.batch, groups * p.in_features};
    d.source_strides = {p.in_batch_stride, p.in_feature_stride};
    d.destination = {p.batch, p.out_features};
    d.destination_strides = {p.out_batch_stride, p.out_feature_stride};
    const bool backward = form == Form::DataGradient;
    d.weights = {backward ? p.in_features : out_per_group, backward ? out_per_group : p.in_features};
    d.weights_strides = {backward ? p.kernel_in_stride : p.kernel_out_stride,
                         backward ? p.kernel_out_stride : p.kernel_in_stride};
    if (grouped) {
      d.weights.insert(d.weights.begin(), groups);
      d.weights_strides.insert(d.weights_strides.begin(), out_per_group * p.kernel_out_stride);
    }
  }
  for (const auto& s : p.spatial) {
    const ir::WindowDim& w = s.window;
    d.source.push_back(s.in);
    d.source_strides.push_back(s.in_stride);
    if (form == Form::WeightGradient) {
      if (w.base_dilation != 1 || w.reversal || w.pad_low < 0) return std::nullopt;
      const auto high = high_padding(s.in, w.size, w.window_dilation, (s.out - 1) * w.stride + 1, w.pad_low);
      if (!high) return std::nullopt;
      d.weights.push_back(s.out);
      d.weights_strides.push_back(s.out_stride);
      d.destination.push_back(w.size);
      d.destination_strides.push_back(s.kernel_stride);
      d.strides.push_back(w.window_dilation);
      d.dilates.push_back(w.stride - 1);
      d.low.push_back(w.pad_low);
      d.high.push_back(*high);
      continue;
    }
    d.destination.push_back(s.out);
    d.destination_strides.push_back(s.out_stride);
    d.weights.push_back(w.size);
    d.weights_strides.push_back(s.kernel_stride);
    d.dilates.push_back(w.window_dilation - 1);
    const std::int64_t reach = (w.size - 1) * w.window_dilation + 1;
    if (form == Form::Forward) {
      if (w.base_dilation != 1 || w.pad_low < 0) return std::nullopt;
      const auto high = high_padding(s.in, s.out, w.stride, reach, w.pad_low);
      if (!high) return std::nullopt;
      d.strides.push_back(w.stride);
      d.low.push_back(w.pad_low);
      d.high.push_back(*high);
    } else {
      if (w.stride != 1) return std::nullopt;
      const std::int64_t low = reach - 1 - w.pad_low;
      if (low < 0) return std::nullopt;
      const auto high = high_padding(s.out, s.in, w.base_dilation, reach, low);
      if (!high) return std::nullopt;
      d.strides.push_back(w.base_dilation);
      d.low.push_back(low);
      d.high.push_back(*high);
    }
  }
  return d;
}

/// Operands as oneDNN primitives want them: reordered into the workspace where its layout is another one.
class DnnlConvolution final : public Kernel {
 public:
  DnnlConvolution(const ConvolutionProblem& problem, Form form, const Descriptors& d)
      : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    constexpr auto f32 = memory::data_type::f32;
    const memory::desc source(d.source, f32, d.source_strides), weights(d.weights, f32, d.weights_strides),
        destination(d.destination, f32, d.destination_strides);
    const memory::desc any_source(d.source, f32, Tag::any), any_weights(d.weights, f32, Tag::any),
        any_destination(d.destination, f32, Tag::any);
    dnnl::primitive_attr attr;
    attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const auto forward_of = [&](const memory::desc& from, const memory::desc& to) {
      return dnnl::convolution_forward::primitive_desc({dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct, from,
                                                        any_weights, to, d.strides, d.dilates, d.low, d.high},
                                                       attr, engine_);
    };
    reverse_kernel(problem, form);
    if (form == Form::Forward) {
      const auto forward = forward_of(any_source, any_destination);
      primitive_ = dnnl::convolution_forward(forward);
      add(DNNL_ARG_SRC, source, forward.src_desc(), 0);
      add(DNNL_ARG_WEIGHTS, weights, forward.weights_desc(), 1);
      add(DNNL_ARG_DST, destination, forward.dst_desc(), -1);
      scratchpad_ = forward.scratchpad_desc();
    } else if (form == Form::DataGradient) {
      const memory::desc any_diff_source(d.destination, f32, Tag::any), any_diff_destination(d.source, f32, Tag::any);
      const dnnl::convolution_backward_data::primitive_desc backward(
          {dnnl::algorithm::convolution_direct, any_diff_source, any_weights, any_diff_destination, d.strides, d.dilates, d.low,
           d.high},
          attr, engine_, forward_of(any_diff_source, any_diff_destination));
      primitive_ = dnnl::convolution_backward_data(backward);
      add(DNNL_ARG_DIFF_DST, source, backward.diff_dst_desc(), 0);
      add(DNNL_ARG_WEIGHTS, weights, backward.weights_desc(), 1);
      add(DNNL_ARG_DIFF_SRC, destination, backward.diff_src_desc(), -1);
      scratchpad_ = backward.scratchpad_desc();
    } else {
      const dnnl::convolution_backward_weights::primitive_desc backward(
          {dnnl::algorithm::convolution_direct, any_source, any_weights, any_destination, d.strides, d.dilates, d.low, d.high}, attr,
          engine_, forward_of(any_source, any_destination));
      primitive_ = dnnl::convolution_backward_weights(backward);
      add(DNNL_ARG_SRC, source, backward.src_desc(), 0);
      add(DNNL_ARG_DIFF_DST, destination, backward.diff_dst_desc(), 1);
      add(DNNL_ARG_DIFF_WEIGHTS, weights, backward.diff_weights_desc(), -1);
      scratchpad_ = backward.scratchpad_desc();
    }
    scratchpad_at_ = take(static_cast<std::int64_t>(scratchpad_.get_size()));
  }

  std::int64_t workspace_bytes() const override { return workspace_; }

  void run(std::span<const void* const> operands, std::span<void* const> results, void* workspace) const override {
    auto* scratch = static_cast<std::byte*>(workspace);
    std::unordered_map<int, memory> args;
    for (const Argument& argument : arguments_) {
      void* user = argument.operand < 0 ? results[0]
                                        : const_cast<void*>(operands[static_cast<std::size_t>(argument.operand)]);
      if (argument.operand == 1 && !reversal_shape_.empty()) {
        reverse(static_cast<const float*>(user), reinterpret_cast<float*>(scratch + reversed_at_));
        user = scratch + reversed_at_;
      }
      if (!argument.reorder) {
        args.emplace(argument.id, memory(argument.inner, engine_, user));
        continue;
      }
      memory inner(argument.inner, engine_, scratch + argument.at);
      if (argument.operand >= 0) {
        memory outer(argument.outer, engine_, user);
        execute_reorder(*argument.reorder, outer, inner);
      }
      args.emplace(argument.id, inner);
    }
    args.emplace(DNNL_ARG_SCRATCHPAD, memory(scratchpad_, engine_, scratch + scratchpad_at_));
    primitive_.execute(stream_, args);
    for (const Argument& argument : arguments_) {
      if (argument.operand >= 0 || !argument.reorder) continue;
      memory inner(argument.inner, engine_, scratch + argument.at), outer(argument.outer, engine_, results[0]);
      execute_reorder(*argument.reorder, inner, outer);
    }
    stream_.wait();
  }

 private:
  struct Argument {
    int id = 0;
    memory::desc outer, inner;
    int operand = 0;  ///< -1: the result
    std::int64_t at = 0;
    std::optional<dnnl::reorder> reorder;
  };

  std::int64_t take(std::int64_t bytes) {
    const std::int64_t at = workspace_;
    workspace_ += (bytes + 63) / 64 * 64;
    return at;
  }

  void add(int id, const memory::desc& outer, const memory::desc& inner, int operand) {
    Argument argument{id, outer, inner, operand, 0, std::nullopt};
    if (outer != inner) {
      dnnl::primitive_attr attr;
      attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
      const bool into = operand >= 0;
      const dnnl::reorder::primitive_desc reorder(engine_, into ? outer : inner, engine_, into ? inner : outer, attr);
      argument.reorder = dnnl::reorder(reorder);
      argument.at = take(static_cast<std::int64_t>(inner.get_size()));
      RHINO_ASSERT(reorder.scratchpad_desc().get_size() == 0, "a reorder wants scratch memory");
    }
    arguments_.push_back(std::move(argument));
  }

  void execute_reorder(const dnnl::reorder& reorder, memory& from, memory& to) const {
    reorder.execute(stream_, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  }

  /// oneDNN has no reversed windows: the kernel is copied backwards where the problem and the form together ask for it.
  void reverse_kernel(const ConvolutionProblem& problem, Form form) {
    bool any = false;
    for (const auto& s : problem.spatial) any = any || (s.window.size > 1 && (s.window.reversal != (form == Form::DataGradient)));
    if (!any) return;
    // The copy keeps the kernel's layout: walk all dimensions with the kernel's strides, the reversed ones backwards.
    const auto add_dim = [&](std::int64_t size, std::int64_t stride, bool backwards) {
      reversal_shape_.push_back(size);
      reversal_to_.push_back(stride);
      reversal_from_.push_back(backwards ? -stride : stride);
      if (backwards) reversal_start_ += (size - 1) * stride;
    };
    for (const auto& s : problem.spatial) {
      add_dim(s.window.size, s.kernel_stride, s.window.reversal != (form == Form::DataGradient));
    }
    const bool in_inner = problem.kernel_in_stride < problem.kernel_out_stride;
    if (!in_inner) add_dim(problem.in_features, problem.kernel_in_stride, false);
    add_dim(problem.out_features, problem.kernel_out_stride, false);
    if (in_inner) add_dim(problem.in_features, problem.kernel_in_stride, false);
    reversed_at_ = take(problem.kernel_elements * static_cast<std::int64_t>(sizeof(float)));
  }

  void reverse(const float* from, float* to) const {
    for (Odometer<2> at(reversal_shape_, {&reversal_from_, &reversal_to_}); !at.done(); at.next()) {
      to[at.offset(1)] = from[reversal_start_ + at.offset(0)];
    }
  }

  dnnl::engine engine_;
  mutable dnnl::stream stream_;
  dnnl::primitive primitive_;
  std::vector<Argument> arguments_;
  memory::desc scratchpad_;
  std::int64_t scratchpad_at_ = 0, reversed_at_ = 0, workspace_ = 0;
  ir::Dims reversal_shape_, reversal_from_, reversal_to_;
  std::int64_t reversal_start_ = 0;
};

Form form_of(const ConvolutionProblem& problem) {
  std::int64_t window = 1, out = 1;
  bool dilated = false;
  for (const auto& s : problem.spatial) {
    window *= s.window.size;
    out *= s.out;
    dilated = dilated || s.window.base_dilation > 1;
  }
  if (dilated) return Form::DataGradient;
  return window > out || problem.batch_groups > 1 ? Form::WeightGradient : Form::Forward;
}

}  // namespace

std::unique_ptr<Kernel> make_dnnl_convolution(const ConvolutionProblem& problem) {
  if (problem.dtype != ir::DType::F32 || problem.spatial.empty() || problem.spatial.size() > 3) return nullptr;
  const Form form = form_of(problem);
  const auto descriptors = describe(problem, form);
  if (!descriptors) return nullptr;
  try {
    return std::make_unique<DnnlConvolution>(problem, form, *descriptors);
  } catch (const dnnl::error&) {
    return nullptr;  // oneDNN has no primitive for this shape
  }
}

}  // namespace rhino::kernels::host
