// SPDX-License-Identifier: Apache-2.0
// Names of parameters, what they tell, and the table of a signature.
#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include <rhino/base/strings.hpp>
#include <rhino/frontend/roles.hpp>
#include <rhino/frontend/roles_internal.hpp>

namespace rhino::frontend {

namespace {

bool any_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool names_a_key(const std::string& part) {
  std::string word;
  for (std::size_t i = 0; i <= part.size(); ++i) {
    if (i < part.size() && std::isalpha(static_cast<unsigned char>(part[i])) != 0) {
      word += part[i];
      continue;
    }
    if (!word.empty() && word.back() == 's') word.pop_back();
    if (any_of(word, {"rng", "key", "prng", "seed"})) return true;
    word.clear();
  }
  return false;
}

bool names_a_step(std::string part) {
  if (part.size() > 1 && part.back() == 's') part.pop_back();
  return any_of(part, {"step", "count", "t", "epoch", "iteration", "iter", "num_step", "global_step", "mini_step",
                       "gradient_step"});
}

}  // namespace

std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> parts;
  // HLO text has names in which every bracket and quotation mark became an underscore: state__params____w__.1
  const std::string_view plain = path.substr(0, path.find_last_not_of("0123456789") + 1);
  const std::string_view bare = plain.ends_with('.') ? plain.substr(0, plain.size() - 1) : path;
  if (bare.ends_with("__") && bare.find_first_of("[].'\"") == std::string_view::npos) {
    for (std::size_t at = 0; at < bare.size();) {
      const std::size_t end = std::min(bare.find("__", at), bare.size());
      if (end > at) parts.emplace_back(bare.substr(at, end - at));
      at = bare.find_first_not_of('_', end);
    }
    if (!parts.empty()) return parts;
  }
  std::string word;
  const auto flush = [&] {
    if (!word.empty()) parts.push_back(std::move(word));
    word.clear();
  };
  std::size_t i = 0;
  while (i < path.size()) {
    const char c = path[i];
    if (c == '.' || c == ']') {
      flush();
      ++i;
    } else if (c == '[') {
      flush();
      ++i;
      if (i < path.size() && (path[i] == '\'' || path[i] == '"')) {
        const std::size_t close = path.find(path[i], i + 1);
        if (close == std::string_view::npos) return {std::string(path)};
        parts.emplace_back(path.substr(i + 1, close - i - 1));
        i = close + 1;
      }
    } else {
      word += c;
      ++i;
    }
  }
  flush();
  return parts;
}

ir::StateKind guess_kind(std::string_view path, const ir::TensorType& type) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(path, '/')) parts.push_back(detail::lower(part));
  if (type.dtype == ir::DType::U32 && std::any_of(parts.begin(), parts.end(), names_a_key)) return ir::StateKind::Key;
  const bool integer = ir::is_integer(type.dtype);
  if (integer && type.rank() == 0 && names_a_step(parts.back())) return ir::StateKind::Step;
  for (const std::string& part : parts) {
    if (any_of(part, {"batch_stats", "stats", "statistics", "running", "running_mean", "running_var", "running_std",
                      "running_average", "running_stats", "moving", "moving_mean", "moving_var", "moving_average", "ema",
                      "bn_state", "model_state"}))
      return ir::StateKind::Statistics;
    if (any_of(part, {"opt", "optim", "optimizer", "opt_state", "optimizer_state", "optstate", "mu", "nu", "momentum",
                      "velocity", "trace", "adam", "m", "v", "moment", "moments", "acc", "accumulator", "accumulators",
                      "slot", "slots"}))
      return ir::StateKind::Optimizer;
    if (any_of(part, {"param", "params", "parameter", "parameters", "weight", "weights", "theta", "model"}))
      return ir::StateKind::Param;
  }
  if (type.rank() == 0 && names_a_step(parts.back())) return ir::StateKind::Step;
  return integer || type.dtype == ir::DType::I1 ? ir::StateKind::Statistics : ir::StateKind::Param;
}

std::string signature_table(const ir::Signature& signature, const ir::Function& function) {
  std::vector<std::array<std::string, 6>> rows = {{"", "role", "kind", "type", "path", "evidence"}};
  const auto short_type = [](const ir::TensorType& type) {
    const std::string text = ir::to_string(type);
    return text.substr(7, text.size() - 8);  // without tensor<>
  };
  for (std::size_t i = 0; i < signature.params.size(); ++i) {
    const ir::ParamInfo& param = signature.params[i];
    rows.push_back({fmt::format("parameter {}", i), std::string(name_of(param.role)),
                    param.role == ir::ParamRole::State ? std::string(name_of(param.kind)) : "",
                    short_type(function.type(function.params[i])), param.path, std::string(name_of(param.evidence))});
  }
  for (std::size_t i = 0; i < signature.results.size(); ++i) {
    const ir::ResultInfo& result = signature.results[i];
    const bool state = result.role == ir::ResultRole::State;
    rows.push_back({fmt::format("result {}", i), std::string(name_of(result.role)),
                    state ? fmt::format("-> {}", result.state_param) : "",
                    short_type(function.type(function.results[i])), result.path, std::string(name_of(result.evidence))});
  }
  std::array<std::size_t, 6> widths{};
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  std::string table;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) line += fmt::format("{:<{}}  ", row[c], widths[c]);
    table += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return table;
}

}  // namespace rhino::frontend
