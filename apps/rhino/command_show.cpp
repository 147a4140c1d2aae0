// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/base/file.hpp>
#include <rhino/base/log.hpp>
#include <rhino/base/strings.hpp>
#include <rhino/cost/cost_model.hpp>
#include <rhino/frontend/roles.hpp>
#include <rhino/io/hdf5.hpp>
#include <rhino/io/model_import.hpp>
#include <rhino/io/plan_file.hpp>
#include <rhino/ir/text.hpp>
#include <rhino/kernels/reference/evaluate.hpp>

#include "commands.hpp"

namespace rhino::app {
namespace command_show {

struct Arguments {
  std::string file;
  std::string model;  ///< of a plan
  bool text = false;
};

bool is_hdf5(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  char lead[4] = {};
  return static_cast<bool>(stream.read(lead, sizeof(lead))) && std::string_view(lead, sizeof(lead)) == "\x89HDF";
}

bool is_plan(const std::string& path) {
  if (!is_hdf5(path)) return false;
  const io::Hdf5File file = io::Hdf5File::open(path);
  return file.root().has_attribute("format") && file.root().text_attribute("format") == "rhino-plan";
}

/// A model file, or a step as text that is imported on the fly.
io::ModelReader open_model(const std::string& path) {
  if (is_hdf5(path)) return io::ModelReader(path);
  io::ImportRequest request;
  request.program_path = path;
  request.evaluate = kernels::reference::evaluate;
  io::ImportedModel imported = io::import_model(request);
  for (const std::string& assumption : imported.assumptions)
    log_warn("{}", assumption);
  return io::ModelReader(std::move(imported.model));
}

cost::OpWork work_of(const ir::Program& program) {
  cost::OpWork sum;
  const ir::Function& main = program.entry();
  for (const ir::Op& op : main.ops) {
    std::vector<ir::TensorType> operands, results;
    for (const ir::ValueId value : op.operands)
      operands.push_back(main.type(value));
    for (const ir::ValueId value : op.results)
      results.push_back(main.type(value));
    const cost::OpWork one = cost::op_work(program, op, operands, results);
    sum.flops += one.flops;
    sum.transcendentals += one.transcendentals;
  }
  return sum;
}

/// Bytes that the ops up to the loss make and that ops behind it read: what the gradient needs of the forward pass, if
/// nothing is computed twice. Constants, and broadcasts and reshapes of something kept, need no room of their own.
std::int64_t activation_bytes(const io::ModelReader& model) {
  const ir::Function& main = model.program().entry();
  const auto loss = model.signature().loss();
  if (!loss || !main.value(main.results[*loss]).producer.valid()) return 0;
  const std::size_t end = main.value(main.results[*loss]).producer.index();
  std::vector<bool> kept(main.values.size(), false);
  for (std::size_t i = end + 1; i < main.ops.size(); ++i)
    for (const ir::ValueId operand : main.ops[i].operands)
      kept[operand.index()] = true;
  std::int64_t bytes = 0;
  for (std::size_t i = end + 1; i-- > 0;) {
    const ir::Op& op = main.ops[i];
    if (op.kind == ir::OpKind::Constant || op.kind == ir::OpKind::Iota) continue;
    const bool view = op.kind == ir::OpKind::Reshape || op.kind == ir::OpKind::BroadcastInDim;
    for (const ir::ValueId result : op.results) {
      if (!kept[result.index()]) continue;
      if (view) {
        kept[op.operands[0].index()] = true;
      } else {
        bytes += main.type(result).bytes();
      }
    }
  }
  return bytes;
}

std::string work(const io::ModelReader& model) {
  const cost::OpWork sum = work_of(model.program());
  std::string text = fmt::format("work       {}FLOP per step, {}transcendental functions\n", human_count(sum.flops),
                                 human_count(sum.transcendentals));
  // What a model of the zoo should cost by the formula for its kind (6 * weights * tokens and so on).
  const auto formula = model.meta().find("formula_flops");
  const double flops = formula == model.meta().end() ? 0 : std::strtod(formula->second.c_str(), nullptr);
  if (flops > 0)
    text += fmt::format("formula    {}FLOP per step; the program has {:.4f} times as many\n", human_count(flops),
                        sum.flops / flops);
  const std::int64_t activations = activation_bytes(model);
  if (activations > 0) text += fmt::format("activations {} kept for the gradient\n", human_bytes(activations));
  return text;
}

std::string op_counts(const ir::Program& program) {
  std::map<std::string_view, std::int64_t> counts;
  std::int64_t total = 0;
  for (const ir::Function& function : program.functions)
    for (const ir::Op& op : function.ops) {
      ++counts[ir::op_name(op.kind)];
      ++total;
    }
  std::vector<std::pair<std::string_view, std::int64_t>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text =
      fmt::format("ops        {} of {} kinds in {} functions\n", total, order.size(), program.functions.size());
  for (const auto& [name, count] : order)
    text += fmt::format("  {:>8}  {}\n", count, name);
  return text;
}

std::string sizes(const io::ModelReader& model) {
  std::int64_t parameters = 0, state_bytes = 0, const_bytes = 0, batch_bytes = 0, recipes = 0;
  for (std::size_t i = 0; i < model.signature().params.size(); ++i) {
    const ir::ParamInfo& param = model.signature().params[i];
    const ir::TensorType& type = model.program().entry().type(model.program().entry().params[i]);
    switch (param.role) {
      case ir::ParamRole::State:
        state_bytes += type.bytes();
        if (param.kind == ir::StateKind::Param) parameters += type.elements();
        break;
      case ir::ParamRole::Const:
        const_bytes += type.bytes();
        break;
      case ir::ParamRole::Batch:
        batch_bytes += type.bytes();
        break;
    }
    if (param.role != ir::ParamRole::Batch && model.recipe(param.path).has_value()) ++recipes;
  }
  std::string text = fmt::format("parameters {} ({})\n", parameters, human_count(static_cast<double>(parameters)));
  text += fmt::format("state      {}{}\n", human_bytes(state_bytes),
                      recipes > 0 ? fmt::format(", {} tensors by recipe", recipes) : "");
  if (const_bytes > 0) text += fmt::format("constants  {}\n", human_bytes(const_bytes));
  text += fmt::format("batch      {}\n", human_bytes(batch_bytes));
  return text;
}

int show_plan(const Arguments& arguments) {
  const plan::Plan plan = io::read_plan(arguments.file);
  if (arguments.model.empty()) {
    fmt::print("plan       {} on {} devices, predicted {} per step\n", plan.strategy_name, plan.devices,
               human_seconds(plan.predicted.total));
    fmt::print("program    {}\n", to_string(plan.program_hash));
    fmt::print("give --model model.h5 to see the layouts\n");
    return 0;
  }
  const io::ModelReader model = open_model(arguments.model);
  plan::check_plan(plan, model.program(), plan.devices);
  fmt::print("{}", plan::to_string(plan, model.program(), &model.signature()));
  return 0;
}

int run(const Arguments& arguments) {
  if (is_plan(arguments.file)) return show_plan(arguments);
  const io::ModelReader model = open_model(arguments.file);
  const ir::Program& program = model.program();
  if (arguments.text) {
    fmt::print("{}", ir::print(program));
    return 0;
  }
  fmt::print("program    {}\n", program.name);
  for (const auto& [key, value] : model.meta())
    if (key != "formula_flops") fmt::print("{:<10} {}\n", key, value);
  fmt::print("\n{}\n{}{}{}", frontend::signature_table(model.signature(), program.entry()), sizes(model), work(model),
             op_counts(program));
  return 0;
}

Action declare(CommandLine& cli) {
  auto arguments = std::make_shared<Arguments>();
  cli.add_option("file", arguments->file, "model file, plan file, or a training step as text").required();
  cli.add_option("--model", arguments->model, "model that a plan belongs to, to show its layouts");
  cli.add_flag("--text", arguments->text, "print the program as StableHLO and nothing else");
  return [arguments] { return run(*arguments); };
}

}  // namespace command_show

const Command show_command = {"show", "what a model or a plan consists of: signature, ops, sizes, layouts",
                              "rhino show model.h5\nrhino show model.h5 --text > step.mlir\n"
                              "rhino show plan.h5 --model model.h5",
                              command_show::declare};

}  // namespace rhino::app
