// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <rhino/zoo/model_builder.hpp>

namespace rhino::zoo {

using Numbers = std::vector<double>;

/// Builds a few layers and runs them by the reference interpreter in f64, on weights and inputs that come from their
/// names.
class LayerRun {
 public:
  explicit LayerRun(const BuildPolicy& policy = {}) : b("layer", policy) {}

  ModelBuilder b;

  /// An f32 input with values in [-1, 1).
  Tensor input(const std::string& name, const ir::Dims& dims) { return b.batch(name, {ir::DType::F32, dims}); }
  /// An i32 input with these values.
  Tensor ids(const std::string& name, const ir::Dims& dims, const std::vector<std::int32_t>& values);
  /// Replaces the values of a parameter or input (by path).
  void set(const std::string& path, Numbers values) { values_[path] = std::move(values); }

  /// Elements of each output, after what the recipes of running statistics say was set.
  std::vector<Numbers> run(const std::vector<Tensor>& outputs);
  Numbers run(const Tensor& output) { return run(std::vector<Tensor>{output})[0]; }

  /// Values that a parameter or input had in `run`.
  const Numbers& value(const std::string& path) const { return values_.at(path); }
  bool has(const std::string& path) const { return values_.contains(path); }

 private:
  std::map<std::string, Numbers> values_;
};

/// Largest absolute difference; infinite where the lengths differ.
double difference(const Numbers& a, const Numbers& b);

}  // namespace rhino::zoo
