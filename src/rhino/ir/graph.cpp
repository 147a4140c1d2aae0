// SPDX-License-Identifier: Apache-2.0
#include <rhino/ir/graph.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/ir/op_info.hpp>

namespace rhino::ir {

TensorType Tensor::type() const {
  RHINO_ASSERT(valid(), "a tensor that was never made is used");
  return graph_->program().function(function_).type(id_);
}

std::int64_t Tensor::dim(int dimension) const {
  return dims()[static_cast<std::size_t>(graph_->dimension_of(*this, dimension))];
}

Tensor operator+(const Tensor& a, const Tensor& b) { return a.graph().binary(OpKind::Add, a, b); }
Tensor operator-(const Tensor& a, const Tensor& b) { return a.graph().binary(OpKind::Subtract, a, b); }
Tensor operator*(const Tensor& a, const Tensor& b) { return a.graph().binary(OpKind::Multiply, a, b); }
Tensor operator/(const Tensor& a, const Tensor& b) { return a.graph().binary(OpKind::Divide, a, b); }
Tensor operator-(const Tensor& a) { return a.graph().add(OpKind::Negate, {a}); }
Tensor operator+(const Tensor& a, double b) { return a + a.graph().scalar(a.dtype(), b); }
Tensor operator+(double a, const Tensor& b) { return b.graph().scalar(b.dtype(), a) + b; }
Tensor operator-(const Tensor& a, double b) { return a - a.graph().scalar(a.dtype(), b); }
Tensor operator-(double a, const Tensor& b) { return b.graph().scalar(b.dtype(), a) - b; }
Tensor operator*(const Tensor& a, double b) { return a * a.graph().scalar(a.dtype(), b); }
Tensor operator*(double a, const Tensor& b) { return b.graph().scalar(b.dtype(), a) * b; }
Tensor operator/(const Tensor& a, double b) { return a / a.graph().scalar(a.dtype(), b); }
Tensor operator/(double a, const Tensor& b) { return b.graph().scalar(b.dtype(), a) / b; }

WindowSpec WindowSpec::same(std::int64_t stride) {
  WindowSpec window;
  window.stride = {stride};
  window.pad_low.clear();
  window.pad_high.clear();
  return window;
}

WindowSpec WindowSpec::valid(std::int64_t stride) {
  WindowSpec window;
  window.stride = {stride};
  return window;
}

Graph::Scope::Scope(Graph& graph, std::string_view name) : graph_(graph), length_(graph.path_.size()) {
  graph_.path_ = graph_.path_of(name);
  graph_.relocate();
}

Graph::Scope::~Scope() {
  graph_.path_.resize(length_);
  graph_.relocate();
}

Graph::Graph(Program& program, FunctionId function) : program_(&program) {
  frames_.push_back({.builder = Builder(program, function), .function = function});
}

std::string Graph::path_of(std::string_view name) const {
  return path_.empty() ? std::string(name) : name.empty() ? path_ : fmt::format("{}/{}", path_, name);
}

void Graph::relocate() { ops().set_location({0, path_}); }

void Graph::fail(const std::string& message) const {
  if (path_.empty()) RHINO_FAIL(InputError, "{}", message);
  RHINO_FAIL(InputError, "{}: {}", path_, message);
}

int Graph::dimension_of(const Tensor& x, int dimension) const {
  const int number = dimension < 0 ? dimension + x.rank() : dimension;
  if (number < 0 || number >= x.rank()) fail(fmt::format("{} has no dimension {}", to_string(x.type()), dimension));
  return number;
}

ValueId Graph::use(const Tensor& tensor) {
  RHINO_ASSERT(tensor.valid() && &tensor.graph() == this, "a tensor of another graph is used in '{}'", path_);
  return capture(frames_.size() - 1, tensor.function(), tensor.id());
}

/// The value as one of `frame`'s function, carried into it from the frames around if it is not of it.
ValueId Graph::capture(std::size_t frame, FunctionId function, ValueId id) {
  if (frames_[frame].function == function) return id;
  RHINO_ASSERT(frame > 0, "a tensor is used outside of the loop body that made it, in '{}'", path_);
  const ValueId outer = capture(frame - 1, function, id);
  Frame& inside = frames_[frame];
  const auto [place, added] = inside.map.try_emplace(outer.index());
  if (added) {
    place->second = inside.builder.param(program_->function(frames_[frame - 1].function).type(outer));
    inside.outer.push_back(outer);
    inside.inner.push_back(place->second);
  }
  return place->second;
}

std::vector<Tensor> Graph::add_multi(OpKind kind, const std::vector<Tensor>& operands, Attributes attrs,
                                     std::vector<FunctionId> regions) {
  std::vector<ValueId> values;
  values.reserve(operands.size());
  for (const Tensor& operand : operands)
    values.push_back(use(operand));
  std::vector<Tensor> results;
  for (const ValueId id : ops().add_multi(kind, std::move(values), std::move(attrs), std::move(regions)))
    results.push_back(wrap(id));
  return results;
}

Tensor Graph::add(OpKind kind, const std::vector<Tensor>& operands, Attributes attrs, std::vector<FunctionId> regions) {
  const std::vector<Tensor> results = add_multi(kind, operands, std::move(attrs), std::move(regions));
  RHINO_ASSERT(results.size() == 1, "{} has {} results where one is expected", op_name(kind), results.size());
  return results[0];
}

FunctionId Graph::reducer(ReducerKind kind, DType dtype) {
  const auto [place, added] = reducers_.try_emplace({kind, dtype});
  if (added) place->second = make_reducer(*program_, kind, dtype);
  return place->second;
}

void Graph::set_results(std::span<const Tensor> results) {
  std::vector<ValueId> values;
  for (const Tensor& result : results)
    values.push_back(use(result));
  ops().set_results(std::move(values));
}

Tensor Graph::constant(Literal literal) { return wrap(ops().constant(std::move(literal))); }
Tensor Graph::scalar(DType dtype, double value) { return wrap(ops().scalar(dtype, value)); }
Tensor Graph::scalar_int(DType dtype, std::int64_t value) { return wrap(ops().scalar_int(dtype, value)); }
Tensor Graph::full(TensorType type, double value) { return broadcast(scalar(type.dtype, value), type.dims); }
Tensor Graph::iota(TensorType type, int dimension) { return wrap(ops().iota(std::move(type), dimension)); }

Tensor Graph::convert(const Tensor& x, DType dtype) {
  return x.dtype() == dtype ? x : add(OpKind::Convert, {x}, ConvertAttrs{dtype});
}

namespace {

/// NumPy's rule; nullopt where the shapes do not fit each other.
std::optional<Dims> broadcast_dims(const Dims& a, const Dims& b) {
  Dims dims(std::max(a.size(), b.size()), 1);
  for (std::size_t back = 1; back <= dims.size(); ++back) {
    const std::int64_t left = back <= a.size() ? a[a.size() - back] : 1;
    const std::int64_t right = back <= b.size() ? b[b.size() - back] : 1;
    if (left != right && left != 1 && right != 1) return std::nullopt;
    dims[dims.size() - back] = left == 1 ? right : left;
  }
  return dims;
}

}  // namespace

std::pair<Tensor, Tensor> Graph::same_shape(const Tensor& a, const Tensor& b) {
  if (a.dims() == b.dims()) return {a, b};
  const auto dims = broadcast_dims(a.dims(), b.dims());
  if (!dims) fail(fmt::format("{} and {} cannot be broadcast to one shape", to_string(a.type()), to_string(b.type())));
  return {broadcast(a, *dims), broadcast(b, *dims)};
}

Tensor Graph::binary(OpKind kind, const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype())
    fail(fmt::format("{} of {} and {}: convert one of them first", op_name(kind), to_string(a.type()),
                     to_string(b.type())));
  const auto [left, right] = same_shape(a, b);
  return add(kind, {left, right});
}

