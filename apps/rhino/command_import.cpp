// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/base/log.hpp>
#include <rhino/frontend/roles.hpp>
#include <rhino/io/model_import.hpp>
#include <rhino/kernels/reference/evaluate.hpp>

#include "commands.hpp"

namespace rhino::app {
namespace {

struct Arguments {
  io::ImportRequest request;
  std::string output;
  bool no_simplify = false;
};

int run(const Arguments& arguments) {
  io::ImportRequest request = arguments.request;
  request.simplify = !arguments.no_simplify;
  request.evaluate = kernels::reference::evaluate;
  const io::ImportedModel imported = io::import_model(request);
  fmt::print("{}", frontend::signature_table(imported.model.signature, imported.model.program.entry()));
  for (const std::string& assumption : imported.assumptions) log_warn("{}", assumption);
  if (arguments.output.empty()) {
    fmt::print("nothing written: give -o model.h5 to keep the model\n");
    return 0;
  }
  io::write_model(imported.model, arguments.output);
  fmt::print("wrote {}\n", arguments.output);
  return 0;
}

Action declare(CommandLine& cli) {
  auto arguments = std::make_shared<Arguments>();
  cli.add_option("step", arguments->request.program_path, "training step: StableHLO or HLO text").required();
  cli.add_option("--state", arguments->request.state_path, "initial state: .npz or .safetensors, one array per path");
  cli.add_option("-o,--output", arguments->output, "model file to write");
  cli.add_option("--manifest", arguments->request.manifest_path,
                 "roles and paths of arguments and results (JSON), as tools/export_jax.py writes");
  cli.add_option("--roles", arguments->request.roles,
                 "PATTERN=ROLE for parameters by path or number (param optimizer statistics step key batch const), "
                 "result:PATTERN=ROLE for results (loss, metric, state:PATH)")
      .delimiter(',');
  cli.add_flag("--elided-constants-as-inputs", arguments->request.elided_constants_as_inputs,
               "constants that the text leaves out ({...}) become named inputs");
  cli.add_flag("--no-simplify", arguments->no_simplify, "keep the program as it is but for inlined calls");
  return [arguments] { return run(*arguments); };
}

}  // namespace

const Command import_command = {
    "import", "turn an exported training step into a model file",
    "rhino import step.mlir --state state.npz --manifest manifest.json -o model.h5\n"
    "rhino import step.hlo.txt --roles 'opt/*=optimizer' --roles result:0=loss -o model.h5\n"
    "rhino import step.mlir",
    declare};

}  // namespace rhino::app
