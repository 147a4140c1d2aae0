// SPDX-License-Identifier: Apache-2.0
#include <rhino/frontend/roles.hpp>

#include <algorithm>
#include <cctype>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/base/strings.hpp>
#include <rhino/frontend/roles_internal.hpp>

namespace rhino::frontend {

namespace {

using Parts = std::vector<std::string>;

constexpr std::size_t most_candidates = 64;

bool is_number(std::string_view part) {
  return !part.empty() && std::all_of(part.begin(), part.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// Value of the first of `keys` that is noted, without quotation marks; "" if none is.
std::string note_of(const std::vector<ir::Notes>& all, std::size_t index, std::initializer_list<std::string_view> keys) {
  if (index >= all.size()) return {};
  for (const std::string_view key : keys)
    for (const auto& [name, value] : all[index]) {
      if (name != key) continue;
      std::string_view text = value;
      if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
      return std::string(text);
    }
  return {};
}

bool is_elided(const ir::Function& function, std::size_t param) {
  return !note_of(function.param_notes, param, {"rhino.elided_constant"}).empty();
}

/// A path that can name a data set: parts that are empty, "." or ".." become "_".
std::string file_path(const Parts& parts, std::size_t skip) {
  std::string path;
  for (std::size_t i = skip; i < parts.size(); ++i)
    for (const std::string_view piece : split(parts[i], '/')) {
      if (!path.empty()) path += '/';
      if (piece.empty() || piece == "." || piece == "..") {
        path += '_';
      } else {
        for (const char c : piece) path += c == '\0' ? '_' : c;
      }
    }
  return path;
}

/// Works out a signature from the program alone.
class Inference {
 public:
  explicit Inference(const ir::Function& function) : function_(function) {
    for (std::size_t i = 0; i < function.params.size(); ++i)
      params_.push_back(split_path(note_of(function.param_notes, i, {"loc", "op_name"})));
    for (std::size_t i = 0; i < function.results.size(); ++i)
      results_.push_back(split_path(note_of(function.result_notes, i, {"jax.result_info"})));
    param_of_result_.resize(function.results.size());
    taken_.resize(function.params.size(), false);
  }

  InferredRoles run() {
    match_by_paths();
    if (matched_ == 0) match_by_shapes();
    match_counters();
    adopt_result_paths();
    out_.signature.params.resize(params_.size());
    out_.signature.results.resize(results_.size());
    decide_params();
    decide_results();
    name_params();
    name_results();
    return std::move(out_);
  }

 private:
  const ir::TensorType& param_type(std::size_t i) const { return function_.type(function_.params[i]); }
  const ir::TensorType& result_type(std::size_t i) const { return function_.type(function_.results[i]); }
  bool is_scalar_float(std::size_t result) const {
    return result_type(result).rank() == 0 && ir::is_float(result_type(result).dtype);
  }

  template <class... Args>
  void assume(fmt::format_string<Args...> format, Args&&... args) {
    out_.assumptions.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  static std::string suffix_key(const Parts& parts, std::size_t length, const ir::TensorType& type) {
    std::string key = ir::to_string(type);
    for (std::size_t i = parts.size() - length; i < parts.size(); ++i) (key += '\x1f') += parts[i];
    return key;
  }
  static std::string prefix_of(const Parts& parts, std::size_t length) {
    std::string prefix;
    for (std::size_t i = 0; i + length < parts.size(); ++i) (prefix += i == 0 ? "" : "/") += parts[i];
    return prefix;
  }

  /// Results whose path ends like a parameter's and whose type is equal. Pairs are grouped by what is left of both paths:
  /// "result[0]" -> "state" for a whole tree; large groups go first.
  void match_by_paths() {
    std::unordered_map<std::string, std::vector<std::uint32_t>> by_suffix;
    for (std::size_t i = 0; i < params_.size(); ++i)
      for (std::size_t length = 1; length <= params_[i].size(); ++length)
        by_suffix[suffix_key(params_[i], length, param_type(i))].push_back(static_cast<std::uint32_t>(i));
    struct Group {
      std::string result_prefix, param_prefix;
      std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    };
    std::map<std::pair<std::string, std::string>, Group> groups;
    for (std::size_t j = 0; j < results_.size(); ++j) {
      for (std::size_t length = results_[j].size(); length > 0; --length) {
        const auto found = by_suffix.find(suffix_key(results_[j], length, result_type(j)));
        if (found == by_suffix.end()) continue;
        if (found->second.size() > most_candidates) break;  // a name that so many share says nothing
        for (const std::uint32_t i : found->second) {
          const std::string left = prefix_of(results_[j], length);
          const std::string right = prefix_of(params_[i], length);
          Group& group = groups[{left, right}];
          group.result_prefix = left;
          group.param_prefix = right;
          group.pairs.emplace_back(static_cast<std::uint32_t>(j), i);
        }
        break;
      }
    }
    std::vector<Group> order;
    for (auto& [key, group] : groups) order.push_back(std::move(group));
    std::stable_sort(order.begin(), order.end(), [](const Group& a, const Group& b) {
      const auto depth = [](const Group& g) { return std::count(g.param_prefix.begin(), g.param_prefix.end(), '/'); };
      if (a.pairs.size() != b.pairs.size()) return a.pairs.size() > b.pairs.size();
      if (depth(a) != depth(b)) return depth(a) < depth(b);
      return a.pairs.front() < b.pairs.front();
    });
    std::unordered_map<std::string, const Group*> winner;
    for (const Group& group : order) {
      bool used = false;
      for (const auto& [j, i] : group.pairs) {
        if (param_of_result_[j].has_value() || taken_[i]) continue;
        param_of_result_[j] = i;
        taken_[i] = true;
        ++matched_;
        used = true;
      }
      if (used) winner.emplace(group.result_prefix, &group);
      const auto first = winner.find(group.result_prefix);
      if (!used && first != winner.end() && first->second->pairs.size() == group.pairs.size())
        assume("the results under '{}' have the names and types of both '{}' and '{}': taken as '{}', by order",
               group.result_prefix, first->second->param_prefix, group.param_prefix, first->second->param_prefix);
    }
    evidence_ = ir::Evidence::PathNames;
  }

  /// The longest run of results equal in type to the leading parameters.
  void match_by_shapes() {
    evidence_ = ir::Evidence::ShapeRun;
    std::size_t best = 0, best_offset = 0;
    bool tie = false;
    for (std::size_t offset = 0; offset < results_.size(); ++offset) {
      std::size_t length = 0;
      while (offset + length < results_.size() && length < params_.size() &&
             result_type(offset + length) == param_type(length))
        ++length;
      if (length > best) {
        best = length;
        best_offset = offset;
        tie = false;
      } else if (length == best && length > 0) {
        tie = true;
      }
    }
    if (best == 0) return;
    // A run that eats the only possible loss was one too long.
    bool loss_left = false;
    for (std::size_t j = 0; j < results_.size(); ++j)
      loss_left = loss_left || ((j < best_offset || j >= best_offset + best) && is_scalar_float(j));
    if (!loss_left && best > 1 && is_scalar_float(best_offset + best - 1)) {
      --best;
      assume("result {} is taken as the loss and not as the new value of parameter {}", best_offset + best, best);
    }
    for (std::size_t k = 0; k < best; ++k) {
      param_of_result_[best_offset + k] = static_cast<std::uint32_t>(k);
      taken_[k] = true;
    }
    matched_ = best;
    assume("no path names: results {} to {} are taken as the new values of parameters 0 to {}, by shape and type",
           best_offset, best_offset + best - 1, best - 1);
    if (tie) assume("another run of results of equal length matches the leading parameters, too; the first was taken");
  }

  /// A counter or key of its own has no path in common with its result ("step", "result[3]"): it is matched where the
  /// result follows that of the parameter before it.
  void match_counters() {
    for (std::size_t j = 1; j < results_.size(); ++j) {
      if (param_of_result_[j].has_value() || !param_of_result_[j - 1].has_value()) continue;
      const std::size_t i = *param_of_result_[j - 1] + std::size_t{1};
      if (i >= params_.size() || taken_[i] || !(param_type(i) == result_type(j)) || params_[i].size() > 1) continue;
      const bool counter = ir::is_integer(param_type(i).dtype) && param_type(i).rank() == 0;
      const std::string name = file_path(params_[i], 0);
      if (!counter && (name.empty() || guess_kind(name, param_type(i)) != ir::StateKind::Key)) continue;
      param_of_result_[j] = static_cast<std::uint32_t>(i);
      taken_[i] = true;
      ++matched_;
      assume("result {} is taken as the new value of parameter {}{}, by place and type", j, i,
             name.empty() ? "" : " '" + name + "'");
    }
  }

  /// Without argument locations (JAX's plain as_text()) the results still have names: those of the state that they replace.
  void adopt_result_paths() {
    for (std::size_t j = 0; j < results_.size(); ++j) {
      if (!param_of_result_[j].has_value() || !params_[*param_of_result_[j]].empty()) continue;
      Parts parts = results_[j];
      if (!parts.empty() && parts[0] == "result") parts.erase(parts.begin());
      if (parts.size() > 1) params_[*param_of_result_[j]] = std::move(parts);
    }
  }

  void decide_params() {
    std::unordered_set<std::string> state_roots;
    for (std::size_t i = 0; i < params_.size(); ++i)
      if (taken_[i] && params_[i].size() > 1) state_roots.insert(params_[i][0]);
    for (std::size_t i = 0; i < params_.size(); ++i) {
      ir::ParamInfo& param = out_.signature.params[i];
      param.evidence = matched_ > 0 ? evidence_ : ir::Evidence::Assumed;
      const std::string full = file_path(params_[i], 0);
      param.kind = guess_kind(full, param_type(i));
      const std::string shown = full.empty() ? fmt::format("{}", i) : fmt::format("{} '{}'", i, full);
      if (taken_[i]) {
        param.role = ir::ParamRole::State;
        continue;
      }
      param.role = ir::ParamRole::Const;
      if (is_elided(function_, i)) continue;
      if (params_[i].size() > 1 && state_roots.contains(params_[i][0])) {
        assume("parameter {} is part of the state, but the step does not return it: it stays constant", shown);
      } else if (param.kind == ir::StateKind::Key) {
        param.evidence = ir::Evidence::Assumed;
        assume("parameter {} looks like a random key that the step does not return: it stays constant", shown);
      } else if (param_type(i).rank() == 0) {
        param.evidence = ir::Evidence::Assumed;
        assume("parameter {} is a scalar that the step does not return: it is taken as a constant, not as batch", shown);
      } else if (matched_ == 0 && !params_[i].empty() && param.kind == ir::StateKind::Param && looks_like_params(i)) {
        assume("parameter {} is named like a weight, and the program returns no state: it is taken as a constant", shown);
      } else {
        param.role = ir::ParamRole::Batch;
      }
    }
  }

  bool looks_like_params(std::size_t i) const {
    const std::string root = detail::lower(params_[i][0]);
    return root.starts_with("param") || root == "state" || root == "weights" || root == "variables" || root == "model";
  }

  void decide_results() {
    std::optional<std::size_t> loss;
    bool by_name = false;
    std::size_t candidates = 0;
    for (std::size_t j = 0; j < results_.size(); ++j) {
      ir::ResultInfo& result = out_.signature.results[j];
      result.evidence = evidence_;
      if (param_of_result_[j].has_value()) {
        result.role = ir::ResultRole::State;
        result.state_param = *param_of_result_[j];
        continue;
      }
      result.role = ir::ResultRole::Metric;
      if (!is_scalar_float(j)) continue;
      ++candidates;
      const std::string last = results_[j].empty() ? "" : detail::lower(results_[j].back());
      if (last == "loss" && !by_name) {
        loss = j;
        by_name = true;
      }
      if (!loss.has_value()) loss = j;
    }
    if (!by_name && loss.has_value()) {
      for (std::size_t j = results_.size(); j-- > 0;)
        if (!param_of_result_[j].has_value() && is_scalar_float(j) && !results_[j].empty() &&
            detail::lower(results_[j].back()).find("loss") != std::string::npos) {
          loss = j;
          by_name = true;
        }
    }
    if (!loss.has_value()) {
      assume("no result is a scalar floating-point number outside the state: there is no loss");
      return;
    }
    ir::ResultInfo& result = out_.signature.results[*loss];
    result.role = ir::ResultRole::Loss;
    result.evidence = by_name ? ir::Evidence::PathNames : ir::Evidence::Assumed;
    if (!by_name && candidates > 1)
      assume("{} results could be the loss; the first, result {}, was taken (--roles result:N=loss to choose)", candidates,
             *loss);
  }

  /// Drops the first part of the paths where all parameters of a role share it ("state", "batch").
  void name_params() {
    const auto shared_root = [&](bool batch) {
      std::optional<std::string> root;
      for (std::size_t i = 0; i < params_.size(); ++i) {
        if ((out_.signature.params[i].role == ir::ParamRole::Batch) != batch || is_elided(function_, i)) continue;
        if (!taken_[i] && !batch && params_[i].size() < 2) continue;  // a constant of its own
        if (params_[i].size() < 2 || (root.has_value() && *root != params_[i][0])) return std::string();
        root = params_[i][0];
      }
      return root.value_or("");
    };
    const std::string state_root = shared_root(false);
    const std::string batch_root = shared_root(true);
    std::vector<std::string> paths(params_.size());
    std::unordered_set<std::string> used;
    std::unordered_set<std::string> groups;
    for (std::size_t i = 0; i < params_.size(); ++i) {
      const std::string& root = out_.signature.params[i].role == ir::ParamRole::Batch ? batch_root : state_root;
      const bool drop = !root.empty() && params_[i].size() > 1 && params_[i][0] == root;
      paths[i] = file_path(params_[i], drop ? 1 : 0);
      if (paths[i].empty()) paths[i] = fmt::format("arg{}", i);
      if (used.contains(paths[i]) && drop) paths[i] = file_path(params_[i], 0);
      if (used.contains(paths[i])) paths[i] += fmt::format("_{}", i);
      while (used.contains(paths[i])) paths[i] += '_';
      used.insert(paths[i]);
      for (std::size_t slash = paths[i].find('/'); slash != std::string::npos; slash = paths[i].find('/', slash + 1))
        groups.insert(paths[i].substr(0, slash));
    }
    for (std::size_t i = 0; i < params_.size(); ++i) {
      while (groups.contains(paths[i])) paths[i] += "/_";  // a leaf may not also be a group
      out_.signature.params[i].path = std::move(paths[i]);
    }
  }

  void name_results() {
    for (std::size_t j = 0; j < results_.size(); ++j) {
      ir::ResultInfo& result = out_.signature.results[j];
      if (result.role == ir::ResultRole::State) {
        result.path = out_.signature.params[result.state_param].path;
        continue;
      }
      std::size_t skip = 0;
      if (skip < results_[j].size() && results_[j][skip] == "result") ++skip;
      if (skip < results_[j].size() && is_number(results_[j][skip])) ++skip;
      result.path = file_path(results_[j], skip);
      if (result.path.empty())
        result.path = result.role == ir::ResultRole::Loss ? "loss" : fmt::format("result{}", j);
    }
  }

  const ir::Function& function_;
  std::vector<Parts> params_;   ///< path of each parameter; empty if it has none
  std::vector<Parts> results_;  ///< path of each result
  std::vector<std::optional<std::uint32_t>> param_of_result_;
  std::vector<bool> taken_;
  std::size_t matched_ = 0;
  ir::Evidence evidence_ = ir::Evidence::Assumed;
  InferredRoles out_;
};

}  // namespace

InferredRoles infer_roles(const ir::Program& program, const RoleOptions& options) {
  const ir::Function& function = program.entry();
  InferredRoles out;
  if (options.manifest_text.empty()) {
    out = Inference(function).run();
  } else {
    out.signature = detail::signature_from_manifest(function, options.manifest_text, options.manifest_name);
    for (std::size_t i = out.signature.params.size(); i < function.params.size(); ++i) {
      std::string path = file_path(split_path(note_of(function.param_notes, i, {"loc"})), 0);
      if (path.empty()) path = "constant";
      out.signature.params.push_back({fmt::format("elided/{}_{}", path, i), ir::ParamRole::Const, ir::StateKind::Param,
                                      ir::Evidence::Assumed});
    }
  }
  detail::apply_rules(options.rules, out.signature);
  try {
    ir::verify(out.signature, function);
  } catch (const InputError& error) {
    if (options.manifest_text.empty()) throw;
    RHINO_FAIL(InputError, "{}: {}", options.manifest_name, error.what());
  }
  return out;
}

}  // namespace rhino::frontend
