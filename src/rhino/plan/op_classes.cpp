// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/op_classes.hpp>

#include <map>
#include <unordered_map>

#include <rhino/base/error.hpp>

namespace rhino::plan {
namespace {

/// Gives ops and functions numbers, the same to those that are alike.
class Classes {
 public:
  explicit Classes(const ir::Program& program) : program_(program), function_class_(program.functions.size(), kUnknown) {}

  std::uint32_t of_op(const ir::Function& function, const ir::Op& op) {
    std::vector<std::uint32_t> regions;
    for (const ir::FunctionId region : op.regions) regions.push_back(of_function(region));
    std::vector<Member>& alike = by_hash_[hash(function, op)];
    for (const Member& member : alike) {
      if (equal(member, function, op, regions)) return member.number;
    }
    alike.push_back({&function, &op, std::move(regions), next_op_});
    return next_op_++;
  }

 private:
  static constexpr std::uint32_t kUnknown = 0xffffffffu;

  struct Member {
    const ir::Function* function;
    const ir::Op* op;
    std::vector<std::uint32_t> regions;
    std::uint32_t number;
  };

  static std::size_t hash(const ir::Function& function, const ir::Op& op) {
    std::size_t h = static_cast<std::size_t>(op.kind);
    const auto mix = [&](std::size_t value) { h = (h ^ value) * 0x9e3779b97f4a7c15ull; };
    const auto mix_type = [&](const ir::TensorType& type) {
      mix(static_cast<std::size_t>(type.dtype));
      for (const std::int64_t dim : type.dims) mix(static_cast<std::size_t>(dim));
    };
    for (const ir::ValueId operand : op.operands) mix_type(function.type(operand));
    for (const ir::ValueId result : op.results) mix_type(function.type(result));
    return h;
  }

  static bool equal(const Member& member, const ir::Function& function, const ir::Op& op, const std::vector<std::uint32_t>& regions) {
    const ir::Op& other = *member.op;
    if (op.kind != other.kind || regions != member.regions || op.operands.size() != other.operands.size() ||
        op.results.size() != other.results.size())
      return false;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      if (function.type(op.operands[i]) != member.function->type(other.operands[i])) return false;
    }
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      if (function.type(op.results[i]) != member.function->type(other.results[i])) return false;
    }
    return op.attrs == other.attrs;
  }

  /// Functions are alike if their ops are, wired alike.
  std::uint32_t of_function(ir::FunctionId id) {
    std::uint32_t& known = function_class_[id.index()];
    if (known != kUnknown) return known;
    const ir::Function& function = program_.function(id);
    std::vector<std::uint32_t> key;
    const auto add_values = [&](const std::vector<ir::ValueId>& values) {
      for (const ir::ValueId value : values) key.push_back(static_cast<std::uint32_t>(value.index()));
      key.push_back(kUnknown);
    };
    add_values(function.params);
    for (const ir::Op& op : function.ops) {
      key.push_back(of_op(function, op));
      add_values(op.operands);
      add_values(op.results);
    }
    add_values(function.results);
    const auto number = static_cast<std::uint32_t>(functions_.size());
    return function_class_[id.index()] = functions_.try_emplace(std::move(key), number).first->second;
  }

  const ir::Program& program_;
  std::vector<std::uint32_t> function_class_;
  std::unordered_map<std::size_t, std::vector<Member>> by_hash_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> functions_;
  std::uint32_t next_op_ = 0;
};

}  // namespace

std::vector<std::uint32_t> classify_ops(const ir::Program& program) {
  Classes classes(program);
  std::vector<std::uint32_t> numbers;
  const ir::Function& entry = program.entry();
  numbers.reserve(entry.ops.size());
  for (const ir::Op& op : entry.ops) numbers.push_back(classes.of_op(entry, op));
  return numbers;
}

}  // namespace rhino::plan
