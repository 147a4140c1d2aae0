// SPDX-License-Identifier: Apache-2.0
#include <rhino/kernels/reference/check_program.hpp>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/kernels/reference/compare.hpp>
#include <rhino/kernels/reference/op_context.hpp>
#include <rhino/kernels/reference/virtual_ranks.hpp>

namespace rhino::kernels::reference {
namespace {

/// Text after "key = " up to the next comma; empty if the key is not there.
std::string_view config_value(std::string_view config, std::string_view key) {
  while (!config.empty()) {
    const auto end = std::min(config.find(','), config.size());
    std::string_view item = config.substr(0, end);
    config.remove_prefix(std::min(end + 1, config.size()));
    const auto equals = item.find('=');
    if (equals == std::string_view::npos) continue;
    const auto trim = [](std::string_view text) {
      while (!text.empty() && text.front() == ' ')
        text.remove_prefix(1);
      while (!text.empty() && text.back() == ' ')
        text.remove_suffix(1);
      return text;
    };
    if (trim(item.substr(0, equals)) == key) return trim(item.substr(equals + 1));
  }
  return {};
}

template <class Number>
Number config_number(const ir::Op& op, std::string_view key, Number otherwise) {
  const std::string_view text = config_value(op.as<ir::CustomCallAttrs>().backend_config, key);
  if (text.empty()) return otherwise;
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  RHINO_CHECK(error == std::errc() && end == text.data() + text.size(), "{}: {} = {} is not a number", describe(op),
              key, text);
  return value;
}

class Checker {
 public:
  explicit Checker(const ir::Program& program) : program_(program) {}

  CheckReport run(const std::vector<ir::FunctionId>& functions) {
    for (const ir::FunctionId id : functions) {
      const ir::Function& function = program_.function(id);
      RHINO_CHECK(function.params.empty(), "@{} takes {} arguments: only functions without parameters can be checked",
                  function.name, function.params.size());
      current_ = &function;
      RunOptions options;
      options.on_custom_call = hook();
      reference::run(program_, id, {}, options);
      ++report_.functions;
    }
    return std::move(report_);
  }

 private:
  std::function<std::vector<Tensor>(const ir::Op&, std::span<const Tensor* const>)> hook() {
    return [this](const ir::Op& op, std::span<const Tensor* const> operands) { return on_call(op, operands); };
  }

  std::vector<Tensor> on_call(const ir::Op& op, std::span<const Tensor* const> operands) {
    const std::string& target = op.as<ir::CustomCallAttrs>().target;
    if (target.starts_with("check.")) {
      evaluate(op, target, operands);
      return {};
    }
    if (target == "interpreter.run_parallel") return run_parallel(op, operands);
    if (target == "interpreter.probe") {
      const std::lock_guard lock(mutex_);
      probes_[op.as<ir::CustomCallAttrs>().backend_config].push_back(*operands[0]);
      return one_result(*operands[0]);
    }
    RHINO_FAIL(InputError, "{}: the interpreter does not know the custom call \"{}\"", describe(op), target);
  }

  /// The two operands of a check, or the operand and what a probe has seen.
  void evaluate(const ir::Op& op, const std::string& target, std::span<const Tensor* const> operands) {
    const std::lock_guard lock(mutex_);
    std::optional<Mismatch> mismatch;
    std::string unit = "ULP";
    if (target == "check.expect_serialized_eq") {
      RHINO_CHECK(operands.size() == 1, "{}: takes one operand, not {}", describe(op), operands.size());
      mismatch = expect_eq(probed(op), *operands[0]);
    } else {
      RHINO_CHECK(operands.size() == 2, "{}: takes two operands, not {}", describe(op), operands.size());
      const Tensor& got = *operands[0];
      const Tensor& want = *operands[1];
      if (target == "check.expect_eq") {
        mismatch = expect_eq(got, want);
      } else if (target == "check.expect_close") {
        mismatch = expect_close(got, want, config_number<std::uint64_t>(op, "max_ulp_difference", 3),
                                config_number<std::uint64_t>(op, "min_ulp_difference", 0));
      } else if (target == "check.expect_almost_eq") {
        unit = "absolute";
        mismatch = expect_almost_eq(got, want, config_number<double>(op, "tolerance", 1e-3));
      } else {
        RHINO_FAIL(InputError, "{}: unknown check \"{}\"", describe(op), target);
      }
    }
    ++report_.checks;
    if (!mismatch) return;
    CheckFailure failure;
    failure.function = current_->name;
    failure.check =
        fmt::format("{}{}", target, op.location.line != 0 ? fmt::format(" at line {}", op.location.line) : "");
    failure.producer = producer_of(op);
    failure.detail = fmt::format("index [{}]: got {}, want {} ({} of {} elements differ, by up to {} {})",
                                 fmt::join(mismatch->index, ", "), mismatch->got, mismatch->want, mismatch->bad,
                                 operands[0]->type.elements(), mismatch->worst, unit);
    report_.failures.push_back(std::move(failure));
  }

