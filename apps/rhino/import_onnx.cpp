// SPDX-License-Identifier: Apache-2.0
#include "import_onnx.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/base/file.hpp>
#include <rhino/base/strings.hpp>
#include <rhino/frontend/onnx.hpp>
#include <rhino/frontend/roles.hpp>
#include <rhino/io/model_import.hpp>
#include <rhino/kernels/reference/evaluate.hpp>
#include <rhino/zoo/layers/losses.hpp>
#include <rhino/zoo/training.hpp>

namespace rhino::app {
namespace {

using ir::DType;
using ir::Tensor;

/// The values of a literal of any float type in f32.
ir::Literal in_f32(const ir::Literal& value) {
  if (value.type().dtype == DType::F32) return value;
  const std::int64_t elements = value.type().elements();
  std::vector<std::byte> bytes(static_cast<std::size_t>(elements) * sizeof(float));
  for (std::int64_t i = 0; i < elements; ++i) {
    const auto number = static_cast<float>(value.element_as_double(i));
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof(float), &number, sizeof(float));
  }
  return {{DType::F32, value.type().dims}, std::move(bytes)};
}

/// Builds into a model of ours: weights are kept in f32 and have the values of the file.
class Target final : public frontend::OnnxTarget {
 public:
  Target(zoo::ModelBuilder& builder, bool training, const std::vector<std::string>& frozen)
      : b_(builder), training_(training), frozen_(frozen), matched_(frozen.size()) {}

  ir::Graph& graph() override { return b_; }

  Tensor weight(const frontend::OnnxWeight& weight) override {
    const bool fixed = frozen(weight.path), trained = weight.kind == ir::StateKind::Param && !fixed;
    if (fixed) fixed_.insert(weight.path);
    const ir::Dims dims = weight.value.type().dims;
    const Tensor value =
        trained ? b_.parameter(weight.path, dims, zoo::zeros()) : b_.statistics(weight.path, dims, zoo::zeros());
    states_.emplace(weight.path, value);
    values_.emplace((trained ? "params/" : "statistics/") + weight.path, in_f32(weight.value));
    return b_.convert(value, weight.value.type().dtype);
  }

  Tensor input(const std::string& path, const ir::TensorType& type) override {
    inputs_.push_back(path);
    return b_.batch(path, type);
  }

  bool training() const override { return training_; }
  bool learns(const frontend::OnnxWeight& weight) const override { return !fixed_.contains(weight.path); }
  void set_next(const frontend::OnnxWeight& weight, const Tensor& next) override {
    b_.set_next(states_.at(weight.path), b_.convert(next, DType::F32));
  }
  Tensor dropout(const Tensor& x, double rate) override { return b_.dropout(x, rate); }

  const std::map<std::string, ir::Literal>& values() const { return values_; }
  const std::vector<std::string>& inputs() const { return inputs_; }
  bool trains() const {
    return std::ranges::any_of(values_, [](const auto& entry) { return entry.first.starts_with("params/"); });
  }
  /// Throws UsageError for a pattern that no weight has.
  void check_patterns() const {
    for (std::size_t i = 0; i < frozen_.size(); ++i)
      RHINO_CHECK_AS(UsageError, matched_[i], "--frozen {} matches no weight; `rhino import` without -o lists them",
                     frozen_[i]);
  }

 private:
  bool frozen(const std::string& path) {
    bool found = false;
    for (std::size_t i = 0; i < frozen_.size(); ++i) {
      if (!frontend::glob_match(frozen_[i], path)) continue;
      matched_[i] = true;
      found = true;
    }
    return found;
  }

