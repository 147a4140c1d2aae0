// SPDX-License-Identifier: Apache-2.0
#include <rhino/zoo/transformer.hpp>

#include <fmt/format.h>

#include <rhino/base/error.hpp>

namespace rhino::zoo {

using ir::DType;

namespace {

/// One block after the other, with what they add up to besides.
class Blocks {
 public:
  Blocks(ModelBuilder& b, const TransformerSpec& spec, const TransformerInputs& inputs)
      : b_(b), spec_(spec), inputs_(inputs) {}

  /// Carried: x, and with mixtures the sums of balance and dropped.
  std::vector<Tensor> block(std::vector<Tensor> carried, bool sparse) {
    Tensor x = carried[0];
    if (spec_.arrangement == Arrangement::Parallel) {
      const Tensor y = normed("norm", x);
      const Tensor attended = attention(b_, "attention", y, y, spec_.attention, inputs_.score_bias);
      carried[0] = x + add(attended + feed(y, sparse, carried));
      return carried;
    }
    x = residual("attention_norm", x, [&](const Tensor& y) {
      return attention(b_, "attention", y, y, spec_.attention, inputs_.score_bias);
    });
    if (inputs_.context.valid()) {
      AttentionSpec cross = spec_.attention;
      cross.causal = false;
      cross.positions = Positions::None;
      x = residual("cross_norm", x, [&](const Tensor& y) { return attention(b_, "cross", y, inputs_.context, cross); });
    }
    carried[0] = residual("feed_forward_norm", x, [&](const Tensor& y) { return feed(y, sparse, carried); });
    return carried;
  }

 private:
  Tensor normed(std::string_view name, const Tensor& x) {
    return norm(b_, name, x, spec_.norm, spec_.epsilon, spec_.norm_bias);
  }
  Tensor add(const Tensor& y) { return b_.dropout(y, spec_.dropout); }

  template <class Layer>
  Tensor residual(std::string_view name, const Tensor& x, const Layer& layer) {
    if (spec_.arrangement == Arrangement::Post) return normed(name, x + add(layer(x)));
    return x + add(layer(normed(name, x)));
  }

  Tensor feed(const Tensor& y, bool sparse, std::vector<Tensor>& carried) {
    if (!sparse) return feed_forward(b_, "feed_forward", y, spec_.feed_forward);
    const MixtureOutput output = mixture(b_, "mixture", y, spec_.mixture);
    carried[1] = carried[1] + output.balance;
    carried[2] = carried[2] + output.dropped;
    return output.y;
  }

