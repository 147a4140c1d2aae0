// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include <rhino/base/file.hpp>
#include <rhino/base/strings.hpp>
#include <rhino/comm/mpi/environment.hpp>
#include <rhino/device/arena.hpp>
#include <rhino/runtime/backend.hpp>

#include "commands.hpp"
#include "job.hpp"
#include "measure.hpp"
#include "mpi_session.hpp"

namespace rhino::app {
namespace command_calibrate {

int calibrate(const std::string& output) {
  MpiSession session;
  const device::Environment device_environment;
  const auto backend = runtime::make_backend();
  const auto communicator = comm::mpi::make_communicator(300);
  if (session.root()) fmt::print("measuring {} rank{} with {} kernels ..\n", session.size(), session.size() == 1 ? "" : "s", backend->name());
  const cluster::Cluster cluster = measure_cluster(*backend, *communicator);
  if (!session.root()) return 0;
  const std::string file = output.empty() ? calibration_file() : output;
  const std::string text = cluster::to_toml(cluster);
  std::filesystem::create_directories(std::filesystem::absolute(file).parent_path());
  write_file(file, text);
  fmt::print("{}written to {}\n", text, file);
  return 0;
}

Action declare(CommandLine& cli) {
  auto output = std::make_shared<std::string>();
  cli.add_option("-o,--output", *output, "Cluster file to write; default: the calibration file that planning for this machine reads");
  return [output] { return calibrate(*output); };
}

}  // namespace command_calibrate

const Command calibrate_command = {
    "calibrate",
    "measure this machine once; the planner uses it",
    "mpirun -n 2 rhino calibrate\nmpirun -n 4 rhino calibrate -o cluster.toml",
    command_calibrate::declare,
};

}  // namespace rhino::app
