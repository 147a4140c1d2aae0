// SPDX-License-Identifier: Apache-2.0
#include "job.hpp"

#include <cstdlib>
#include <filesystem>

#include <rhino/base/error.hpp>
#include <rhino/base/log.hpp>
#include <rhino/base/strings.hpp>
#include <rhino/io/model_import.hpp>
#include <rhino/io/plan_file.hpp>
#include <rhino/ir/passes.hpp>
#include <rhino/kernels/reference/evaluate.hpp>
#include <rhino/zoo/zoo.hpp>

namespace rhino::app {

Deck read_deck(const std::string& file, const std::vector<std::string>& overrides) {
  Deck deck = file.empty() ? Deck() : Deck::from_file(file);
  deck.override_with(overrides);
  return deck;
}

io::Model zoo_model(const std::string& name, const std::string& preset, const std::vector<std::string>& assignments) {
  zoo::BuiltModel built = zoo::build_model(name, preset.empty() ? "tiny" : preset, assignments);
  io::Model model{std::move(built.program), std::move(built.signature), {}, std::move(built.meta)};
  for (auto& [path, recipe] : built.state) model.state.emplace(path, recipe);
  return model;
}

namespace {

io::ModelReader build_zoo_model(const Deck& deck, bool trained) {
  std::vector<std::string> assignments;
  for (const std::string_view word : split(deck.text("model.settings"), ' '))
    if (!word.empty()) assignments.emplace_back(word);
  if (!trained) assignments.emplace_back("mode=evaluate");
  return io::ModelReader(zoo_model(deck.text("model.zoo"), deck.text("model.preset"), assignments));
}

/// A model file, a step to import or a model to build: one of them, as a section of the deck names them. Only the trained
/// step's initial values matter.
LoadedModel load_step(const Deck& deck, const std::string& section) {
  const bool trained = section == "model";
  const std::string file = deck.text(section + ".file"), import = deck.text(section + ".import");
  const bool zoo = trained ? !deck.text("model.zoo").empty() : deck.flag("eval.zoo");
  const int named = !file.empty() + !import.empty() + zoo;
  RHINO_CHECK_AS(UsageError, named == 1, "the deck must name one model: {0}.file, {0}.import or {0}.zoo, {1}", section,
                 named == 0 ? "and it names none" : "not several");
  for (const char* key : {"model.preset", "model.settings", "eval.zoo"})
    RHINO_CHECK_AS(UsageError, !deck.given(key) || !deck.text("model.zoo").empty(), "{} is given, but no model.zoo", key);
  const auto open = [&] {
    if (!file.empty()) return io::ModelReader(file);
    if (zoo) return build_zoo_model(deck, trained);
    io::ImportRequest request;
    request.program_path = import;
    if (trained) request.state_path = deck.text("model.state");
    request.values_matter = trained;
    request.manifest_path = deck.text(section + ".manifest");
    request.evaluate = kernels::reference::evaluate;
    io::ImportedModel imported = io::import_model(request);
    for (const std::string& assumption : imported.assumptions) log_warn("{}", assumption);
    return io::ModelReader(std::move(imported.model));
  };
  io::ModelReader values = open();
  LoadedModel model{values.program(), values.signature(), std::move(values)};
  if (deck.text("model.promote") == "f64") ir::promote_floats_to_f64(model.program);
  return model;
}

}  // namespace

LoadedModel load_model(const Deck& deck) { return load_step(deck, "model"); }

std::optional<LoadedModel> load_evaluation(const Deck& deck) {
  if (deck.text("eval.file").empty() && deck.text("eval.import").empty() && !deck.flag("eval.zoo")) {
    for (const char* key : {"eval.manifest", "eval.data", "eval.every", "eval.batches"})
      RHINO_CHECK_AS(UsageError, !deck.given(key), "{} is given, but no evaluation step: eval.file, eval.import or eval.zoo", key);
    return std::nullopt;
  }
  return load_step(deck, "eval");
}

std::string calibration_file() {
  if (const char* file = std::getenv("RHINO_CALIBRATION")) return file;
  if (const char* config = std::getenv("XDG_CONFIG_HOME")) return std::string(config) + "/rhino/calibration.toml";
  const char* home = std::getenv("HOME");
  return std::string(home == nullptr ? "." : home) + "/.config/rhino/calibration.toml";
}

cluster::Cluster cluster_for(const Deck& deck, std::int64_t ranks) {
  const std::string& file = deck.text("cluster.file");
  if (!file.empty()) return cluster::read_cluster(file);
  cluster::Cluster cluster = cluster::default_cpu_cluster(ranks);
  if (std::filesystem::exists(calibration_file())) {
    // Measured with some number of ranks; the rates of a rank and its links are taken for any number.
    cluster = cluster::read_cluster(calibration_file());
    cluster.levels.resize(1);
    cluster.levels.front().fanout = ranks;
  }
  return cluster;
}

bool has_plan_file(const Deck& deck) {
  const std::string& strategy = deck.text("plan.strategy");
  return strategy != "auto" && strategy != "data" && strategy != "tensor";
}

std::int64_t memory_limit(const Deck& deck, const cluster::Cluster& cluster) {
  const std::int64_t given = deck.integer("plan.memory_limit");
  return given > 0 ? given : static_cast<std::int64_t>(cluster.device.memory_bytes);
}

plan::Plan choose_plan(const Deck& deck, const LoadedModel& model, std::int64_t devices, plan::SearchBoard& board,
                       std::int64_t reserve) {
  const std::string& strategy = deck.text("plan.strategy");
  if (has_plan_file(deck)) {
    plan::Plan plan = io::read_plan(strategy);
    plan::check_plan(plan, model.program, devices);
    return plan;
  }
  plan::PlannerOptions options;
  options.strategy = strategy;
  options.level = static_cast<int>(deck.integer("plan.level"));
  options.memory_limit = deck.integer("plan.memory_limit");
  options.reserve = reserve;
  options.seed = static_cast<std::uint64_t>(deck.integer("plan.seed"));
  const cluster::Cluster cluster = cluster_for(deck, devices);
  RHINO_CHECK_AS(UsageError, cluster.devices() == devices, "cluster {} has {} devices, this job has {} ranks", cluster.name,
                 cluster.devices(), devices);
  return plan::find_plan(model.program, model.signature, cluster, options, board);
}

}  // namespace rhino::app