  ModelBuilder& b_;
  const TransformerSpec& spec_;
  const TransformerInputs& inputs_;
};

}  // namespace

TransformerOutput transformer(ModelBuilder& b, const Tensor& x, const TransformerSpec& spec,
                              const TransformerInputs& inputs) {
  Blocks blocks(b, spec, inputs);
  if (spec.mixture.experts == 0)
    return {
        b.repeat(spec.layers, "block", {x}, [&](auto carried) { return blocks.block(std::move(carried), false); })[0],
        {}};
  const std::int64_t every = spec.experts_every;
  RHINO_CHECK_AS(UsageError, spec.layers % every == 0, "{} layers are no multiple of experts_every={}", spec.layers,
                 every);
  const std::vector<Tensor> start{x, b.scalar(DType::F32, 0), b.scalar(DType::F32, 0)};
  const std::vector<Tensor> end = b.repeat(spec.layers / every, "block", start, [&](std::vector<Tensor> carried) {
    for (std::int64_t i = 1; i < every; ++i) {
      const auto scope = b.scope(every == 2 ? "dense" : fmt::format("dense{}", i));
      carried = blocks.block(std::move(carried), false);
    }
    const auto scope = b.scope("sparse");
    return blocks.block(std::move(carried), true);
  });
  b.metric(b.path_of("dropped"), end[2] * (static_cast<double>(every) / static_cast<double>(spec.layers)));
  return {end[0], end[1]};
}

namespace {

Activation activation_of(const std::string& name) {
  if (name == "relu") return Activation::Relu;
  if (name == "gelu") return Activation::Gelu;
  return name == "silu" ? Activation::Silu : Activation::GeluTanh;
}

}  // namespace

TransformerSpec transformer_spec(const Settings& settings, double deviation, double output_deviation) {
  const auto integer = [&](const char* key, std::int64_t otherwise) {
    const std::int64_t value = settings.has(key) ? settings.integer(key) : 0;
    return value == 0 ? otherwise : value;
  };
  const std::int64_t width = settings.integer("width"), heads = settings.integer("heads");
  TransformerSpec spec;
  spec.layers = settings.integer("layers");
  spec.dropout = settings.has("dropout") ? settings.real("dropout") : 0;
  AttentionSpec& attention = spec.attention;
  attention.heads = heads;
  attention.kv_heads = integer("kv_heads", heads);
  attention.head_width = integer("head_width", width / heads);
  RHINO_CHECK_AS(UsageError, integer("head_width", 0) != 0 || width % heads == 0,
                 "heads={} do not divide width={}: choose another number, or give head_width", heads, width);
  RHINO_CHECK_AS(UsageError, heads % attention.kv_heads == 0, "kv_heads={} do not divide heads={}", attention.kv_heads,
                 heads);
  if (settings.has("positions") && settings.choice("positions") == "rope") {
    attention.positions = Positions::Rope;
    if (settings.has("rope_base")) attention.rope_base = settings.real("rope_base");
    RHINO_CHECK_AS(UsageError, attention.head_width % 2 == 0, "positions=rope needs an even head width, not {}",
                   attention.head_width);
  }
  if (settings.has("positions") && settings.choice("positions") == "alibi") attention.positions = Positions::Alibi;
  attention.dropout = spec.dropout;
  attention.recipe = normal(deviation);
  attention.output_recipe = normal(output_deviation);
  FeedForwardSpec& feed_forward = spec.feed_forward;
  feed_forward.hidden = integer("hidden", 4 * width);
  feed_forward.activation =
      settings.has("activation") ? activation_of(settings.choice("activation")) : Activation::Gelu;
  feed_forward.gated = settings.has("gated") && settings.flag("gated");
  feed_forward.recipe = normal(deviation);
  feed_forward.output_recipe = normal(output_deviation);
  if (settings.has("experts") && settings.integer("experts") > 0) {
    spec.mixture.experts = settings.integer("experts");
    spec.mixture.chosen = settings.integer("chosen");
    spec.mixture.capacity_factor = settings.real("capacity_factor");
    spec.mixture.dispatch = settings.choice("dispatch") == "sort" ? Dispatch::Sort : Dispatch::OneHot;
    spec.mixture.expert = feed_forward;
    spec.mixture.expert.bias = false;
    spec.experts_every = settings.integer("experts_every");
    RHINO_CHECK_AS(UsageError, spec.mixture.experts >= spec.mixture.chosen,
                   "experts={} are fewer than the chosen={} of each token", spec.mixture.experts, spec.mixture.chosen);
  }
  return spec;
}

Tensor with_balance(ModelBuilder& b, const Tensor& loss, const TransformerOutput& output, const Settings& settings) {
  if (!output.balance.valid()) return loss;
  b.metric(b.path_of("balance"), output.balance);
  return loss + settings.real("balance_weight") * output.balance;
}

Tensor add_positions(ModelBuilder& b, const Tensor& x, double deviation) {
  return add_bias(b, x, "positions", {x.dim(1), x.dim(2)}, normal(deviation));
}

void note_formula_flops(ModelBuilder& b, double product_weights, double tokens, double attention_products) {
  b.note("formula_flops", fmt::format("{:.6e}", 6 * product_weights * tokens + 12 * attention_products));
}

}  // namespace rhino::zoo
