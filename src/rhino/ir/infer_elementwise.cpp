// SPDX-License-Identifier: Apache-2.0
#include <rhino/ir/infer.hpp>

// Elementwise ops. Constraints follow the StableHLO specification, section "Ops".

namespace rhino::ir::infer {
namespace {

using DTypeTest = bool (*)(DType);

bool is_any(DType) { return true; }
bool is_number(DType dtype) { return dtype != DType::I1; }
bool is_signed_number(DType dtype) { return is_signed_int(dtype) || is_float(dtype); }
bool is_bits(DType dtype) { return !is_float(dtype); }

Types unary(const InferContext& context, DTypeTest test, std::string_view expected) {
  check_operand_count(context, 1);
  RHINO_OP_CHECK(test(context.operands[0].dtype), "operand 0 is {}, expected elements of {}",
                 to_string(context.operands[0]), expected);
  return {context.operands[0]};
}

Types binary(const InferContext& context, DTypeTest test, std::string_view expected) {
  check_operand_count(context, 2);
  RHINO_OP_CHECK(test(context.operands[0].dtype), "operand 0 (lhs) is {}, expected elements of {}",
                 to_string(context.operands[0]), expected);
  RHINO_OP_CHECK(context.operands[1] == context.operands[0], "operand 1 (rhs) is {}, expected {} like lhs",
                 to_string(context.operands[1]), to_string(context.operands[0]));
  return {context.operands[0]};
}

}  // namespace

Types infer_unary_same(const InferContext& context) {
  return unary(context, is_signed_number, "a signed integer or floating-point type");
}

Types infer_unary_float(const InferContext& context) {
  if (context.kind == OpKind::ReducePrecision) {
    const auto& attrs = attributes<ReducePrecisionAttrs>(context);
    RHINO_OP_CHECK(attrs.exponent_bits >= 1, "exponent_bits is {}, expected at least 1", attrs.exponent_bits);
    RHINO_OP_CHECK(attrs.mantissa_bits >= 0, "mantissa_bits is {}, expected at least 0", attrs.mantissa_bits);
  }
  return unary(context, is_float, "a floating-point type");
}

Types infer_unary_int(const InferContext& context) { return unary(context, is_integer, "an integer type"); }

Types infer_unary_number(const InferContext& context) {
  return unary(context, is_number, "an integer or floating-point type");
}

Types infer_unary_bits(const InferContext& context) { return unary(context, is_bits, "a boolean or integer type"); }

Types infer_float_predicate(const InferContext& context) {
  Types types = unary(context, is_float, "a floating-point type");
  types[0].dtype = DType::I1;
  return types;
}

Types infer_convert(const InferContext& context) {
  Types types = unary(context, is_any, "any type");
  types[0].dtype = attributes<ConvertAttrs>(context).dtype;
  return types;
}

Types infer_bitcast_convert(const InferContext& context) {
  check_operand_count(context, 1);
  TensorType type = context.operands[0];
  const DType target = attributes<ConvertAttrs>(context).dtype;
  RHINO_OP_CHECK((type.dtype == DType::I1) == (target == DType::I1), "{} cannot be seen as elements of {}",
                 to_string(type), dtype_name(target));
  const int from = dtype_bits(type.dtype);
  const int to = dtype_bits(target);
  if (from > to) {
    type.dims.push_back(from / to);
  } else if (from < to) {
    RHINO_OP_CHECK(!type.dims.empty() && type.dims.back() == to / from,
                   "operand 0 is {}, expected a last dimension of {} to make elements of {}", to_string(type),
                   to / from, dtype_name(target));
    type.dims.pop_back();
  }
  type.dtype = target;
  return {type};
}

Types infer_binary_same(const InferContext& context) { return binary(context, is_any, "any type"); }

Types infer_binary_float(const InferContext& context) { return binary(context, is_float, "a floating-point type"); }

Types infer_binary_int(const InferContext& context) { return binary(context, is_integer, "an integer type"); }

Types infer_binary_number(const InferContext& context) {
  return binary(context, is_number, "an integer or floating-point type");
}

Types infer_binary_bits(const InferContext& context) { return binary(context, is_bits, "a boolean or integer type"); }

Types infer_compare(const InferContext& context) {
  Types types = binary(context, is_any, "any type");
  const DType dtype = types[0].dtype;
  const auto fits = [&] {
    switch (attributes<CompareAttrs>(context).type) {
      case ComparisonType::Default:
        return true;
      case ComparisonType::Float:
      case ComparisonType::TotalOrder:
        return is_float(dtype);
      case ComparisonType::Signed:
        return is_signed_int(dtype);
      case ComparisonType::Unsigned:
        return is_unsigned_int(dtype) || dtype == DType::I1;
    }
    return false;
  };
  RHINO_OP_CHECK(fits(), "the comparison type does not fit elements of {}", dtype_name(dtype));
  types[0].dtype = DType::I1;
  return types;
}

Types infer_clamp(const InferContext& context) {
  check_operand_count(context, 3);
  const TensorType& type = context.operands[1];
  for (const std::size_t bound : {std::size_t{0}, std::size_t{2}}) {
    const TensorType& given = context.operands[bound];
    RHINO_OP_CHECK(given == type || given == (TensorType{type.dtype, {}}),
                   "operand {} ({}) is {}, expected {} like the clamped operand, or its scalar", bound,
                   bound == 0 ? "min" : "max", to_string(given), to_string(type));
  }
  return {type};
}

Types infer_select(const InferContext& context) {
  check_operand_count(context, 3);
  const TensorType& on_true = context.operands[1];
  const TensorType& on_false = context.operands[2];
  const TensorType& predicate = context.operands[0];
  RHINO_OP_CHECK(on_true == on_false, "operand 2 (on_false) is {}, expected {} like on_true", to_string(on_false),
                 to_string(on_true));
  RHINO_OP_CHECK(predicate.dtype == DType::I1 && (predicate.rank() == 0 || predicate.dims == on_true.dims),
                 "operand 0 (pred) is {}, expected {} or a scalar i1", to_string(predicate),
                 to_string(TensorType{DType::I1, on_true.dims}));
  return {on_true};
}

}  // namespace rhino::ir::infer