  zoo::ModelBuilder& b_;
  bool training_;
  const std::vector<std::string>& frozen_;
  std::vector<bool> matched_;
  std::set<std::string> fixed_;                ///< paths of frozen weights
  std::map<std::string, Tensor> states_;       ///< by the weight's path
  std::map<std::string, ir::Literal> values_;  ///< by the state's path
  std::vector<std::string> inputs_;
};

std::map<std::string, std::int64_t> sizes_of(const OnnxRequest& request) {
  std::map<std::string, std::int64_t> sizes;
  const auto add = [&](const std::string& name, std::int64_t size) {
    RHINO_CHECK_AS(UsageError, sizes.emplace(name, size).second, "the dimension '{}' is given twice", name);
  };
  for (const std::string& assignment : request.dims) {
    const std::size_t equal = assignment.rfind('=');
    std::int64_t size = 0;
    const char* end = assignment.data() + assignment.size();
    const bool good = equal != std::string::npos && equal > 0 &&
                      std::from_chars(assignment.data() + equal + 1, end, size).ptr == end && size >= 1 &&
                      size <= std::int64_t{1} << 32;
    RHINO_CHECK_AS(UsageError, good, "--dims {}: not NAME=SIZE with a size of at least 1", assignment);
    add(assignment.substr(0, equal), size);
  }
  if (request.batch > 0) add("batch", request.batch);
  return sizes;
}

zoo::Settings settings_of(const OnnxRequest& request) {
  zoo::Settings settings(zoo::common_defaults());
  if (request.loss.empty()) {
    RHINO_CHECK_AS(UsageError, request.settings.empty(), "'{}' is for training: give --loss too",
                   request.settings.front());
    settings.set("mode=evaluate");
  }
  for (const std::string& assignment : request.settings) {
    for (const char* key : {"batch=", "dtype=", "scan="})
      RHINO_CHECK_AS(UsageError, !assignment.starts_with(key), "'{}' is no setting of an imported model", assignment);
    settings.set(assignment);
  }
  return settings;
}

/// The output of which the loss is.
const Tensor& trained_output(const frontend::OnnxResult& graph, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [path, value] : graph.outputs) {
    if (name.empty() || path == name) return value;
    names.push_back(path);
  }
  RHINO_FAIL(UsageError, "the model has no output '{}'{}", name, did_you_mean(name, names));
}

Tensor loss_of(const std::string& kind, zoo::ModelBuilder& b, const Tensor& output, const std::string& labels) {
  const ir::TensorType type = output.type();
  RHINO_CHECK(ir::is_float(type.dtype), "the output to train is a {}, but should have floats", ir::to_string(type));
  if (kind == "cross_entropy") {
    RHINO_CHECK(type.rank() >= 2, "the output to train is a {}; cross_entropy wants [.., classes]",
                ir::to_string(type));
    ir::Dims dims = type.dims;
    dims.pop_back();
    const Tensor classes = b.batch(labels, {DType::I32, std::move(dims)});
    if (type.rank() == 2) b.metric("accuracy", zoo::accuracy(b, output, classes));
    return zoo::cross_entropy(b, output, classes);
  }
  const Tensor target = b.batch(labels, {DType::F32, type.dims});
  const Tensor wide = b.convert(output, DType::F32);
  if (kind == "mse") return zoo::mean_squared_error(b, wide, target);
  RHINO_CHECK_AS(UsageError, kind == "bce", "--loss {}: it is one of cross_entropy, mse, bce", kind);
  return zoo::binary_cross_entropy(b, wide, target);
}

}  // namespace

io::Model import_onnx(const OnnxRequest& request) {
  const zoo::Settings settings = settings_of(request);
  const zoo::BuildPolicy policy = zoo::policy_of(settings);
  zoo::ModelBuilder builder(std::filesystem::path(request.path).stem().string(), policy);
  Target target(builder, policy.training, request.frozen);
  frontend::OnnxOptions options{request.path, std::filesystem::path(request.path).parent_path(), sizes_of(request),
                                kernels::reference::evaluate};
  const frontend::OnnxResult graph = frontend::build_onnx(read_file(request.path), options, target);
  target.check_patterns();

  Tensor loss;
  if (request.loss.empty()) {
    for (const auto& [path, value] : graph.outputs)
      builder.metric(path, value);
  } else {
    RHINO_CHECK(!policy.training || target.trains(), "{}: there is no weight to train", request.path);
    const bool taken = std::ranges::count(target.inputs(), "labels") > 0;
    loss =
        loss_of(request.loss, builder, trained_output(graph, request.trained_output), taken ? "loss_labels" : "labels");
  }
  zoo::BuiltModel built = zoo::finish_step(builder, loss, settings);
  io::simplify_program(built.program, true, kernels::reference::evaluate);

  io::Model model{std::move(built.program), std::move(built.signature), {}, std::move(built.meta)};
  for (auto& [path, recipe] : built.state)
    model.state.emplace(path, recipe);
  for (const auto& [path, value] : target.values())
    model.state.insert_or_assign(path, value);
  model.meta["source"] = std::filesystem::path(request.path).filename().string();
  if (!graph.producer.empty()) model.meta["producer"] = graph.producer;
  return model;
}

}  // namespace rhino::app
