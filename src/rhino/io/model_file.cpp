// SPDX-License-Identifier: Apache-2.0
#include <rhino/io/model_file.hpp>

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/base/hash.hpp>
#include <rhino/base/strings.hpp>
#include <rhino/frontend/stablehlo.hpp>
#include <rhino/io/elements.hpp>
#include <rhino/io/hdf5.hpp>
#include <rhino/io/model_format.hpp>
#include <rhino/ir/op_info.hpp>
#include <rhino/ir/text.hpp>

namespace rhino::io {

namespace {

constexpr std::int64_t resource_threshold = 256;  // elements; larger constants are data sets of their own
constexpr std::int64_t largest_text = std::int64_t{1} << 32;

struct RecipeName {
  InitRecipe::Kind kind;
  std::string_view name, a, b;  ///< attribute names of the numbers; "" if there is none
};
constexpr RecipeName recipe_names[] = {{InitRecipe::Kind::Zeros, "zeros", "", ""},
                                       {InitRecipe::Kind::Constant, "constant", "value", ""},
                                       {InitRecipe::Kind::Normal, "normal", "mean", "deviation"},
                                       {InitRecipe::Kind::Uniform, "uniform", "low", "high"},
                                       {InitRecipe::Kind::TruncatedNormal, "truncated_normal", "mean", "deviation"}};

bool needs_value(const ir::ParamInfo& param) { return param.role != ir::ParamRole::Batch; }

// ------------------------------------------------------------------------------------------------ writing

void write_program(Hdf5Group& root, const ir::Program& program) {
  std::vector<ir::NamedLiteral> constants;
  ir::PrintOptions options;
  options.resource_threshold = resource_threshold;
  options.locations = true;
  const std::string text = ir::print(program, options, &constants);
  Hdf5DataSet set =
      root.create_data_set("program", Hdf5Type::U8, {static_cast<std::int64_t>(text.size())}, true);
  set.write(std::as_bytes(std::span(text)));
  set.set_attribute("language", "StableHLO");
  set.set_attribute("hash", to_string(hash128(text)));
  set.set_attribute("name", program.name);
  Hdf5Group group = root.create_group("constants");
  for (const ir::NamedLiteral& constant : constants) write_tensor(group, constant.name, constant.value);
}

void write_signature(Hdf5Group& root, const ir::Signature& signature) {
  Hdf5Group group = root.create_group("signature");
  std::vector<std::string> paths, roles, kinds, evidence;
  for (const ir::ParamInfo& param : signature.params) {
    paths.push_back(param.path);
    roles.emplace_back(name_of(param.role));
    kinds.emplace_back(param.role == ir::ParamRole::State ? name_of(param.kind) : "");
    evidence.emplace_back(name_of(param.evidence));
  }
  group.write_texts("params/path", paths);
  group.write_texts("params/role", roles);
  group.write_texts("params/kind", kinds);
  group.write_texts("params/evidence", evidence);
  paths.clear();
  roles.clear();
  evidence.clear();
  std::vector<std::int64_t> state_params;
  for (const ir::ResultInfo& result : signature.results) {
    paths.push_back(result.path);
    roles.emplace_back(name_of(result.role));
    evidence.emplace_back(name_of(result.evidence));
    state_params.push_back(result.role == ir::ResultRole::State ? std::int64_t{result.state_param} : -1);
  }
  group.write_texts("results/path", paths);
  group.write_texts("results/role", roles);
  group.write_texts("results/evidence", evidence);
  group.write_numbers("results/state_param", state_params);
}

void write_recipe(Hdf5Group& group, const std::string& path, const InitRecipe& recipe, ir::DType dtype) {
  Hdf5DataSet set = group.create_null(path, storage_type(dtype));
  for (const RecipeName& name : recipe_names) {
    if (name.kind != recipe.kind) continue;
    set.set_attribute("init", name.name);
    if (!name.a.empty()) set.set_attribute(std::string(name.a), recipe.a);
    if (!name.b.empty()) set.set_attribute(std::string(name.b), recipe.b);
    if (name.kind >= InitRecipe::Kind::Normal) set.set_attribute("seed", recipe.seed);
  }
}

/// Throws unless every path can name a data set: no empty parts, no path that is also a group of others.
void check_paths(const ir::Signature& signature) {
  std::set<std::string, std::less<>> groups;
  for (const ir::ParamInfo& param : signature.params) {
    std::size_t at = 0;
    for (const std::string_view part : split(param.path, '/')) {
      RHINO_CHECK(!part.empty() && part != "." && part != ".." && part.find('\0') == std::string_view::npos,
                  "the path '{}' cannot name a data set", param.path);
      if (at > 0) groups.insert(param.path.substr(0, at - 1));
      at += part.size() + 1;
    }
  }
  for (const ir::ParamInfo& param : signature.params)
    RHINO_CHECK(!needs_value(param) || !groups.contains(param.path),
                "the path '{}' names a state and also a group of others", param.path);
}

// ------------------------------------------------------------------------------------------------ reading

ir::Program read_program(const Hdf5Group& root, const std::string& file_name) {
  const Hdf5DataSet set = root.data_set("program");
  RHINO_CHECK(set.type() == Hdf5Type::U8 && set.dims().size() == 1, "{} is not a text", set.where());
  RHINO_CHECK(set.elements() <= largest_text, "{} claims {} bytes of text", set.where(), set.elements());
  set.check_stored();
  std::string text(static_cast<std::size_t>(set.elements()), '\0');
  set.read(std::as_writable_bytes(std::span(text)));
  const std::string hash = set.text_attribute("hash");
  RHINO_CHECK(hash == to_string(hash128(text)),
              "{} was edited: its text does not have the hash that is stored beside it (import the edited text instead)",
              set.where());
  frontend::ImportOptions options;
  options.source_name = file_name + ":/program";
  options.resource = [&](std::string_view name) -> std::optional<std::vector<std::byte>> {
    const std::string path = "constants/" + std::string(name);
    if (root.kind(path) != Hdf5Group::Kind::DataSet) return std::nullopt;
    const Hdf5DataSet constant = root.data_set(path);
    const std::optional<ir::DType> dtype = stored_dtype(constant);
    RHINO_CHECK(dtype.has_value(), "{} holds no numbers", constant.where());
    const ir::Literal literal = read_tensor(constant, {*dtype, constant.dims()});
    return literal.expanded_bytes();
  };
  ir::Program program = frontend::parse_stablehlo(text, options);
  program.name = set.text_attribute("name");
  ir::verify(program);
  return program;
}

template <class Enum, class FromName>
Enum enum_of(FromName&& from_name, const std::string& text, const std::string& where) {
  const std::optional<Enum> value = from_name(text);
  RHINO_CHECK(value.has_value(), "{}: unknown word '{}'", where, text);
  return *value;
}

ir::Signature read_signature(const Hdf5Group& root) {
  const Hdf5Group group = root.group("signature");
  const auto texts = [&](const std::string& name, std::size_t count) {
    const Hdf5DataSet set = group.data_set(name);
    std::vector<std::string> list = set.read_texts();
    RHINO_CHECK(count == SIZE_MAX || list.size() == count, "{} has {} entries instead of {}", set.where(), list.size(), count);
    return list;
  };
  ir::Signature signature;
  const std::string where = group.where();
  {
    const auto paths = texts("params/path", SIZE_MAX);
    const auto roles = texts("params/role", paths.size());
    const auto kinds = texts("params/kind", paths.size());
    const auto evidence = texts("params/evidence", paths.size());
    for (std::size_t i = 0; i < paths.size(); ++i) {
      ir::ParamInfo param;
      param.path = paths[i];
      param.role = enum_of<ir::ParamRole>(ir::param_role_from_name, roles[i], where);
      if (param.role == ir::ParamRole::State) param.kind = enum_of<ir::StateKind>(ir::state_kind_from_name, kinds[i], where);
      param.evidence = enum_of<ir::Evidence>(ir::evidence_from_name, evidence[i], where);
      signature.params.push_back(std::move(param));
    }
  }
  const auto paths = texts("results/path", SIZE_MAX);
  const auto roles = texts("results/role", paths.size());
  const auto evidence = texts("results/evidence", paths.size());
  const auto state_params = group.read_numbers<std::int64_t>("results/state_param");
  RHINO_CHECK(state_params.size() == paths.size(), "{}/results/state_param has {} entries instead of {}", where,
              state_params.size(), paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    ir::ResultInfo result;
    result.path = paths[i];
    result.role = enum_of<ir::ResultRole>(ir::result_role_from_name, roles[i], where);
    result.evidence = enum_of<ir::Evidence>(ir::evidence_from_name, evidence[i], where);
    if (result.role == ir::ResultRole::State) {
      RHINO_CHECK(state_params[i] >= 0 && state_params[i] < static_cast<std::int64_t>(signature.params.size()),
                  "{}: result {} replaces parameter {}, but there are {}", where, i, state_params[i],
                  signature.params.size());
      result.state_param = static_cast<std::uint32_t>(state_params[i]);
    }
    signature.results.push_back(std::move(result));
  }
  return signature;
}

}  // namespace

namespace detail {

InitRecipe read_recipe(const Hdf5DataSet& set) {
  RHINO_CHECK(set.has_attribute("init"), "{} holds neither numbers nor an 'init' attribute", set.where());
  const std::string kind = set.text_attribute("init");
  for (const RecipeName& name : recipe_names) {
    if (name.name != kind) continue;
    InitRecipe recipe;
    recipe.kind = name.kind;
    if (!name.a.empty()) recipe.a = set.float_attribute(std::string(name.a));
    if (!name.b.empty()) recipe.b = set.float_attribute(std::string(name.b));
    if (name.kind >= InitRecipe::Kind::Normal) recipe.seed = set.uint_attribute("seed");
    return recipe;
  }
  RHINO_FAIL(InputError, "{}: init = '{}' is not one of zeros, constant, normal, uniform, truncated_normal", set.where(),
             kind);
}

void check_state(const Hdf5Group& state, const ir::Signature& signature, const ir::Function& function) {
  std::vector<std::string> wanted;
  for (std::size_t i = 0; i < signature.params.size(); ++i) {
    const ir::ParamInfo& param = signature.params[i];
    if (!needs_value(param)) continue;
    wanted.push_back(param.path);
    if (state.kind(param.path) == Hdf5Group::Kind::None) {
      std::vector<std::string> there = state.data_set_paths();
      RHINO_FAIL(InputError, "{} has no value for '{}'{}", state.where(), param.path, did_you_mean(param.path, there));
    }
    const Hdf5DataSet set = state.data_set(param.path);
    if (set.is_null()) {
      read_recipe(set);
    } else {
      check_tensor(set, function.type(function.params[i]));
    }
  }
  std::sort(wanted.begin(), wanted.end());
  for (const std::string& path : state.data_set_paths())
    RHINO_CHECK(std::binary_search(wanted.begin(), wanted.end(), path), "{} has '{}', which is no state of the program{}",
                state.where(), path, did_you_mean(path, wanted));
}

void check_model(const Model& model) {
  ir::verify(model.signature, model.program.entry());
  check_paths(model.signature);
  const ir::Function& main = model.program.entry();
  std::size_t values = 0;
  for (std::size_t i = 0; i < model.signature.params.size(); ++i) {
    const ir::ParamInfo& param = model.signature.params[i];
    if (!needs_value(param)) continue;
    ++values;
    const auto found = model.state.find(param.path);
    RHINO_CHECK(found != model.state.end(), "the state '{}' has no initial value", param.path);
    if (const auto* literal = std::get_if<ir::Literal>(&found->second))
      RHINO_CHECK(literal->type() == main.type(main.params[i]), "the initial value of '{}' is {}, but the program needs {}",
                  param.path, ir::to_string(literal->type()), ir::to_string(main.type(main.params[i])));
  }
  for (const auto& [name, value] : model.state) {
    if (values == model.state.size()) break;
    RHINO_CHECK(std::any_of(model.signature.params.begin(), model.signature.params.end(),
                            [&](const ir::ParamInfo& p) { return needs_value(p) && p.path == name; }),
                "an initial value is given for '{}', which is no state of the program", name);
  }
}

Model read_model_head(const Hdf5File& file, const std::string& path) {
  Model model;
  model.program = read_program(file.root(), path);
  model.signature = read_signature(file.root());
  check_paths(model.signature);
  try {
    ir::verify(model.signature, model.program.entry());
  } catch (const InputError& error) {
    RHINO_FAIL(InputError, "{}: {}", path, error.what());
  }
  const Hdf5Group notes = file.root().group("meta");
  for (const std::string& key : notes.attribute_names()) model.meta[key] = notes.text_attribute(key);
  return model;
}

}  // namespace detail

void write_model(const Model& model, const std::string& path) {
  detail::check_model(model);
  const ir::Function& main = model.program.entry();
  Hdf5File file = Hdf5File::create(path);
  {
    Hdf5Group& root = file.root();
    set_format(file, detail::model_format, detail::model_version);
    write_program(root, model.program);
    write_signature(root, model.signature);
    Hdf5Group state = root.create_group("state");
    for (std::size_t i = 0; i < model.signature.params.size(); ++i) {
      const ir::ParamInfo& param = model.signature.params[i];
      if (!needs_value(param)) continue;
      const InitialState& value = model.state.at(param.path);
      if (const auto* literal = std::get_if<ir::Literal>(&value)) {
        write_tensor(state, param.path, *literal);
      } else {
        write_recipe(state, param.path, std::get<InitRecipe>(value), main.type(main.params[i]).dtype);
      }
    }
    Hdf5Group meta = root.create_group("meta");
    for (const auto& [key, value] : model.meta) meta.set_attribute(key, value);
  }
  file.commit();
}

}  // namespace rhino::io
