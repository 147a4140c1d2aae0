// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include <rhino/ir/passes.hpp>
#include <rhino/ir/rewrite.hpp>

namespace rhino::ir {
namespace {

/// Every value of type `from` is a value of type `to`.
bool converts_exactly(DType from, DType to) {
  if (from == to || from == DType::I1) return true;
  const int bits = dtype_bits(from);
  if (is_float(to)) {
    const int mantissa = to == DType::F64 ? 53 : to == DType::F32 ? 24 : to == DType::F16 ? 11 : 8;
    if (!is_float(from)) return (is_signed_int(from) ? bits - 1 : bits) <= mantissa && to != DType::F16;
    return to == DType::F64 || (to == DType::F32 && from != DType::F64);
  }
  if (is_float(from) || to == DType::I1) return false;
  if (is_signed_int(from)) return is_signed_int(to) && bits <= dtype_bits(to);
  return is_unsigned_int(to) ? bits <= dtype_bits(to) : bits < dtype_bits(to);
}

bool is_iota_list(const std::vector<int>& list) {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i] != static_cast<int>(i)) return false;
  return true;
}

bool all_equal_to(const Dims& list, std::int64_t value) {
  return std::all_of(list.begin(), list.end(), [&](std::int64_t entry) { return entry == value; });
}

/// Simplifies one op at a time, in order, so that its operands are simple already.
class Simplifier {
 public:
  Simplifier(const Program& program, Function& old) : program_(program), old_(old), rewriter_(old) {}

  Function run() {
    for (Op& op : old_.ops) {
      const std::vector<ValueId> operands = rewriter_.mapped(op.operands);
      if (const auto simple = simplify(op, operands)) {
        for (std::size_t i = 0; i < op.results.size(); ++i)
          rewriter_.replace(op.results[i], (*simple)[i]);
      } else {
        rewriter_.copy(op);
      }
    }
    return rewriter_.finish();
  }

 private:
  using Values = std::vector<ValueId>;
  using Simple = std::optional<Values>;  ///< what the results become; nothing: the op stays

  Function& made() { return rewriter_.result(); }
  const TensorType& type(ValueId value) const { return rewriter_.type(value); }

  /// The op that makes a value, if it is of this kind. Valid until the next append.
  const Op* maker(ValueId value, OpKind kind) {
    const Op* op = made().producer(value);
    return op != nullptr && op->kind == kind ? op : nullptr;
  }
  const Literal* constant(ValueId value) {
    const Op* op = maker(value, OpKind::Constant);
    return op == nullptr ? nullptr : &op->as<ConstantAttrs>().value;
  }
  /// A constant all of whose elements are `number` (with this sign of zero).
  bool is_full_of(ValueId value, double number) {
    const Literal* literal = constant(value);
    return literal != nullptr && *literal == Literal::splat(literal->type(), number);
  }
  /// A constant splat, or one element.
  const Literal* splat(ValueId value) {
    const Literal* literal = constant(value);
    return literal != nullptr && (literal->is_splat() || literal->type().elements() == 1) ? literal : nullptr;
  }

  ValueId append(OpKind kind, Attributes attrs, Values operands, TensorType result, const Op& like) {
    const OpId id = made().append(kind, std::move(attrs), std::move(operands), {std::move(result)}, {}, like.location);
    return made().op(id).results[0];
  }
  /// The splat of `literal` in the shape of the op's result.
  Simple spread(const Literal& literal, const Op& op) {
    const TensorType result = old_.type(op.results[0]);
    const auto one = literal.stored_bytes().first(dtype_bytes(result.dtype));
    return Values{
        append(OpKind::Constant, ConstantAttrs{Literal(result, {one.begin(), one.end()}, true)}, {}, result, op)};
  }

