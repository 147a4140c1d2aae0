// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <random>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/base/strings.hpp>
#include <rhino/io/data_set.hpp>
#include <rhino/io/plan_file.hpp>
#include <rhino/ir/passes.hpp>
#include <rhino/plan/search_board.hpp>
#include <rhino/runtime/verify/verify.hpp>

#include "commands.hpp"
#include "job.hpp"

namespace rhino::app {
namespace command_verify {

using kernels::reference::Tensor;

struct Flags {
  std::string model;
  std::vector<std::string> others;  ///< a plan file and overrides
  std::string strategy;
  std::string promote = "f64";
  std::int64_t ranks = 0;
  std::uint64_t seed = 1;
  double tolerance = -1;
};

std::vector<std::vector<std::int64_t>> all_indices(const ir::Dims& dims) {
  std::vector<std::vector<std::int64_t>> indices;
  for (const std::int64_t size : dims) {
    indices.emplace_back();
    for (std::int64_t i = 0; i < size; ++i) indices.back().push_back(i);
  }
  return indices;
}

/// Values for a batch parameter without data: floats in [-1, 1), small integers, both from a seeded stream.
Tensor random_batch(const ir::TensorType& type, std::mt19937_64& engine) {
  constexpr std::uint64_t integers = 10;
  std::vector<std::byte> bytes;
  for (std::int64_t i = 0; i < type.elements(); ++i) {
    const std::uint64_t bits = engine();
    const ir::TensorType scalar{type.dtype, {}};
    const ir::Literal element = ir::is_float(type.dtype)
                                    ? ir::Literal::splat(scalar, static_cast<double>(bits >> 11) * 0x1p-52 - 1)
                                    : ir::Literal::splat_int(scalar, static_cast<std::int64_t>(
                                                                         bits % (type.dtype == ir::DType::I1 ? 2 : integers)));
    const auto stored = element.stored_bytes();
    bytes.insert(bytes.end(), stored.begin(), stored.end());
  }
  return Tensor(ir::Literal(type, std::move(bytes)));
}

/// First values of the state, and the first batch of the deck's data or else a random one.
std::vector<Tensor> make_arguments(const LoadedModel& model, const std::string& data_file, std::uint64_t seed) {
  const ir::Function& entry = model.program.entry();
  std::unique_ptr<io::DataSet> data;
  std::vector<io::DataField> fields = io::data_fields(model.signature, entry);
  if (!data_file.empty()) data = std::make_unique<io::DataSet>(data_file, fields, io::DataOptions{.shuffle = false});
  std::mt19937_64 engine(seed);
  std::vector<Tensor> arguments;
  for (std::size_t p = 0; p < entry.params.size(); ++p) {
    const ir::TensorType& type = entry.type(entry.params[p]);
    const ir::ParamInfo& info = model.signature.params[p];
    if (info.role != ir::ParamRole::Batch) {
      Tensor tensor(type);
      model.values.read_state(info.path, all_indices(type.dims), type.dtype, tensor.bytes);
      arguments.push_back(std::move(tensor));
    } else if (data) {
      const auto field = std::find_if(fields.begin(), fields.end(), [&](const io::DataField& f) { return f.path == info.path; });
      RHINO_ASSERT(field != fields.end());
      auto indices = all_indices(type.dims);
      indices.front() = data->batch_examples(0);
      Tensor tensor(type);
      data->read(static_cast<std::size_t>(field - fields.begin()), indices, tensor.bytes);
      arguments.push_back(std::move(tensor));
    } else {
      arguments.push_back(random_batch(type, engine));
    }
  }
  return arguments;
}

/// Whether decisions for the one program can be used for the other: the same ops on the same shapes.
bool same_ops(const ir::Program& a, const ir::Program& b) {
  if (a.functions.size() != b.functions.size()) return false;
  for (std::size_t f = 0; f < a.functions.size(); ++f) {
    const auto& left = a.functions[f].ops;
    const auto& right = b.functions[f].ops;
    if (!std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const ir::Op& x, const ir::Op& y) { return x.kind == y.kind; }))
      return false;
  }
  return true;
}

