// SPDX-License-Identifier: Apache-2.0
#include <rhino/zoo/zoo.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include <rhino/base/error.hpp>

namespace rhino::zoo {
namespace {

using testing::HasSubstr;

TEST(Zoo, EveryPresetHasItsPublishedParameters) {
  int published = 0;
  for (const Family& family : families())
    for (const Preset& preset : family.presets) {
      const std::vector<std::string> evaluate{"mode=evaluate"};
      const double count = static_cast<double>(parameter_count(build_model(family.name, preset.name, evaluate)));
      if (preset.parameters == 0) continue;
      ++published;
      EXPECT_NEAR(count / preset.parameters, 1, 0.01) << family.name << " " << preset.name << " has " << count;
    }
  EXPECT_GE(published, 55);
}

TEST(Zoo, EveryFamilyHasATinyPresetAndNamesOnce) {
  std::set<std::string> names;
  for (const Family& family : families()) {
    EXPECT_TRUE(names.insert(family.name).second) << family.name;
    EXPECT_STREQ(family.presets.front().name, "tiny") << family.name;
    std::set<std::string> presets;
    for (const Preset& preset : family.presets)
      EXPECT_TRUE(presets.insert(preset.name).second) << preset.name;
  }
}

TEST(Zoo, EveryKeyIsUsedBySomeModel) {
  std::set<std::string> used;
  for (const Family& family : families())
    for (const std::string& key : settings_of(family, "tiny").keys())
      used.insert(key);
  for (const SettingKey& key : setting_keys())
    EXPECT_TRUE(used.contains(key.name)) << key.name;
}

std::string refusal(const std::string& name, const std::string& preset, const std::vector<std::string>& assignments) {
  try {
    build_model(name, preset, assignments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "built";
}

TEST(Zoo, RefusesWhatDoesNotFitInOneSentence) {
  EXPECT_THAT(refusal("gtp", "tiny", {}), HasSubstr("no model is named 'gtp' (did you mean 'gpt'?)"));
  EXPECT_THAT(refusal("gpt", "teeny", {}), HasSubstr("gpt has no preset 'teeny' (did you mean 'tiny'?)"));
  EXPECT_THAT(refusal("gpt", "tiny", {"layrs=2"}), HasSubstr("no key 'layrs' (did you mean 'layers'?)"));
  EXPECT_THAT(refusal("gpt", "tiny", {"layers"}), HasSubstr("expected key=value"));
  EXPECT_THAT(refusal("gpt", "tiny", {"layers=two"}), HasSubstr("layers=two: expected a whole number"));
  EXPECT_THAT(refusal("gpt", "tiny", {"layers=0"}), HasSubstr("layers=0: must be between 1"));
  EXPECT_THAT(refusal("gpt", "tiny", {"layers=99999999999999999999"}), HasSubstr("layers="));
  EXPECT_THAT(refusal("gpt", "tiny", {"heads=5"}), HasSubstr("heads=5 do not divide width=48"));
  EXPECT_THAT(refusal("gpt", "tiny", {"kv_heads=3"}), HasSubstr("kv_heads=3 do not divide heads=4"));
  EXPECT_THAT(refusal("gpt", "tiny", {"dropout=1.5"}), HasSubstr("dropout=1.5: must be between"));
  EXPECT_THAT(refusal("gpt", "tiny", {"dropout=nan"}), HasSubstr("dropout=nan: must be between"));
  EXPECT_THAT(refusal("gpt", "tiny", {"tied=yes"}), HasSubstr("expected true or false"));
  EXPECT_THAT(refusal("gpt", "tiny", {"positions=rotary"}), HasSubstr("expected one of learned, rope"));
  EXPECT_THAT(refusal("gpt", "tiny", {"positions=rope", "head_width=3"}), HasSubstr("even head width"));
  EXPECT_THAT(refusal("gpt", "moe_tiny", {"experts=1"}), HasSubstr("experts=1 are fewer than the chosen=2"));
  EXPECT_THAT(refusal("gpt", "moe_tiny", {"layers=3"}), HasSubstr("3 layers are no multiple of experts_every=2"));
  EXPECT_THAT(refusal("vit", "tiny", {"patch=5"}), HasSubstr("patch=5 does not divide an image of 16 x 16"));
  EXPECT_THAT(refusal("unet", "original", {"image=570"}), HasSubstr("cannot be halved"));
  EXPECT_THAT(refusal("unet", "original", {"image=20"}), HasSubstr("image=20"));
  EXPECT_THAT(refusal("vgg", "16", {"image=16"}), HasSubstr("image=16 is too small"));
  EXPECT_THAT(refusal("latent_diffusion", "tiny", {"groups=5"}), HasSubstr("5 groups do not divide 16 features"));
  EXPECT_THAT(refusal("latent_diffusion", "tiny", {"heads=3"}), HasSubstr("heads=3 do not divide 16 features"));
  EXPECT_THAT(refusal("clip", "tiny", {"text_heads=3"}), HasSubstr("text_heads=3 do not divide text_width=32"));
  EXPECT_THAT(refusal("resnet", "tiny", {"blocks=1,,2"}), HasSubstr("whole numbers with commas"));
}

TEST(Zoo, SizesThatOverflowAreRefused) {
  EXPECT_THAT(refusal("gpt", "tiny", {"batch=1000000000000", "sequence=1000000000000"}), HasSubstr("gpt"));
}

TEST(Zoo, ListNamesEveryPresetAndWhatIsCounted) {
  const std::string list = list_text();
  for (const Family& family : families()) {
    EXPECT_THAT(list, HasSubstr(family.name));
    for (const Preset& preset : family.presets)
      EXPECT_THAT(list, HasSubstr(preset.name));
  }
  EXPECT_THAT(list, HasSubstr("all experts"));
  EXPECT_THAT(keys_text(family("gpt"), "175B"), HasSubstr("width=12288"));
}

}  // namespace
}  // namespace rhino::zoo
