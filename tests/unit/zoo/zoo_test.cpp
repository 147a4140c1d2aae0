// SPDX-License-Identifier: Apache-2.0
#include <rhino/zoo/zoo.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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

TEST(Zoo, LowPrecisionIsForProductsAndWeightsStayInF32) {
  for (const auto& [name, dtype] : {std::pair{"bf16", ir::DType::BF16}, std::pair{"f16", ir::DType::F16}})
    for (const char* family : {"gpt", "resnet", "t5", "latent_diffusion"}) {
      const BuiltModel model =
          build_model(family, "tiny", std::vector<std::string>{"mode=evaluate", std::string("dtype=") + name});
      const ir::Function& main = model.program.entry();
      for (std::size_t i = 0; i < main.params.size(); ++i) {
        const ir::ParamInfo& info = model.signature.params[i];
        if (info.role != ir::ParamRole::State || info.kind != ir::StateKind::Param) continue;
        EXPECT_EQ(main.type(main.params[i]).dtype, ir::DType::F32) << info.path;
      }
      int products = 0;
      for (const ir::Op& op : main.ops)
        if (op.kind == ir::OpKind::DotGeneral || op.kind == ir::OpKind::Convolution) {
          ++products;
          EXPECT_EQ(main.type(op.operands[0]).dtype, dtype) << op.location.name;
        }
      EXPECT_GT(products, 4);
      EXPECT_EQ(main.type(main.results[*model.signature.loss()]).dtype, ir::DType::F32);
    }
}

TEST(Zoo, ScanStacksTheBlocksAndKeepsTheCount) {
  for (const char* family : {"gpt", "bert", "albert", "t5", "vit", "switch", "glam"}) {
    const auto build = [&](const char* scan) {
      return build_model(family, "tiny",
                         std::vector<std::string>{"mode=evaluate", std::string("scan=") + scan, "layers=4"});
    };
    const BuiltModel repeated = build("false"), scanned = build("true");
    EXPECT_EQ(parameter_count(repeated), parameter_count(scanned)) << family;
    EXPECT_LT(scanned.program.entry().ops.size(), repeated.program.entry().ops.size());
    EXPECT_EQ(std::count_if(scanned.program.entry().ops.begin(), scanned.program.entry().ops.end(),
                            [](const ir::Op& op) { return op.kind == ir::OpKind::While; }),
              std::string(family) == "t5" || std::string(family) == "switch" ? 2 : 1);
  }
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
  EXPECT_THAT(refusal("latent_diffusion", "tiny", {"groups=5"}), HasSubstr("5 groups do not divide 8 features"));
  EXPECT_THAT(refusal("latent_diffusion", "tiny", {"heads=3"}), HasSubstr("heads=3 do not divide 8 features"));
  EXPECT_THAT(refusal("clip", "tiny", {"text_heads=3"}), HasSubstr("text_heads=3 do not divide text_width=32"));
  EXPECT_THAT(refusal("resnet", "tiny", {"blocks=1,,2"}), HasSubstr("whole numbers with commas"));
}

TEST(Zoo, EveryFamilyRefusesSizesThatDoNotFit) {
  const std::pair<const char*, const char*> wrong[] = {
      {"batch", "0"},       {"layers", "0"},  {"layers", "1000000"},    {"heads", "5"},          {"heads", "0"},
      {"kv_heads", "3"},    {"width", "0"},   {"experts", "-1"},        {"sequence", "0"},       {"vocabulary", "1"},
      {"classes", "1"},     {"image", "0"},   {"image", "15"},          {"patch", "5"},          {"blocks", "1,0"},
      {"blocks", "100000"}, {"stages", "-1"}, {"groups", "5"},          {"depth", "0"},          {"tables", "0"},
      {"text_heads", "3"},  {"dropout", "1"}, {"capacity_factor", "0"}, {"learning_rate", "-1"},
  };
  for (const Family& family : families()) {
    const Settings settings = settings_of(family, "tiny");
    int tried = 0;
    for (const auto& [key, value] : wrong) {
      if (!settings.has(key)) continue;
      const std::string_view text = value;
      if (text == "15" && !settings.has("patch")) continue;  // convolutions take an odd image
      if (text == "5" && settings.has("head_width") && settings.integer("head_width") > 0) continue;
      ++tried;
      const std::string message = refusal(family.name, "tiny", {std::string(key) + "=" + value});
      EXPECT_NE(message, "built") << family.name << " " << key << "=" << value;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
    EXPECT_GE(tried, 3) << family.name;
  }
}

TEST(Zoo, SizesThatOverflowAreRefused) {
  for (const char* key : {"sequence", "vocabulary", "width", "hidden"}) {
    std::vector<std::string> settings{"batch=1000000000", "heads=1"};
    settings.push_back(std::string(key) + "=1000000000000");
    EXPECT_THAT(refusal("gpt", "tiny", settings), HasSubstr("model gpt: ")) << key;
  }
  EXPECT_THAT(refusal("resnet", "tiny", {"image=1000000000000"}), HasSubstr("model resnet: "));
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
