// SPDX-License-Identifier: Apache-2.0
#include <rhino/ir/op_info.hpp>

#include <array>
#include <unordered_map>

#include <rhino/base/error.hpp>

namespace rhino::ir {
namespace {

constexpr std::array<std::string_view, op_kind_count> spellings{
#define RHINO_OP(Kind, spelling, Attrs, infer, factors, cost) spelling,
#include <rhino/ir/op_list.def>
#undef RHINO_OP
};

constexpr std::string_view factor_rules[] = {
#define RHINO_OP(Kind, spelling, Attrs, infer, factors, cost) #factors,
#include <rhino/ir/op_list.def>
#undef RHINO_OP
};

}  // namespace

std::string_view op_name(OpKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  RHINO_ASSERT(index < spellings.size());
  return spellings[index];
}

std::string qualified_op_name(OpKind kind) {
  const std::string_view name = op_name(kind);
  if (kind == OpKind::Call || name.starts_with("chlo.")) return std::string(name);
  return "stablehlo." + std::string(name);
}

std::optional<OpKind> op_kind_from_name(std::string_view name) {
  static const auto table = [] {
    std::unordered_map<std::string_view, OpKind> kinds;
    for (std::size_t i = 0; i < spellings.size(); ++i)
      kinds.emplace(spellings[i], static_cast<OpKind>(i));
    return kinds;
  }();
  const auto found = table.find(name);
  if (found == table.end()) return std::nullopt;
  return found->second;
}

bool is_elementwise(OpKind kind) {
  const std::string_view rule = factor_rules[static_cast<std::size_t>(kind)];
  return rule == "elementwise" || rule == "elementwise_scalars";
}

bool is_collective(OpKind kind) {
  switch (kind) {
    case OpKind::AllGather:
    case OpKind::AllReduce:
    case OpKind::AllToAll:
    case OpKind::CollectiveBroadcast:
    case OpKind::CollectivePermute:
    case OpKind::ReduceScatter:
      return true;
    default:
      return false;
  }
}

}  // namespace rhino::ir
