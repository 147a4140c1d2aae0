// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <rhino/base/error.hpp>
#include <rhino/base/hash.hpp>
#include <rhino/base/log.hpp>
#include <rhino/base/strings.hpp>
#include <rhino/comm/mpi/environment.hpp>
#include <rhino/cost/cost_model.hpp>
#include <rhino/device/arena.hpp>
#include <rhino/io/data_set.hpp>
#include <rhino/io/plan_file.hpp>
#include <rhino/lower/lower.hpp>
#include <rhino/plan/evaluation.hpp>
#include <rhino/plan/mpi/mpi_search_board.hpp>
#include <rhino/runtime/backend.hpp>
#include <rhino/runtime/evaluator.hpp>
#include <rhino/runtime/initial_state.hpp>
#include <rhino/runtime/trainer.hpp>

#include "commands.hpp"
#include "job.hpp"
#include "mpi_session.hpp"

namespace rhino::app {
namespace command_train {

struct Flags {
  std::string deck;
  std::vector<std::string> overrides;
  std::string plan, promote, metrics, data;
  std::int64_t steps = -1;
  std::int64_t seed = -1;
  bool print_deck = false;
  bool dry_run = false;
};

Deck resolve(const Flags& flags) {
  std::string deck_file = flags.deck;
  std::vector<std::string> overrides;
  if (deck_file.ends_with(".h5")) {  // a model file in place of a deck
    overrides.push_back("model.file=" + deck_file);
    deck_file.clear();
  }
  overrides.insert(overrides.end(), flags.overrides.begin(), flags.overrides.end());
  const auto set = [&](const char* key, const std::string& value) {
    if (!value.empty()) overrides.push_back(fmt::format("{}={}", key, value));
  };
  set("plan.strategy", flags.plan);
  set("model.promote", flags.promote);
  set("train.metrics", flags.metrics);
  set("data.file", flags.data);
  if (flags.steps >= 0) set("train.steps", fmt::format("{}", flags.steps));
  if (flags.seed >= 0) set("train.seed", fmt::format("{}", flags.seed));
  return read_deck(deck_file, overrides);
}

/// One JSON line per step on the root; nothing elsewhere. Lines are flushed, so that a job that is cut short leaves whole ones;
/// one that does not fit on the disk is taken back.
class MetricsFile {
 public:
  MetricsFile(const std::string& path, bool root) : path_(path) {
    if (path.empty() || !root) return;
    file_.reset(std::fopen(path.c_str(), "w"));
    RHINO_CHECK_AS(EnvironmentError, file_ != nullptr, "cannot write metrics to {}: {}", path, std::strerror(errno));
  }
  /// What was evaluated after the step goes into its line, as eval/loss and eval/NAME.
  void write(const runtime::StepReport& report, const std::optional<runtime::Scalars>& evaluated) {
    if (!file_) return;
    nlohmann::ordered_json line;
    line["step"] = report.step;
    line["loss"] = report.loss;
    line["seconds"] = report.seconds;
    for (const auto& [name, value] : report.metrics) line[name] = value;
    if (evaluated) {
      line["eval/loss"] = evaluated->loss;
      for (const auto& [name, value] : evaluated->metrics) line["eval/" + name] = value;
    }
    const std::string text = line.dump() + "\n";
    if (std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size() && std::fflush(file_.get()) == 0) {
      whole_lines_ += static_cast<off_t>(text.size());
      return;
    }
    const int cause = errno;
    // A device or a pipe cannot be cut, and need not be.
    [[maybe_unused]] const int cut = ftruncate(fileno(file_.get()), whole_lines_);
    RHINO_FAIL(EnvironmentError, "cannot write metrics to {}: {}", path_, std::strerror(cause));
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  off_t whole_lines_ = 0;  ///< bytes
};

/// A bar on a terminal, a line every few steps in a log.
class Progress {
 public:
  Progress(std::int64_t steps, std::int64_t log_every, bool root)
      : steps_(steps), log_every_(log_every), root_(root), terminal_(isatty(STDERR_FILENO) != 0) {}

