// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/base/strings.hpp>
#include <rhino/frontend/import.hpp>
#include <rhino/ir/op_info.hpp>
#include <rhino/ir/passes.hpp>
#include <rhino/kernels/reference/check_program.hpp>
#include <rhino/kernels/reference/evaluate.hpp>
#include <rhino/kernels/reference/interpreter.hpp>

#include "commands.hpp"

namespace rhino::app {
namespace command_eval {

namespace fs = std::filesystem;
namespace reference = kernels::reference;

struct Options {
  std::vector<std::string> paths;
  std::string only;
  std::string except;
  bool quiet = false;
  bool summary = false;
  bool run_disabled = false;
  bool allow_unsupported = false;
  std::string simplify;
};

struct Counts {
  int passed = 0;
  int failed = 0;
  int errors = 0;
  int unsupported = 0;
  int disabled = 0;
  std::int64_t checks = 0;
};

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  RHINO_CHECK(in.is_open() && !fs::is_directory(path), "cannot open {}", path.string());
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  RHINO_CHECK_AS(EnvironmentError, !in.bad(), "cannot read {}", path.string());
  return text;
}

std::regex pattern(const std::string& text, const char* flag) {
  try {
    return std::regex(text);
  } catch (const std::regex_error& error) {
    RHINO_FAIL(UsageError, "{} '{}' is not a regular expression: {}", flag, text, error.what());
  }
}

/// The files named on the command line; a folder stands for the *.mlir files in it, in the order of their names.
std::vector<fs::path> files_of(const Options& options) {
  const auto only = pattern(options.only, "--only"), except = pattern(options.except, "--except");
  std::vector<fs::path> files;
  for (const auto& name : options.paths) {
    if (!fs::is_directory(name)) {
      files.emplace_back(name);
      continue;
    }
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(name)) {
      const std::string file = entry.path().filename().string();
      if (entry.path().extension() != ".mlir" || (!options.only.empty() && !std::regex_search(file, only)) ||
          (!options.except.empty() && std::regex_search(file, except)))
        continue;
      found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

/// Test files say in their first comment lines that they are not to be run: `// RUN-DISABLED(reason)`.
bool is_disabled(std::string_view text) {
  bool disabled = false;
  while (text.starts_with("//")) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with("// RUN:") && line.find("--interpret") != std::string_view::npos) return false;
    disabled = disabled || line.starts_with("// RUN-DISABLED");
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return disabled;
}

/// Shows what a program without checks computes: type and the first elements of each result.
void print_results(const std::vector<reference::Tensor>& results) {
  constexpr std::int64_t shown = 16;
  for (std::size_t r = 0; r < results.size(); ++r) {
    const ir::Literal literal = results[r].to_literal();
    const std::int64_t count = literal.type().elements();
    std::string values;
    for (std::int64_t i = 0; i < std::min(count, shown); ++i) {
      const bool real = ir::is_float(literal.type().dtype);
      values += i == 0 ? "" : ", ";
      values += real ? fmt::format("{}", literal.element_as_double(i)) : fmt::format("{}", literal.element_as_int(i));
    }
    fmt::print("result {}: {} = {}{}\n", r, ir::to_string(literal.type()), values, count > shown ? ", .." : "");
  }
}

/// The passes of --simplify by name, in the order in which "all" runs them.
struct Pass {
  const char* name;
  void (*run)(ir::Program&);
};
constexpr Pass passes[] = {
    {"inline", ir::inline_calls},
    {"identities", ir::simplify_identities},
    {"fold", [](ir::Program& program) { ir::fold_constants(program, reference::evaluate); }},
    {"common", ir::eliminate_common_subexpressions},
    {"dead", ir::eliminate_dead_code},
};

std::vector<Pass> chosen_passes(const std::string& names) {
  if (names == "all") return {std::begin(passes), std::end(passes)};
  std::vector<Pass> chosen;
  for (const std::string_view name : split(names, ',')) {
    const auto found =
        std::find_if(std::begin(passes), std::end(passes), [&](const Pass& pass) { return name == pass.name; });
    RHINO_CHECK_AS(UsageError, found != std::end(passes),
                   "--simplify: there is no pass '{}'; there are all, inline, identities, fold, common, dead", name);
    chosen.push_back(*found);
  }
  return chosen;
}

class Evaluation {
 public:
  explicit Evaluation(const Options& options) : options_(options) {
    if (!options.simplify.empty()) passes_ = chosen_passes(options.simplify);
  }

  void run_file(const fs::path& path) {
    const std::string text = read_file(path);
    const auto modules = frontend::split_modules(text);
    if (!options_.run_disabled && is_disabled(text)) {
      ++counts_.disabled;
      say("{}: disabled by its RUN line", path.string());
      return;
    }
    RHINO_CHECK(!modules.empty(), "{}: holds no module", path.string());
    for (const auto& module : modules)
      run_module(path.string(), module);
  }

  int finish() const {
    if (options_.summary)
      fmt::print("{} passed, {} failed, {} errors, {} unsupported, {} disabled ({} checks)\n", counts_.passed,
                 counts_.failed, counts_.errors, counts_.unsupported, counts_.disabled, counts_.checks);
    if (counts_.errors > 0) return exit_code(ErrorKind::Input);
    if (counts_.failed > 0) return 1;
    return counts_.unsupported > 0 && !options_.allow_unsupported ? exit_code(ErrorKind::Input) : 0;
  }

  void count_error(const std::string& message) {
    ++counts_.errors;
    fmt::print(stderr, "error: {}\n", message);
  }

 private:
  template <class... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) const {
    if (!options_.quiet) fmt::print("{}\n", fmt::format(format, std::forward<Args>(args)...));
  }

  void run_module(const std::string& path, const frontend::ModuleText& module) {
    frontend::ImportOptions import_options;
    import_options.source_name = path;
    import_options.first_line = module.first_line;
    try {
      const ir::Program program = frontend::import_text(module.text, import_options);
      const auto functions = reference::functions_to_check(program);
      RHINO_CHECK(!functions.empty(), "{}:{}: there is no function to run", path, module.first_line);
      for (const ir::FunctionId id : functions) {
        const ir::Function& function = program.function(id);
        if (function.params.empty()) continue;
        ++counts_.unsupported;
        say("{}:{}: unsupported: @{} takes {} arguments, and a text gives no values for them", path, module.first_line,
            function.name, function.params.size());
        return;
      }
      report(path, module, program,
             passes_.empty() ? reference::run_checks(program, functions) : run_simplified(program, functions));
    } catch (const frontend::UnsupportedError& error) {
      ++counts_.unsupported;
      say("unsupported: {}", error.what());
    } catch (const InputError& error) {
      const std::string message = error.what();
      count_error(message.starts_with(path) ? message : fmt::format("{}:{}: {}", path, module.first_line, message));
    }
  }

  /// Each function as the entry of a program of its own, after the passes.
  reference::CheckReport run_simplified(const ir::Program& program,
                                        const std::vector<ir::FunctionId>& functions) const {
    reference::CheckReport sum;
    for (const ir::FunctionId id : functions) {
      ir::Program simplified = program;
      simplified.main = id;
      for (const Pass& pass : passes_)
        pass.run(simplified);
      ir::verify(simplified);
      auto report = reference::run_checks(simplified, {simplified.main});
      sum.functions += report.functions;
      sum.checks += report.checks;
      std::move(report.failures.begin(), report.failures.end(), std::back_inserter(sum.failures));
    }
    return sum;
  }

  void report(const std::string& path, const frontend::ModuleText& module, const ir::Program& program,
              const reference::CheckReport& report) {
    counts_.checks += report.checks;
    for (const auto& failure : report.failures)
      fmt::print("{}: @{}: {} of the result of {} does not hold at {}\n", path, failure.function, failure.check,
                 failure.producer, failure.detail);
    if (!report.failures.empty()) {
      ++counts_.failed;
      return;
    }
    ++counts_.passed;
    if (report.checks > 0) {
      say("{}:{}: {} checks hold", path, module.first_line, report.checks);
    } else if (!options_.quiet && !options_.summary) {
      for (const ir::FunctionId id : reference::functions_to_check(program))
        print_results(reference::run(program, id, {}));
    }
  }

  const Options& options_;
  std::vector<Pass> passes_;
  Counts counts_;
};

int run(const Options& options) {
  const auto files = files_of(options);
  RHINO_CHECK(!files.empty(), "there is no .mlir file to run");
  Evaluation evaluation(options);
  for (const auto& file : files) {
    try {
      evaluation.run_file(file);
    } catch (const InputError& error) {
      evaluation.count_error(error.what());
    }
  }
  return evaluation.finish();
}

Action declare(CommandLine& cli) {
  auto options = std::make_shared<Options>();
  cli.add_option("FILE", options->paths,
                 "StableHLO or HLO text, with several modules split by '// -----'; or a folder of .mlir files")
      .required();
  cli.add_flag("--quiet", options->quiet, "Print nothing but checks that do not hold, and errors");
  cli.add_flag("--summary", options->summary, "Print the counts of modules at the end");
  cli.add_option("--only", options->only, "Of a folder, only the file names that match this regular expression");
  cli.add_option("--except", options->except, "Of a folder, not the file names that match this regular expression");
  cli.add_flag("--run-disabled", options->run_disabled, "Also run files whose RUN lines say RUN-DISABLED");
  cli.add_flag("--allow-unsupported", options->allow_unsupported,
               "Exit with 0 although modules used something that Rhino does not have");
  cli.add_option("--simplify", options->simplify,
                 "Run passes before: 'all', or some of inline,identities,fold,common,dead split by commas");
  return [options] { return run(*options); };
}

}  // namespace command_eval

const Command eval_command = {"eval", "run a program on the reference kernels and evaluate its check.expect_* calls",
                              "rhino eval cases.mlir\nrhino eval --quiet --summary stablehlo/testdata --only '^scatter'",
                              command_eval::declare};

}  // namespace rhino::app
