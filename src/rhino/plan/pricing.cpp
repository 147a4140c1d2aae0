// SPDX-License-Identifier: Apache-2.0
#include <rhino/plan/pricing.hpp>

#include <algorithm>
#include <span>

#include <rhino/base/error.hpp>
#include <rhino/base/hash.hpp>
#include <rhino/cost/cost_model.hpp>
#include <rhino/ir/op_info.hpp>

namespace rhino::plan {

using ir::FunctionId;
using ir::Op;
using ir::OpId;
using ir::OpKind;
using ir::ValueId;
using shard::Layout;

namespace {

ir::TensorType local_type(const ir::TensorType& type, const Layout& layout, const shard::MeshShape& mesh) {
  return {type.dtype, shard::local_dims(layout, mesh)};
}

void append(std::vector<std::int64_t>& key, const Layout& layout) {
  for (const shard::DimLayout& dim : layout.dims) {
    for (const shard::SubDim& sub : dim.subs) {
      key.push_back(sub.size);
      for (shard::AxisId axis : sub.axes) key.push_back(-1 - axis);
    }
    key.push_back(-100);
  }
  for (shard::AxisId axis : layout.partial_axes) key.push_back(axis);
  key.push_back(static_cast<std::int64_t>(layout.partial_kind));
}

/// Layouts of a `while` or `case` op's operands inside its regions.
const Layout& region_operand(const shard::Sharding& sharding, const Op& op, std::size_t operand) {
  if (op.kind == OpKind::While) return sharding.functions[op.regions[1].index()].params[operand];
  return sharding.functions[op.regions[0].index()].params[operand - 1];
}

/// Constants and views: fused into their readers or no bytes of their own.
bool takes_no_room(OpKind kind) { return kind == OpKind::Constant || kind == OpKind::Reshape || kind == OpKind::BroadcastInDim; }

/// A broadcast of one scalar: fused into whatever reads it, in any layout.
bool is_scalar_broadcast(const ir::Function& function, const Op* producer) {
  return producer != nullptr && producer->kind == OpKind::BroadcastInDim && function.type(producer->operands[0]).dims.empty();
}

bool is_control(OpKind kind) { return kind == OpKind::While || kind == OpKind::Case; }

}  // namespace

std::size_t Pricer::PairHash::operator()(const PairKey& key) const {
  std::vector<std::int64_t> numbers(key.type.dims.begin(), key.type.dims.end());
  numbers.push_back(static_cast<std::int64_t>(key.type.dtype));
  append(numbers, key.from);
  append(numbers, key.to);
  return hash64(std::as_bytes(std::span(numbers)));
}

Pricer::Pricer(const ir::Program& program, const cluster::Mesh& mesh) : Pricer(program, mesh, {}, {}) {}

Pricer::Pricer(const ir::Program& program, const cluster::Mesh& mesh, std::vector<double> op_weight, std::vector<double> param_weight)
    : program_(program),
      mesh_(mesh),
      cost_(cost::reshard_seconds(mesh)),
      op_weight_(std::move(op_weight)),
      param_weight_(std::move(param_weight)) {
  for (const ir::Function& function : program.functions) {
    factors_.emplace_back(function.ops.size());
    known_.emplace_back(function.ops.size(), false);
    last_.emplace_back(function.ops.size());
    uses_.push_back(ir::value_uses(function));
  }
}

const shard::FactorMap& Pricer::factors(FunctionId function, OpId op) {
  shard::FactorMap& map = factors_[function.index()][op.index()];
  if (!known_[function.index()][op.index()]) {
    const ir::Function& f = program_.function(function);
    map = shard::factor_map(program_, f, f.op(op));
    known_[function.index()][op.index()] = true;
  }
  return map;
}

Pricer::OpPrice Pricer::op_price(FunctionId function, OpId id, const shard::Strategy& strategy) {
  const ir::Function& f = program_.function(function);
  const Op& op = f.op(id);
  OpPrice price;
  if (is_control(op.kind)) return price;
  const shard::FactorMap& map = factors(function, id);
  for (std::size_t i = 0; i < op.operands.size(); ++i)
    price.operands.push_back(shard::operand_layout(map, strategy, static_cast<int>(i), mesh_.shape));
  for (std::size_t i = 0; i < op.results.size(); ++i)
    price.results.push_back(shard::result_layout(map, strategy, static_cast<int>(i), mesh_.shape));
  if (op.kind == OpKind::Constant || op.kind == OpKind::Reshape || is_scalar_broadcast(f, &op)) return price;
  std::vector<ir::TensorType> operands;
  std::vector<ir::TensorType> results;
  for (std::size_t i = 0; i < op.operands.size(); ++i) operands.push_back(local_type(f.type(op.operands[i]), price.operands[i], mesh_.shape));
  for (std::size_t i = 0; i < op.results.size(); ++i) results.push_back(local_type(f.type(op.results[i]), price.results[i], mesh_.shape));
  cost::OpWork work = cost::op_work(program_, op, operands, results);
  double overhead = mesh_.device.op_overhead;
  if (ir::is_elementwise(op.kind) || op.kind == OpKind::BroadcastInDim) {
    // Chains run fused: most of their traffic stays in cache and they share one start.
    work.bytes *= 0.35;
    overhead *= 0.2;
  }
  const ir::DType dtype = results.empty() ? ir::DType::F32 : results[0].dtype;
  price.seconds = cost::op_seconds(work, op.kind, dtype, mesh_.device) + overhead;
  return price;
}

const Pricer::OpPrice& Pricer::current(FunctionId function, OpId id, const shard::Sharding& sharding) {
  const shard::Strategy& strategy = sharding.functions[function.index()].ops[id.index()];
  LastPrice& last = last_[function.index()][id.index()];
  if (!last.known || last.strategy != strategy) last = {strategy, op_price(function, id, strategy), true};
  return last.price;
}

double Pricer::reshard_seconds(FunctionId function, ValueId value, const Layout& from, const Layout& to) {
  if (from == to) return 0;
  const ir::Function& f = program_.function(function);
  return is_scalar_broadcast(f, f.producer(value)) ? 0 : reshard_seconds(f.type(value), from, to);
}

double Pricer::reshard_seconds(const ir::TensorType& type, const Layout& from, const Layout& to) {
  if (from == to) return 0;
  PairKey key{type, from, to};
  const auto found = pairs_.find(key);
  if (found != pairs_.end()) return found->second;
  double seconds = 0;
  const Layout* before = &from;
  // A whole value may be taken for a partial one at no cost: one device counts it, the others count nothing.
  Layout reached = to;
  const bool same_kind = from.partial_kind == to.partial_kind;
  std::erase_if(reached.partial_axes, [&](shard::AxisId axis) {
    return !same_kind || std::find(from.partial_axes.begin(), from.partial_axes.end(), axis) == from.partial_axes.end();
  });
  if (reached.partial_axes.empty()) reached.partial_kind = shard::PartialKind::Sum;
  const auto steps = shard::plan_reshard(type, from, reached, mesh_.shape, cost_);
  for (const shard::ReshardStep& step : steps) {
    seconds += cost_(step, type, *before);
    before = &step.after;
  }
  pairs_.emplace(std::move(key), seconds);
  return seconds;
}

std::vector<Layout> Pricer::value_layouts(FunctionId function, const shard::Sharding& sharding) {
  const ir::Function& f = program_.function(function);
  const shard::FunctionSharding& decisions = sharding.functions[function.index()];
  std::vector<Layout> layouts(f.values.size());
  for (std::size_t i = 0; i < f.params.size(); ++i) layouts[f.params[i].index()] = decisions.params[i];
  for (std::size_t i = 0; i < f.ops.size(); ++i) {
    const Op& op = f.ops[i];
    for (std::size_t r = 0; r < op.results.size(); ++r) {
      if (op.kind == OpKind::While) {
        layouts[op.results[r].index()] = sharding.functions[op.regions[1].index()].params[r];
      } else if (op.kind == OpKind::Case) {
        layouts[op.results[r].index()] = sharding.functions[op.regions[0].index()].results[r];
      } else {
        layouts[op.results[r].index()] = current(function, OpId(i), sharding).results[r];
      }
    }
  }
  return layouts;
}

const Layout& Pricer::wanted_layout(FunctionId function, OpId id, std::size_t operand, const shard::Sharding& sharding) {
  const ir::Function& f = program_.function(function);
  const Op& op = f.op(id);
  if (op.kind == OpKind::Case && operand == 0) return scalar_;
  if (is_control(op.kind)) return region_operand(sharding, op, operand);
  return current(function, id, sharding).operands[operand];
}

PredictedTime Pricer::price(const shard::Sharding& sharding) { return price_function(program_.main, sharding, 0); }

/// When things are done while a function runs in program order: computing and communicating each take turns of their own on a
/// device that overlaps them, and share them on one that does not.
class Pricer::Timeline {
 public:
  Timeline(std::size_t values, bool overlaps) : ready_(values, 0), overlaps_(overlaps) {}

