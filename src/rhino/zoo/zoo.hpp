// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rhino/zoo/model_builder.hpp>
#include <rhino/zoo/settings.hpp>

namespace rhino::zoo {

/// A size of a model that has been published, or "tiny".
struct Preset {
  const char* name;
  const char* settings;  ///< "key=value .." over the family's defaults
  double parameters;     ///< trained parameters as published, met within 1 %; 0: none published
  const char* counted;   ///< what the count means, where sources differ; may be ""
};

/// One architecture with its presets.
struct Family {
  const char* name;
  const char* summary;
  const char* paper;
  const char*
      defaults;  ///< "key=value ..": every key that the model has, with its value unless a preset says otherwise
  std::vector<Preset> presets;
  /// Declares inputs and weights and gives the loss (an invalid tensor for inference, which has none). Throws
  /// InputError or UsageError for settings that do not fit each other.
  Tensor (*build)(ModelBuilder& builder, const Settings& settings);
};

/// All families, in the order in which they are listed.
std::span<const Family> families();
/// Throws UsageError, naming the nearest one.
const Family& family(std::string_view name);
const Preset& preset_of(const Family& family, std::string_view name);

/// Settings of a preset with `assignments` ("key=value") over them. Throws UsageError.
Settings settings_of(const Family& family, std::string_view preset, std::span<const std::string> assignments = {});

/// The whole step: forward, gradient and update; the loss alone (mode=evaluate); or the scores of the next tokens
/// (mode=infer, decoders). Simplified and verified. Parameters have the same paths in all three. Local.
/// Throws UsageError for settings that do not fit each other.
BuiltModel build_model(const Family& family, const Settings& settings);
/// By names, as the command line has them; the preset's name is noted in the meta data.
BuiltModel build_model(std::string_view family, std::string_view preset, std::span<const std::string> assignments = {});

/// Trained parameters, each element once.
std::int64_t parameter_count(const BuiltModel& model);

/// `rhino model --list`: name, presets, parameters, paper, what is counted.
std::string list_text();
/// Keys of one family with the defaults of a preset.
std::string keys_text(const Family& family, std::string_view preset);

}  // namespace rhino::zoo
