// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <fstream>
#include <memory>
#include <string>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/base/log.hpp>
#include <rhino/io/model_file.hpp>
#include <rhino/io/model_import.hpp>
#include <rhino/kernels/reference/evaluate.hpp>
#include <rhino/memory/arena.hpp>
#include <rhino/memory/order.hpp>

#include "commands.hpp"

namespace rhino::app {
namespace command_bench_order {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string file;
  bool verify = false, donate = false, no_donate = false;
  std::int64_t work = memory::OrderOptions{}.work;
  double time_limit = 0;
};

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

void print_row(const char* name, std::int64_t bytes, double seconds) {
  fmt::print("{:<18} {:>14.3f} {:>9.2f}\n", name, static_cast<double>(bytes) / (1 << 20), seconds);
}

memory::OrderGraph read_graph(const Options& options) {
  std::ifstream stream(options.file, std::ios::binary);
  char lead[4] = {};
  const bool hdf5 = stream.read(lead, sizeof(lead)) && std::string_view(lead, sizeof(lead)) == "\x89HDF";
  memory::OrderGraphOptions graph;
  graph.donate = !options.no_donate;
  if (hdf5) {
    const io::ModelReader model(options.file);
    return memory::make_order_graph(model.program(), model.signature(), graph);
  }
  io::ImportRequest request;
  request.program_path = options.file;
  request.values_matter = false;
  request.elided_constants_as_inputs = true;
  request.evaluate = kernels::reference::evaluate;
  const io::ImportedModel imported = io::import_model(request);
  for (const std::string& assumption : imported.assumptions) log_info("{}", assumption);
  return memory::make_order_graph(imported.model.program, imported.model.signature, graph);
}

/// Places the buffers of an order; bytes above the largest sum of live ones, in percent of it.
double fragmentation(const memory::OrderGraph& graph, const memory::OrderPlan& plan) {
  std::vector<memory::Lifetime> blocks;
  const std::vector<memory::BufferSpan> spans = memory::buffer_spans(graph, plan.order);
  for (std::size_t b = 0; b < spans.size(); ++b)
    if (graph.buffers[b].bytes > 0 && spans[b].last >= spans[b].first) blocks.push_back({graph.buffers[b].bytes, spans[b].first, spans[b].last});
  for (std::size_t i = 0; i < plan.order.size(); ++i) {
    const std::int64_t bytes = graph.workspace[static_cast<std::size_t>(plan.order[i])];
    const auto at = static_cast<std::int64_t>(i);
    if (bytes > 0) blocks.push_back({bytes, at, at});
  }
  const memory::ArenaLayout layout = memory::place_blocks(blocks, 1);
  return percent(layout.bytes - layout.load, layout.load);
}

int verify(const memory::OrderGraph& graph, const memory::OrderPlan& plan) {
  for (const std::string& problem : {find_order_error(graph, plan.order, plan.peak), find_certificate_error(graph, plan.certificate)}) {
    if (problem.empty()) continue;
    fmt::print("not valid: {}\n", problem);
    return 1;
  }
  fmt::print("verified: the order, its peak, and the proof of the bound (op {}, {} flows)\n", plan.certificate.witness,
             plan.certificate.flow.size());
  return 0;
}

int run(const Options& options) {
  RHINO_CHECK_AS(UsageError, !(options.donate && options.no_donate), "--donate and --no-donate exclude each other: give one");
  const memory::OrderGraph graph = read_graph(options);
  fmt::print("{} ops, {} buffers\n\n{:<18} {:>14} {:>9}\n", graph.ops(), graph.buffers.size(), "order", "MiB", "seconds");
  const auto row = [&](const char* name, auto&& make) {
    const auto begin = Clock::now();
    const std::int64_t peak = memory::peak_of(graph, make(graph));
    print_row(name, peak, since(begin));
  };
  row("program order", memory::program_order);
  row("depth-first", memory::depth_first_order);
  row("list scheduling", memory::list_order);
  const auto begin = Clock::now();
  memory::OrderOptions limits;
  limits.work = options.work;
  if (options.time_limit > 0) limits.stop = [&] { return since(begin) > options.time_limit; };
  const memory::OrderPlan plan = memory::plan_order(graph, limits);
  const double seconds = since(begin);
  print_row("ours", plan.peak, seconds);
  print_row("bound", plan.bound, seconds);
  const int answer = options.verify ? verify(graph, plan) : 0;
  fmt::print("gap {:.4f}% fragmentation {:.4f}% seconds {:.2f}\n", percent(plan.peak - plan.bound, plan.bound),
             fragmentation(graph, plan), seconds);
  return answer;
}

Action declare(CommandLine& cli) {
  auto options = std::make_shared<Options>();
  cli.add_option("FILE", options->file, "Model file, or a step as StableHLO or HLO text").required();
  cli.add_flag("--verify", options->verify, "Check the order, its peak and the proof of the bound by independent code");
  cli.add_flag("--donate", options->donate, "New state is written into the place of the old (as without a flag)");
  cli.add_flag("--no-donate", options->no_donate, "New state takes bytes of its own");
  cli.add_option("--work", options->work, "Arcs to look at before the best so far is taken").range(1, std::int64_t{1} << 50);
  cli.add_option("--time-limit", options->time_limit, "Seconds after which the best so far is taken; 0: by --work alone");
  return [options] { return run(*options); };
}

}  // namespace command_bench_order

const Command bench_order_command = {"bench order", "order the ops of a step for low memory, with proof",
                                     "rhino bench order model.h5 --verify\n"
                                     "rhino bench order step.hlo.txt --no-donate",
                                     command_bench_order::declare};

}  // namespace rhino::app
