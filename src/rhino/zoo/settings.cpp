// SPDX-License-Identifier: Apache-2.0
#include <rhino/zoo/settings.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/base/strings.hpp>

namespace rhino::zoo {

namespace {

constexpr double kMost = 1e12;
/// Most blocks of one kind: each is built op by op.
constexpr double kMostBlocks = 10000;

SettingKey integer(const char* name, double least, const char* doc, double greatest = kMost) {
  return {name, SettingKind::Integer, least, greatest, {}, doc};
}
SettingKey real(const char* name, double least, double greatest, const char* doc) {
  return {name, SettingKind::Real, least, greatest, {}, doc};
}
SettingKey flag(const char* name, const char* doc) { return {name, SettingKind::Flag, 0, 1, {}, doc}; }
SettingKey choice(const char* name, std::vector<std::string> allowed, const char* doc) {
  return {name, SettingKind::Choice, 0, 0, std::move(allowed), doc};
}
SettingKey integers(const char* name, const char* doc, double greatest = kMost) {
  return {name, SettingKind::Integers, 1, greatest, {}, doc};
}

std::vector<SettingKey> make_keys() {
  return {
      integer("batch", 1, "examples of a step, all devices together"),
      choice("mode", {"train", "evaluate", "infer"},
             "a training step; the loss alone, without dropout; or (decoders) the next tokens, keys and values kept"),
      choice("dtype", {"f32", "bf16", "f16"},
             "of activations and products; weights are kept in f32 (f16: with a loss scale)"),
      choice("optimizer", {"sgd", "momentum", "nesterov", "adam", "adamw", "adafactor", "lamb", "lion"},
             "the update rule"),
      real("learning_rate", 0, 1e6, "highest rate of the schedule"),
      choice("schedule", {"constant", "linear", "cosine", "inverse_sqrt"}, "of the learning rate after the warm-up"),
      integer("warmup", 0, "steps over which the learning rate grows from zero"),
      integer("total_steps", 1, "steps after which linear and cosine schedules end"),
      real("weight_decay", 0, 1e6, "weight decay of matrices (adamw, lamb, lion)"),
      real("clip", 0, 1e30, "largest global norm of the gradient; 0: any"),
      flag("scan", "repeated blocks (of transformers) as one loop over stacked weights"),
      integer("seed", 0, "of first values and random draws", 9007199254740992.0),

      integer("sequence", 1, "tokens of an example"),
      integer("chunk", 1, "new tokens of one inference step"),
      integer("target_sequence", 1, "tokens of a target"),
      integer("vocabulary", 2, "different tokens"),
      integer("layers", 1, "blocks (of the encoder and of the decoder each, if there are both)", kMostBlocks),
      integer("width", 1, "features of a token"),
      integer("embedding_width", 1, "features of a token's embedding before it is widened"),
      integer("heads", 1, "attention heads"),
      integer("kv_heads", 0, "heads of keys and values; 0: as many as heads"),
      integer("head_width", 0, "features of a head; 0: width / heads"),
      integer("hidden", 0, "features within a feed-forward layer; 0: 4 * width"),
      choice("positions", {"learned", "rope", "alibi", "relative", "none"}, "how positions are told apart"),
      choice("activation", {"relu", "gelu", "gelu_tanh", "silu"}, "of feed-forward layers"),
      flag("gated", "feed-forward layers with a gate (SwiGLU with silu, GeGLU with gelu)"),
      flag("tied", "the output layer uses the embedding's table"),
      flag("next_sentence", "also predict which sentence follows (needs inputs 'segments' and 'next')"),
      real("dropout", 0, 0.999, "rate of dropout"),
      real("rope_base", 1, 1e12, "base of the rotary positions"),
      integer("experts", 0, "experts of a mixture layer; 0: none"),
      integer("chosen", 1, "experts per token", 2),
      integer("experts_every", 1, "every n-th block has a mixture layer"),
      real("capacity_factor", 0.01, 1e6, "places of an expert over its fair share of tokens"),
      real("balance_weight", 0, 1e6, "weight of the load-balancing loss"),
      choice("dispatch", {"one_hot", "sort"}, "how tokens reach experts"),

      integer("image", 1, "height and width of an image"),
      integer("channels", 1, "features of a pixel"),
      integer("white", 1, "largest value of a pixel"),
      integer("patch", 1, "height and width of a patch"),
      integer("classes", 2, "different labels"),
      integers("blocks", "blocks of each stage", kMostBlocks),
      integers("stages", "features of each stage; of a VGG its convolutions, where 0 stands for a pooling"),
      integer("features", 1, "features of the first stage"),
      flag("bottleneck", "residual blocks of three convolutions instead of two"),
      integer("width_factor", 1, "times the features of the inner convolutions"),
      flag("middle_only", "the width factor widens the 3x3 convolutions alone"),
      flag("batch_norm", "batch norm behind each convolution"),
      choice("stem", {"imagenet", "small"}, "first layers: 7x7 stride 2 and a pooling, or 3x3"),
      integer("classifier", 1, "features of the two dense layers before the last"),
      choice("padding", {"valid", "same"}, "whether 3x3 convolutions shrink the image"),
      integer("depth", 1, "times the image is halved"),

      integer("text_layers", 1, "blocks of the text part", kMostBlocks),
      integer("text_width", 1, "features of a token of the text part"),
      integer("text_heads", 1, "attention heads of the text part"),
      integer("joint_width", 1, "features in which image and text are compared"),
      integer("context", 1, "tokens of the conditioning text"),
      integer("context_width", 1, "features of a conditioning token"),
      choice("condition", {"embeddings", "tokens"},
             "the condition is given in features, or as tokens with a trained table"),
      integers("multipliers", "features of each resolution over those of the first"),
      integer("residual_blocks", 1, "residual blocks of each resolution on the way down; one more on the way up",
              kMostBlocks),
      integer("attention_levels", 0, "resolutions, from the finest, that attend to the condition"),
      integer("diffusion_steps", 1, "steps of the noise schedule"),
      integer("groups", 1, "groups of the group norms"),

      integer("dense_features", 1, "numeric inputs"),
      integers("tables", "rows of each embedding table"),
      integers("bottom", "features of the bottom layers"),
      integers("top", "features of the top layers"),
      real("threshold", -1e6, 1e6, "goodness above which data count as positive"),
  };
}

void check_number(const SettingKey& key, double number, std::string_view text) {
  RHINO_CHECK_AS(UsageError, number >= key.least && number <= key.greatest, "{}={}: must be between {} and {}",
                 key.name, text, key.least, key.greatest);
}

template <class Number>
Number parse(const SettingKey& key, std::string_view text, const char* expected) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  RHINO_CHECK_AS(UsageError, error == std::errc() && end == text.data() + text.size(), "{}={}: expected {}", key.name,
                 text, expected);
  return number;
}

std::vector<std::int64_t> parse_integers(const SettingKey& key, std::string_view text) {
  std::vector<std::int64_t> list;
  for (const std::string_view part : split(text, ','))
    list.push_back(parse<std::int64_t>(key, part, "whole numbers with commas between"));
  return list;
}

void check_value(const SettingKey& key, std::string_view text) {
  switch (key.kind) {
    case SettingKind::Integer:
      check_number(key, static_cast<double>(parse<std::int64_t>(key, text, "a whole number")), text);
      break;
    case SettingKind::Real: {
      const double number = parse<double>(key, text, "a number");
      check_number(key, number, text);
      break;
    }
    case SettingKind::Flag:
      RHINO_CHECK_AS(UsageError, text == "true" || text == "false", "{}={}: expected true or false", key.name, text);
      break;
    case SettingKind::Choice:
      RHINO_CHECK_AS(UsageError, std::find(key.allowed.begin(), key.allowed.end(), text) != key.allowed.end(),
                     "{}={}: expected one of {}{}", key.name, text, fmt::join(key.allowed, ", "),
                     did_you_mean(text, key.allowed));
      break;
    case SettingKind::Integers:
      for (const std::int64_t number : parse_integers(key, text))
        if (number != 0 || std::string_view(key.name) != "stages") check_number(key, static_cast<double>(number), text);
      break;
  }
}

}  // namespace