  Simple simplify(const Op& op, const Values& x) {
    switch (op.kind) {
      case OpKind::Reshape:
        return reshape(op, x);
      case OpKind::Transpose:
        return transpose(op, x);
      case OpKind::BroadcastInDim:
        return broadcast(op, x);
      case OpKind::Convert:
        return convert(op, x);
      case OpKind::BitcastConvert:
        if (type(x[0]).dtype == op.as<ConvertAttrs>().dtype) return Values{x[0]};
        return {};
      case OpKind::Slice:
        return slice(op, x);
      case OpKind::Pad:
        return pad(op, x);
      case OpKind::Reverse:
        return reverse(op, x);
      case OpKind::Concatenate:
        return concatenate(op, x);
      case OpKind::DynamicSlice:
        return dynamic_slice(op, x);
      case OpKind::DynamicUpdateSlice:
        if (type(x[0]).dims == type(x[1]).dims) return Values{x[1]};
        return {};
      case OpKind::Select:
        return select(op, x);
      case OpKind::Case:
        return case_of(op, x);
      default:
        return arithmetic(op, x);
    }
  }

  Simple reshape(const Op& op, const Values& x) {
    const TensorType result = old_.type(op.results[0]);
    if (type(x[0]) == result) return Values{x[0]};
    if (const Literal* literal = splat(x[0])) return spread(*literal, op);
    if (const Op* inner = maker(x[0], OpKind::Reshape)) {
      const ValueId source = inner->operands[0];
      if (type(source) == result) return Values{source};
      return Values{append(OpKind::Reshape, op.attrs, {source}, result, op)};
    }
    return {};
  }

  Simple transpose(const Op& op, const Values& x) {
    const auto& permutation = op.as<DimensionsAttrs>().dimensions;
    const TensorType result = old_.type(op.results[0]);
    if (is_iota_list(permutation)) return Values{x[0]};
    if (const Literal* literal = splat(x[0])) return spread(*literal, op);
    if (const Op* inner = maker(x[0], OpKind::Transpose)) {
      const auto& first = inner->as<DimensionsAttrs>().dimensions;
      std::vector<int> both;
      for (const int dimension : permutation)
        both.push_back(first[static_cast<std::size_t>(dimension)]);
      const ValueId source = inner->operands[0];
      if (is_iota_list(both)) return Values{source};
      return Values{append(OpKind::Transpose, DimensionsAttrs{std::move(both)}, {source}, result, op)};
    }
    if (const Op* inner = maker(x[0], OpKind::BroadcastInDim)) {
      std::vector<int> place(permutation.size());
      for (std::size_t i = 0; i < permutation.size(); ++i)
        place[static_cast<std::size_t>(permutation[i])] = static_cast<int>(i);
      std::vector<int> dimensions;
      for (const int dimension : inner->as<BroadcastInDimAttrs>().dimensions)
        dimensions.push_back(place[static_cast<std::size_t>(dimension)]);
      const ValueId source = inner->operands[0];
      return Values{append(OpKind::BroadcastInDim, BroadcastInDimAttrs{result.dims, std::move(dimensions)}, {source},
                           result, op)};
    }
    return {};
  }

  Simple broadcast(const Op& op, const Values& x) {
    const auto& attrs = op.as<BroadcastInDimAttrs>();
    const TensorType result = old_.type(op.results[0]);
    if (type(x[0]) == result && is_iota_list(attrs.dimensions)) return Values{x[0]};
    if (const Literal* literal = splat(x[0])) return spread(*literal, op);
    if (const Op* inner = maker(x[0], OpKind::BroadcastInDim)) {
      std::vector<int> both;
      for (const int dimension : inner->as<BroadcastInDimAttrs>().dimensions)
        both.push_back(attrs.dimensions[static_cast<std::size_t>(dimension)]);
      const ValueId source = inner->operands[0];
      return Values{
          append(OpKind::BroadcastInDim, BroadcastInDimAttrs{result.dims, std::move(both)}, {source}, result, op)};
    }
    return {};
  }

  Simple convert(const Op& op, const Values& x) {
    const DType target = op.as<ConvertAttrs>().dtype;
    if (type(x[0]).dtype == target) return Values{x[0]};
    const Op* inner = maker(x[0], OpKind::Convert);
    if (inner == nullptr) return {};
    const ValueId source = inner->operands[0];
    if (!converts_exactly(type(source).dtype, type(x[0]).dtype)) return {};
    if (type(source).dtype == target) return Values{source};
    return Values{append(OpKind::Convert, op.attrs, {source}, old_.type(op.results[0]), op)};
  }

