// SPDX-License-Identifier: Apache-2.0
// Roles from a manifest and from the user's rules.
#include <algorithm>
#include <cctype>
#include <charconv>

#include <nlohmann/json.hpp>

#include <rhino/base/error.hpp>
#include <rhino/base/strings.hpp>
#include <rhino/frontend/roles_internal.hpp>

namespace rhino::frontend::detail {

namespace {

using nlohmann::json;

std::string text_of(const json& entry, const char* key, const std::string& where) {
  const auto found = entry.find(key);
  RHINO_CHECK(found != entry.end() && found->is_string(), "{}: '{}' is missing or not a text", where, key);
  return found->get<std::string>();
}

std::int64_t integer_of(const json& entry, const char* key, const std::string& where) {
  const auto found = entry.find(key);
  RHINO_CHECK(found != entry.end() && found->is_number_integer(), "{}: '{}' is missing or not an integer", where, key);
  RHINO_CHECK(!found->is_number_unsigned() || found->get<std::uint64_t>() <= INT64_MAX, "{}: '{}' is too large", where, key);
  return found->get<std::int64_t>();
}

/// "u32" of NumPy is "ui32" of StableHLO; both are read.
std::optional<ir::DType> dtype_of(const std::string& name) {
  if (name.size() > 1 && name[0] == 'u' && name[1] != 'i') return ir::dtype_from_name("ui" + name.substr(1));
  return ir::dtype_from_name(name);
}

const json& list_of(const json& manifest, const char* key, std::size_t count, const char* what, const std::string& name) {
  const auto found = manifest.find(key);
  RHINO_CHECK(found != manifest.end() && found->is_array(), "{}: '{}' is missing or not a list", name, key);
  RHINO_CHECK(found->size() == count,
              "{} lists {} {}, but the program has {}: is it the manifest of another step? (export with keep_unused=True)",
              name, found->size(), key, count);
  for (std::size_t i = 0; i < count; ++i) {
    const json& entry = (*found)[i];
    const std::string where = fmt::format("{}: {} {}", name, what, i);
    RHINO_CHECK(entry.is_object(), "{} is not an object", where);
    const std::int64_t index = integer_of(entry, "index", where);
    RHINO_CHECK(index == static_cast<std::int64_t>(i), "{}: its 'index' is {}; entries must be in order", where, index);
  }
  return *found;
}

/// Shape and type may be left out; if given they must be the program's.
void check_type(const json& entry, const ir::TensorType& type, const std::string& where) {
  if (entry.contains("shape")) {
    const json& shape = entry["shape"];
    RHINO_CHECK(shape.is_array() && std::all_of(shape.begin(), shape.end(),
                                                [](const json& d) { return d.is_number_integer(); }),
                "{}: 'shape' is not a list of integers", where);
    ir::Dims dims;
    for (const json& d : shape) dims.push_back(d.get<std::int64_t>());
    RHINO_CHECK(dims == type.dims, "{}: shape {} in the manifest, {} in the program", where, ir::to_string(dims),
                ir::to_string(type.dims));
  }
  if (entry.contains("dtype")) {
    const std::string name = text_of(entry, "dtype", where);
    const auto dtype = dtype_of(name);
    RHINO_CHECK(dtype.has_value(), "{}: unknown dtype '{}'", where, name);
    RHINO_CHECK(*dtype == type.dtype, "{}: dtype {} in the manifest, {} in the program", where, name,
                ir::dtype_name(type.dtype));
  }
}

}  // namespace

ir::Signature signature_from_manifest(const ir::Function& function, const std::string& text, const std::string& name) {
  json manifest;
  try {
    manifest = json::parse(text);
  } catch (const json::exception& error) {
    std::string reason = error.what();
    std::replace(reason.begin(), reason.end(), '\n', ' ');
    RHINO_FAIL(InputError, "{} is not JSON: {}", name, reason);
  }
  RHINO_CHECK(manifest.is_object(), "{} is not a JSON object", name);
  const std::string format = text_of(manifest, "format", name);
  RHINO_CHECK(format == "rhino-manifest", "{}: format is '{}', not 'rhino-manifest'", name, format);
  const std::int64_t version = integer_of(manifest, "version", name);
  RHINO_CHECK(version == 1, "{}: version {} is not known; this program reads version 1", name, version);

  // Constants that the text left out follow the parameters of the manifest.
  std::size_t elided = 0;
  for (const ir::Notes& notes : function.param_notes)
    for (const auto& [key, value] : notes) elided += key == "rhino.elided_constant" ? 1 : 0;

  ir::Signature signature;
  const json& arguments = list_of(manifest, "arguments", function.params.size() - elided, "argument", name);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const json& entry = arguments[i];
    ir::ParamInfo param;
    param.evidence = ir::Evidence::Manifest;
    param.path = text_of(entry, "path", fmt::format("{}: argument {}", name, i));
    const std::string where = fmt::format("{}: argument {} '{}'", name, i, param.path);
    check_type(entry, function.type(function.params[i]), where);
    const std::string role_text = text_of(entry, "role", where);
    const auto role = ir::param_role_from_name(role_text);
    RHINO_CHECK(role.has_value(), "{}: role '{}' is not one of state, batch, const", where, role_text);
    param.role = *role;
    if (entry.contains("kind")) {
      const std::string kind_text = text_of(entry, "kind", where);
      const auto kind = ir::state_kind_from_name(kind_text);
      RHINO_CHECK(kind.has_value(), "{}: kind '{}' is not one of param, optimizer, statistics, step, key", where, kind_text);
      param.kind = *kind;
    } else if (param.role == ir::ParamRole::State) {
      param.kind = guess_kind(param.path, function.type(function.params[i]));
    }
    signature.params.push_back(std::move(param));
  }
  const json& results = list_of(manifest, "results", function.results.size(), "result", name);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const json& entry = results[i];
    ir::ResultInfo result;
    result.evidence = ir::Evidence::Manifest;
    result.path = text_of(entry, "path", fmt::format("{}: result {}", name, i));
    const std::string where = fmt::format("{}: result {} '{}'", name, i, result.path);
    check_type(entry, function.type(function.results[i]), where);
    const std::string role_text = text_of(entry, "role", where);
    const auto role = ir::result_role_from_name(role_text);
    RHINO_CHECK(role.has_value(), "{}: role '{}' is not one of state, loss, metric", where, role_text);
    result.role = *role;
    if (result.role == ir::ResultRole::State) {
      const std::int64_t argument = integer_of(entry, "argument", where);
      RHINO_CHECK(argument >= 0 && argument < static_cast<std::int64_t>(arguments.size()),
                  "{}: 'argument' {} is not one of the {} arguments", where, argument, arguments.size());
      result.state_param = static_cast<std::uint32_t>(argument);
    }
    signature.results.push_back(std::move(result));
  }
  return signature;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