  /// The op that made the first operand of a check, as far as the check stands in a function that we know.
  std::string producer_of(const ir::Op& check) const {
    for (const ir::Function& function : program_.functions) {
      if (function.ops.empty() || &check < &function.ops.front() || &check > &function.ops.back()) continue;
      const ir::Op* producer = function.producer(check.operands[0]);
      return producer == nullptr ? "a parameter" : describe(*producer);
    }
    return "an op";
  }

  const Tensor& probed(const ir::Op& op) const {
    const std::string& config = op.as<ir::CustomCallAttrs>().backend_config;
    const std::string id(config_value(config, "probe_id"));
    const auto found = probes_.find(id);
    RHINO_CHECK(found != probes_.end(), "{}: there was no probe \"{}\"", describe(op), id);
    const auto iteration = config_number<std::size_t>(op, "iter", 0);
    RHINO_CHECK(iteration < found->second.size(), "{}: probe \"{}\" was passed {} times", describe(op), id,
                found->second.size());
    return found->second[iteration];
  }

  /// Runs the functions of the op on a grid of virtual ranks ("rows x columns" are replicas x partitions); operands and
  /// results are those of all ranks one after the other.
  std::vector<Tensor> run_parallel(const ir::Op& op, std::span<const Tensor* const> operands) {
    const std::string_view config = op.as<ir::CustomCallAttrs>().backend_config;
    const auto cross = config.find('x');
    RHINO_CHECK(cross != std::string_view::npos, "{}: no grid in \"{}\"", describe(op), config);
    const auto number = [&](std::string_view text) {
      std::int64_t value = 0;
      while (!text.empty() && text.front() == ' ')
        text.remove_prefix(1);
      std::from_chars(text.data(), text.data() + text.size(), value);
      return value;
    };
    const RankGrid grid{number(config.substr(0, cross)), number(config.substr(cross + 1))};
    RHINO_CHECK(grid.replicas > 0 && grid.partitions > 0 && grid.size() == static_cast<std::int64_t>(op.regions.size()),
                "{}: a grid \"{}\" of {} programs", describe(op), config, op.regions.size());
    std::vector<VirtualRank> ranks;
    std::size_t next = 0;
    for (const ir::FunctionId function : op.regions) {
      VirtualRank rank{&program_, function, {}};
      for (std::size_t i = 0; i < program_.function(function).params.size(); ++i) {
        RHINO_CHECK(next < operands.size(), "{}: has fewer operands than its programs have parameters", describe(op));
        rank.arguments.push_back(*operands[next++]);
      }
      ranks.push_back(std::move(rank));
    }
    RHINO_CHECK(next == operands.size(), "{}: has more operands than its programs have parameters", describe(op));
    RankOptions options;
    options.on_custom_call = hook();
    std::vector<Tensor> results;
    for (auto& of_rank : run_ranks(grid, std::move(ranks), options))
      for (Tensor& result : of_rank)
        results.push_back(std::move(result));
    RHINO_CHECK(results.size() == op.results.size(), "{}: its programs have {} results, the op has {}", describe(op),
                results.size(), op.results.size());
    return results;
  }

  const ir::Program& program_;
  const ir::Function* current_ = nullptr;
  std::mutex mutex_;  ///< checks and probes may stand in programs that run in parallel
  CheckReport report_;
  std::map<std::string, std::vector<Tensor>, std::less<>> probes_;
};

bool is_check(const ir::Op& op) {
  return op.kind == ir::OpKind::CustomCall && op.as<ir::CustomCallAttrs>().target.starts_with("check.");
}

}  // namespace

std::vector<ir::FunctionId> functions_to_check(const ir::Program& program) {
  if (program.main.valid() && program.entry().name == "main") return {program.main};
  std::vector<ir::FunctionId> functions;
  for (std::size_t f = 0; f < program.functions.size(); ++f) {
    const ir::Function& function = program.functions[f];
    if (function.params.empty() && std::any_of(function.ops.begin(), function.ops.end(), is_check))
      functions.emplace_back(f);
  }
  if (functions.empty() && program.main.valid()) functions.push_back(program.main);
  return functions;
}

CheckReport run_checks(const ir::Program& program, const std::vector<ir::FunctionId>& functions) {
  return Checker(program).run(functions);
}

}  // namespace rhino::kernels::reference
