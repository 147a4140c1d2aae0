// SPDX-License-Identifier: Apache-2.0
// Products, convolutions and pooling of ir::Graph.
#include <rhino/ir/graph.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <rhino/base/error.hpp>

namespace rhino::ir {

Tensor Graph::dot(const Tensor& x, const Tensor& w) {
  if (x.rank() == 0 || w.rank() == 0 || x.dim(-1) != w.dim(0))
    fail(fmt::format("dot of {} and {}: the last dimension of the one must equal the first of the other",
                     to_string(x.type()), to_string(w.type())));
  return add(OpKind::DotGeneral, {x, w}, DotGeneralAttrs{{}, {}, {x.rank() - 1}, {0}, x.dtype()});
}

namespace {

/// "ab,bc->ac" taken apart.
struct Notation {
  std::string_view a, b, result;
};

std::optional<Notation> parse(std::string_view text) {
  const std::size_t comma = text.find(','), arrow = text.find("->");
  if (comma == text.npos || arrow == text.npos || comma > arrow) return std::nullopt;
  return Notation{text.substr(0, comma), text.substr(comma + 1, arrow - comma - 1), text.substr(arrow + 2)};
}

bool has(std::string_view letters, char letter) { return letters.find(letter) != letters.npos; }

bool distinct(std::string_view letters) {
  for (std::size_t i = 0; i < letters.size(); ++i)
    if (has(letters.substr(i + 1), letters[i])) return false;
  return true;
}

}  // namespace

Tensor Graph::einsum(std::string_view notation, const Tensor& a, const Tensor& b) {
  const auto bad = [&](std::string_view why) {
    fail(fmt::format("'{}' of {} and {}: {}", notation, to_string(a.type()), to_string(b.type()), why));
  };
  const auto parsed = parse(notation);
  if (!parsed) bad("expected the form 'ab,bc->ac'");
  const auto [left, right, result] = *parsed;
  if (static_cast<int>(left.size()) != a.rank() || static_cast<int>(right.size()) != b.rank())
    bad("one letter per dimension is needed");
  if (!distinct(left) || !distinct(right) || !distinct(result)) bad("a letter occurs twice in one part");
  DotGeneralAttrs attrs;
  attrs.result_dtype = a.dtype();
  std::string batch, free_left, free_right;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const std::size_t other = right.find(left[i]);
    if (other == right.npos) {
      if (!has(result, left[i])) bad("a letter of one operand alone is missing in the result");
      free_left += left[i];
      continue;
    }
    if (a.dims()[i] != b.dims()[other]) bad(fmt::format("sizes of '{}' differ", left[i]));
    const bool kept = has(result, left[i]);
    (kept ? attrs.lhs_batch : attrs.lhs_contracting).push_back(static_cast<int>(i));
    (kept ? attrs.rhs_batch : attrs.rhs_contracting).push_back(static_cast<int>(other));
    if (kept) batch += left[i];
  }
  for (const char letter : right) {
    if (has(left, letter)) continue;
    if (!has(result, letter)) bad("a letter of one operand alone is missing in the result");
    free_right += letter;
  }
  const std::string order = batch + free_left + free_right;
  if (order.size() != result.size()) bad("the result has a letter that no operand has");
  std::vector<int> permutation;
  for (const char letter : result)
    permutation.push_back(static_cast<int>(order.find(letter)));
  return transpose(add(OpKind::DotGeneral, {a, b}, std::move(attrs)), std::move(permutation));
}

namespace {

/// Entry `i` of a list that has one for every dimension or one for all.
std::int64_t entry(const std::vector<std::int64_t>& list, std::size_t i) { return list[list.size() == 1 ? 0 : i]; }

WindowDim window_dim(const WindowSpec& spec, std::size_t i, std::int64_t input, std::int64_t size) {
  WindowDim dim;
  dim.size = size;
  dim.stride = entry(spec.stride, i);
  dim.window_dilation = entry(spec.dilation, i);
  dim.base_dilation = entry(spec.base_dilation, i);
  if (spec.pad_low.empty()) {
    const std::int64_t reach = (size - 1) * dim.window_dilation + 1;
    const std::int64_t positions = dim.stride < 1 ? 1 : (input + dim.stride - 1) / dim.stride;
    const std::int64_t padding = std::max<std::int64_t>(0, (positions - 1) * dim.stride + reach - input);
    dim.pad_low = padding / 2;
    dim.pad_high = padding - dim.pad_low;
  } else {
    dim.pad_low = entry(spec.pad_low, i);
    dim.pad_high = entry(spec.pad_high, i);
  }
  return dim;
}

}  // namespace

Tensor Graph::convolution(const Tensor& x, const Tensor& kernel, const WindowSpec& window) {
  const int rank = x.rank(), spatial = rank - 2;
  if (spatial < 1 || kernel.rank() != rank)
    fail(fmt::format("convolution of {} by {}: expected [batch, spatial.., in] by [spatial.., in, out]",
                     to_string(x.type()), to_string(kernel.type())));
  ConvolutionAttrs attrs;
  attrs.input_batch = attrs.output_batch = 0;
  attrs.input_feature = attrs.output_feature = rank - 1;
  attrs.kernel_input_feature = rank - 2;
  attrs.kernel_output_feature = rank - 1;
  attrs.feature_group_count = window.groups;
  attrs.result_dtype = x.dtype();
  for (int d = 0; d < spatial; ++d) {
    attrs.input_spatial.push_back(d + 1);
    attrs.output_spatial.push_back(d + 1);
    attrs.kernel_spatial.push_back(d);
    attrs.window.push_back(window_dim(window, static_cast<std::size_t>(d), x.dim(d + 1), kernel.dim(d)));
  }
  return add(OpKind::Convolution, {x, kernel}, std::move(attrs));
}

Tensor Graph::pool(ReducerKind kind, const Tensor& x, const std::vector<std::int64_t>& sizes,
                   const WindowSpec& window) {
  const int spatial = x.rank() - 2;
  if (spatial < 1 || (sizes.size() != 1 && static_cast<int>(sizes.size()) != spatial))
    fail(fmt::format("pooling of {}: expected [batch, spatial.., features] and a size per spatial dimension",
                     to_string(x.type())));
  ReduceWindowAttrs attrs{std::vector<WindowDim>(x.dims().size())};
  for (int d = 0; d < spatial; ++d) {
    const auto i = static_cast<std::size_t>(d);
    attrs.window[i + 1] = window_dim(window, i, x.dim(d + 1), entry(sizes, i));
  }
  const Tensor start = constant(reducer_identity(kind, x.dtype()));
  return add(OpKind::ReduceWindow, {x, start}, std::move(attrs), {reducer(kind, x.dtype())});
}

}  // namespace rhino::ir