int compare(const Flags& flags) {
  std::vector<std::string> overrides;
  std::string deck_file = flags.model, plan_file;
  if (deck_file.ends_with(".h5")) {
    overrides.push_back("model.file=" + deck_file);
    deck_file.clear();
  }
  for (const std::string& other : flags.others) {
    if (other.find('=') != std::string::npos) {
      overrides.push_back(other);
      continue;
    }
    RHINO_CHECK_AS(UsageError, plan_file.empty(), "two plan files are given: {} and {}", plan_file, other);
    plan_file = other;
  }
  RHINO_CHECK_AS(UsageError, plan_file.empty() || flags.strategy.empty(), "give a plan file or --plan, not both");
  if (!plan_file.empty()) overrides.push_back("plan.strategy=" + plan_file);
  if (!flags.strategy.empty()) overrides.push_back("plan.strategy=" + flags.strategy);
  RHINO_CHECK_AS(UsageError, flags.promote == "f64" || flags.promote == "none", "--promote is f64 or none, not '{}'",
                 flags.promote);
  const Deck deck = read_deck(deck_file, overrides);
  LoadedModel model = load_model(deck);

  // The plan is made for the program as it would train; widened, the same decisions give a sharp comparison.
  const std::string strategy = deck.text("plan.strategy");
  const bool from_file = strategy != "auto" && strategy != "data" && strategy != "tensor";
  std::int64_t devices = flags.ranks;
  if (devices == 0) devices = from_file ? io::read_plan(strategy).devices : 4;
  plan::LocalSearchBoard board;
  plan::Plan plan = choose_plan(deck, model, devices, board);
  if (flags.promote == "f64") {
    const ir::Program narrow = model.program;
    ir::promote_floats_to_f64(model.program);
    if (!same_ops(narrow, model.program)) {
      RHINO_CHECK_AS(UsageError, !from_file,
                     "widening to f64 changes the ops of this program, so that the plan in {} does not fit: --promote none "
                     "compares it as it is",
                     strategy);
      plan::LocalSearchBoard again;
      plan = choose_plan(deck, model, devices, again);
    }
  }
  const shard::PartitionedProgram partitioned = shard::partition(model.program, plan.sharding);
  fmt::print("plan {} on {} devices: {} ops, {} per device\n", plan.strategy_name, devices, model.program.entry().ops.size(),
             partitioned.local.entry().ops.size());

  runtime::VerifyOptions options;
  options.relative_tolerance = flags.tolerance;
  const runtime::VerifyReport report =
      runtime::verify_partition(model.program, partitioned, make_arguments(model, deck.text("data.file"), flags.seed), options);
  fmt::print("{:<40} {:>12} {:>12}  {}\n", "result", "difference", "relative", "layout");
  int different = 0;
  for (std::size_t r = 0; r < report.results.size(); ++r) {
    const runtime::ValueDifference& result = report.results[r];
    fmt::print("{:<40} {:>12.3g} {:>12.3g}  {}{}\n", model.signature.results[r].path, result.largest, result.relative,
               shard::to_string(partitioned.results[r], partitioned.mesh), result.equal ? "" : "  DIFFERENT: " + result.where);
    different += result.equal ? 0 : 1;
  }
  if (report.first_op) {
    const ir::Op& op = model.program.entry().op(report.first_op->op);
    fmt::print("first op that differs: {}\n  {}{}\n", report.first_op->text, report.first_op->difference.where,
               op.location.line > 0 ? fmt::format(" (line {} of the imported text)", op.location.line) : "");
  }
  if (different == 0) fmt::print("all {} results are equal on all devices\n", report.results.size());
  else fmt::print("{} of {} results differ\n", different, report.results.size());
  return different == 0 ? 0 : 1;
}

Action declare(CommandLine& cli) {
  auto flags = std::make_shared<Flags>();
  cli.add_option("model", flags->model, "Deck (TOML), or a model file (.h5)").required();
  cli.add_option("plan", flags->others, "Plan file (.h5), and section.key=value over what the deck says");
  cli.add_option("--plan", flags->strategy, "auto, data, tensor or a plan file (plan.strategy)");
  cli.add_option("--ranks", flags->ranks, "Devices, all of them threads of this process; default: those of the plan file, or 4")
      .range(1, std::int64_t{1024});
  cli.add_option("--promote", flags->promote, "f64 (default) widens all floats for a sharp comparison; none leaves them");
  cli.add_option("--seed", flags->seed, "Of the random batch where the deck names no data");
  cli.add_option("--tolerance", flags->tolerance, "Largest difference, relative to the largest element of a result");
  return [flags] { return compare(*flags); };
}

}  // namespace command_verify

const Command verify_command = {
    "verify",
    "run all devices of a plan in one process and compare with the unsharded program",
    "rhino verify inputs/gpt_tiny.toml --plan tensor --ranks 4\n"
    "rhino verify model.h5 plan.h5",
    command_verify::declare,
};

}  // namespace rhino::app
