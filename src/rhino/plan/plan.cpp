// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/plan.hpp>

#include <algorithm>

#include <fmt/core.h>

#include <rhino/base/error.hpp>
#include <rhino/base/strings.hpp>
#include <rhino/ir/op_info.hpp>
#include <rhino/ir/signature.hpp>
#include <rhino/ir/text.hpp>

namespace rhino::plan {

bool Plan::operator==(const Plan& other) const {
  const auto same = [](const Candidate& a, const Candidate& b) {
    return a.name == b.name && a.seconds == b.seconds && a.bytes_per_rank == b.bytes_per_rank && a.feasible == b.feasible;
  };
  return program_hash == other.program_hash && devices == other.devices && strategy_name == other.strategy_name &&
         sharding == other.sharding && stages == other.stages && stage_of_op == other.stage_of_op &&
         micro_batches == other.micro_batches && schedule == other.schedule && recomputed_ops == other.recomputed_ops &&
         optimizer_sharded == other.optimizer_sharded && bytes_per_rank == other.bytes_per_rank &&
         predicted.compute == other.predicted.compute && predicted.communication == other.predicted.communication &&
         predicted.total == other.predicted.total && lower_bound_seconds == other.lower_bound_seconds &&
         std::equal(candidates.begin(), candidates.end(), other.candidates.begin(), other.candidates.end(), same) &&
         seed == other.seed && level == other.level && cluster_name == other.cluster_name && options == other.options;
}

Hash128 hash(const ir::Program& program) { return hash128(ir::print(program)); }

void check_plan(const Plan& plan, const ir::Program& program, std::int64_t devices) {
  const Hash128 expected = hash(program);
  RHINO_CHECK(plan.program_hash == expected, "the plan belongs to another model: it was made for program {}, this is {}",
              to_string(plan.program_hash), to_string(expected));
  RHINO_CHECK(plan.devices == devices && plan.sharding.mesh.devices() == devices,
              "the plan is for {} devices (mesh of {}), this job has {} ranks", plan.devices, plan.sharding.mesh.devices(), devices);
  RHINO_CHECK(plan.stages == 1 && plan.micro_batches == 1, "the plan has {} stages and {} micro-batches; only one of each can run",
              plan.stages, plan.micro_batches);
  shard::check_sharding(program, plan.sharding);
}

std::string to_string(const Plan& plan, const ir::Program& program, const ir::Signature* signature) {
  const shard::MeshShape& mesh = plan.sharding.mesh;
  std::string axes;
  for (const shard::MeshAxis& axis : mesh.axes()) axes += fmt::format("{}{}={}", axes.empty() ? "" : " ", axis.name, axis.size);
  std::string text = fmt::format("plan {} for {} devices, mesh [{}], cluster {}\n", plan.strategy_name, plan.devices, axes, plan.cluster_name);
  text += fmt::format("predicted {:.3f} ms a step: compute {:.3f} ms, communication {:.3f} ms\n", 1e3 * plan.predicted.total,
                      1e3 * plan.predicted.compute, 1e3 * plan.predicted.communication);
  for (std::size_t r = 0; r < plan.bytes_per_rank.size(); ++r) {
    text += fmt::format("needs {}{}\n", human_bytes(plan.bytes_per_rank[r]),
                        plan.bytes_per_rank.size() == 1 ? " per rank" : fmt::format(" on rank {}", r));
  }
  text += "candidates:\n";
  for (const Candidate& candidate : plan.candidates) {
    text += fmt::format("  {:<40} {:>10.3f} ms  {:>10}{}\n", candidate.name, 1e3 * candidate.seconds,
                        human_bytes(candidate.bytes_per_rank), candidate.feasible ? "" : "  does not fit");
  }
  const ir::Function& entry = program.entry();
  const shard::FunctionSharding& decisions = plan.sharding.functions[program.main.index()];
  text += "parameters:\n";
  for (std::size_t i = 0; i < entry.params.size(); ++i) {
    text += fmt::format("  {} {}{}\n", ir::to_string(entry.type(entry.params[i])), shard::to_string(decisions.params[i], mesh),
                        signature == nullptr ? "" : "  " + signature->params[i].path);
  }
  text += "products and convolutions:\n";
  for (std::size_t i = 0; i < entry.ops.size(); ++i) {
    const ir::Op& op = entry.ops[i];
    if (op.kind != ir::OpKind::DotGeneral && op.kind != ir::OpKind::Convolution) continue;
    const shard::FactorMap map = shard::factor_map(program, entry, op);
    text += fmt::format("  {} {} x {} -> {}  {}\n", ir::op_name(op.kind),
                        shard::to_string(shard::operand_layout(map, decisions.ops[i], 0, mesh), mesh),
                        shard::to_string(shard::operand_layout(map, decisions.ops[i], 1, mesh), mesh),
                        shard::to_string(shard::result_layout(map, decisions.ops[i], 0, mesh), mesh), op.location.name);
  }
  return text;
}

}  // namespace rhino::plan
