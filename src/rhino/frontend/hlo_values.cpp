// SPDX-License-Identifier: Apache-2.0
#include <rhino/frontend/hlo_values.hpp>

#include <algorithm>
#include <charconv>

namespace rhino::frontend {
namespace {

using Integers = std::vector<std::int64_t>;
using Groups = std::vector<Integers>;

constexpr std::int64_t max_devices = 1 << 20;

std::optional<Groups> listed_groups(std::string_view value) {
  Groups groups;
  for (std::size_t open = value.find('{', 1); open != std::string_view::npos; open = value.find('{', open + 1)) {
    const std::size_t close = value.find('}', open);
    if (close == std::string_view::npos) return std::nullopt;
    auto group = parse_hlo_integers(value.substr(open, close - open));
    if (!group) return std::nullopt;
    groups.push_back(std::move(*group));
  }
  return groups;
}

/// Device numbers of a grid in the order that `order` of its axes gives, the last axis fastest.
Integers grid_numbers(const Integers& dims, const Integers& order, std::int64_t count) {
  Integers stride(dims.size(), 1), index(dims.size(), 0), numbers;
  for (std::size_t i = dims.size(); i-- > 1;)
    stride[i - 1] = stride[i] * dims[i];
  for (std::int64_t n = 0; n < count; ++n) {
    std::int64_t number = 0;
    for (std::size_t i = 0; i < dims.size(); ++i)
      number += index[i] * stride[i];
    numbers.push_back(number);
    for (std::size_t k = order.size(); k-- > 0;) {
      const auto axis = static_cast<std::size_t>(order[k]);
      if (++index[axis] < dims[axis]) break;
      index[axis] = 0;
    }
  }
  return numbers;
}

bool is_permutation_of_axes(Integers order, std::size_t rank) {
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i] != static_cast<std::int64_t>(i)) return false;
  return order.size() == rank;
}

std::optional<Groups> grid_groups(std::string_view value, std::size_t arrow) {
  const std::size_t transpose = value.find('T', arrow);
  const auto shape = parse_hlo_integers(value.substr(0, arrow));
  const auto dims = parse_hlo_integers(value.substr(arrow, transpose - arrow));
  auto order = transpose == std::string_view::npos ? Integers() : parse_hlo_integers(value.substr(transpose));
  if (!shape || !dims || !order || shape->size() != 2) return std::nullopt;
  if (order->empty())
    for (std::size_t i = 0; i < dims->size(); ++i)
      order->push_back(static_cast<std::int64_t>(i));
  std::int64_t count = 1;
  for (const std::int64_t dim : *dims) {
    if (dim < 1 || dim > max_devices / count) return std::nullopt;
    count *= dim;
  }
  const std::int64_t rows = (*shape)[0], width = (*shape)[1];
  if (rows < 1 || width < 1 || width > count || count % width != 0 || rows != count / width) return std::nullopt;
  if (!is_permutation_of_axes(*order, dims->size())) return std::nullopt;
  const Integers numbers = grid_numbers(*dims, *order, count);
  Groups groups;
  for (auto at = numbers.begin(); at != numbers.end(); at += width)
    groups.emplace_back(at, at + width);
  return groups;
}

}  // namespace

std::optional<std::vector<std::int64_t>> parse_hlo_integers(std::string_view value) {
  Integers all;
  for (std::size_t at = 0; at < value.size();) {
    const auto is_digit = [&](std::size_t i) { return i < value.size() && value[i] >= '0' && value[i] <= '9'; };
    if (!is_digit(at) && !(value[at] == '-' && is_digit(at + 1))) {
      ++at;
      continue;
    }
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data() + at, value.data() + value.size(), number);
    if (error != std::errc()) return std::nullopt;
    all.push_back(number);
    at = static_cast<std::size_t>(end - value.data());
  }
  return all;
}

std::string_view hlo_window_field(std::string_view window, std::string_view key) {
  for (std::size_t at = window.find(key); at != std::string_view::npos; at = window.find(key, at + 1)) {
    const std::size_t after = at + key.size();
    const bool starts = at == 0 || window[at - 1] == ' ' || window[at - 1] == '{';
    if (!starts || after >= window.size() || window[after] != '=') continue;
    const std::size_t end = std::min(window.find_first_of(" }", after), window.size());
    return window.substr(after + 1, end - after - 1);
  }
  return {};
}

std::optional<std::vector<std::vector<std::int64_t>>> parse_hlo_groups(std::string_view value) {
  const std::size_t arrow = value.find("<=");
  return arrow == std::string_view::npos ? listed_groups(value) : grid_groups(value, arrow);
}

}  // namespace rhino::frontend