const std::vector<SettingKey>& setting_keys() {
  static const std::vector<SettingKey> keys = make_keys();
  return keys;
}

const SettingKey& setting_key(std::string_view name) {
  for (const SettingKey& key : setting_keys())
    if (name == key.name) return key;
  RHINO_FAIL(InternalError, "no model key '{}'", name);
}

Settings::Settings(std::string_view defaults) { add(defaults); }

void Settings::add(std::string_view defaults) {
  for (const std::string_view assignment : split(defaults, ' ')) {
    if (assignment.empty()) continue;
    const std::size_t equals = assignment.find('=');
    RHINO_ASSERT(equals != assignment.npos, "'{}' is no assignment", assignment);
    const std::string_view name = assignment.substr(0, equals), text = assignment.substr(equals + 1);
    check_value(setting_key(name), text);
    if (has(name)) {
      set(assignment);
    } else {
      values_.emplace_back(name, text);
    }
  }
}

const std::string* Settings::find(std::string_view key) const {
  for (const auto& [name, text] : values_)
    if (name == key) return &text;
  return nullptr;
}

bool Settings::has(std::string_view key) const { return find(key) != nullptr; }

std::vector<std::string> Settings::keys() const {
  std::vector<std::string> names;
  for (const auto& [name, text] : values_)
    names.push_back(name);
  return names;
}

void Settings::set(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  RHINO_CHECK_AS(UsageError, equals != assignment.npos && equals > 0, "'{}': expected key=value", assignment);
  const std::string_view name = assignment.substr(0, equals), text = assignment.substr(equals + 1);
  const auto known =
      std::find_if(values_.begin(), values_.end(), [&](const auto& entry) { return entry.first == name; });
  RHINO_CHECK_AS(UsageError, known != values_.end(), "this model has no key '{}'{}", name, did_you_mean(name, keys()));
  check_value(setting_key(name), text);
  known->second = text;
}

void Settings::set_all(std::string_view assignments) {
  for (const std::string_view assignment : split(assignments, ' '))
    if (!assignment.empty()) set(assignment);
}

const std::string& Settings::value(std::string_view key, SettingKind kind) const {
  const std::string* text = find(key);
  RHINO_ASSERT(text != nullptr && setting_key(key).kind == kind, "model key '{}' is asked for", key);
  return *text;
}

std::int64_t Settings::integer(std::string_view key) const {
  return parse<std::int64_t>(setting_key(key), value(key, SettingKind::Integer), "a whole number");
}
double Settings::real(std::string_view key) const {
  return parse<double>(setting_key(key), value(key, SettingKind::Real), "a number");
}
bool Settings::flag(std::string_view key) const { return value(key, SettingKind::Flag) == "true"; }
const std::string& Settings::choice(std::string_view key) const { return value(key, SettingKind::Choice); }
std::vector<std::int64_t> Settings::integers(std::string_view key) const {
  return parse_integers(setting_key(key), value(key, SettingKind::Integers));
}

std::string Settings::text() const {
  std::string text;
  for (const auto& [name, value] : values_)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

}  // namespace rhino::zoo
