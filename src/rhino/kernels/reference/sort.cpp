// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <optional>

#include <rhino/kernels/reference/element.hpp>
#include <rhino/kernels/reference/op_context.hpp>
#include <rhino/kernels/reference/region.hpp>

namespace rhino::kernels::reference {
namespace {

/// A comparator that is one compare of the two elements of one operand.
struct SimpleComparator {
  std::size_t operand;
  bool descending;
  bool total_order;
};

std::optional<SimpleComparator> simple_comparator(const ir::Function& function) {
  if (function.ops.size() != 1 || function.ops[0].kind != ir::OpKind::Compare) return std::nullopt;
  const ir::Op& op = function.ops[0];
  if (function.results.size() != 1 || function.results[0] != op.results[0]) return std::nullopt;
  const auto& attrs = op.as<ir::CompareAttrs>();
  if (attrs.direction != ir::Comparison::Lt && attrs.direction != ir::Comparison::Gt) return std::nullopt;
  for (std::size_t p = 0; p + 1 < function.params.size(); p += 2) {
    const bool total = attrs.type == ir::ComparisonType::TotalOrder;
    const bool greater = attrs.direction == ir::Comparison::Gt;
    if (op.operands[0] == function.params[p] && op.operands[1] == function.params[p + 1])
      return SimpleComparator{p / 2, greater, total};
    if (op.operands[0] == function.params[p + 1] && op.operands[1] == function.params[p])
      return SimpleComparator{p / 2, !greater, total};
  }
  return std::nullopt;
}

/// Lines of a tensor along one dimension: first element and distance of the elements.
struct Lines {
  std::int64_t length, stride, count;
  std::int64_t start(std::int64_t line) const { return line / stride * stride * length + line % stride; }
};

Lines lines_of(const ir::TensorType& type, std::size_t dimension) {
  Lines lines{type.dims[dimension], 1, 0};
  for (std::size_t d = dimension + 1; d < type.dims.size(); ++d)
    lines.stride *= type.dims[d];
  lines.count = lines.length == 0 ? 0 : type.elements() / lines.length;
  return lines;
}

template <class Key>
void sort_by_keys(const std::vector<Key>& keys, bool descending, std::vector<std::int64_t>& order) {
  const auto key = [&](std::int64_t i) { return keys[static_cast<std::size_t>(i)]; };
  if (descending)
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return key(a) > key(b); });
  else
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return key(a) < key(b); });
}

/// `key` of each element of a line.
template <class Key, class T, class KeyOf>
std::vector<Key> keys_of(const T* line, std::int64_t stride, std::size_t length, KeyOf key_of) {
  std::vector<Key> keys(length);
  for (std::size_t i = 0; i < length; ++i) keys[i] = static_cast<Key>(key_of(line[static_cast<std::int64_t>(i) * stride]));
  return keys;
}

/// Every type is sorted as one of three, into which it widens exactly.
void sort_simply(const Tensor& tensor, const SimpleComparator& comparator, std::int64_t start, std::int64_t stride,
                 std::vector<std::int64_t>& order) {
  dispatch_dtype(tensor.type.dtype, [&]<class T>(std::type_identity<T>) {
    const T* line = tensor.as<T>().data() + start;
    const bool descending = comparator.descending;
    const auto itself = [](T element) { return Compute<T>(element); };
    if constexpr (is_float_element<T>) {
      if (comparator.total_order) {
        const auto total = [](T element) { return total_order_key(element); };
        sort_by_keys(keys_of<std::int64_t>(line, stride, order.size(), total), descending, order);
      } else {
        sort_by_keys(keys_of<double>(line, stride, order.size(), itself), descending, order);
      }
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
      sort_by_keys(keys_of<std::uint64_t>(line, stride, order.size(), itself), descending, order);
    } else {
      sort_by_keys(keys_of<std::int64_t>(line, stride, order.size(), itself), descending, order);
    }
  });
}

}  // namespace

std::vector<Tensor> run_sort(const OpContext& context) {
  // Always stable: that is one of the allowed orders for an unstable sort, too.
  const auto dimension = static_cast<std::size_t>(context.attrs<ir::SortAttrs>().dimension);
  const std::size_t n = context.operands.size();
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < n; ++i)
    results.emplace_back(context.result_type(i));
  if (results[0].bytes.empty()) return results;
  const Lines lines = lines_of(context.operand(0).type, dimension);
  const ir::FunctionId comparator = context.op.regions[0];
  const auto simple = simple_comparator(context.program.function(comparator));
  std::optional<ScalarRegion> region;
  if (!simple) region.emplace(context.program, comparator, context.options);

  std::vector<std::int64_t> order(static_cast<std::size_t>(lines.length));
  std::vector<const std::byte*> arguments(2 * n);
  for (std::int64_t line = 0; line < lines.count; ++line) {
    const std::int64_t start = lines.start(line);
    std::iota(order.begin(), order.end(), std::int64_t{0});
    if (simple) {
      sort_simply(context.operand(simple->operand), *simple, start, lines.stride, order);
    } else {
      std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        for (std::size_t i = 0; i < n; ++i) {
          const std::size_t width = ir::dtype_bytes(results[i].type.dtype);
          const std::byte* first = context.operand(i).bytes.data();
          arguments[2 * i] = first + static_cast<std::size_t>(start + a * lines.stride) * width;
          arguments[2 * i + 1] = first + static_cast<std::size_t>(start + b * lines.stride) * width;
        }
        return region->test(arguments);
      });
    }
    for (std::size_t i = 0; i < n; ++i)
      dispatch_width(results[i].type.dtype, [&]<class T>(std::type_identity<T>) {
        const T* from = context.operand(i).as<T>().data() + start;
        T* to = results[i].as<T>().data() + start;
        for (std::int64_t k = 0; k < lines.length; ++k)
          to[k * lines.stride] = from[order[static_cast<std::size_t>(k)] * lines.stride];
      });
  }
  return results;
}

std::vector<Tensor> run_top_k(const OpContext& context) {
  // Floats in their total order; equal elements by their position.
  const auto& attrs = context.attrs<ir::TopKAttrs>();
  const Tensor& operand = context.operand(0);
  std::vector<Tensor> results;
  results.emplace_back(context.result_type(0));
  results.emplace_back(context.result_type(1));
  if (results[0].bytes.empty()) return results;
  const std::int64_t length = operand.type.dims.back(), lines = operand.type.elements() / length;
  std::vector<std::int64_t> order(static_cast<std::size_t>(length));
  const SimpleComparator comparator{0, attrs.largest, true};
  const auto positions = results[1].as<std::int32_t>();
  for (std::int64_t line = 0; line < lines; ++line) {
    std::iota(order.begin(), order.end(), std::int64_t{0});
    sort_simply(operand, comparator, line * length, 1, order);
    dispatch_width(operand.type.dtype, [&]<class T>(std::type_identity<T>) {
      for (std::int64_t k = 0; k < attrs.k; ++k) {
        const std::int64_t from = order[static_cast<std::size_t>(k)];
        results[0].as<T>()[static_cast<std::size_t>(line * attrs.k + k)] =
            operand.as<T>()[static_cast<std::size_t>(line * length + from)];
        positions[static_cast<std::size_t>(line * attrs.k + k)] = static_cast<std::int32_t>(from);
      }
    });
  }
  return results;
}

}  // namespace rhino::kernels::reference
