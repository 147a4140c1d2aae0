// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/base/math.hpp>
#include <rhino/shard/layout.hpp>

namespace rhino::shard {

namespace {

constexpr std::string_view partial_names[] = {"+", "max", "min", "and", "or"};

std::string join_axes(const std::vector<AxisId>& axes, const MeshShape& mesh, char separator) {
  std::string text;
  for (AxisId axis : axes) {
    if (!text.empty()) text += separator;
    text += mesh.axes()[static_cast<std::size_t>(axis)].name;
  }
  return text;
}

/// A cursor over the text of a layout.
class LayoutReader {
 public:
  LayoutReader(std::string_view text, const MeshShape& mesh) : text_(text), mesh_(mesh) {}

  Layout read() {
    Layout layout;
    expect('[');
    if (!accept(']')) {
      do
        layout.dims.push_back(read_dim());
      while (accept(','));
      expect(']');
    }
    skip_blanks();
    if (text_.substr(at_).starts_with("partial")) {
      at_ += 7;
      expect('(');
      layout.partial_kind = read_kind();
      while (accept(','))
        layout.partial_axes.push_back(read_axis());
      expect(')');
      if (layout.partial_axes.empty()) fail("a partial layout needs at least one axis");
    }
    skip_blanks();
    if (at_ != text_.size()) fail("something follows the layout");
    return layout;
  }

 private:
  [[noreturn]] void fail(std::string_view problem) {
    RHINO_FAIL(InputError, "layout '{}', position {}: {}", text_, at_, problem);
  }
  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ')
      ++at_;
  }
  bool accept(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(fmt::format("expected '{}'", c));
  }
  std::string_view read_word(std::string_view stop) {
    skip_blanks();
    const std::size_t begin = at_;
    while (at_ < text_.size() && stop.find(text_[at_]) == std::string_view::npos)
      ++at_;
    return text_.substr(begin, at_ - begin);
  }
  /// `_`, but not the beginning of an axis name.
  bool accept_unsplit() {
    const std::size_t begin = at_;
    if (read_word(",.*)] ") == "_") return true;
    at_ = begin;
    return false;
  }
  AxisId read_axis() {
    const std::string_view name = read_word(",.*)] ");
    const AxisId axis = mesh_.find(name);
    if (axis < 0) fail(fmt::format("the mesh has no axis '{}'", name));
    return axis;
  }
  PartialKind read_kind() {
    const std::string_view name = read_word(",) ");
    for (std::size_t k = 0; k < std::size(partial_names); ++k)
      if (name == partial_names[k]) return static_cast<PartialKind>(k);
    fail(fmt::format("unknown kind of partial value '{}'; there are + max min and or", name));
  }
  DimLayout read_dim() {
    DimLayout dim;
    if (accept('_')) return dim;
    do {
      SubDim sub;
      skip_blanks();
      const char* end = text_.data() + text_.size();
      const auto [next, error] = std::from_chars(text_.data() + at_, end, sub.size);
      if (error != std::errc() || sub.size < 0) fail("expected the size of a sub-dimension");
      at_ = static_cast<std::size_t>(next - text_.data());
      expect(':');
      if (!accept_unsplit()) {
        do
          sub.axes.push_back(read_axis());
        while (accept('.'));
      }
      dim.subs.push_back(std::move(sub));
    } while (accept('*'));
    return dim;
  }

  std::string_view text_;
  const MeshShape& mesh_;
  std::size_t at_ = 0;
};

}  // namespace

std::string to_string(const Layout& layout, const MeshShape& mesh) {
  std::string text = "[";
  for (std::size_t d = 0; d < layout.dims.size(); ++d) {
    if (d > 0) text += ", ";
    const DimLayout& dim = layout.dims[d];
    if (dim.subs.empty()) text += '_';
    for (std::size_t s = 0; s < dim.subs.size(); ++s) {
      const SubDim& sub = dim.subs[s];
      text += fmt::format("{}{}:{}", s > 0 ? "*" : "", sub.size,
                          sub.axes.empty() ? std::string("_") : join_axes(sub.axes, mesh, '.'));
    }
  }
  text += ']';
  if (layout.is_partial())
    text += fmt::format(" partial({},{})", partial_names[static_cast<std::size_t>(layout.partial_kind)],
                        join_axes(layout.partial_axes, mesh, ','));
  return text;
}

Layout parse_layout(std::string_view text, const MeshShape& mesh) {
  Layout layout = LayoutReader(text, mesh).read();
  ir::Dims dims;
  for (const DimLayout& dim : layout.dims) {
    std::int64_t size = 1;
    for (const SubDim& sub : dim.subs)
      size = checked_multiply(size, sub.size);
    dims.push_back(size);
  }
  check_layout(layout, dims, mesh, text);
  return layout;
}

}  // namespace rhino::shard