  void show(const runtime::StepReport& report) {
    if (!root_) return;
    const bool due = report.step % log_every_ == 0 || report.step == 1 || report.step == steps_;
    if (terminal_) {
      constexpr int width = 30;
      const int filled = steps_ > 0 ? static_cast<int>(width * report.step / steps_) : width;
      fmt::print(stderr, "\r[{}{}] {}/{}  loss {:.6g}  {}/step   ", std::string(static_cast<std::size_t>(filled), '#'),
                 std::string(static_cast<std::size_t>(width - filled), '.'), report.step, steps_, report.loss,
                 human_seconds(report.seconds));
      if (report.step == steps_) fmt::print(stderr, "\n");
    }
    if (due && !terminal_) {
      fmt::print("step {:>6}  loss {:.6g}  {}/step\n", report.step, report.loss, human_seconds(report.seconds));
      std::fflush(stdout);
    }
  }

  void show(std::int64_t step, const runtime::Scalars& evaluated) const {
    if (!root_) return;
    std::string text = fmt::format("eval at {}  loss {:.6g}", step, evaluated.loss);
    for (const auto& [name, value] : evaluated.metrics) text += fmt::format("  {} {:.6g}", name, value);
    fmt::print("{}{}\n", terminal_ && step != steps_ ? "\n" : "", text);
    std::fflush(stdout);
  }

 private:
  std::int64_t steps_, log_every_;
  bool root_, terminal_;
};

std::int64_t steps_to_train(const Deck& deck, const io::DataSet& data) {
  std::int64_t steps = deck.integer("train.steps");
  const std::int64_t epochs = deck.integer("data.epochs");
  if (epochs > 0) {
    const std::int64_t of_epochs = epochs * data.batches_per_epoch();
    steps = deck.given("train.steps") ? std::min(steps, of_epochs) : of_epochs;
  }
  return steps;
}

io::DataSet open_data(const Deck& deck, const LoadedModel& model) {
  RHINO_CHECK_AS(UsageError, !deck.text("data.file").empty(), "training needs data: data.file in the deck, or --data FILE");
  io::DataOptions options;
  options.shuffle = deck.flag("data.shuffle");
  options.seed = static_cast<std::uint64_t>(deck.integer("train.seed"));
  options.short_batch = deck.text("data.short_batch") == "wrap" ? io::ShortBatch::Wrap : io::ShortBatch::Drop;
  return io::DataSet(deck.text("data.file"), io::data_fields(model.signature, model.program.entry()), options);
}

/// What lowering a step needs besides the step.
struct Machine {
  const Deck& deck;
  const cluster::Mesh& mesh;
  const kernels::Backend& backend;
  std::int64_t rank;
};

lower::RankProgram lower_step(const LoadedModel& model, const shard::Sharding& sharding, const Machine& machine) {
  shard::PartitionOptions partition_options;
  partition_options.cost = cost::reshard_seconds(machine.mesh);
  const shard::PartitionedProgram partitioned = shard::partition(model.program, sharding, partition_options);
  lower::LowerOptions options = runtime::options_for(machine.backend);
  options.overlap = machine.deck.flag("runtime.overlap");
  options.bundle_bytes = machine.deck.integer("runtime.bundle_bytes");
  lower::RankProgram program = lower::lower(partitioned, model.signature, machine.rank, options);
  lower::verify(program);
  return program;
}

/// The evaluation that a deck asks for, in an arena of its own beside the training's.
class Evaluation {
 public:
  Evaluation(LoadedModel model, const plan::PlannedStep& training, const Machine& machine)
      : model_(std::move(model)),
        data_(data_file(machine.deck), io::data_fields(model_.signature, model_.program.entry()), in_file_order()),
        program_(lower_step(model_, plan::evaluation_sharding(model_.program, model_.signature, training), machine)),
        every_(machine.deck.integer("eval.every")),
        batches_(machine.deck.integer("eval.batches")) {
    RHINO_CHECK_AS(UsageError, batches_ <= data_.batches_per_epoch(),
                   "eval.batches = {}, but the evaluation data holds {} batches of {} examples", batches_,
                   data_.batches_per_epoch(), data_.batch_size());
  }

