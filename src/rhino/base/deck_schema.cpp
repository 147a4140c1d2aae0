// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include <rhino/base/deck.hpp>

namespace rhino {
namespace {

constexpr double kMost = 9007199254740992.0;  // 2^53: every integer up to here is exact in a double

DeckKey flag(const char* section, const char* key, bool value, const char* doc) {
  return {section, key, DeckType::Flag, value, "", doc, {}};
}

DeckKey integer(const char* section, const char* key, std::int64_t value, double least, double greatest,
                const char* units, const char* doc) {
  return {section, key, DeckType::Integer, value, units, doc, {}, least, greatest};
}

DeckKey real(const char* section, const char* key, double value, double least, double greatest, const char* units,
             const char* doc) {
  return {section, key, DeckType::Real, value, units, doc, {}, least, greatest};
}

DeckKey bytes(const char* section, const char* key, std::int64_t value, const char* doc) {
  return {section, key, DeckType::Bytes, value, "bytes", doc, {}, 0, kMost};
}

DeckKey path(const char* section, const char* key, const char* doc) {
  return {section, key, DeckType::Path, std::string(), "", doc, {}};
}

DeckKey text(const char* section, const char* key, const char* doc) {
  return {section, key, DeckType::Text, std::string(), "", doc, {}};
}

DeckKey choice(const char* section, const char* key, std::vector<std::string> allowed, const char* doc,
               DeckType type = DeckType::Choice) {
  const std::string first = allowed.front();
  return {section, key, type, first, "", doc, std::move(allowed)};
}

std::vector<DeckKey> make_schema() {
  return {
      path("model", "file", "Model file (model.h5) to train; either this, model.import or model.zoo."),
      path("model", "import", "Training step to import first: StableHLO or HLO text."),
      path("model", "state", "Initial state for model.import: .npz or .safetensors."),
      path("model", "manifest", "Roles and paths of the parameters of model.import, as tools/export_jax.py writes."),
      text("model", "zoo", "Model to build, one of `rhino model --list`."),
      text("model", "preset", "Size of model.zoo; without it: tiny."),
      text("model", "settings", "Hyper-parameters of model.zoo over the preset's: \"key=value key=value\"."),
      choice("model", "promote", {"none", "f64"}, "f64 turns every floating type into f64, for sharp comparisons."),

      path("data", "file", "HDF5 file whose data sets have the example as leading dimension."),
      flag("data", "shuffle", true, "Permute the examples of each epoch by train.seed, whatever the number of ranks."),
      integer("data", "epochs", 0, 0, kMost, "",
              "Passes over the data after which training ends; 0: as many as train.steps needs."),
      choice("data", "short_batch", {"drop", "wrap"},
             "What happens to the examples that do not fill the last batch of an epoch: left out, or filled up with "
             "the first ones of the next epoch."),

      integer("train", "steps", 100, 0, kMost, "", "Steps to train; with data.epochs the earlier end counts."),
      integer("train", "seed", 0, 0, kMost, "", "Seed of the order of the examples."),
      integer("train", "log_every", 10, 1, kMost, "steps", "Steps between lines of the log."),
      path("train", "metrics", "File for one JSON line per step: step, loss, seconds, other metrics by name."),

      path("eval", "file", "Model file of an evaluation step: it reads training state by path and gives a loss and metrics; what it returns as state is ignored."),
      path("eval", "import", "Evaluation step to import instead of eval.file: StableHLO or HLO text."),
      flag("eval", "zoo", false, "Evaluate the model that model.zoo builds, without dropout, instead of eval.file."),
      path("eval", "manifest", "Roles and paths of the parameters of eval.import."),
      path("eval", "data", "HDF5 file of the evaluation's examples, read in file order; without it: data.file."),
      integer("eval", "every", 0, 0, kMost, "steps", "Evaluate after every so many steps and after the last; 0: after the last only."),
      integer("eval", "batches", 0, 0, kMost, "", "Batches of one evaluation; 0: all whole ones of the data."),

      choice("plan", "strategy", {"auto", "data", "tensor"},
             "auto searches; data splits the batch; tensor splits the weights; or the path of a plan file.",
             DeckType::ChoiceOrPath),
      integer("plan", "level", 1, 1, 2, "", "Effort of the search: 1 takes seconds; 2 tries meshes of up to three axes and searches longer."),
      bytes("plan", "memory_limit", 0, "Most memory that one rank may use; 0: what the cluster description says."),
      integer("plan", "seed", 0, 0, kMost, "", "Seed of the search."),
      path("plan", "output", "Plan file to write the chosen plan to."),

      real("runtime", "watchdog_seconds", 300, 0, 1e9, "s",
           "Longest wait for another rank before the job is ended with a message; 0: for ever."),
      integer("runtime", "threads", 1, 1, 4096, "", "Threads of one rank in matrix products and convolutions."),
      flag("runtime", "overlap", true, "Let communication run beside computation."),
      bytes("runtime", "bundle_bytes", 4 << 20, "Collectives smaller than this together are sent as one."),

      path("cluster", "file", "Cluster description (TOML) to plan for; without it: the ranks of this job."),
  };
}

std::string type_name(const DeckKey& key) {
  switch (key.type) {
    case DeckType::Flag: return "true or false";
    case DeckType::Integer: return "integer";
    case DeckType::Real: return "number";
    case DeckType::Bytes: return "bytes, e.g. \"4 GiB\"";
    case DeckType::Text: return "text";
    case DeckType::Path: return "path";
    case DeckType::Choice: return fmt::format("{}", fmt::join(key.allowed, ", "));
    case DeckType::ChoiceOrPath: return fmt::format("{} or a path", fmt::join(key.allowed, ", "));
  }
  return "";
}

std::string default_text(const DeckKey& key) {
  if (const auto* on = std::get_if<bool>(&key.default_value)) return *on ? "true" : "false";
  if (const auto* number = std::get_if<std::int64_t>(&key.default_value)) return fmt::format("{}", *number);
  if (const auto* number = std::get_if<double>(&key.default_value)) return fmt::format("{}", *number);
  const auto& text = std::get<std::string>(key.default_value);
  return text.empty() ? "none" : text;
}

}  // namespace

const std::vector<DeckKey>& deck_schema() {
  static const std::vector<DeckKey> schema = make_schema();
  return schema;
}

std::string deck_help_text() {
  std::string help =
      "A deck is a TOML file; any of its keys can be given on the command line as section.key=value.\n"
      "A relative path starts at the deck's folder, one on the command line at the current folder.\n";
  std::string section;
  for (const DeckKey& key : deck_schema()) {
    if (key.section != section) {
      section = key.section;
      help += fmt::format("\n[{}]\n", section);
    }
    const std::string units = key.units.empty() || key.type == DeckType::Bytes ? "" : " [" + key.units + "]";
    help += fmt::format("  {:<17} {}{}; default {}\n{:20}{}\n", key.key, type_name(key), units, default_text(key), "",
                        key.doc);
  }
  return help;
}

std::string deck_help_markdown() {
  std::string table = "| key | type | default | meaning |\n|---|---|---|---|\n";
  for (const DeckKey& key : deck_schema()) {
    const std::string units = key.units.empty() || key.type == DeckType::Bytes ? "" : ", " + key.units;
    table += fmt::format("| `{}` | {}{} | {} | {} |\n", key.name(), type_name(key), units, default_text(key), key.doc);
  }
  return table;
}

}  // namespace rhino
