// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/base/strings.hpp>
#include <rhino/zoo/zoo.hpp>

#include "commands.hpp"
#include "job.hpp"

namespace rhino::app {
namespace command_model {

struct Arguments {
  std::string name, preset = "tiny", output;
  std::vector<std::string> assignments;
  bool list = false, keys = false;
};

int run(const Arguments& arguments) {
  if (arguments.list) {
    fmt::print("{}", zoo::list_text());
    return 0;
  }
  RHINO_CHECK_AS(UsageError, !arguments.name.empty(), "which model? `rhino model --list` lists them");
  if (arguments.keys) {
    fmt::print("{}", zoo::keys_text(zoo::family(arguments.name), arguments.preset));
    return 0;
  }
  const io::Model model = zoo_model(arguments.name, arguments.preset, arguments.assignments);
  const ir::Function& main = model.program.entry();
  std::int64_t parameters = 0, state_bytes = 0;
  for (std::size_t i = 0; i < model.signature.params.size(); ++i) {
    const ir::ParamInfo& param = model.signature.params[i];
    const ir::TensorType& type = main.type(main.params[i]);
    if (param.role == ir::ParamRole::Batch) {
      fmt::print("input      {} {}\n", param.path, ir::to_string(type));
    } else {
      state_bytes += type.bytes();
      if (param.kind == ir::StateKind::Param) parameters += type.elements();
    }
  }
  fmt::print("model      {} {}: {} parameters, {} of state, {} ops\n", arguments.name, arguments.preset, parameters,
             human_bytes(state_bytes), main.ops.size());
  if (arguments.output.empty()) {
    fmt::print("nothing written: give -o model.h5 to keep the model\n");
    return 0;
  }
  io::write_model(model, arguments.output);
  fmt::print("wrote {}\n", arguments.output);
  return 0;
}

Action declare(CommandLine& cli) {
  auto arguments = std::make_shared<Arguments>();
  cli.add_option("name", arguments->name, "model to build");
  cli.add_option("settings", arguments->assignments, "key=value over the preset's hyper-parameters");
  cli.add_option("--preset", arguments->preset, "size of the model (default: tiny)");
  cli.add_option("-o,--output", arguments->output, "model file to write");
  cli.add_flag("--list", arguments->list, "list models, presets, parameters and papers, and stop");
  cli.add_flag("--keys", arguments->keys, "list the model's keys with the preset's values, and stop");
  return [arguments] { return run(*arguments); };
}

}  // namespace command_model

const Command model_command = {"model", "build a training step of a known architecture",
                               "rhino model gpt --preset 1.3B batch=16 dtype=bf16 -o model.h5\n"
                               "rhino model --list\n"
                               "rhino model resnet --preset 50 --keys",
                               command_model::declare};

}  // namespace rhino::app
