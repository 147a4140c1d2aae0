// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <rhino/base/deck.hpp>
#include <rhino/io/model_file.hpp>
#include <rhino/plan/plan.hpp>
#include <rhino/plan/planner.hpp>

namespace rhino::app {

/// Deck from a file (or all defaults if `file` is empty) with `section.key=value` overrides.
Deck read_deck(const std::string& file, const std::vector<std::string>& overrides);

/// A model as a command uses it: the program that runs, and where its first values come from.
struct LoadedModel {
  ir::Program program;  ///< calls inlined; widened to f64 if the deck says so
  ir::Signature signature;
  io::ModelReader values;
};

/// A model of the zoo as a model file has it; an empty preset means "tiny". Throws UsageError.
io::Model zoo_model(const std::string& name, const std::string& preset, const std::vector<std::string>& assignments);

/// The model that a deck's [model] section names: a model file, a step to import or a model to build. Local. Throws
/// UsageError unless the section names one.
LoadedModel load_model(const Deck& deck);

/// The evaluation step of a deck's [eval] section, or nothing if the deck names none. Local.
std::optional<LoadedModel> load_evaluation(const Deck& deck);

/// File that `rhino calibrate` writes and planning for this machine reads: $RHINO_CALIBRATION, or rhino/calibration.toml in
/// the user's configuration folder.
std::string calibration_file();

/// The cluster to plan for: the deck's description, or `ranks` processes like this one at the calibrated or shipped rates.
cluster::Cluster cluster_for(const Deck& deck, std::int64_t ranks);

/// Whether plan.strategy names a plan file.
bool has_plan_file(const Deck& deck);

/// Bytes that one rank may use: the deck's limit or else what the cluster says.
std::int64_t memory_limit(const Deck& deck, const cluster::Cluster& cluster);

/// The plan that a deck asks for: found now, with `reserve` bytes of the memory limit left free, or read from a plan file and
/// checked against the model. Collective over the board.
plan::Plan choose_plan(const Deck& deck, const LoadedModel& model, std::int64_t devices, plan::SearchBoard& board,
                       std::int64_t reserve = 0);

}  // namespace rhino::app
