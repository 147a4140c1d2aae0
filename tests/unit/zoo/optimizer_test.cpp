// SPDX-License-Identifier: Apache-2.0
// Update rules over several steps against their formulas in plain loops.
#include <cmath>
#include <functional>
#include <map>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rhino/ir/op_info.hpp>
#include <rhino/ir/passes.hpp>
#include <rhino/kernels/reference/interpreter.hpp>
#include <rhino/zoo/training.hpp>

#include "layer_run.hpp"

namespace rhino::zoo {
namespace {

using Value = kernels::reference::Tensor;

constexpr std::size_t kOptimizerRows = 3, kOptimizerColumns = 4, kOptimizerSize = kOptimizerRows * kOptimizerColumns;
constexpr int kOptimizerSteps = 4;

/// A step whose loss is the sum of w * a + bias * c with inputs a, c: so these are the gradients.
class Trained {
 public:
  explicit Trained(const std::string& assignments, ir::DType dtype = ir::DType::F32) {
    Settings settings(common_defaults());
    settings.set_all(assignments);
    BuildPolicy policy;
    policy.compute = dtype;
    ModelBuilder b("line", policy);
    const Tensor w = b.parameter("w", {kOptimizerRows, kOptimizerColumns}, zeros()), bias = b.parameter("bias", {kOptimizerColumns}, zeros());
    const Tensor a = b.batch("a", {ir::DType::F32, {kOptimizerRows, kOptimizerColumns}}), c = b.batch("c", {ir::DType::F32, {kOptimizerColumns}});
    model_ = finish_step(b, b.sum(w * a) + b.sum(bias * c), settings);
    ir::verify(model_.program);
    ir::verify(model_.signature, model_.program.entry());
    ir::promote_floats_to_f64(model_.program);
    const ir::Function& main = model_.program.entry();
    for (std::size_t i = 0; i < main.params.size(); ++i) {
      const std::string& path = model_.signature.params[i].path;
      place_[path] = i;
      Value value(main.type(main.params[i]));
      if (path == "params/w" || path == "params/bias")
        for (std::size_t e = 0; e < value.as<double>().size(); ++e)
          value.as<double>()[e] = first(path, e);
      if (path == "loss_scale/value") value.as<double>()[0] = 1024;
      arguments_.push_back(std::move(value));
    }
  }

  static double first(const std::string& path, std::size_t e) {
    return path == "params/w" ? 0.3 * static_cast<double>(e) - 1 : 0.5;
  }
  /// Gradient of an element in a step (from 0).
  static double gradient(const std::string& path, int step, std::size_t e) {
    return std::sin(1.7 * static_cast<double>(e) + 0.9 * step + (path == "params/w" ? 0 : 2)) * (1 + step);
  }

  void step(int number) {
    for (const auto& [input, path] : {std::pair{"a", "params/w"}, std::pair{"c", "params/bias"}})
      for (std::size_t e = 0; e < values(input).size(); ++e)
        values(input)[e] = gradient(path, number, e);
    run();
  }
  void run() {
    std::vector<Value> results = kernels::reference::run(model_.program, model_.program.main, arguments_);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const ir::ResultInfo& info = model_.signature.results[i];
      if (info.role == ir::ResultRole::State)
        arguments_[info.state_param] = std::move(results[i]);
      else
        reported_[info.path] = results[i].as<double>()[0];
    }
  }
  std::span<double> values(const std::string& path) { return arguments_[place_.at(path)].as<double>(); }
  Numbers numbers(const std::string& path) { return {values(path).begin(), values(path).end()}; }
  double reported(const std::string& name) const { return reported_.at(name); }
  std::int32_t steps() { return arguments_[place_.at("step")].as<std::int32_t>()[0]; }

