// SPDX-License-Identifier: Apache-2.0
#include <rhino/kernels/reference/compare.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <rhino/kernels/reference/element.hpp>

namespace rhino::kernels::reference {
namespace {

template <class T>
std::uint64_t ulp_distance_of(T a, T b) {
  if constexpr (is_float_element<T>) {
    const auto x = Compute<T>(a), y = Compute<T>(b);
    if (x != x || y != y) return x != x && y != y ? 0 : std::numeric_limits<std::uint64_t>::max();
    if (x == y) return 0;
    // Signed counts of representable values from zero.
    const auto count = [](T value) {
      const auto key = static_cast<std::int64_t>(total_order_key(value));
      return key < 0 ? key + 1 : key;
    };
    const std::int64_t i = count(a), j = count(b);
    return i > j ? static_cast<std::uint64_t>(i) - static_cast<std::uint64_t>(j)
                 : static_cast<std::uint64_t>(j) - static_cast<std::uint64_t>(i);
  } else {
    return a > b ? static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b)
                 : static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a);
  }
}

template <class T>
bool same_value(T a, T b) {
  if constexpr (is_float_element<T>) {
    if (Compute<T>(a) != Compute<T>(a)) return Compute<T>(b) != Compute<T>(b);
    return total_order_key(a) == total_order_key(b);
  } else {
    return a == b;
  }
}

template <class T>
std::string text_of(T value) {
  if constexpr (is_small_float<T>) return fmt::format("{}", static_cast<float>(value));
  else if constexpr (is_float_element<T>) return fmt::format("{}", value);
  else if constexpr (is_bool_element<T>) return value ? "true" : "false";
  else return fmt::format("{}", +value);
}

ir::Dims index_of(std::int64_t element, const ir::Dims& dims) {
  ir::Dims index(dims.size());
  for (std::size_t d = dims.size(); d-- > 0;) {
    index[d] = element % dims[d];
    element /= dims[d];
  }
  return index;
}

/// `difference(a, b)` returns the difference, `holds(a, b, difference)` whether the pair is fine.
template <class Difference, class Holds>
std::optional<Mismatch> compare(const Tensor& got, const Tensor& want, Difference difference, Holds holds) {
  RHINO_CHECK(got.type == want.type, "values of different types are compared: {} and {}", ir::to_string(got.type),
              ir::to_string(want.type));
  std::optional<Mismatch> mismatch;
  dispatch_dtype(got.type.dtype, [&]<class T>(std::type_identity<T>) {
    const auto a = got.as<T>(), b = want.as<T>();
    for (std::size_t i = 0; i < a.size(); ++i) {
      const auto distance = difference(a[i], b[i]);
      if (holds(a[i], b[i], distance)) continue;
      if (!mismatch) {
        mismatch.emplace();
        mismatch->index = index_of(static_cast<std::int64_t>(i), got.type.dims);
        mismatch->got = text_of(a[i]);
        mismatch->want = text_of(b[i]);
      }
      ++mismatch->bad;
      mismatch->worst = std::max(mismatch->worst, static_cast<double>(distance));
    }
  });
  return mismatch;
}

}  // namespace

std::uint64_t ulp_distance(const Tensor& a, const Tensor& b, std::int64_t element) {
  return dispatch_dtype(a.type.dtype, [&]<class T>(std::type_identity<T>) {
    const auto i = static_cast<std::size_t>(element);
    return ulp_distance_of(a.as<T>()[i], b.as<T>()[i]);
  });
}

std::optional<Mismatch> expect_eq(const Tensor& got, const Tensor& want) {
  return compare(
      got, want, [](auto a, auto b) { return ulp_distance_of(a, b); },
      [](auto a, auto b, std::uint64_t) { return same_value(a, b); });
}

std::optional<Mismatch> expect_close(const Tensor& got, const Tensor& want, std::uint64_t max_ulp,
                                     std::uint64_t min_ulp) {
  return compare(
      got, want, [](auto a, auto b) { return ulp_distance_of(a, b); },
      [=]<class T>(T a, T b, std::uint64_t distance) {
        if constexpr (is_float_element<T>) return distance >= min_ulp && distance <= max_ulp;
        else return a == b;
      });
}

std::optional<Mismatch> expect_almost_eq(const Tensor& got, const Tensor& want, double tolerance) {
  return compare(
      got, want,
      []<class T>(T a, T b) {
        if constexpr (is_float_element<T>) {
          const auto x = static_cast<double>(a), y = static_cast<double>(b);
          if (x == y || (x != x && y != y)) return 0.0;
          const double distance = std::fabs(x - y);
          return distance != distance ? std::numeric_limits<double>::infinity() : distance;
        } else {
          return static_cast<double>(ulp_distance_of(a, b));
        }
      },
      [=]<class T>(T a, T b, double distance) {
        if constexpr (is_float_element<T>) return distance <= tolerance;
        else return a == b;
      });
}

std::uint64_t largest_ulp_distance(const Tensor& got, const Tensor& want) {
  RHINO_CHECK(got.type == want.type, "values of different types are compared: {} and {}", ir::to_string(got.type),
              ir::to_string(want.type));
  std::uint64_t largest = 0;
  for (std::int64_t i = 0; i < got.type.elements(); ++i) largest = std::max(largest, ulp_distance(got, want, i));
  return largest;
}

}  // namespace rhino::kernels::reference
