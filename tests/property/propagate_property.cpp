// SPDX-License-Identifier: Apache-2.0
// Random programs, random meshes, a few random seeds and ties: what propagation completes them to must be valid, keep its
// promises about seeds and ties, and give what the whole program gives.
//
//   propagate_property [--seed N] [--first N] [--cases N (0: without end)]
//
// Exit code 0 if all cases hold, 1 otherwise.
#include <cstdint>
#include <cstdio>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/ir/passes.hpp>
#include <rhino/shard/sharding.hpp>
#include <support/random_program.hpp>

#include "command_line.hpp"
#include "partition_case.hpp"
#include "random_sharding.hpp"

namespace rhino::test {
namespace {

struct PropagateCase {
  PartitionCase partition;
  std::vector<shard::Seed> seeds;
  shard::PropagateOptions options;
};

PropagateCase make_propagate_case(std::uint64_t seed, std::int64_t number) {
  Random random(seed * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(number));
  Rng rng(static_cast<std::uint64_t>(random.integer(0, INT64_MAX - 1)));
  PropagateCase made;
  ir::Program& program = made.partition.program;
  program = random_program(rng);
  ir::inline_calls(program);
  made.partition.arguments = random_arguments(program, random);
  const ir::Function& entry = program.entry();
  const shard::MeshShape mesh = random_mesh(random);
  std::set<std::size_t> seeded;
  for (std::int64_t s = random.integer(1, 6); s > 0; --s) {
    const auto value = static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(entry.values.size()) - 1));
    if (!seeded.insert(value).second) continue;
    made.seeds.push_back({ir::ValueId(value), random_layout(entry.values[value].type.dims, mesh, random)});
  }
  std::set<std::size_t> tied;
  for (std::size_t p = 0; p < entry.params.size(); ++p)
    for (std::size_t r = 0; r < entry.results.size(); ++r)
      if (entry.type(entry.params[p]) == entry.type(entry.results[r]) && random.chance(0.3) && tied.insert(r).second) {
        made.options.tied.emplace_back(p, r);
        break;
      }
  made.options.carry_partials = random.chance(0.5);
  made.partition.sharding = shard::propagate(program, mesh, made.seeds, made.options);
  return made;
}

std::optional<std::string> find_broken_promise(const PropagateCase& tried) {
  const ir::Function& entry = tried.partition.program.entry();
  const shard::Sharding& sharding = tried.partition.sharding;
  const shard::FunctionSharding& decided = sharding.functions[tried.partition.program.main.index()];
  try {
    shard::check_sharding(tried.partition.program, sharding);
  } catch (const Error& error) {
    return error.what();
  }
  for (const shard::Seed& seed : tried.seeds) {
    const ir::Value& value = entry.value(seed.value);
    if (!value.producer.valid() &&
        decided.params[value.result_index] != shard::canonical(seed.layout, sharding.mesh))
      return fmt::format("parameter {} does not have the layout that it was given", value.result_index);
  }
  for (const auto& [param, result] : tried.options.tied)
    if (decided.params[param] != decided.results[result])
      return fmt::format("parameter {} and result {} are tied but lie differently", param, result);
  return std::nullopt;
}

int run(const std::vector<std::string>& arguments) {
  app::CommandLine app("Propagated decisions against the whole program, at random", "propagate_property");
  std::uint64_t seed = 1;
  std::int64_t first = 0, cases = 1000, done = 0, splits = 0;
  app.add_option("--seed", seed, "Seed of all cases");
  app.add_option("--first", first, "Number of the first case");
  app.add_option("--cases", cases, "How many cases; 0: until stopped");
  if (!app.parse(arguments)) {
    fmt::print("{}", app.help());
    return 0;
  }
  for (std::int64_t number = first; cases == 0 || number < first + cases; ++number, ++done) {
    const PropagateCase tried = make_propagate_case(seed, number);
    for (const shard::FunctionSharding& function : tried.partition.sharding.functions)
      for (const shard::Strategy& strategy : function.ops)
        for (const shard::DimLayout& factor : strategy.factors) splits += factor.is_split();
    std::optional<std::string> fault = find_broken_promise(tried);
    if (!fault) fault = find_fault(tried.partition);
    if (!fault) continue;
    fmt::print("case {} of seed {} fails; repeat it by --seed {} --first {} --cases 1\n{}\n{}\n", number, seed, seed, number,
               *fault, describe(test::shrink(tried.partition)));
    return 1;
  }
  fmt::print("{} cases, {} factors split\n", done, splits);
  return splits > 0 ? 0 : 1;
}

}  // namespace
}  // namespace rhino::test

int main(int argc, char** argv) {
  try {
    return rhino::test::run({argv + 1, argv + argc});
  } catch (const rhino::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
