// SPDX-License-Identifier: Apache-2.0
#include <rhino/zoo/zoo.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/base/strings.hpp>
#include <rhino/ir/op_info.hpp>
#include <rhino/ir/passes.hpp>
#include <rhino/zoo/training.hpp>

#include "models/families.hpp"

namespace rhino::zoo {

namespace {

std::vector<Family> make_families() {
  return {vgg_family(),         resnet_family(),
          wide_resnet_family(), bert_family(),
          roberta_family(),     albert_family(),
          t5_family(),          gpt_family(),
          palm_family(),        llama_family(),
          switch_family(),      gshard_family(),
          glam_family(),        m6_family(),
          vit_family(),         clip_family(),
          unet_family(),        latent_diffusion_family(),
          dlrm_family(),        forward_forward_family()};
}

std::vector<std::string> names_of(const std::vector<Preset>& presets) {
  std::vector<std::string> names;
  for (const Preset& preset : presets)
    names.emplace_back(preset.name);
  return names;
}

}  // namespace

std::span<const Family> families() {
  static const std::vector<Family> all = make_families();
  return all;
}

const Family& family(std::string_view name) {
  std::vector<std::string> names;
  for (const Family& family : families()) {
    if (name == family.name) return family;
    names.emplace_back(family.name);
  }
  RHINO_FAIL(UsageError, "no model is named '{}'{}; there are {}", name, did_you_mean(name, names),
             fmt::join(names, ", "));
}

const Preset& preset_of(const Family& family, std::string_view name) {
  for (const Preset& preset : family.presets)
    if (name == preset.name) return preset;
  const std::vector<std::string> names = names_of(family.presets);
  RHINO_FAIL(UsageError, "{} has no preset '{}'{}; there are {}", family.name, name, did_you_mean(name, names),
             fmt::join(names, ", "));
}

Settings settings_of(const Family& family, std::string_view preset, std::span<const std::string> assignments) {
  Settings settings(common_defaults());
  settings.add(family.defaults);
  settings.set_all(preset_of(family, preset).settings);
  for (const std::string& assignment : assignments)
    settings.set(assignment);
  return settings;
}

BuiltModel build_model(const Family& family, const Settings& settings) {
  ModelBuilder builder(family.name, policy_of(settings));
  builder.note("model", family.name);
  builder.note("settings", settings.text());
  RHINO_CHECK_AS(UsageError, settings.choice("mode") != "infer" || settings.has("chunk"),
                 "mode=infer is for decoders; {} is none", family.name);
  BuiltModel model;
  try {
    model = finish_step(builder, family.build(builder, settings), settings);
  } catch (const InputError& error) {  // what a layer refused: the settings are to blame
    RHINO_FAIL(UsageError, "model {}: {}", family.name, error.what());
  }
  ir::simplify_identities(model.program);
  ir::eliminate_common_subexpressions(model.program);
  ir::eliminate_dead_code(model.program);
  ir::verify(model.program);
  ir::verify(model.signature, model.program.entry());
  return model;
}

BuiltModel build_model(std::string_view name, std::string_view preset, std::span<const std::string> assignments) {
  const Family& chosen = family(name);
  BuiltModel model = build_model(chosen, settings_of(chosen, preset, assignments));
  model.meta["preset"] = preset;
  return model;
}

std::int64_t parameter_count(const BuiltModel& model) {
  const ir::Function& main = model.program.entry();
  std::int64_t count = 0;
  for (std::size_t i = 0; i < model.signature.params.size(); ++i) {
    const ir::ParamInfo& param = model.signature.params[i];
    if (param.role == ir::ParamRole::State && param.kind == ir::StateKind::Param)
      count += main.type(main.params[i]).elements();
  }
  return count;
}

namespace {

/// 124.44e6 -> "124.44 M", 1.3e9 -> "1.30 B", 1e12 -> "1.00 T", as sizes of models are told.
std::string count_text(double count) {
  if (count >= 1e12) return fmt::format("{:.2f} T", count / 1e12);
  return count >= 1e9 ? fmt::format("{:.2f} B", count / 1e9) : fmt::format("{:.2f} M", count / 1e6);
}

}  // namespace

std::string list_text() {
  std::string text;
  for (const Family& family : families()) {
    text += fmt::format("{}: {}\n  {}\n", family.name, family.summary, family.paper);
    for (const Preset& preset : family.presets) {
      const std::string count = preset.parameters > 0 ? count_text(preset.parameters) : "";
      const std::string line = fmt::format("    {:<10} {:>9}  {}", preset.name, count, preset.counted);
      text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
  }
  return text;
}

std::string keys_text(const Family& family, std::string_view preset) {
  const std::string assignments = settings_of(family, preset).text();
  std::string text;
  for (const std::string_view assignment : split(assignments, ' ')) {
    const SettingKey& key = setting_key(assignment.substr(0, assignment.find('=')));
    text += fmt::format("  {:<28} {}", assignment, key.doc);
    text += key.allowed.empty() ? "\n" : fmt::format(" ({})\n", fmt::join(key.allowed, ", "));
  }
  return text;
}

}  // namespace rhino::zoo