Tensor Graph::compare(Comparison direction, const Tensor& a, const Tensor& b) {
  const auto [left, right] = same_shape(a, b);
  return add(OpKind::Compare, {left, right}, CompareAttrs{direction, ComparisonType::Default});
}

Tensor Graph::select(const Tensor& predicate, const Tensor& on_true, const Tensor& on_false) {
  const auto [left, right] = same_shape(on_true, on_false);
  const auto [where, first] = same_shape(predicate, left);
  return add(OpKind::Select, {where, first, broadcast(right, first.dims())});
}

Tensor Graph::select(const Tensor& predicate, const Tensor& on_true, double on_false) {
  return select(predicate, on_true, scalar(on_true.dtype(), on_false));
}

std::vector<std::pair<std::int64_t, Tensor>> Graph::loops() {
  std::vector<std::pair<std::int64_t, Tensor>> loops;
  for (std::size_t i = 1; i < frames_.size(); ++i)
    loops.emplace_back(frames_[i].count, Tensor(*this, frames_[i].function, frames_[i].counter));
  return loops;
}

std::vector<Tensor> Graph::loop(std::int64_t count, const std::vector<Tensor>& carried, const LoopBody& body) {
  if (count < 1) fail(fmt::format("a loop of {} trips", count));
  const TensorType counter_type{DType::I32, {}};
  const FunctionId body_id = program_->add_function("body");
  std::vector<Tensor> operands{scalar_int(DType::I32, 0)};
  operands.insert(operands.end(), carried.begin(), carried.end());

  frames_.push_back({.builder = Builder(*program_, body_id), .function = body_id, .count = count});
  relocate();
  std::vector<Tensor> params;
  for (const Tensor& operand : operands)
    params.push_back(param(operand.type()));
  frames_.back().counter = params[0].id();
  std::vector<Tensor> next = body(params[0], {params.begin() + 1, params.end()});
  if (next.size() != carried.size())
    fail(fmt::format("the body of a loop gives {} values for {} carried ones", next.size(), carried.size()));
  for (std::size_t i = 0; i < next.size(); ++i)
    if (next[i].type() != carried[i].type())
      fail(fmt::format("the body of a loop turns {} into {}", to_string(carried[i].type()), to_string(next[i].type())));
  next.insert(next.begin(), params[0] + 1);
  std::vector<ValueId> results;
  for (const Tensor& value : next)
    results.push_back(use(value));
  const Frame frame = std::move(frames_.back());
  frames_.pop_back();
  results.insert(results.end(), frame.inner.begin(), frame.inner.end());
  program_->function(body_id).results = std::move(results);
  for (const ValueId outer : frame.outer)
    operands.push_back(wrap(outer));

  const FunctionId condition_id = program_->add_function("condition");
  Builder condition(*program_, condition_id);
  for (const Tensor& operand : operands)
    condition.param(operand.type());
  const ValueId counter = condition.function().params[0];
  condition.set_results({condition.compare(counter, condition.scalar_int(counter_type.dtype, count), Comparison::Lt)});

  std::vector<Tensor> last = add_multi(OpKind::While, operands, NoAttrs{}, {condition_id, body_id});
  return {last.begin() + 1, last.begin() + 1 + static_cast<std::ptrdiff_t>(carried.size())};
}

}  // namespace rhino::ir
