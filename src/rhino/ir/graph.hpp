// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rhino/ir/builder.hpp>

namespace rhino::ir {

class Graph;

/// A value of a Graph: a light handle, copied freely, valid as long as its graph. Operators broadcast as NumPy does:
/// shapes are aligned at their last dimensions, and sizes of one stretch. Element types must be equal; a plain number
/// takes the other side's. An integer dimension below zero counts from the end, everywhere in this header.
class Tensor {
 public:
  Tensor() = default;
  Tensor(Graph& graph, FunctionId function, ValueId id) : graph_(&graph), function_(function), id_(id) {}

  bool valid() const { return graph_ != nullptr; }
  Graph& graph() const { return *graph_; }
  FunctionId function() const { return function_; }
  ValueId id() const { return id_; }
  /// A copy: the graph's own moves when it grows.
  TensorType type() const;
  DType dtype() const { return type().dtype; }
  Dims dims() const { return type().dims; }
  int rank() const { return type().rank(); }
  std::int64_t dim(int dimension) const;

 private:
  Graph* graph_ = nullptr;
  FunctionId function_;
  ValueId id_;
};

Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a);
Tensor operator+(const Tensor& a, double b);
Tensor operator+(double a, const Tensor& b);
Tensor operator-(const Tensor& a, double b);
Tensor operator-(double a, const Tensor& b);
Tensor operator*(const Tensor& a, double b);
Tensor operator*(double a, const Tensor& b);
Tensor operator/(const Tensor& a, double b);
Tensor operator/(double a, const Tensor& b);

/// Window of a convolution or a pooling; one entry per spatial dimension, or a single one for all of them.
struct WindowSpec {
  std::vector<std::int64_t> stride{1};
  /// Zeros (or identities) in front and behind; empty: as many as keep ceil(size / stride) positions ("same").
  std::vector<std::int64_t> pad_low{0}, pad_high{0};
  std::vector<std::int64_t> dilation{1};       ///< between the taps of the window
  std::vector<std::int64_t> base_dilation{1};  ///< between the elements of the input: a transposed convolution
  std::int64_t groups = 1;                     ///< of features; convolution only

  static WindowSpec same(std::int64_t stride = 1);
  static WindowSpec valid(std::int64_t stride = 1);
};

/// A Builder that reads like the mathematics: `auto y = b.dot(x, w) + bias;`. Names ops by scope and reports a wrong
/// shape with the scope's name (InputError). Builds into one function, and into loop bodies while `loop` traces them: a
/// tensor of an enclosing function that a body uses is carried through the loop unchanged. Does not own the program.
/// Local.
class Graph {
 public:
  Graph(Program& program, FunctionId function);
  virtual ~Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Names the ops that are built until it ends: "block3", inside of it "block3/attention". Must not outlive its graph.
  class [[nodiscard]] Scope {
   public:
    Scope(Graph& graph, std::string_view name);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Graph& graph_;
    std::size_t length_;
  };
  Scope scope(std::string_view name) { return {*this, name}; }
  const std::string& path() const { return path_; }
  /// The current path with a name behind it.
  std::string path_of(std::string_view name) const;

  Program& program() { return *program_; }
  /// The function that is being built: the entry, or the loop body that is being traced.
  FunctionId function() const { return frames_.back().function; }
  /// The builder below, for ops that have no short form here.
  Builder& ops() { return frames_.back().builder; }
  Tensor wrap(ValueId id) { return {*this, function(), id}; }
  /// The tensor as a value of the function that is being built.
  ValueId use(const Tensor& tensor);
  Tensor add(OpKind kind, const std::vector<Tensor>& operands, Attributes attrs = NoAttrs{},
             std::vector<FunctionId> regions = {});
  std::vector<Tensor> add_multi(OpKind kind, const std::vector<Tensor>& operands, Attributes attrs = NoAttrs{},
                                std::vector<FunctionId> regions = {});
  /// A well-known reducer; one function per kind and type serves all ops.
  FunctionId reducer(ReducerKind kind, DType dtype);

  Tensor param(TensorType type) { return wrap(ops().param(std::move(type))); }
  void set_results(std::span<const Tensor> results);

