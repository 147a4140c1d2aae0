// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/base/strings.hpp>
#include <rhino/io/plan_file.hpp>
#include <rhino/plan/mpi/mpi_search_board.hpp>

#include "commands.hpp"
#include "job.hpp"
#include "mpi_session.hpp"

namespace rhino::app {
namespace command_plan {

struct Flags {
  std::string model;
  std::vector<std::string> overrides;
  std::string strategy, cluster, output;
  std::int64_t ranks = 0;
  int level = 0;
};

int find(const Flags& flags) {
  std::vector<std::string> overrides;
  std::string deck_file = flags.model;
  if (deck_file.ends_with(".h5")) {
    overrides.push_back("model.file=" + deck_file);
    deck_file.clear();
  }
  overrides.insert(overrides.end(), flags.overrides.begin(), flags.overrides.end());
  if (!flags.strategy.empty()) overrides.push_back("plan.strategy=" + flags.strategy);
  if (!flags.cluster.empty()) overrides.push_back("cluster.file=" + flags.cluster);
  if (!flags.output.empty()) overrides.push_back("plan.output=" + flags.output);
  if (flags.level > 0) overrides.push_back(fmt::format("plan.level={}", flags.level));
  const Deck deck = read_deck(deck_file, overrides);

  MpiSession session;
  session.require_equal(deck.hash(), "the decks");
  const LoadedModel model = load_model(deck);
  const std::int64_t searching = session.size();
  std::int64_t devices = flags.ranks;
  if (devices == 0) {
    devices = deck.text("cluster.file").empty() ? searching : cluster::read_cluster(deck.text("cluster.file")).devices();
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto board = plan::mpi::make_search_board();
  const plan::Plan plan = choose_plan(deck, model, devices, *board);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!session.root()) return 0;
  fmt::print("{}found in {} by {} rank{}\n", plan::to_string(plan, model.program, &model.signature), human_seconds(seconds), searching,
             searching == 1 ? "" : "s");
  if (!deck.text("plan.output").empty()) {
    io::write_plan(plan, deck.text("plan.output"));
    fmt::print("written to {}\n", deck.text("plan.output"));
  }
  return 0;
}

Action declare(CommandLine& cli) {
  auto flags = std::make_shared<Flags>();
  cli.add_option("model", flags->model, "Deck (TOML), or a model file (.h5)").required();
  cli.add_option("overrides", flags->overrides, "section.key=value, over what the deck says");
  cli.add_option("--ranks", flags->ranks, "Devices to plan for; default: those of the cluster, or the ranks of this job")
      .range(1, std::int64_t{1} << 24);
  cli.add_option("--plan", flags->strategy, "auto, data or tensor (plan.strategy)");
  cli.add_option("--cluster", flags->cluster, "Cluster description (cluster.file)");
  cli.add_option("-O,--level", flags->level, "Effort of the search: 1 or 2 (plan.level)");
  cli.add_option("-o,--output", flags->output, "Plan file to write (plan.output)");
  return [flags] { return find(*flags); };
}

}  // namespace command_plan

const Command plan_command = {
    "plan",
    "find the best way to run a model on many devices",
    "mpirun -n 2 rhino plan inputs/gpt_tiny.toml --ranks 4 -o plan.h5\n"
    "rhino plan model.h5 --cluster cluster.toml -O2",
    command_plan::declare,
};

}  // namespace rhino::app
