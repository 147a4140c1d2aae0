// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <rhino/ad/gradient.hpp>
#include <rhino/ad/rules.hpp>

// while: a counted loop. Its reverse is a loop that counts down. What the reverse of one trip needs of the forward trip
// is either computed again (what depends on the counter and on values that never change, and takes no product) or kept:
// the forward loop then also fills a stack with one entry per trip.

namespace rhino::ad {

using ir::Builder;
using ir::Dims;
using ir::DType;
using ir::Function;
using ir::FunctionId;
using ir::Literal;
using ir::Op;
using ir::OpKind;
using ir::TensorType;
using ir::ValueId;

namespace {

/// counter = start, start + step, .. while it is less than the limit.
struct Count {
  std::size_t carried = 0;  ///< which carried value counts
  std::int64_t start = 0, step = 1, trips = 0;
};

bool is_unchanged(const Function& body, std::size_t i) { return body.results[i] == body.params[i]; }

/// Integer of a scalar constant of the function.
std::optional<std::int64_t> integer(const Function& function, ValueId value) {
  const Op* producer = function.producer(value);
  if (producer == nullptr || producer->kind != OpKind::Constant || function.type(value).rank() != 0)
    return std::nullopt;
  return producer->as<ir::ConstantAttrs>().value.element_as_int(0);
}

std::optional<Count> count_trips(const ir::Program& program, const Function& around, const Op& loop) {
  const Function& condition = program.function(loop.regions[0]);
  const Function& body = program.function(loop.regions[1]);
  const Op* compare = condition.producer(condition.results[0]);
  if (compare == nullptr || compare->kind != OpKind::Compare) return std::nullopt;
  if (compare->as<ir::CompareAttrs>().direction != ir::Comparison::Lt) return std::nullopt;
  const auto param = [](const Function& function, ValueId value) {
    return static_cast<std::size_t>(std::find(function.params.begin(), function.params.end(), value) -
                                    function.params.begin());
  };
  /// A constant, also one that is carried unchanged.
  const auto constant = [&](const Function& region, ValueId value) {
    const std::size_t i = param(region, value);
    if (i == region.params.size()) return integer(region, value);
    return is_unchanged(body, i) ? integer(around, loop.operands[i]) : std::nullopt;
  };
  Count count;
  count.carried = param(condition, compare->operands[0]);
  if (count.carried == condition.params.size()) return std::nullopt;
  const Op* add = body.producer(body.results[count.carried]);
  if (add == nullptr || add->kind != OpKind::Add) return std::nullopt;
  const std::size_t other = add->operands[0] == body.params[count.carried] ? 1 : 0;
  if (add->operands[1 - other] != body.params[count.carried]) return std::nullopt;
  const auto limit = constant(condition, compare->operands[1]), step = constant(body, add->operands[other]);
  const auto start = integer(around, loop.operands[count.carried]);
  if (!limit || !step || !start || *step < 1) return std::nullopt;
  count.start = *start;
  count.step = *step;
  count.trips = std::max<std::int64_t>(0, (*limit - *start + *step - 1) / *step);
  return count;
}

/// Appends ops of one function to another.
class Copier {
 public:
  Copier(const Function& from, Function& to) : from_(from), to_(to), image_(from.values.size()) {}

  void set(ValueId old, ValueId made) { image_[old.index()] = made; }
  ValueId operator()(ValueId old) const { return image_[old.index()]; }
  bool has(ValueId old) const { return image_[old.index()].valid(); }
  void copy(const Op& op) {
    std::vector<ValueId> operands;
    for (const ValueId operand : op.operands)
      operands.push_back(image_[operand.index()]);
    std::vector<TensorType> types;
    for (const ValueId result : op.results)
      types.push_back(from_.type(result));
    const ir::OpId id = to_.append(op.kind, op.attrs, std::move(operands), std::move(types), op.regions, op.location);
    to_.ops[id.index()].notes = op.notes;
    for (std::size_t i = 0; i < op.results.size(); ++i)
      set(op.results[i], to_.ops[id.index()].results[i]);
  }