  // Creation.
  Tensor constant(Literal literal);
  Tensor scalar(DType dtype, double value);
  Tensor scalar_int(DType dtype, std::int64_t value);
  Tensor full(TensorType type, double value);
  Tensor iota(TensorType type, int dimension);

  // Element by element.
  Tensor exp(const Tensor& x) { return add(OpKind::Exponential, {x}); }
  Tensor log(const Tensor& x) { return add(OpKind::Log, {x}); }
  Tensor log1p(const Tensor& x) { return add(OpKind::LogPlusOne, {x}); }
  Tensor sqrt(const Tensor& x) { return add(OpKind::Sqrt, {x}); }
  Tensor rsqrt(const Tensor& x) { return add(OpKind::Rsqrt, {x}); }
  Tensor tanh(const Tensor& x) { return add(OpKind::Tanh, {x}); }
  Tensor logistic(const Tensor& x) { return add(OpKind::Logistic, {x}); }
  Tensor erf(const Tensor& x) { return add(OpKind::Erf, {x}); }
  Tensor sin(const Tensor& x) { return add(OpKind::Sine, {x}); }
  Tensor cos(const Tensor& x) { return add(OpKind::Cosine, {x}); }
  Tensor abs(const Tensor& x) { return add(OpKind::Abs, {x}); }
  Tensor logical_not(const Tensor& x) { return add(OpKind::Not, {x}); }
  Tensor convert(const Tensor& x, DType dtype);
  Tensor binary(OpKind kind, const Tensor& a, const Tensor& b);
  Tensor maximum(const Tensor& a, const Tensor& b) { return binary(OpKind::Maximum, a, b); }
  Tensor maximum(const Tensor& a, double b) { return maximum(a, scalar(a.dtype(), b)); }
  Tensor minimum(const Tensor& a, const Tensor& b) { return binary(OpKind::Minimum, a, b); }
  Tensor minimum(const Tensor& a, double b) { return minimum(a, scalar(a.dtype(), b)); }
  Tensor power(const Tensor& a, const Tensor& b) { return binary(OpKind::Power, a, b); }
  Tensor logical_and(const Tensor& a, const Tensor& b) { return binary(OpKind::And, a, b); }
  Tensor compare(Comparison direction, const Tensor& a, const Tensor& b);
  Tensor compare(Comparison direction, const Tensor& a, double b) {
    return compare(direction, a, scalar(a.dtype(), b));
  }
  Tensor equal(const Tensor& a, const Tensor& b) { return compare(Comparison::Eq, a, b); }
  Tensor less(const Tensor& a, const Tensor& b) { return compare(Comparison::Lt, a, b); }
  Tensor less(const Tensor& a, double b) { return compare(Comparison::Lt, a, b); }
  Tensor greater_equal(const Tensor& a, const Tensor& b) { return compare(Comparison::Ge, a, b); }
  /// All three broadcast.
  Tensor select(const Tensor& predicate, const Tensor& on_true, const Tensor& on_false);
  Tensor select(const Tensor& predicate, const Tensor& on_true, double on_false);

  // Shape.
  Tensor broadcast(const Tensor& x, Dims dims);  ///< as NumPy's broadcast_to
  Tensor reshape(const Tensor& x, Dims dims);    ///< one size may be -1: what is left
  Tensor transpose(const Tensor& x, std::vector<int> permutation);
  Tensor expand(const Tensor& x, int dimension);  ///< a new dimension of size 1 at this place of the result
  Tensor slice(const Tensor& x, int dimension, std::int64_t start, std::int64_t limit, std::int64_t stride = 1);
  std::vector<Tensor> split(const Tensor& x, int dimension, int parts);  ///< equal parts
  Tensor concatenate(const std::vector<Tensor>& parts, int dimension);
  Tensor pad(const Tensor& x, int dimension, std::int64_t low, std::int64_t high, double value = 0);
  /// Element `index` (an integer scalar, may vary) of dimension 0, which goes away.
  Tensor element(const Tensor& x, const Tensor& index);

