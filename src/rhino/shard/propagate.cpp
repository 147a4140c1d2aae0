// SPDX-License-Identifier: Apache-2.0
#include <rhino/base/error.hpp>
#include <rhino/shard/control_functions.hpp>
#include <rhino/shard/propagate_function.hpp>
#include <rhino/shard/sharding.hpp>

namespace rhino::shard {

Sharding propagate(const ir::Program& program, const MeshShape& mesh, const std::vector<Seed>& seeds,
                   const PropagateOptions& options) {
  Sharding sharding = replicated_sharding(program, mesh);
  PropagationContext context{program, mesh, options.carry_partials, control_uses(program), sharding.functions};
  const ir::Function& entry = program.entry();
  FunctionPropagation propagation(context, entry, 0);
  for (const Seed& seed : seeds) {
    RHINO_CHECK(seed.value.valid() && seed.value.index() < entry.values.size(),
                "a seed names value {}, @{} has {} values", seed.value.index(), entry.name, entry.values.size());
    check_layout(seed.layout, entry.type(seed.value).dims, mesh, "seed");
    RHINO_CHECK(!seed.layout.is_partial(), "a seed must not be partial");
    const ir::Value& value = entry.value(seed.value);
    if (value.producer.valid())
      propagation.seed(seed.value, canonical(seed.layout, mesh));
    else
      propagation.set_param(value.result_index, canonical(seed.layout, mesh), true);
  }
  for (const auto& [param, result] : options.tied) {
    RHINO_CHECK(param < entry.params.size() && result < entry.results.size() &&
                    entry.type(entry.params[param]) == entry.type(entry.results[result]),
                "parameter {} and result {} cannot be tied: there are {} and {}, and the types must be equal", param,
                result, entry.params.size(), entry.results.size());
    propagation.tie(param, result);
  }
  propagation.run();
  sharding.functions[program.main.index()] = propagation.finish();
  return sharding;
}

}  // namespace rhino::shard
