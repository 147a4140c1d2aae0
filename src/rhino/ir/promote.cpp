// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstring>
#include <string_view>

#include <rhino/ir/passes.hpp>
#include <rhino/ir/rewrite.hpp>

namespace rhino::ir {
namespace {

DType widened(DType dtype) { return is_float(dtype) ? DType::F64 : dtype; }

TensorType widened(TensorType type) {
  type.dtype = widened(type.dtype);
  return type;
}

/// A number such as 0.001 that was written in decimal and then rounded to f32 is restored from its decimal digits, as
/// the same program in f64 would have it; any other number keeps its value.
double restored_decimal(float value) {
  constexpr std::ptrdiff_t max_digits = 6;  // all of up to 6 digits survive the way through f32
  char buffer[32];
  const char* end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  const std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  const auto mantissa = text.substr(0, text.find('e'));
  std::ptrdiff_t digits = 0;
  for (const char c : mantissa)
    digits += c >= '0' && c <= '9';
  double result = value;
  if (digits <= max_digits) std::from_chars(buffer, end, result);
  return result;
}

Literal widened(const Literal& literal) {
  if (!is_float(literal.type().dtype) || literal.type().dtype == DType::F64) return literal;
  const TensorType type = widened(literal.type());
  const bool single = literal.is_splat() || literal.type().elements() == 1;
  const std::int64_t count = literal.is_splat() ? 1 : literal.type().elements();
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * sizeof(double));
  for (std::int64_t i = 0; i < count; ++i) {
    double value = literal.element_as_double(i);
    if (single && literal.type().dtype == DType::F32) value = restored_decimal(static_cast<float>(value));
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof(double), &value, sizeof value);
  }
  return Literal(type, std::move(bytes), literal.is_splat());
}

class Promoter {
 public:
  explicit Promoter(Function& old) : old_(old) {
    made_.name = old.name;
    image_.resize(old.values.size());
    for (const ValueId param : old.params)
      image_[param.index()] = made_.add_param(widened(old.type(param)));
    made_.param_notes = std::move(old.param_notes);
    made_.result_notes = std::move(old.result_notes);
  }

  Function run() {
    for (Op& op : old_.ops) {
      switch (op.kind) {
        case OpKind::BitcastConvert:
          bitcast(op);
          break;
        case OpKind::RngBitGenerator:
          random_bits(op);
          break;
        default:
          copy(op);
          break;
      }
    }
    for (const ValueId result : old_.results)
      made_.results.push_back(image_[result.index()]);
    return std::move(made_);
  }

 private:
  void copy(Op& op) {
    std::visit([](auto& attrs) { widen(attrs); }, op.attrs);
    std::vector<ValueId> operands;
    for (const ValueId operand : op.operands)
      operands.push_back(image_[operand.index()]);
    std::vector<TensorType> types;
    for (const ValueId result : op.results)
      types.push_back(widened(old_.type(result)));
    const OpId id = made_.append(op.kind, std::move(op.attrs), std::move(operands), std::move(types),
                                 std::move(op.regions), op.location);
    made_.ops[id.index()].notes = std::move(op.notes);
    for (std::size_t i = 0; i < op.results.size(); ++i)
      image_[op.results[i].index()] = made_.op(id).results[i];
  }

  template <class Attrs>
  static void widen(Attrs&) {}
  static void widen(ConstantAttrs& attrs) { attrs.value = widened(attrs.value); }
  static void widen(ConvertAttrs& attrs) { attrs.dtype = widened(attrs.dtype); }
  static void widen(IotaAttrs& attrs) { attrs.type = widened(attrs.type); }
  static void widen(DotGeneralAttrs& attrs) { attrs.result_dtype = widened(attrs.result_dtype); }
  static void widen(ConvolutionAttrs& attrs) { attrs.result_dtype = widened(attrs.result_dtype); }
  static void widen(CustomCallAttrs& attrs) {
    for (TensorType& type : attrs.result_types)
      type = widened(type);
  }

  ValueId convert(ValueId value, DType target, const Location& location) {
    TensorType type = made_.type(value);
    if (type.dtype == target) return value;
    type.dtype = target;
    return made_.op(made_.append(OpKind::Convert, ConvertAttrs{target}, {value}, {type}, {}, location)).results[0];
  }

  /// Bits are those of the original types: convert down, bitcast, convert up.
  void bitcast(Op& op) {
    const TensorType& from = old_.type(op.operands[0]);
    const TensorType& to = old_.type(op.results[0]);
    const ValueId narrow = convert(image_[op.operands[0].index()], from.dtype, op.location);
    const OpId id = made_.append(OpKind::BitcastConvert, ConvertAttrs{to.dtype}, {narrow}, {to}, {}, op.location);
    made_.ops[id.index()].notes = std::move(op.notes);
    image_[op.results[0].index()] = convert(made_.op(id).results[0], widened(to.dtype), op.location);
  }

  /// Bits drawn as floats stay the bits of the original type.
  void random_bits(Op& op) {
    const OpId id = made_.append(op.kind, op.attrs, {image_[op.operands[0].index()]},
                                 {old_.type(op.results[0]), old_.type(op.results[1])}, {}, op.location);
    made_.ops[id.index()].notes = std::move(op.notes);
    const std::vector<ValueId> results = made_.op(id).results;
    image_[op.results[0].index()] = results[0];
    image_[op.results[1].index()] = convert(results[1], widened(old_.type(op.results[1]).dtype), op.location);
  }

  Function& old_;
  Function made_;
  std::vector<ValueId> image_;
};

}  // namespace

void promote_floats_to_f64(Program& program) {
  for (Function& function : program.functions) {
    Function old = std::move(function);
    function = Promoter(old).run();
  }
}

}  // namespace rhino::ir
