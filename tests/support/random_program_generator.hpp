// SPDX-License-Identifier: Apache-2.0
#pragma once

// Internal to random_program*.cpp.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <rhino/ir/builder.hpp>

#include "support/random_program.hpp"

namespace rhino::test {

/// What the generator knows about a value.
struct ValueFacts {
  double bound = 1;   ///< no element is larger in magnitude (a rough guarantee)
  bool exact = true;  ///< does not depend on the order of floating-point sums nor on the accuracy of functions
};

/// A literal with random elements, see random_arguments().
ir::Literal random_literal(const ir::TensorType& type, Rng& rng);

/// Builds one function op by op from a pool of values.
class Generator {
 public:
  Generator(ir::Program& program, ir::FunctionId function, Rng& rng, const RandomProgramOptions& options, int depth,
            std::vector<std::int64_t> palette)
      : program_(program),
        b_(program, function),
        rng_(rng),
        options_(options),
        depth_(depth),
        palette_(std::move(palette)) {}

  /// Adds about `count` ops; gives up after many attempts that do not fit.
  void grow(int count);
  /// The function returns what nothing uses yet, and a few more.
  void finish();

  ir::ValueId param(ir::TensorType type, ValueFacts facts);
  /// A pool value of this type, made if there is none.
  ir::ValueId of_type(const ir::TensorType& type, bool exact = false);
  void set_results(std::vector<ir::ValueId> results) { b_.set_results(std::move(results)); }
  /// A float value of this type with magnitude at most 1 that ends a loop body or branch.
  ir::ValueId squashed(const ir::TensorType& type);

 private:
  using Value = ir::ValueId;
  using Attempt = bool (Generator::*)();

  // Random choices.
  std::int64_t pick(std::int64_t low, std::int64_t high);
  bool chance(double probability) { return std::uniform_real_distribution<double>(0, 1)(rng_) < probability; }
  template <class T>
  const T& choose(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(list.size()) - 1))];
  }
  std::int64_t size() { return choose(palette_); }
  ir::Dims dims(int rank);
  std::vector<int> permutation(int count);
  /// A random subset of `count` dimensions, ascending.
  std::vector<int> subset(int count, double probability);

  // The pool.
  // By value: the containers behind them grow all the time.
  ir::TensorType type(Value value) { return b_.type(value); }
  ValueFacts facts(Value value) { return facts_[value.index()]; }
  bool is_float(Value value) { return ir::is_float(type(value).dtype); }
  bool exact(Value value) { return facts(value).exact; }
  double bound(Value value) { return facts(value).bound; }
  bool small(const ir::Dims& dims) const;
  /// A random pool value that satisfies a predicate; recent values are preferred.
  std::optional<Value> any(const std::function<bool(Value)>& fits);
  std::optional<Value> any_float(int min_rank = 0);
  std::optional<Value> any_f64(int min_rank = 0);
  Value fresh(const ir::TensorType& type);
  Value index_tensor(ir::Dims dims, std::int64_t limit);
  Value scalar_index(std::int64_t limit);
  /// Puts a value into the pool; large floats are scaled down.
  bool keep(Value value, ValueFacts facts);
  /// An op whose result is exact if all operands are; not yet in the pool.
  Value op(ir::OpKind kind, std::vector<Value> operands, ir::Attributes attrs = ir::NoAttrs{},
           std::vector<ir::FunctionId> regions = {});
  ValueFacts merged(const std::vector<Value>& values);
  Value note(Value value, ValueFacts facts);
  Value full_like(Value value, double number);
  /// An integer of magnitude below 13, by remainder.
  Value small_integer(Value value);
  /// x*x + 0.5, and tanh(x)
  Value positive(Value value);
  Value bounded(Value value);
  ir::FunctionId function(const std::string& name, const std::vector<ir::TensorType>& params,
                          const std::function<std::vector<Value>(ir::Builder&)>& body);
  ir::FunctionId comparator(const std::vector<ir::TensorType>& operands, bool ascending);

  // Attempts at one op; false if nothing in the pool fits. random_program_elementwise.cpp
  bool unary_float();
  bool unary_positive();
  bool unary_bounded();
  bool unary_exact();
  bool unary_integer();
  bool binary_number();
  bool binary_float();
  bool binary_integer();
  bool logic();
  bool compare();
  bool select();
  bool clamp();
  bool convert();
  bool bitcast();
  // random_program_movement.cpp
  bool broadcast();
  bool concatenate();
  bool constant();
  bool dynamic_slice();
  bool dynamic_update_slice();
  bool iota();
  bool barrier();
  bool pad();
  bool reshape();
  bool reverse();
  bool slice();
  bool transpose();
  bool gather();
  bool scatter();
  bool scatter_unique();
  struct Indexing;
  Indexing indexing(const ir::Dims& operand);
  // random_program_contraction.cpp
  bool dot_general();
  bool convolution();
  bool reduce();
  bool variadic_reduce();
  bool reduce_window();
  bool select_and_scatter();
  bool sort();
  bool top_k();
  ir::WindowDim window(std::int64_t size, bool may_dilate);
  // random_program_control.cpp
  bool rng_bits();
  bool while_map();
  bool while_scan();
  bool case_of();
  bool call();
  bool may_nest();
  /// A random function of these parameters; `results` makes its results after some ops have been grown.
  ir::FunctionId body(const std::string& name, const std::vector<ir::TensorType>& params,
                      const std::function<std::vector<Value>(Generator&, const std::vector<Value>&)>& results);

  ir::Program& program_;
  ir::Builder b_;
  Rng& rng_;
  const RandomProgramOptions& options_;
  int depth_;
  std::vector<std::int64_t> palette_;
  std::vector<ValueFacts> facts_;  ///< by value index
  std::vector<Value> pool_;
  int params_ = 0;
};

}  // namespace rhino::test