  Simple slice(const Op& op, const Values& x) {
    const auto& attrs = op.as<SliceAttrs>();
    const TensorType result = old_.type(op.results[0]);
    if (result == type(x[0])) return Values{x[0]};
    if (const Literal* literal = splat(x[0])) return spread(*literal, op);
    if (const Op* inner = maker(x[0], OpKind::Slice)) {
      SliceAttrs both = inner->as<SliceAttrs>();
      for (std::size_t i = 0; i < both.start.size(); ++i) {
        const std::int64_t last = result.dims[i] > 0 ? attrs.start[i] + (result.dims[i] - 1) * attrs.stride[i] : 0;
        const std::int64_t inner_start = both.start[i];
        const std::int64_t inner_stride = both.stride[i];
        both.start[i] = inner_start + attrs.start[i] * inner_stride;
        both.stride[i] = inner_stride * attrs.stride[i];
        both.limit[i] = result.dims[i] > 0 ? inner_start + last * inner_stride + 1 : both.start[i];
        if (result.dims[i] == 0)
          both.start[i] = both.limit[i] = std::min(both.start[i], inner->as<SliceAttrs>().limit[i]);
      }
      const ValueId source = inner->operands[0];
      return Values{append(OpKind::Slice, std::move(both), {source}, result, op)};
    }
    if (const Op* inner = maker(x[0], OpKind::Concatenate)) return slice_of_concatenate(op, *inner);
    return {};
  }

  /// A slice that lies within one of the joined operands.
  Simple slice_of_concatenate(const Op& op, const Op& joined) {
    SliceAttrs attrs = op.as<SliceAttrs>();
    const auto along = static_cast<std::size_t>(joined.as<DimensionAttrs>().dimension);
    std::int64_t offset = 0;
    for (const ValueId part : joined.operands) {
      const std::int64_t size = type(part).dims[along];
      if (attrs.start[along] >= offset && attrs.limit[along] <= offset + size) {
        attrs.start[along] -= offset;
        attrs.limit[along] -= offset;
        const TensorType result = old_.type(op.results[0]);
        if (type(part) == result) return Values{part};
        return Values{append(OpKind::Slice, std::move(attrs), {part}, result, op)};
      }
      offset += size;
    }
    return {};
  }

  Simple pad(const Op& op, const Values& x) {
    const auto& attrs = op.as<PadAttrs>();
    if (all_equal_to(attrs.low, 0) && all_equal_to(attrs.high, 0) && all_equal_to(attrs.interior, 0))
      return Values{x[0]};
    const Literal* inside = splat(x[0]);
    const Literal* padding = splat(x[1]);
    if (inside != nullptr && padding != nullptr && type(x[0]).elements() > 0 &&
        *padding == Literal(padding->type(), {inside->stored_bytes().begin(),
                                              inside->stored_bytes().begin() +
                                                  static_cast<std::ptrdiff_t>(dtype_bytes(type(x[0]).dtype))}))
      return spread(*padding, op);
    return {};
  }

  Simple reverse(const Op& op, const Values& x) {
    const auto& dimensions = op.as<DimensionsAttrs>().dimensions;
    const auto trivial = [&](int d) { return type(x[0]).dims[static_cast<std::size_t>(d)] <= 1; };
    if (splat(x[0]) != nullptr || std::all_of(dimensions.begin(), dimensions.end(), trivial)) return Values{x[0]};
    if (const Op* inner = maker(x[0], OpKind::Reverse)) {
      auto first = inner->as<DimensionsAttrs>().dimensions;
      auto second = dimensions;
      std::sort(first.begin(), first.end());
      std::sort(second.begin(), second.end());
      if (first == second) return Values{inner->operands[0]};
    }
    return {};
  }

  Simple concatenate(const Op& op, const Values& x) {
    Values filled;
    for (const ValueId value : x)
      if (type(value).elements() > 0) filled.push_back(value);
    if (filled.empty() || filled.size() == x.size()) {
      if (x.size() == 1) return Values{x[0]};
      return {};
    }
    if (filled.size() == 1) return filled;
    return Values{append(OpKind::Concatenate, op.attrs, std::move(filled), old_.type(op.results[0]), op)};
  }