 private:
  BuiltModel model_;
  std::map<std::string, std::size_t> place_;
  std::vector<Value> arguments_;
  std::map<std::string, double> reported_;
};

/// One rule: changes x in place, given the gradient and the step from 1; keeps what it needs in `memory`.
using Rule = std::function<void(Numbers& x, const Numbers& g, int t, std::map<std::string, Numbers>& memory)>;

void expect_rule(const std::string& settings, const Rule& rule) {
  Trained trained(settings);
  std::map<std::string, Numbers> x, memory[2];
  for (const char* path : {"params/w", "params/bias"})
    x[path] = trained.numbers(path);
  for (int t = 1; t <= kOptimizerSteps; ++t) {
    trained.step(t - 1);
    int which = 0;
    for (auto& [path, numbers] : x) {
      Numbers g;
      for (std::size_t e = 0; e < numbers.size(); ++e)
        g.push_back(Trained::gradient(path, t - 1, e));
      rule(numbers, g, t, memory[which++]);
      EXPECT_LT(difference(trained.numbers(path), numbers), 1e-7) << settings << ", step " << t << ", " << path;
    }
  }
  EXPECT_EQ(trained.steps(), kOptimizerSteps);
}

void each(Numbers& x, const std::function<void(std::size_t)>& act) {
  for (std::size_t e = 0; e < x.size(); ++e)
    act(e);
}
Numbers& kept(std::map<std::string, Numbers>& memory, const std::string& name, std::size_t size) {
  memory[name].resize(size);
  return memory[name];
}
Numbers adam(const Numbers& g, int t, std::map<std::string, Numbers>& memory) {
  Numbers &m = kept(memory, "m", g.size()), &v = kept(memory, "v", g.size()), direction(g.size());
  each(direction, [&](std::size_t e) {
    m[e] = 0.9 * m[e] + 0.1 * g[e];
    v[e] = 0.999 * v[e] + 0.001 * g[e] * g[e];
    direction[e] = m[e] / (1 - std::pow(0.9, t)) / (std::sqrt(v[e] / (1 - std::pow(0.999, t))) + 1e-8);
  });
  return direction;
}
double length(const Numbers& x) {
  double sum = 0;
  for (const double v : x)
    sum += v * v;
  return std::sqrt(sum);
}

TEST(Optimizer, GradientDescentWithAndWithoutMomentum) {
  expect_rule("optimizer=sgd learning_rate=0.1",
              [](Numbers& x, const Numbers& g, int, auto&) { each(x, [&](auto e) { x[e] -= 0.1 * g[e]; }); });
  for (const bool nesterov : {false, true})
    expect_rule(std::string("learning_rate=0.1 optimizer=") + (nesterov ? "nesterov" : "momentum"),
                [&](Numbers& x, const Numbers& g, int, auto& memory) {
                  Numbers& v = kept(memory, "v", x.size());
                  each(x, [&](auto e) {
                    v[e] = 0.9 * v[e] + g[e];
                    x[e] -= 0.1 * (nesterov ? g[e] + 0.9 * v[e] : v[e]);
                  });
                });
}

TEST(Optimizer, Adam) {
  expect_rule("optimizer=adam learning_rate=0.1", [](Numbers& x, const Numbers& g, int t, auto& memory) {
    const Numbers d = adam(g, t, memory);
    each(x, [&](auto e) { x[e] -= 0.1 * d[e]; });
  });
}

TEST(Optimizer, AdamWDecaysMatricesOnly) {
  expect_rule("optimizer=adamw learning_rate=0.1 weight_decay=0.2",
              [](Numbers& x, const Numbers& g, int t, auto& memory) {
                const Numbers d = adam(g, t, memory);
                each(x, [&](auto e) { x[e] -= 0.1 * (d[e] + (x.size() == kOptimizerSize ? 0.2 * x[e] : 0)); });
              });
}

TEST(Optimizer, Lamb) {
  expect_rule("optimizer=lamb learning_rate=0.1 weight_decay=0.2",
              [](Numbers& x, const Numbers& g, int t, auto& memory) {
                Numbers d = adam(g, t, memory);
                if (x.size() == kOptimizerSize) each(x, [&](auto e) { d[e] += 0.2 * x[e]; });
                const double ratio = length(x) / length(d);
                each(x, [&](auto e) { x[e] -= 0.1 * ratio * d[e]; });
              });
}

TEST(Optimizer, Lion) {
  expect_rule("optimizer=lion learning_rate=0.1 weight_decay=0.2", [](Numbers& x, const Numbers& g, int, auto& memory) {
    Numbers& m = kept(memory, "m", x.size());
    each(x, [&](auto e) {
      const double mixed = 0.9 * m[e] + 0.1 * g[e];
      m[e] = 0.99 * m[e] + 0.01 * g[e];
      x[e] -= 0.1 * ((mixed > 0) - (mixed < 0) + (x.size() == kOptimizerSize ? 0.2 * x[e] : 0));
    });
  });
}

TEST(Optimizer, Adafactor) {
  expect_rule("optimizer=adafactor learning_rate=0.1", [](Numbers& x, const Numbers& g, int t, auto& memory) {
    const double fresh = std::pow(t, -0.8);
    Numbers d(x.size());
    if (x.size() != kOptimizerSize) {
      Numbers& v = kept(memory, "v", x.size());
      each(x, [&](auto e) { v[e] += (g[e] * g[e] - v[e]) * fresh; });
      each(x, [&](auto e) { d[e] = g[e] / std::sqrt(v[e]); });
    } else {
      Numbers &rows = kept(memory, "rows", kOptimizerRows), &columns = kept(memory, "columns", kOptimizerColumns), row_mean(kOptimizerRows),
              column_mean(kOptimizerColumns);
      each(x, [&](auto e) {
        row_mean[e / kOptimizerColumns] += g[e] * g[e] / kOptimizerColumns;
        column_mean[e % kOptimizerColumns] += g[e] * g[e] / kOptimizerRows;
      });
      double mean = 0;
      each(rows, [&](auto r) { mean += (rows[r] += (row_mean[r] - rows[r]) * fresh) / kOptimizerRows; });
      each(columns, [&](auto c) { columns[c] += (column_mean[c] - columns[c]) * fresh; });
      each(x, [&](auto e) { d[e] = g[e] / std::sqrt(rows[e / kOptimizerColumns] / mean * columns[e % kOptimizerColumns]); });
    }
    const double excess = std::max(1.0, length(d) / std::sqrt(static_cast<double>(d.size())));
    each(x, [&](auto e) { x[e] -= 0.1 * d[e] / excess; });
  });
}

TEST(Optimizer, Schedules) {
  const std::map<std::string, std::function<double(int)>> expected{
      {"constant", [](int t) { return t < 2 ? 0.5 * t : 1.0; }},
      {"linear", [](int t) { return t < 2 ? 0.5 * t : 1 - std::min(1.0, (t - 2) / 4.0); }},
      {"cosine",
       [](int t) { return t < 2 ? 0.5 * t : 0.5 * (1 + std::cos(std::numbers::pi * std::min(1.0, (t - 2) / 4.0))); }},
      {"inverse_sqrt", [](int t) { return t < 2 ? 0.5 * t : std::sqrt(2.0 / t); }}};
  for (const auto& [name, factor] : expected) {
    Trained trained("optimizer=sgd learning_rate=0.1 warmup=2 total_steps=6 schedule=" + name);
    for (int t = 1; t <= 8; ++t) {
      trained.step(t - 1);
      EXPECT_NEAR(trained.reported("learning_rate"), 0.1 * factor(t), 1e-7) << name << " " << t;
    }
  }
}

TEST(Optimizer, ClipsByTheNormOfAllGradients) {
  Trained trained("optimizer=sgd learning_rate=1 clip=0.5"), whole("optimizer=sgd learning_rate=1 clip=1000");
  const Numbers before = trained.numbers("params/w");
  trained.step(2);
  whole.step(2);
  double norm = 0;
  for (const char* path : {"params/w", "params/bias"})
    for (std::size_t e = 0; e < trained.values(path).size(); ++e)
      norm += std::pow(Trained::gradient(path, 2, e), 2);
  norm = std::sqrt(norm);
  EXPECT_NEAR(trained.reported("gradient_norm"), norm, 1e-9);
  for (std::size_t e = 0; e < kOptimizerSize; ++e) {
    EXPECT_NEAR(trained.values("params/w")[e], before[e] - Trained::gradient("params/w", 2, e) * 0.5 / norm, 1e-9);
    EXPECT_NEAR(whole.values("params/w")[e], before[e] - Trained::gradient("params/w", 2, e), 1e-9);
  }
}

TEST(Optimizer, LossScaleSkipsAnOverflowAndHalves) {
  Trained trained("optimizer=momentum learning_rate=0.1", ir::DType::F16),
      plain("optimizer=momentum learning_rate=0.1");
  trained.step(0);
  plain.step(0);
  EXPECT_LT(difference(trained.numbers("params/w"), plain.numbers("params/w")), 1e-12)
      << "the scale changes nothing else";
  EXPECT_EQ(trained.values("loss_scale/value")[0], 1024);
  const Numbers before = trained.numbers("params/w"), momentum = trained.numbers("optimizer/w/momentum");
  trained.values("a")[3] = std::numeric_limits<double>::infinity();
  trained.run();
  EXPECT_EQ(trained.numbers("params/w"), before);
  EXPECT_EQ(trained.numbers("optimizer/w/momentum"), momentum);
  EXPECT_EQ(trained.values("loss_scale/value")[0], 512);
  trained.step(1);
  EXPECT_NE(trained.numbers("params/w"), before);
  EXPECT_EQ(trained.values("loss_scale/value")[0], 512);
}

}  // namespace
}  // namespace rhino::zoo