  // Reductions; no dimensions means all. `keep` leaves them with size 1.
  Tensor reduce(ReducerKind kind, const Tensor& x, std::vector<int> dimensions = {}, bool keep = false);
  Tensor sum(const Tensor& x, std::vector<int> dimensions = {}, bool keep = false);
  Tensor mean(const Tensor& x, std::vector<int> dimensions = {}, bool keep = false);
  Tensor max(const Tensor& x, std::vector<int> dimensions = {}, bool keep = false);
  Tensor cumulative_sum(const Tensor& x, int dimension);  ///< inclusive
  Tensor softmax(const Tensor& x, int dimension = -1);
  Tensor log_sum_exp(const Tensor& x, int dimension = -1, bool keep = false);
  /// Windows over the dimensions between the first (batch) and the last (features), of these sizes.
  Tensor pool(ReducerKind kind, const Tensor& x, const std::vector<std::int64_t>& sizes, const WindowSpec& window);

  // Contractions.
  /// Contracts the last dimension of `x` with the first of `w`; what is left of both follows each other.
  Tensor dot(const Tensor& x, const Tensor& w);
  /// Two operands in Einstein's notation, "bqhd,bkhd->bhqk"; a letter that both have and the result lacks is summed
  /// over. Every letter of one operand alone must be in the result.
  Tensor einsum(std::string_view notation, const Tensor& a, const Tensor& b);
  /// x [batch, spatial.., in], kernel [spatial.., in / groups, out] -> [batch, spatial.., out].
  Tensor convolution(const Tensor& x, const Tensor& kernel, const WindowSpec& window);

  // Positions that are data.
  /// Rows of a table: table [n, rest..], indices [any..] of integers -> [any.., rest..]. An index outside is clamped.
  Tensor take(const Tensor& table, const Tensor& indices);
  /// The same per batch: x [b, n, rest..], indices [b, m] -> [b, m, rest..].
  Tensor take_batched(const Tensor& x, const Tensor& indices);
  /// x [any.., n], indices [any..] -> x[.., indices[..]] of shape [any..].
  Tensor pick(const Tensor& x, const Tensor& indices);
  /// The k largest of the last dimension: values, and i32 positions.
  std::pair<Tensor, Tensor> top_k(const Tensor& x, std::int64_t k);
  /// Sorts tensors of one shape along a dimension by the first of them, ascending; equal ones keep their order.
  std::vector<Tensor> sort(const std::vector<Tensor>& keys_and_values, int dimension);
  /// 1 where the new last dimension equals the index.
  Tensor one_hot(const Tensor& indices, std::int64_t size, DType dtype);

  /// A counted `while`: `body` is traced once with the i32 counter and the carried values and gives their next values
  /// (of the same types). Gives the last ones. Count is at least one.
  using LoopBody = std::function<std::vector<Tensor>(const Tensor& counter, std::vector<Tensor> carried)>;
  std::vector<Tensor> loop(std::int64_t count, const std::vector<Tensor>& carried, const LoopBody& body);

  /// Throws InputError "scope: message"; `message` says what is wrong and what is expected.
  [[noreturn]] void fail(const std::string& message) const;
  /// Number of a dimension that may count from the end; throws InputError if x has none such.
  int dimension_of(const Tensor& x, int dimension) const;

  /// Loops around the place that is being built, outermost first: trips, and the counter as a value of their body.
  std::vector<std::pair<std::int64_t, Tensor>> loops();
  /// A parameter of the entry function, wherever the graph builds.
  Tensor entry_param(TensorType type) {
    return {*this, frames_[0].function, frames_[0].builder.param(std::move(type))};
  }

 private:
  /// A function under construction, and what it took from the one around it.
  struct Frame {
    Builder builder;
    FunctionId function;
    std::vector<ValueId> outer;          ///< captured values, in the function around
    std::vector<ValueId> inner;          ///< the parameters that stand for them
    std::map<std::size_t, ValueId> map;  ///< index of an outer value -> its inner one
    std::int64_t count = 1;              ///< trips of the loop; 1 for the entry
    ValueId counter;                     ///< of the loop; invalid for the entry
  };
  ValueId capture(std::size_t frame, FunctionId function, ValueId id);
  void relocate();
  std::pair<Tensor, Tensor> same_shape(const Tensor& a, const Tensor& b);

  Program* program_;
  std::vector<Frame> frames_;
  std::string path_;
  std::map<std::pair<ReducerKind, DType>, FunctionId> reducers_;
};

}  // namespace rhino::ir