  Simple dynamic_slice(const Op& op, const Values& x) {
    const TensorType result = old_.type(op.results[0]);
    if (result == type(x[0])) return Values{x[0]};
    if (const Literal* literal = splat(x[0])) return spread(*literal, op);
    SliceAttrs attrs;
    for (std::size_t i = 0; i < result.dims.size(); ++i) {
      const std::int64_t room = type(x[0]).dims[i] - result.dims[i];
      const Literal* start = constant(x[i + 1]);
      if (start == nullptr && room != 0) return {};
      std::int64_t first = 0;
      if (start != nullptr) {
        first = start->element_as_int(0);
        // An unsigned 64-bit index beyond the signed range wraps to a negative number.
        if (first < 0 && is_unsigned_int(start->type().dtype)) first = room;
      }
      attrs.start.push_back(std::clamp<std::int64_t>(first, 0, room));
      attrs.limit.push_back(attrs.start.back() + result.dims[i]);
      attrs.stride.push_back(1);
    }
    return Values{append(OpKind::Slice, std::move(attrs), {x[0]}, result, op)};
  }

  Simple select(const Op&, const Values& x) {
    if (x[1] == x[2]) return Values{x[1]};
    if (is_full_of(x[0], 1)) return Values{x[1]};
    if (is_full_of(x[0], 0)) return Values{x[2]};
    return {};
  }

  Simple case_of(const Op& op, const Values& x) {
    const Literal* index = constant(x[0]);
    if (index == nullptr && op.regions.size() > 1) return {};
    const std::int64_t last = static_cast<std::int64_t>(op.regions.size()) - 1;
    std::int64_t branch = index == nullptr ? last : index->element_as_int(0);
    if (branch < 0 || branch > last) branch = last;
    return rewriter_.splice(program_.function(op.regions[static_cast<std::size_t>(branch)]),
                            Values(x.begin() + 1, x.end()), op.location);
  }

  Simple arithmetic(const Op& op, const Values& x) {
    if (x.empty()) return {};
    const DType dtype = type(x[0]).dtype;
    // Adding +0 turns -0 into +0; adding -0 changes nothing.
    const double nothing = rhino::ir::is_float(dtype) ? -0.0 : 0.0;
    switch (op.kind) {
      case OpKind::Add:
        if (dtype == DType::I1) return {};
        if (is_full_of(x[1], nothing)) return Values{x[0]};
        if (is_full_of(x[0], nothing)) return Values{x[1]};
        return {};
      case OpKind::Subtract:
        if (is_full_of(x[1], 0.0)) return Values{x[0]};
        return {};
      case OpKind::Multiply:
        if (is_full_of(x[1], 1)) return Values{x[0]};
        if (is_full_of(x[0], 1)) return Values{x[1]};
        return {};
      case OpKind::Divide:
        if (is_full_of(x[1], 1)) return Values{x[0]};
        return {};
      case OpKind::And:
      case OpKind::Or:
        if (x[0] == x[1]) return Values{x[0]};
        return bits(op, x);
      case OpKind::Xor:
        return bits(op, x);
      case OpKind::Maximum:
      case OpKind::Minimum:
        if (x[0] == x[1]) return Values{x[0]};
        return {};
      case OpKind::Negate:
      case OpKind::Not:
        if (const Op* inner = maker(x[0], op.kind)) return Values{inner->operands[0]};
        return {};
      default:
        return {};
    }
  }

  /// and, or, xor with all zeros or all ones.
  Simple bits(const Op& op, const Values& x) {
    const TensorType& result = type(x[0]);
    const Literal ones = Literal::splat_int(result, result.dtype == DType::I1 ? 1 : -1);
    for (const auto& [value, other] : {std::pair{x[0], x[1]}, std::pair{x[1], x[0]}}) {
      const Literal* literal = constant(value);
      if (literal == nullptr) continue;
      if (is_full_of(value, 0)) return Values{op.kind == OpKind::And ? value : other};
      if (*literal == ones && op.kind != OpKind::Xor) return Values{op.kind == OpKind::And ? other : value};
    }
    return {};
  }

  const Program& program_;
  Function& old_;
  Rewriter rewriter_;
};

}  // namespace

void simplify_identities(Program& program) {
  // Callees first, so that a branch is simple when it takes the place of its case.
  for (const std::size_t f : callees_first(program)) {
    Function old = std::move(program.functions[f]);
    program.functions[f] = Simplifier(program, old).run();
  }
}

}  // namespace rhino::ir