 private:
  const Function& from_;
  Function& to_;
  std::vector<ValueId> image_;
};

/// Ops on which the values depend.
std::vector<bool> ops_behind(const Function& function, const std::vector<ValueId>& values) {
  std::vector<bool> wanted(function.values.size(), false), needed(function.ops.size(), false);
  for (const ValueId value : values)
    wanted[value.index()] = true;
  for (std::size_t i = function.ops.size(); i-- > 0;) {
    const Op& op = function.ops[i];
    needed[i] =
        std::any_of(op.results.begin(), op.results.end(), [&](ValueId result) { return wanted[result.index()]; });
    if (needed[i])
      for (const ValueId operand : op.operands)
        wanted[operand.index()] = true;
  }
  return needed;
}

/// Cheap enough to be done twice.
bool is_cheap(const Op& op) {
  return op.regions.empty() && op.kind != OpKind::DotGeneral && op.kind != OpKind::Convolution &&
         op.kind != OpKind::Sort && op.kind != OpKind::RngBitGenerator && op.kind != OpKind::CustomCall;
}

/// One trip, forward and reverse, and who does what.
struct Trip {
  Function joint;                   ///< body and its reverse; parameters: carried values, then cotangents
  std::vector<std::size_t> active;  ///< carried values that have a gradient
  std::vector<ValueId> gradients;   ///< of the active carried values before the trip
  std::vector<bool> forward;        ///< ops of the body
  std::vector<bool> reverse;        ///< ops of the reverse alone
  std::vector<bool> again;          ///< values of the body that the reverse computes again
  std::vector<ValueId> kept;        ///< values of the body that are put on stacks
};

/// Which values of the body the reverse reads, and where it gets them from.
void sort_values(Trip& trip, std::size_t carried, std::size_t counter) {
  const Function& f = trip.joint;
  trip.forward = ops_behind(f, {f.results.begin(), f.results.end()});
  std::vector<bool> needed = ops_behind(f, trip.gradients);
  trip.again.assign(f.values.size(), false);
  for (std::size_t i = 0; i < carried; ++i)
    trip.again[f.params[i].index()] = i == counter || is_unchanged(f, i);
  trip.reverse.assign(f.ops.size(), false);
  std::vector<bool> read(f.values.size(), false);
  for (const ValueId gradient : trip.gradients)
    read[gradient.index()] = true;
  for (std::size_t i = 0; i < f.ops.size(); ++i) {
    const Op& op = f.ops[i];
    const bool cheap = is_cheap(op) && std::all_of(op.operands.begin(), op.operands.end(),
                                                   [&](ValueId operand) { return trip.again[operand.index()]; });
    if (trip.forward[i] && cheap)
      for (const ValueId result : op.results)
        trip.again[result.index()] = true;
    trip.reverse[i] = needed[i] && !trip.forward[i];
    if (trip.reverse[i])
      for (const ValueId operand : op.operands)
        read[operand.index()] = true;
  }
  const auto keep = [&](ValueId value) {
    if (read[value.index()] && !trip.again[value.index()]) trip.kept.push_back(value);
  };
  for (std::size_t i = 0; i < carried; ++i)
    keep(f.params[i]);
  for (std::size_t i = 0; i < f.ops.size(); ++i)
    if (trip.forward[i])
      for (const ValueId result : f.ops[i].results)
        keep(result);
}

Trip make_trip(Rule& r, const std::vector<bool>& active, std::size_t counter) {
  ir::Program& program = r.program();
  const FunctionId id = program.add_function("trip");
  {
    const std::string name = program.function(id).name;
    program.function(id) = program.function(r.op.regions[1]);
    program.function(id).name = name;
  }
  Trip trip;
  const std::size_t carried = r.op.operands.size();
  Builder b(program, id);
  std::vector<ValueId> outputs, cotangents, wrt;
  for (std::size_t i = 0; i < carried; ++i) {
    const TensorType type = b.type(b.function().params[i]);
    if (!active[i] || !ir::is_float(type.dtype)) continue;
    trip.active.push_back(i);
    outputs.push_back(b.function().results[i]);
    wrt.push_back(b.function().params[i]);
    cotangents.push_back(b.param(type));
  }
  trip.gradients = vjp(program, id, outputs, cotangents, wrt);
  trip.joint = program.function(id);
  sort_values(trip, carried, counter);
  return trip;
}

TensorType stacked(TensorType type, std::int64_t trips) {
  type.dims.insert(type.dims.begin(), trips);
  return type;
}

std::vector<ValueId> start_indices(Builder& b, ValueId first, int rank) {
  std::vector<ValueId> indices{first};
  if (rank > 0) indices.resize(static_cast<std::size_t>(rank) + 1, b.scalar_int(DType::I32, 0));
  return indices;
}

FunctionId count_to(ir::Program& program, const std::vector<TensorType>& types, std::int64_t trips) {
  const FunctionId id = program.add_function("condition");
  Builder b(program, id);
  for (const TensorType& type : types)
    b.param(type);
  b.set_results({b.compare(b.function().params[0], b.scalar_int(DType::I32, trips), ir::Comparison::Lt)});
  return id;
}

/// The loop of the program also counts its trips and fills a stack per kept value. Gives the full stacks.
std::vector<ValueId> fill_stacks(Rule& r, const Trip& trip, std::int64_t trips) {
  ir::Program& program = r.program();
  const Function& from = trip.joint;
  const std::size_t carried = r.op.operands.size();
  // The regions are new functions: others may use the old ones.
  const FunctionId condition = program.add_function("condition"), body = program.add_function("body");
  for (const FunctionId id : {condition, body}) {
    const std::string name = program.function(id).name;
    if (id == condition) program.function(id) = program.function(r.op.regions[0]);
    program.function(id).name = name;
  }
  Builder b(program, body);
  for (std::size_t i = 0; i < carried; ++i)
    b.param(from.type(from.params[i]));
  const TensorType index{DType::I32, {}};
  const ValueId number = b.param(index);
  std::vector<ValueId> stacks;
  for (const ValueId value : trip.kept)
    stacks.push_back(b.param(stacked(from.type(value), trips)));
  Copier copier(from, b.function());
  for (std::size_t i = 0; i < carried; ++i)
    copier.set(from.params[i], b.function().params[i]);
  for (std::size_t i = 0; i < from.ops.size(); ++i)
    if (trip.forward[i]) copier.copy(from.ops[i]);
  std::vector<ValueId> results;
  for (std::size_t i = 0; i < carried; ++i)
    results.push_back(copier(from.results[i]));
  results.push_back(b(OpKind::Add, number, b.scalar_int(DType::I32, 1)));
  for (std::size_t k = 0; k < stacks.size(); ++k) {
    const ValueId value = copier(trip.kept[k]);
    const TensorType type = b.type(value);
    std::vector<ValueId> operands{stacks[k], b.reshape(value, stacked(type, 1).dims)};
    const std::vector<ValueId> at = start_indices(b, number, type.rank());
    operands.insert(operands.end(), at.begin(), at.end());
    results.push_back(b.add(OpKind::DynamicUpdateSlice, std::move(operands)));
  }
  b.set_results(std::move(results));

  std::vector<ValueId> full;
  const auto carry = [&](const TensorType& type) {
    program.function(condition).add_param(type);
    const ValueId start = r.insert_constant_before(Literal::splat_int(type, 0));
    r.forward_op().operands.push_back(start);
    return r.add_forward_result(type);
  };
  carry(index);
  for (const ValueId value : trip.kept)
    full.push_back(carry(stacked(from.type(value), trips)));
  r.forward_op().regions = {condition, body};
  return full;
}

/// The loop that runs the trips backwards. Gives the gradients of the active carried values before the first trip.
std::vector<ValueId> run_backwards(Rule& r, const Trip& trip, const Count& count, const std::vector<ValueId>& full) {
  ir::Program& program = r.program();
  const Function& from = trip.joint;
  const std::size_t carried = r.op.operands.size();
  const FunctionId body = program.add_function("body");
  Builder b(program, body);
  std::vector<ValueId> operands{r.b.scalar_int(DType::I32, 0)};
  const ValueId done = b.param({DType::I32, {}});
  Copier copier(from, b.function());
  std::vector<ValueId> results;
  for (std::size_t k = 0; k < trip.active.size(); ++k) {
    operands.push_back(r.cotangent_or_zeros(trip.active[k]));
    copier.set(from.params[carried + k], b.param(r.type(operands.back())));
  }
  std::vector<ValueId> stacks;
  for (const ValueId stack : full) {
    operands.push_back(stack);
    stacks.push_back(b.param(r.type(stack)));
  }
  for (std::size_t i = 0; i < carried; ++i) {
    if (!is_unchanged(from, i)) continue;
    operands.push_back(r.operand(i));
    copier.set(from.params[i], b.param(r.type(r.operand(i))));
  }
  const ValueId number = b(OpKind::Subtract, b.scalar_int(DType::I32, count.trips - 1), done);
  const DType counter_type = from.type(from.params[count.carried]).dtype;
  const ValueId distance = b(OpKind::Multiply, b.convert(number, counter_type), b.scalar_int(counter_type, count.step));
  copier.set(from.params[count.carried], b(OpKind::Add, distance, b.scalar_int(counter_type, count.start)));
  for (std::size_t k = 0; k < stacks.size(); ++k) {
    const TensorType type = from.type(trip.kept[k]);
    const ValueId entry = b.dynamic_slice(stacks[k], start_indices(b, number, type.rank()), stacked(type, 1).dims);
    copier.set(trip.kept[k], b.reshape(entry, type.dims));
  }
  for (std::size_t i = 0; i < from.ops.size(); ++i) {
    const Op& op = from.ops[i];
    const bool again = trip.forward[i] && std::all_of(op.results.begin(), op.results.end(),
                                                      [&](ValueId v) { return trip.again[v.index()]; });
    if (again || trip.reverse[i]) copier.copy(op);
  }
  results.push_back(b(OpKind::Add, done, b.scalar_int(DType::I32, 1)));
  for (const ValueId gradient : trip.gradients)
    results.push_back(copier(gradient));
  const std::vector<ValueId> params = b.function().params;
  results.insert(results.end(), params.begin() + static_cast<std::ptrdiff_t>(results.size()), params.end());
  b.set_results(std::move(results));
  const FunctionId condition = count_to(program, program.function(body).param_types(), count.trips);
  const std::vector<ValueId> last = r.b.add_multi(OpKind::While, std::move(operands), ir::NoAttrs{}, {condition, body});
  return {last.begin() + 1, last.begin() + 1 + static_cast<std::ptrdiff_t>(trip.active.size())};
}

}  // namespace

void rule_while(Rule& r) {
  const auto count = count_trips(r.program(), r.b.function(), r.op);
  if (!count) r.refuse("only loops that count from a constant up to a constant have a reverse");
  std::vector<bool> active;
  for (std::size_t i = 0; i < r.operand_count(); ++i)
    active.push_back(r.needs(i));
  active = active_results(r.program(), r.b.function(), r.op, active);
  const Trip trip = make_trip(r, active, count->carried);
  const std::vector<ValueId> full = fill_stacks(r, trip, count->trips);
  const std::vector<ValueId> gradients = run_backwards(r, trip, *count, full);
  for (std::size_t k = 0; k < trip.active.size(); ++k)
    r.add(trip.active[k], gradients[k]);
}

}  // namespace rhino::ad
