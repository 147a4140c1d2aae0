// SPDX-License-Identifier: Apache-2.0
#include <rhino/ir/signature.hpp>

#include <array>
#include <unordered_set>

#include <rhino/base/error.hpp>

namespace rhino::ir {

namespace {

constexpr std::array<std::string_view, 3> param_roles = {"state", "batch", "const"};
constexpr std::array<std::string_view, 5> state_kinds = {"param", "optimizer", "statistics", "step", "key"};
constexpr std::array<std::string_view, 3> result_roles = {"state", "loss", "metric"};
constexpr std::array<std::string_view, 5> evidences = {"manifest", "user", "paths", "shapes", "assumed"};

template <class Enum, std::size_t n>
std::optional<Enum> find_name(const std::array<std::string_view, n>& names, std::string_view name) {
  for (std::size_t i = 0; i < n; ++i)
    if (names[i] == name) return static_cast<Enum>(i);
  return std::nullopt;
}

}  // namespace

std::string_view name_of(ParamRole role) { return param_roles.at(static_cast<std::size_t>(role)); }
std::string_view name_of(StateKind kind) { return state_kinds.at(static_cast<std::size_t>(kind)); }
std::string_view name_of(ResultRole role) { return result_roles.at(static_cast<std::size_t>(role)); }
std::string_view name_of(Evidence evidence) { return evidences.at(static_cast<std::size_t>(evidence)); }
std::optional<ParamRole> param_role_from_name(std::string_view name) { return find_name<ParamRole>(param_roles, name); }
std::optional<StateKind> state_kind_from_name(std::string_view name) { return find_name<StateKind>(state_kinds, name); }
std::optional<ResultRole> result_role_from_name(std::string_view name) {
  return find_name<ResultRole>(result_roles, name);
}
std::optional<Evidence> evidence_from_name(std::string_view name) { return find_name<Evidence>(evidences, name); }

std::optional<std::uint32_t> Signature::loss() const {
  for (std::size_t i = 0; i < results.size(); ++i)
    if (results[i].role == ResultRole::Loss) return static_cast<std::uint32_t>(i);
  return std::nullopt;
}

std::vector<std::optional<std::uint32_t>> Signature::updates() const {
  std::vector<std::optional<std::uint32_t>> update_of(params.size());
  for (std::size_t i = 0; i < results.size(); ++i)
    if (results[i].role == ResultRole::State && results[i].state_param < params.size())
      update_of[results[i].state_param] = static_cast<std::uint32_t>(i);
  return update_of;
}

void verify(const Signature& signature, const Function& function) {
  RHINO_CHECK(signature.params.size() == function.params.size(), "the signature lists {} parameters, but @{} has {}",
              signature.params.size(), function.name, function.params.size());
  RHINO_CHECK(signature.results.size() == function.results.size(), "the signature lists {} results, but @{} has {}",
              signature.results.size(), function.name, function.results.size());
  std::unordered_set<std::string> paths;
  for (const ParamInfo& param : signature.params) {
    RHINO_CHECK(!param.path.empty(), "parameter {} of the signature has no path", &param - signature.params.data());
    RHINO_CHECK(paths.insert(param.path).second, "two parameters of the signature have the path \"{}\"", param.path);
  }
  std::vector<const ResultInfo*> update_of(signature.params.size(), nullptr);
  const ResultInfo* loss = nullptr;
  for (std::size_t i = 0; i < signature.results.size(); ++i) {
    const ResultInfo& result = signature.results[i];
    const TensorType& type = function.type(function.results[i]);
    switch (result.role) {
      case ResultRole::State: {
        RHINO_CHECK(result.state_param < signature.params.size(),
                    "result {} (\"{}\") updates parameter {}, but there are only {}", i, result.path,
                    result.state_param, signature.params.size());
        const ParamInfo& param = signature.params[result.state_param];
        RHINO_CHECK(param.role == ParamRole::State, "result {} (\"{}\") updates \"{}\", which is not state", i,
                    result.path, param.path);
        const TensorType& expected = function.type(function.params[result.state_param]);
        RHINO_CHECK(type == expected, "result {} (\"{}\") is {}, but the state \"{}\" that it replaces is {}", i,
                    result.path, to_string(type), param.path, to_string(expected));
        RHINO_CHECK(update_of[result.state_param] == nullptr,
                    "the state \"{}\" is replaced by two results: \"{}\", \"{}\"", param.path,
                    update_of[result.state_param]->path, result.path);
        update_of[result.state_param] = &result;
        break;
      }
      case ResultRole::Loss:
        RHINO_CHECK(loss == nullptr, "two results are marked as the loss: \"{}\", \"{}\"", loss->path, result.path);
        RHINO_CHECK(type.rank() == 0 && is_float(type.dtype),
                    "the loss (result {}, \"{}\") is {}, expected a scalar float", i, result.path, to_string(type));
        loss = &result;
        break;
      case ResultRole::Metric:
        break;
    }
  }
}

}  // namespace rhino::ir
