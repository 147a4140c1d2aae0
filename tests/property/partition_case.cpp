// SPDX-License-Identifier: Apache-2.0
#include "partition_case.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/ir/passes.hpp>
#include <rhino/ir/text.hpp>
#include <rhino/runtime/verify/verify.hpp>
#include <rhino/shard/partition.hpp>

#include <support/random_program.hpp>

#include "random_sharding.hpp"
#include "single_op_programs.hpp"

namespace rhino::test {

using ir::DType;
using ir::OpKind;
using kernels::reference::Tensor;
using shard::FactorKind;

namespace {

std::string_view kind_name(FactorKind kind) {
  switch (kind) {
    case FactorKind::Parallel: return "parallel";
    case FactorKind::Reduction: return "reduction";
    case FactorKind::Halo: return "halo";
    case FactorKind::HaloReduction: return "halo_reduction";
    case FactorKind::Masked: return "masked";
    case FactorKind::Owned: return "owned";
    case FactorKind::NoSplit: return "no_split";
  }
  return "?";
}

template <class T>
void fill(Tensor& tensor, Random& random, std::int64_t low, std::int64_t high) {
  for (T& element : tensor.as<T>()) element = static_cast<T>(random.integer(low, high));
}

}  // namespace

std::vector<Tensor> random_arguments(const ir::Program& program, Random& random) {
  std::vector<Tensor> arguments;
  for (const ir::TensorType& type : program.entry().param_types()) {
    Tensor tensor(type);
    const bool wild = random.chance(0.2);
    switch (type.dtype) {
      case DType::F64:
        for (double& element : tensor.as<double>()) element = static_cast<double>(random.integer(-2048, 2048)) / 1024.0;
        break;
      case DType::F32:
        for (float& element : tensor.as<float>()) element = static_cast<float>(random.integer(-2048, 2048)) / 1024.0f;
        break;
      case DType::I1: fill<std::uint8_t>(tensor, random, 0, 1); break;
      case DType::I8: fill<std::int8_t>(tensor, random, wild ? -100 : -2, wild ? 100 : 9); break;
      case DType::I16: fill<std::int16_t>(tensor, random, wild ? -100 : -2, wild ? 100 : 9); break;
      case DType::I32: fill<std::int32_t>(tensor, random, wild ? -1000 : -2, wild ? 1000 : 9); break;
      case DType::I64: fill<std::int64_t>(tensor, random, wild ? INT64_MIN / 2 : -2, wild ? INT64_MAX / 2 : 9); break;
      case DType::U8: fill<std::uint8_t>(tensor, random, 0, wild ? 200 : 9); break;
      case DType::U16: fill<std::uint16_t>(tensor, random, 0, wild ? 200 : 9); break;
      case DType::U32: fill<std::uint32_t>(tensor, random, 0, wild ? 4000000000 : 9); break;
      case DType::U64:
        fill<std::uint64_t>(tensor, random, 0, 9);
        if (wild && !tensor.as<std::uint64_t>().empty()) tensor.as<std::uint64_t>()[0] = UINT64_MAX - 3;
        break;
      case DType::F16:
      case DType::BF16: break;  // zeros
    }
    arguments.push_back(std::move(tensor));
  }
  return arguments;
}

PartitionCase make_case(std::uint64_t seed, std::int64_t number, std::optional<OpKind> only) {
  Random random(seed * 0x9e3779b97f4a7c15ull + static_cast<std::uint64_t>(number) * 0xbf58476d1ce4e5b9ull + 1);
  const std::vector<OpKind> kinds = single_op_kinds();
  static const std::vector<OpKind> special{
      OpKind::Convolution,    OpKind::ReduceWindow,       OpKind::SelectAndScatter, OpKind::Gather, OpKind::Scatter,
      OpKind::DynamicSlice,   OpKind::DynamicUpdateSlice, OpKind::Pad,              OpKind::Slice,  OpKind::Concatenate,
      OpKind::Reverse,        OpKind::DotGeneral,         OpKind::Reduce,           OpKind::Sort,   OpKind::Reshape,
      OpKind::RngBitGenerator, OpKind::While,             OpKind::Case,             OpKind::TopK,   OpKind::Iota};
  PartitionCase made;
  if (!only && number % 8 == 7) {
    Rng rng(static_cast<std::uint64_t>(random.integer(0, INT64_MAX - 1)));
    RandomProgramOptions options;
    options.max_ops = static_cast<int>(random.integer(5, 30));
    made.program = random_program(rng, options);
    ir::inline_calls(made.program);
    for (const ir::Literal& literal : test::random_arguments(made.program, rng)) made.arguments.emplace_back(literal);
    made.sharding = random_sharding(made.program, random_mesh(random), random);
    return made;
  }
  const OpKind kind = only ? *only : number % 4 == 0 ? kinds[static_cast<std::size_t>(number / 4) % kinds.size()]
                                                     : special[static_cast<std::size_t>(number - number / 4) % special.size()];
  made.program = single_op_program(kind, random);
  made.arguments = random_arguments(made.program, random);
  made.sharding = random_sharding(made.program, random_mesh(random), random);
  return made;
}

std::optional<std::string> find_fault(const PartitionCase& tried) {
  try {
    const auto partitioned = shard::partition(tried.program, tried.sharding);
    runtime::VerifyOptions options;
    options.relative_tolerance = 1e-9;
    const auto report = runtime::verify_partition(tried.program, partitioned, tried.arguments, options);
    if (report.equal()) return std::nullopt;
    std::string text;
    for (std::size_t r = 0; r < report.results.size(); ++r) {
      const auto& result = report.results[r];
      if (!result.equal) text += fmt::format("result {} differs by {:g} ({})\n", r, result.largest, result.where);
    }
    if (report.first_op) {
      text += fmt::format("first op that differs: {}\n  {}\n", report.first_op->text, report.first_op->difference.where);
    }
    text += "local program:\n" + ir::print(partitioned.local);
    return text;
  } catch (const std::exception& error) {
    return fmt::format("error: {}", error.what());
  }
}

PartitionCase shrink(PartitionCase failing) {
  // The same fault, not another one: changed decisions may ask for what cannot be, such as a partial value of a whole one.
  const auto fault_class = [](const PartitionCase& candidate) {
    const std::string fault = find_fault(candidate).value_or("");
    return fault.substr(0, fault.starts_with("error") ? 60 : 6);
  };
  const std::string wanted = fault_class(failing);
  const auto still_fails = [&](const PartitionCase& candidate) { return fault_class(candidate) == wanted; };
  const auto attempt = [&](auto change) {
    PartitionCase candidate = failing;
    change(candidate.sharding);
    if (candidate.sharding == failing.sharding || !still_fails(candidate)) return;
    failing = std::move(candidate);
  };
  for (shard::AxisId axis = 0; axis < failing.sharding.mesh.rank(); ++axis) {
    attempt([&](shard::Sharding& s) { s = without_axis(s, axis); });
  }
  const shard::Sharding whole = shard::replicated_sharding(failing.program, failing.sharding.mesh);
  for (std::size_t f = 0; f < failing.sharding.functions.size(); ++f) {
    for (std::size_t o = 0; o < failing.sharding.functions[f].ops.size(); ++o) {
      attempt([&](shard::Sharding& s) { s.functions[f].ops[o] = whole.functions[f].ops[o]; });
      const auto factors = failing.sharding.functions[f].ops[o].factors.size();
      for (std::size_t k = 0; k < factors; ++k) {
        attempt([&](shard::Sharding& s) { s.functions[f].ops[o].factors[k] = whole.functions[f].ops[o].factors[k]; });
      }
    }
    for (std::size_t p = 0; p < failing.sharding.functions[f].params.size(); ++p) {
      attempt([&](shard::Sharding& s) { s.functions[f].params[p] = whole.functions[f].params[p]; });
    }
    for (std::size_t r = 0; r < failing.sharding.functions[f].results.size(); ++r) {
      attempt([&](shard::Sharding& s) { s.functions[f].results[r] = whole.functions[f].results[r]; });
    }
  }
  return failing;
}

std::string describe(const PartitionCase& tried) {
  const shard::MeshShape& mesh = tried.sharding.mesh;
  std::string text = "mesh:";
  for (const auto& axis : mesh.axes()) text += fmt::format(" {}={}", axis.name, axis.size);
  text += "\n" + ir::print(tried.program);
  for (std::size_t f = 0; f < tried.sharding.functions.size(); ++f) {
    const ir::Function& function = tried.program.functions[f];
    const auto& decisions = tried.sharding.functions[f];
    if (decisions.ops.empty() && decisions.params.empty()) continue;
    text += fmt::format("@{}\n", function.name);
    for (std::size_t p = 0; p < decisions.params.size(); ++p) text += fmt::format("  param {}: {}\n", p, shard::to_string(decisions.params[p], mesh));
    for (std::size_t o = 0; o < decisions.ops.size(); ++o) {
      const ir::Op& op = function.ops[o];
      const auto map = shard::factor_map(tried.program, function, op);
      text += fmt::format("  {}:", ir::op_name(op.kind));
      if (op.kind == OpKind::While || op.kind == OpKind::Case) {
        text += "\n";
        continue;
      }
      for (std::size_t i = 0; i < op.operands.size(); ++i) {
        text += " " + shard::to_string(shard::operand_layout(map, decisions.ops[o], static_cast<int>(i), mesh), mesh);
      }
      text += " ->";
      for (std::size_t r = 0; r < op.results.size(); ++r) {
        text += " " + shard::to_string(shard::result_layout(map, decisions.ops[o], static_cast<int>(r), mesh), mesh);
      }
      text += "   factors:";
      for (std::size_t k = 0; k < map.factors.size(); ++k) {
        text += fmt::format(" {}:{}", map.factors[k].size, kind_name(map.factors[k].kind));
      }
      text += "\n";
    }
    for (std::size_t r = 0; r < decisions.results.size(); ++r) text += fmt::format("  result {}: {}\n", r, shard::to_string(decisions.results[r], mesh));
  }
  return text;
}

void Coverage::add(const PartitionCase& tried) {
  const shard::MeshShape& mesh = tried.sharding.mesh;
  for (std::size_t f = 0; f < tried.sharding.functions.size(); ++f) {
    const ir::Function& function = tried.program.functions[f];
    const auto& decisions = tried.sharding.functions[f];
    for (std::size_t o = 0; o < decisions.ops.size(); ++o) {
      const ir::Op& op = function.ops[o];
      ++ops[op.kind];
      const auto map = shard::factor_map(tried.program, function, op);
      const shard::Strategy& strategy = decisions.ops[o];
      if (!strategy.carried_axes.empty()) ++carried;
      for (std::size_t k = 0; k < std::min(map.factors.size(), strategy.factors.size()); ++k) {
        if (map.factors[k].kind == FactorKind::NoSplit) continue;
        Count& count = factors[{op.kind, map.factors[k].kind}];
        ++count.available;
        const auto unique = shard::canonical(strategy.factors[k], mesh);
        if (!unique.is_split()) continue;
        ++count.split;
        if (shard::is_uneven(unique, mesh)) ++count.uneven;
        if (unique.subs.size() > 1) ++count.strided;
      }
    }
  }
}

std::vector<std::string> Coverage::gaps(const std::vector<OpKind>& kinds) const {
  std::vector<std::string> missing;
  for (const OpKind kind : kinds) {
    if (!ops.contains(kind)) missing.push_back(fmt::format("{} never came", ir::op_name(kind)));
  }
  for (const auto& [key, count] : factors) {
    const bool all = count.split > 0 && count.uneven > 0;
    if (!all) missing.push_back(fmt::format("{} with a {} factor: {} times, split {}, unevenly {}", ir::op_name(key.first), kind_name(key.second), count.available, count.split, count.uneven));
  }
  if (carried == 0) missing.push_back("no partial value was carried past its producer");
  return missing;
}

std::string Coverage::table() const {
  std::string text = fmt::format("{:<24}{:<16}{:>10}{:>8}{:>8}{:>8}\n", "op", "factor", "available", "split", "uneven", "strided");
  for (const auto& [key, count] : factors) {
    text += fmt::format("{:<24}{:<16}{:>10}{:>8}{:>8}{:>8}\n", ir::op_name(key.first), kind_name(key.second), count.available,
                        count.split, count.uneven, count.strided);
  }
  return text + fmt::format("carried partial values: {}\n", carried);
}

}  // namespace rhino::test