namespace {

bool names(std::string_view pattern, std::string_view path, std::size_t index) {
  std::size_t number = 0;
  const auto [end, failure] = std::from_chars(pattern.data(), pattern.data() + pattern.size(), number);
  if (failure == std::errc() && end == pattern.data() + pattern.size()) return number == index;
  return glob_match(pattern, path);
}

template <class Infos>
std::vector<std::string> paths_of(const Infos& infos) {
  std::vector<std::string> paths;
  for (const auto& info : infos) paths.push_back(info.path);
  return paths;
}

bool apply_to_params(std::string_view pattern, std::string_view word, const std::string& rule, ir::Signature& signature) {
  bool hit = false;
  const auto role = ir::param_role_from_name(word);
  const auto kind = ir::state_kind_from_name(word);
  RHINO_CHECK_AS(UsageError, role.has_value() || kind.has_value(),
                 "--roles '{}': '{}' is not one of state, param, optimizer, statistics, step, key, batch, const", rule, word);
  for (std::size_t i = 0; i < signature.params.size(); ++i) {
    ir::ParamInfo& param = signature.params[i];
    if (!names(pattern, param.path, i)) continue;
    hit = true;
    param.role = role.value_or(ir::ParamRole::State);
    if (kind) param.kind = *kind;
    param.evidence = ir::Evidence::User;
    if (param.role == ir::ParamRole::State) continue;
    // What is no state any more cannot be replaced by a result.
    for (ir::ResultInfo& result : signature.results)
      if (result.role == ir::ResultRole::State && result.state_param == i) result.role = ir::ResultRole::Metric;
  }
  return hit;
}

bool apply_to_results(std::string_view pattern, std::string_view word, const std::string& rule, ir::Signature& signature) {
  bool hit = false;
  for (std::size_t i = 0; i < signature.results.size(); ++i) {
    ir::ResultInfo& result = signature.results[i];
    if (!names(pattern, result.path, i)) continue;
    hit = true;
    result.evidence = ir::Evidence::User;
    if (word.starts_with("state:")) {
      const std::string_view path = word.substr(6);
      const auto found = std::find_if(signature.params.begin(), signature.params.end(),
                                      [&](const ir::ParamInfo& param) { return param.path == path; });
      RHINO_CHECK_AS(UsageError, found != signature.params.end(), "--roles '{}': no parameter '{}'{}", rule, path,
                     did_you_mean(path, paths_of(signature.params)));
      result.role = ir::ResultRole::State;
      result.state_param = static_cast<std::uint32_t>(found - signature.params.begin());
      found->role = ir::ParamRole::State;
      found->evidence = ir::Evidence::User;
      continue;
    }
    RHINO_CHECK_AS(UsageError, word == "loss" || word == "metric",
                   "--roles '{}': '{}' is not one of loss, metric, state:PATH", rule, word);
    result.role = word == "loss" ? ir::ResultRole::Loss : ir::ResultRole::Metric;
    if (result.role == ir::ResultRole::Loss)
      for (std::size_t k = 0; k < signature.results.size(); ++k)
        if (k != i && signature.results[k].role == ir::ResultRole::Loss &&
            signature.results[k].evidence != ir::Evidence::User)
          signature.results[k].role = ir::ResultRole::Metric;
  }
  return hit;
}

}  // namespace

void apply_rules(const std::vector<std::string>& rules, ir::Signature& signature) {
  for (const std::string& rule : rules) {
    const std::size_t equals = rule.rfind('=');
    RHINO_CHECK_AS(UsageError, equals != std::string::npos && equals > 0 && equals + 1 < rule.size(),
                   "--roles '{}' does not have the form PATTERN=ROLE, e.g. 'opt/*=optimizer' or 'result:0=loss'", rule);
    std::string_view pattern = std::string_view(rule).substr(0, equals);
    const std::string_view word = std::string_view(rule).substr(equals + 1);
    const bool for_results = pattern.starts_with("result:");
    if (for_results) pattern.remove_prefix(7);
    const bool hit = for_results ? apply_to_results(pattern, word, rule, signature)
                                 : apply_to_params(pattern, word, rule, signature);
    RHINO_CHECK_AS(UsageError, hit, "--roles '{}' matches no {}{}", rule, for_results ? "result" : "parameter",
                   did_you_mean(pattern, for_results ? paths_of(signature.results) : paths_of(signature.params)));
  }
}

}  // namespace rhino::frontend::detail

namespace rhino::frontend {

bool glob_match(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || (pattern[p] != '*' && pattern[p] == text[t]))) {
      ++p;
      ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace rhino::frontend