  std::int64_t arena_bytes() const { return program_.arena_bytes; }

  /// Allocates. Collective.
  void start(runtime::Executor& training, const ir::Signature& signature, const kernels::Backend& backend,
             comm::Communicator& communicator) {
    executor_.emplace(program_, backend, communicator, device::make_host_arena(program_.arena_bytes));
    evaluator_.emplace(*executor_, model_.signature, training, signature, data_);
  }

  bool due(std::int64_t step, std::int64_t last) const { return step == last || (every_ > 0 && step % every_ == 0); }

  /// Collective.
  runtime::Scalars evaluate() { return evaluator_->evaluate(batches_); }

 private:
  static std::string data_file(const Deck& deck) { return deck.text(deck.text("eval.data").empty() ? "data.file" : "eval.data"); }
  static io::DataOptions in_file_order() {
    io::DataOptions options;
    options.shuffle = false;
    return options;
  }

  LoadedModel model_;
  io::DataSet data_;
  lower::RankProgram program_;
  std::int64_t every_, batches_;
  std::optional<runtime::Executor> executor_;
  std::optional<runtime::Evaluator> evaluator_;
};

/// What is trained: a plan and the step lowered under it, within the memory limit.
struct FittedStep {
  plan::Plan plan;
  lower::RankProgram program;
  std::unique_ptr<Evaluation> evaluation;  ///< null if the deck asks for none
};

/// Finds a plan whose arenas fit the memory limit. Planning estimates bytes, lowering knows them: where a plan turns out to need
/// more than the limit, the search is repeated with that much kept free. Collective. Throws InputError if nothing fits.
FittedStep find_fitting_step(const Deck& deck, const LoadedModel& model, const cluster::Cluster& cluster,
                             const kernels::Backend& backend, const MpiSession& session) {
  const std::int64_t limit = memory_limit(deck, cluster);
  std::int64_t reserve = 0;
  for (int attempt = 0;; ++attempt) {
    FittedStep step;
    const auto board = plan::mpi::make_search_board();
    step.plan = choose_plan(deck, model, session.size(), *board, reserve);
    const cluster::Mesh mesh = cluster::lay_out(step.plan.sharding.mesh, cluster);
    const Machine machine{deck, mesh, backend, session.rank()};
    step.program = lower_step(model, step.plan.sharding, machine);
    if (auto evaluated = load_evaluation(deck)) {
      step.evaluation = std::make_unique<Evaluation>(
          std::move(*evaluated), plan::PlannedStep{model.program, model.signature, step.plan.sharding}, machine);
    }
    const std::int64_t bytes = step.program.arena_bytes + (step.evaluation ? step.evaluation->arena_bytes() : 0);
    step.plan.bytes_per_rank = {step.program.arena_bytes};
    if (bytes <= limit) return step;
    const bool searched = deck.text("plan.strategy") == "auto";
    RHINO_CHECK(searched && attempt < 4 && reserve + bytes - limit < limit,
                "the plan needs {} per rank, but only {} may be used: {}raise plan.memory_limit, use more ranks or a smaller batch",
                human_bytes(bytes), human_bytes(limit), searched ? "" : "try plan.strategy=auto, ");
    reserve += bytes - limit;
  }
}

void print_plan(const plan::Plan& plan, double search_seconds, int ranks) {
  std::string axes;
  for (const shard::MeshAxis& axis : plan.sharding.mesh.axes()) axes += fmt::format(" {}={}", axis.name, axis.size);
  fmt::print("plan {} on {} rank{}, mesh [{}], found in {}; predicted {}/step\n", plan.strategy_name, ranks,
             ranks == 1 ? "" : "s", trim(axes), human_seconds(search_seconds), human_seconds(plan.predicted.total));
}

int train(const Flags& flags) {
  const Deck deck = resolve(flags);
  if (flags.print_deck) {
    fmt::print("{}", deck.canonical_text());
    return 0;
  }
  MpiSession session;
  session.require_equal(deck.hash(), "the decks");
  const device::Environment device_environment;

  const LoadedModel model = load_model(deck);
  const io::DataSet data = open_data(deck, model);

  const cluster::Cluster cluster = cluster_for(deck, session.size());
  session.require_equal(hash128(cluster::to_toml(cluster)), "the cluster descriptions");
  const auto backend = runtime::make_backend(static_cast<int>(deck.integer("runtime.threads")));
  const auto search_begin = std::chrono::steady_clock::now();
  FittedStep fitted = find_fitting_step(deck, model, cluster, *backend, session);
  const double search_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - search_begin).count();
  const plan::Plan& plan = fitted.plan;
  const lower::RankProgram& program = fitted.program;
  Evaluation* const evaluation = fitted.evaluation.get();
  if (session.root()) {
    if (!deck.text("plan.output").empty()) io::write_plan(plan, deck.text("plan.output"));
    print_plan(plan, search_seconds, session.size());
    fmt::print("needs {} per rank ({} tasks, {} kernels)\n", human_bytes(program.arena_bytes), program.tasks.size(), backend->name());
    if (evaluation) fmt::print("and {} per rank for the evaluation\n", human_bytes(evaluation->arena_bytes()));
    std::fflush(stdout);
  }
  if (flags.dry_run) {
    if (session.root()) fmt::print("{}", lower::to_string(program));
    return 0;
  }

