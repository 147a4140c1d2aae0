// SPDX-License-Identifier: Apache-2.0
#include "support/process.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace rhino::test {
namespace {

std::string take_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  std::filesystem::remove(path);
  return text.str();
}

}  // namespace

ProcessResult run_process(const std::string& command, int seconds) {
  const std::string base = fmt::format("process_{}", ::getpid());
  const std::string script = base + ".sh";
  // Programs under MPI leak what OpenMPI's plug-ins allocated, which are unloaded before leaks are reported and so cannot
  // be told from ours; the unit tests look for leaks.
  std::ofstream(script) << "export ASAN_OPTIONS=detect_leaks=0\n" << command << "\n";
  const int status = std::system(
      fmt::format("timeout -k 5 {} sh {} > {}.out 2> {}.err < /dev/null", seconds, script, base, base).c_str());
  ProcessResult result;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.output = take_file(base + ".out");
  result.errors = take_file(base + ".err");
  std::filesystem::remove(script);
  return result;
}

std::string rhino_program() { return RHINO_TEST_PROGRAM; }

ProcessResult run_rhino(const std::string& arguments) { return run_process(rhino_program() + " " + arguments); }

std::string rhino_on_ranks(int ranks) { return fmt::format("{} -n {} {}", RHINO_TEST_MPIEXEC, ranks, RHINO_TEST_PROGRAM); }

}  // namespace rhino::test