  double ready(ValueId value) const { return ready_[value.index()]; }
  void set_ready(ValueId value, double at) { ready_[value.index()] = at; }
  double compute(double after, double seconds) { return advance(computing_, after, seconds); }
  double communicate(double after, double seconds) { return advance(overlaps_ ? communicating_ : computing_, after, seconds); }
  double end() const { return std::max(computing_, communicating_); }

 private:
  static double advance(double& clock, double after, double seconds) { return clock = std::max(clock, after) + seconds; }

  std::vector<double> ready_;
  double computing_ = 0, communicating_ = 0;
  bool overlaps_;
};

PredictedTime Pricer::price_function(FunctionId function, const shard::Sharding& sharding, int depth) {
  RHINO_ASSERT(depth < 64, "control flow nested {} deep", depth);
  const ir::Function& f = program_.function(function);
  const shard::FunctionSharding& decisions = sharding.functions[function.index()];
  const std::vector<Layout> layouts = value_layouts(function, sharding);
  PredictedTime time;
  Timeline timeline(f.values.size(), mesh_.device.overlap > 0);
  // A value brought into a layout once is there for all its readers, as often as the one that stands for most.
  struct Copy {
    Layout layout;
    double ready = 0, times = 0;
  };
  std::vector<std::vector<Copy>> brought(f.values.size());
  const auto bring = [&](ValueId value, const Layout& wanted, double times) {
    if (layouts[value.index()] == wanted) return timeline.ready(value);
    auto& have = brought[value.index()];
    auto copy = std::find_if(have.begin(), have.end(), [&](const Copy& c) { return c.layout == wanted; });
    if (copy == have.end()) copy = have.insert(have.end(), {wanted});
    if (times > copy->times) {
      const double seconds = reshard_seconds(function, value, layouts[value.index()], wanted);
      copy->ready = timeline.communicate(timeline.ready(value), (times - copy->times) * seconds);
      copy->times = times;
    }
    return copy->ready;
  };
  std::vector<std::vector<std::size_t>> result_uses(f.values.size());
  for (std::size_t r = 0; r < f.results.size(); ++r) result_uses[f.results[r].index()].push_back(r);
  for (std::size_t i = 0; i < f.ops.size(); ++i) {
    const Op& op = f.ops[i];
    double begin = 0;
    for (std::size_t o = 0; o < op.operands.size(); ++o)
      begin = std::max(begin, bring(op.operands[o], wanted_layout(function, OpId(i), o, sharding), weight(function, i)));
    PredictedTime own;
    if (op.kind == OpKind::While) {
      const double trips = static_cast<double>(cost::trip_count(program_, op).value_or(1));
      for (ir::FunctionId region : op.regions) {
        const PredictedTime inner = price_function(region, sharding, depth + 1);
        own.compute += trips * inner.compute;
        own.total += trips * inner.total;
      }
    } else if (op.kind == OpKind::Case) {
      for (ir::FunctionId region : op.regions) {
        const PredictedTime inner = price_function(region, sharding, depth + 1);
        if (inner.total > own.total) own = inner;
      }
    } else {
      own.compute = own.total = current(function, OpId(i), sharding).seconds;
    }
    time.compute += weight(function, i) * own.compute;
    const double done = timeline.compute(begin, weight(function, i) * own.total);
    for (ValueId result : op.results) {
      timeline.set_ready(result, done);
      for (const auto& [reader, position] : uses_[function.index()][result.index()])
        bring(result, wanted_layout(function, reader, position, sharding), weight(function, reader.index()));
      for (const std::size_t r : result_uses[result.index()]) bring(result, decisions.results[r], weight(function, i));
    }
  }
  for (std::size_t r = 0; r < f.results.size(); ++r) bring(f.results[r], decisions.results[r], 1.0);  // what no op produces
  time.total = timeline.end();
  time.communication = std::max(0.0, time.total - time.compute);
  return time;
}

/// A value in a layout, from the op at which it comes to be to the one that reads it last (the number of ops: the end).
struct Pricer::Version {
  Layout layout;
  std::size_t first = 0, last = 0;
  bool in_place = false;  ///< where the state was that it replaces
};

/// Per value its versions, first the one that its producer leaves.
std::vector<std::vector<Pricer::Version>> Pricer::versions(const shard::Sharding& sharding) {
  const ir::Function& f = program_.entry();
  const std::size_t end = f.ops.size();
  const std::vector<Layout> layouts = value_layouts(program_.main, sharding);
  std::vector<std::vector<Version>> versions(f.values.size());
  const auto read = [&](ValueId value, const Layout& wanted, std::size_t at) {
    auto& known = versions[value.index()];
    const auto version = std::find_if(known.begin(), known.end(), [&](const Version& v) { return v.layout == wanted; });
    if (version != known.end()) {
      version->last = at;
    } else {
      known.front().last = at;
      known.push_back({wanted, at, at, false});
    }
  };
  for (const ValueId param : f.params) versions[param.index()].push_back({layouts[param.index()], 0, end, false});
  for (std::size_t i = 0; i < end; ++i) {
    const Op& op = f.ops[i];
    for (std::size_t o = 0; o < op.operands.size(); ++o) read(op.operands[o], wanted_layout(program_.main, OpId(i), o, sharding), i);
    for (const ValueId result : op.results) versions[result.index()].push_back({layouts[result.index()], i, i, false});
  }
  for (std::size_t r = 0; r < f.results.size(); ++r) {
    read(f.results[r], sharding.functions[program_.main.index()].results[r], end);
  }
  return versions;
}

std::int64_t Pricer::held_bytes(const shard::Sharding& sharding) const {
  const ir::Function& f = program_.entry();
  const auto& layouts = sharding.functions[program_.main.index()].params;
  double held = 0;
  for (std::size_t p = 0; p < f.params.size(); ++p)
    held += param_weight(p) * static_cast<double>(local_type(f.type(f.params[p]), layouts[p], mesh_.shape).bytes());
  return static_cast<std::int64_t>(held);
}

std::int64_t Pricer::bytes_per_rank(const shard::Sharding& sharding, const std::vector<std::optional<std::uint32_t>>& updates) {
  const ir::Function& f = program_.entry();
  const shard::FunctionSharding& decisions = sharding.functions[program_.main.index()];
  const std::size_t end = f.ops.size();
  const auto bytes = [&](std::size_t value, const Layout& layout) {
    return static_cast<double>(local_type(f.type(ValueId(value)), layout, mesh_.shape).bytes());
  };
  auto versions = this->versions(sharding);
  for (std::size_t p = 0; p < updates.size(); ++p) {
    if (!updates[p] || decisions.results[*updates[p]] != decisions.params[p]) continue;
    const ValueId made = f.results[*updates[p]];
    if (!f.value(made).producer.valid()) continue;
    for (Version& version : versions[made.index()]) version.in_place = version.layout == decisions.params[p];
  }
  std::vector<double> born(end + 2, 0), dead(end + 2, 0);
  for (std::size_t v = 0; v < f.values.size(); ++v) {
    auto& known = versions[v];
    const OpId producer = f.value(ValueId(v)).producer;
    if (is_scalar_broadcast(f, f.producer(ValueId(v)))) continue;
    if (producer.valid() && known.size() == 2 && bytes(v, known[1].layout) < bytes(v, known[0].layout)) {
      known[0].last = known[1].first = producer.index();
    }
    for (std::size_t k = 0; k < known.size(); ++k) {
      const Version& version = known[k];
      if (version.in_place || (k == 0 && (!producer.valid() || takes_no_room(f.op(producer).kind)))) continue;  // parameters are held already
      // What dies within its block is there once, however often the block is repeated; what outlives it is there for each.
      const std::size_t birth = std::min(version.first, end - 1);
      const double times = is_short_lived(birth, version.last) ? 1.0 : weight(program_.main, birth);
      born[version.first] += times * bytes(v, version.layout);
      dead[version.last + 1] += times * bytes(v, version.layout);
    }
  }
  double live = static_cast<double>(held_bytes(sharding)), peak = live;
  for (std::size_t i = 0; i <= end; ++i) {
    live += born[i] - dead[i];
    peak = std::max(peak, live);
  }
  return static_cast<std::int64_t>(peak);
}

bool Pricer::is_short_lived(std::size_t op, std::size_t death) const {
  if (op_weight_.empty()) return true;
  // All ops from birth to death stand for equally many: they are of one block.
  for (std::size_t i = op; i < std::min(death + 1, op_weight_.size()); ++i) {
    if (op_weight_[i] != op_weight_[op]) return false;
  }
  return true;
}

}  // namespace rhino::plan