  const auto communicator = comm::mpi::make_communicator(deck.real("runtime.watchdog_seconds"));
  runtime::Executor executor(program, *backend, *communicator, device::make_host_arena(program.arena_bytes));
  runtime::load_initial_state(executor, model.signature, model.values);
  if (evaluation) evaluation->start(executor, model.signature, *backend, *communicator);
  runtime::Trainer trainer(executor, model.signature, data);
  MetricsFile metrics(deck.text("train.metrics"), session.root());
  const std::int64_t steps = steps_to_train(deck, data);
  Progress progress(steps, deck.integer("train.log_every"), session.root());
  while (trainer.steps_done() < steps) {
    const runtime::StepReport report = trainer.step();
    progress.show(report);
    std::optional<runtime::Scalars> evaluated;
    if (evaluation && evaluation->due(report.step, steps)) {
      evaluated = evaluation->evaluate();
      progress.show(report.step, *evaluated);
    }
    metrics.write(report, evaluated);
  }
  return 0;
}

Action declare(CommandLine& cli) {
  auto flags = std::make_shared<Flags>();
  cli.add_option("deck", flags->deck, "Deck (TOML), or a model file (.h5)").required();
  cli.add_option("overrides", flags->overrides, "section.key=value, over what the deck says");
  cli.add_option("--plan", flags->plan, "auto, data, tensor or a plan file (plan.strategy)");
  cli.add_option("--promote", flags->promote, "none or f64: widen all floating types (model.promote)");
  cli.add_option("--metrics", flags->metrics, "File for one JSON line per step (train.metrics)");
  cli.add_option("--data", flags->data, "HDF5 file of examples (data.file)");
  cli.add_option("--steps", flags->steps, "Steps to train (train.steps)");
  cli.add_option("--seed", flags->seed, "Seed of the order of the examples (train.seed)");
  cli.add_flag("--print-deck", flags->print_deck, "Print the resolved deck and stop");
  cli.add_flag("--dry-run", flags->dry_run, "Plan and lower, print the task list of rank 0 and stop");
  return [flags] { return train(*flags); };
}

}  // namespace command_train

const Command train_command = {
    "train",
    "find a plan for the ranks of this job and train",
    "mpirun -n 4 rhino train inputs/gpt_tiny.toml\n"
    "mpirun -n 2 rhino train inputs/mlp_digits.toml --plan data --steps 50 --metrics losses.jsonl\n"
    "rhino train model.h5 --data tokens.h5 plan.level=2",
    command_train::declare,
};

}  // namespace rhino::app
