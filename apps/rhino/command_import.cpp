// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <memory>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/base/log.hpp>
#include <rhino/frontend/onnx.hpp>
#include <rhino/frontend/roles.hpp>
#include <rhino/io/model_import.hpp>
#include <rhino/kernels/reference/evaluate.hpp>

#include "commands.hpp"
#include "import_onnx.hpp"

namespace rhino::app {
namespace command_import {

struct Arguments {
  io::ImportRequest request;
  OnnxRequest onnx;
  std::string optimizer;
  std::string output;
  bool no_simplify = false;
};

bool is_onnx(const std::string& path) {
  std::string head(16, '\0');
  std::ifstream stream(path, std::ios::binary);
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(stream.gcount()));
  return path.ends_with(".onnx") || frontend::looks_like_onnx(head);
}

io::ImportedModel import_model_of_onnx(const Arguments& arguments) {
  const io::ImportRequest& request = arguments.request;
  RHINO_CHECK_AS(UsageError, request.state_path.empty() && request.manifest_path.empty() && request.roles.empty() &&
                                 !request.elided_constants_as_inputs && !arguments.no_simplify,
                 "an ONNX model has its state in it: --state, --manifest, --roles, --elided-constants-as-inputs and "
                 "--no-simplify are for steps in text");
  OnnxRequest onnx = arguments.onnx;
  onnx.path = request.program_path;
  if (!arguments.optimizer.empty()) onnx.settings.insert(onnx.settings.begin(), "optimizer=" + arguments.optimizer);
  return {import_onnx(onnx), {}};
}

io::ImportedModel import_step(const Arguments& arguments) {
  const OnnxRequest& onnx = arguments.onnx;
  RHINO_CHECK_AS(UsageError, onnx.batch == 0 && onnx.dims.empty() && onnx.loss.empty() && onnx.trained_output.empty() &&
                                 onnx.settings.empty() && onnx.frozen.empty() && arguments.optimizer.empty(),
                 "--batch, --dims, --loss, --output-name, --optimizer, --set and --frozen are for ONNX models; '{}' is none",
                 arguments.request.program_path);
  io::ImportRequest request = arguments.request;
  request.simplify = !arguments.no_simplify;
  request.evaluate = kernels::reference::evaluate;
  return io::import_model(request);
}

int run(const Arguments& arguments) {
  const io::ImportedModel imported =
      is_onnx(arguments.request.program_path) ? import_model_of_onnx(arguments) : import_step(arguments);
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
  cli.add_option("step", arguments->request.program_path, "training step in StableHLO or HLO text, or an ONNX model").required();
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
  OnnxRequest& onnx = arguments->onnx;
  cli.add_option("--batch", onnx.batch, "ONNX: size of the inputs' first dimensions where those are open").range(1, 1 << 30);
  cli.add_option("--dims", onnx.dims, "ONNX: NAME=SIZE for open dimensions").delimiter(',');
  cli.add_option("--loss", onnx.loss,
                 "ONNX: make a training step; cross_entropy (labels of integers, one per row of scores), mse, bce");
  cli.add_option("--output-name", onnx.trained_output, "ONNX: the output that the loss is of (default: the first)");
  cli.add_option("--optimizer", arguments->optimizer, "ONNX: update rule, as `rhino model` has them (default: adam)");
  cli.add_option("--set", onnx.settings, "ONNX: key=value of training (learning_rate, schedule, warmup, clip, mode=evaluate ..)")
      .delimiter(',');
  cli.add_option("--frozen", onnx.frozen, "ONNX: weights that are not trained, by patterns of their paths").delimiter(',');
  return [arguments] { return run(*arguments); };
}

}  // namespace command_import

const Command import_command = {
    "import", "turn an exported training step or an ONNX model into a model file",
    "rhino import step.mlir --state state.npz --manifest manifest.json -o model.h5\n"
    "rhino import resnet18.onnx --batch 32 --loss cross_entropy --optimizer adamw --set learning_rate=1e-4 -o model.h5\n"
    "rhino import step.hlo.txt --roles 'opt/*=optimizer' --roles result:0=loss -o model.h5\n"
    "rhino import step.mlir",
    command_import::declare};

}  // namespace rhino::app
