// SPDX-License-Identifier: Apache-2.0
#include <rhino/zoo/optimizer.hpp>

#include <cmath>
#include <numbers>

#include <rhino/base/error.hpp>

namespace rhino::zoo {

using ir::DType;

namespace {

constexpr double kFirstDecay = 0.9, kSecondDecay = 0.999, kEpsilon = 1e-8;
constexpr double kMomentum = 0.9;
constexpr double kLionDecay = 0.99;

/// Factor of the learning rate after `done` steps of `total`, without warm-up.
Tensor schedule(ModelBuilder& b, const std::string& name, const Tensor& count, double warmup, double total) {
  const Tensor progress = b.minimum(b.maximum((count - warmup) / std::max(1.0, total - warmup), 0), 1);
  if (name == "linear") return 1.0 - progress;
  if (name == "cosine") return 0.5 * (1.0 + b.cos(std::numbers::pi * progress));
  if (name == "inverse_sqrt") return b.sqrt(std::max(1.0, warmup) / b.maximum(count, std::max(1.0, warmup)));
  return b.scalar(DType::F32, 1);
}

Tensor sum_of_squares(ModelBuilder& b, const Tensor& x) { return b.sum(x * x); }

}  // namespace

Optimizer::Optimizer(ModelBuilder& b, const Settings& settings, const Tensor& step)
    : b_(b), rule_(settings.choice("optimizer")), weight_decay_(settings.real("weight_decay")) {
  const auto scope = b_.scope("optimizer");
  count_ = b_.convert(step, DType::F32) + 1;
  const double warmup = static_cast<double>(settings.integer("warmup")),
               total = static_cast<double>(settings.integer("total_steps"));
  rate_ = settings.real("learning_rate") * schedule(b_, settings.choice("schedule"), count_, warmup, total);
  if (warmup > 0) rate_ = rate_ * b_.minimum(count_ / warmup, 1);
  first_correction_ = 1.0 - b_.power(b_.scalar(DType::F32, kFirstDecay), count_);
  second_correction_ = 1.0 - b_.power(b_.scalar(DType::F32, kSecondDecay), count_);
}

Tensor Optimizer::average(const char* name, const std::string& path, const Tensor& value, double decay) {
  const Tensor before = b_.optimizer_state(path + "/" + name, value.type());
  const Tensor after = before * decay + value * (1 - decay);
  b_.set_next(before, after);
  return after;
}

Tensor Optimizer::adam_direction(const std::string& path, const Tensor& gradient) {
  const Tensor first = average("m", path, gradient, kFirstDecay) / first_correction_;
  const Tensor second = average("v", path, gradient * gradient, kSecondDecay) / second_correction_;
  return first / (b_.sqrt(second) + kEpsilon);
}

Tensor Optimizer::adafactor_direction(const std::string& path, const Tensor& gradient) {
  // Averages with a decay of 1 - count^-0.8; of matrices only their row and column means are kept.
  const Tensor fresh = b_.power(count_, b_.scalar(DType::F32, -0.8));
  const Tensor squares = gradient * gradient + 1e-30;
  const auto kept = [&](const char* name, const Tensor& value) {
    const Tensor before = b_.optimizer_state(path + "/" + name, value.type());
    const Tensor after = before + (value - before) * fresh;
    b_.set_next(before, after);
    return after;
  };
  Tensor direction;
  if (gradient.rank() < 2) {
    direction = gradient * b_.rsqrt(kept("v", squares));
  } else {
    const Tensor rows = kept("rows", b_.mean(squares, {-1})), columns = kept("columns", b_.mean(squares, {-2}));
    const Tensor row_share = rows / b_.mean(rows, {-1}, true);
    direction = gradient * b_.rsqrt(b_.expand(row_share, -1)) * b_.rsqrt(b_.expand(columns, -2));
  }
  return direction / b_.maximum(b_.sqrt(b_.mean(direction * direction)), 1);
}

Tensor Optimizer::decayed(const Tensor& direction, const Tensor& parameter) {
  return weight_decay_ > 0 && parameter.rank() >= 2 ? direction + weight_decay_ * parameter : direction;
}

Tensor Optimizer::update(const std::string& path, const Tensor& parameter, const Tensor& gradient) {
  const auto scope = b_.scope("optimizer/" + path);
  Tensor direction = gradient;
  if (rule_ == "momentum" || rule_ == "nesterov") {
    const Tensor before = b_.optimizer_state(path + "/momentum", gradient.type());
    const Tensor after = kMomentum * before + gradient;
    b_.set_next(before, after);
    direction = rule_ == "momentum" ? after : gradient + kMomentum * after;
  } else if (rule_ == "adam") {
    direction = adam_direction(path, gradient);
  } else if (rule_ == "adamw") {
    direction = decayed(adam_direction(path, gradient), parameter);
  } else if (rule_ == "lamb") {
    direction = decayed(adam_direction(path, gradient), parameter);
    const Tensor size = b_.sqrt(sum_of_squares(b_, parameter)), length = b_.sqrt(sum_of_squares(b_, direction));
    const Tensor zero = b_.scalar(DType::F32, 0);
    const Tensor both =
        b_.logical_and(b_.compare(ir::Comparison::Gt, size, zero), b_.compare(ir::Comparison::Gt, length, zero));
    direction = direction * b_.select(both, size / b_.maximum(length, 1e-30), 1);
  } else if (rule_ == "lion") {
    const Tensor before = b_.optimizer_state(path + "/m", gradient.type());
    b_.set_next(before, before * kLionDecay + gradient * (1 - kLionDecay));
    const Tensor mixed = before * kFirstDecay + gradient * (1 - kFirstDecay);
    direction = decayed(b_.add(ir::OpKind::Sign, {mixed}), parameter);
  } else if (rule_ == "adafactor") {
    direction = adafactor_direction(path, gradient);
  } else {
    RHINO_ASSERT(rule_ == "sgd", "no rule '{}'", rule_);
  }
  return parameter - rate_ * direction;
}

std::vector<Tensor> clip_by_norm(ModelBuilder& b, std::vector<Tensor> gradients, double largest) {
  const auto scope = b.scope("clip");
  Tensor squares = b.scalar(DType::F32, 0);
  for (const Tensor& gradient : gradients)
    squares = squares + sum_of_squares(b, gradient);
  const Tensor norm = b.sqrt(squares);
  b.metric("gradient_norm", norm);
  const Tensor factor = b.minimum(largest / b.maximum(norm, 1e-30), 1);
  for (Tensor& gradient : gradients)
    gradient = gradient * factor;
  return gradients;
}

}  // namespace rhino::zoo
