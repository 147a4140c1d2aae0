// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include <rhino/base/contains.hpp>
#include <rhino/base/error.hpp>
#include <rhino/shard/factor_rules.hpp>
#include <rhino/shard/reshard.hpp>
#include <rhino/shard/reshard_moves.hpp>

namespace rhino::shard {

namespace {

/// Predicates travel as logical or and and: their maximum and minimum.
ir::ReducerKind wire_reducer(PartialKind kind, ir::DType dtype) {
  if (dtype == ir::DType::I1 && kind == PartialKind::Max) return ir::ReducerKind::Or;
  if (dtype == ir::DType::I1 && kind == PartialKind::Min) return ir::ReducerKind::And;
  return reducer_of(kind);
}

/// Emits one step after the other on a local tensor.
class StepEmitter {
 public:
  StepEmitter(ir::Builder& builder, ir::ValueId value, ir::DType dtype, const MeshShape& mesh, ir::ValueId device)
      : builder_(builder), value_(value), dtype_(dtype), mesh_(mesh), device_(device) {}

  ir::ValueId value() const { return value_; }

  void emit(const ReshardStep& step, const Layout& before) {
    switch (step.kind) {
      case ReshardKind::Slice:
        emit_slice(step);
        break;
      case ReshardKind::AllGather:
        emit_all_gather(step, before);
        break;
      case ReshardKind::AllReduce:
        emit_all_reduce(step, before);
        break;
      case ReshardKind::ReduceScatter:
        emit_reduce_scatter(step, before);
        break;
      case ReshardKind::AllToAll:
        emit_all_to_all(step, before);
        break;
      case ReshardKind::Permute:
        emit_permute(step, before);
        break;
    }
    const ir::Dims expected = local_dims(step.after, mesh_);
    RHINO_ASSERT(builder_.type(value_).dims == expected, "a resharding step left {}, expected {}",
                 ir::to_string(builder_.type(value_).dims), ir::to_string(expected));
  }

 private:
  ir::Dims dims() const { return builder_.type(value_).dims; }

  void reshape(const ir::Dims& to) {
    if (dims() != to) value_ = builder_.reshape(value_, to);
  }

  /// Views dimension `dim` as several; others keep their place but shift.
  void split_dim(std::size_t dim, const ir::Dims& parts) {
    ir::Dims to = dims();
    to.erase(to.begin() + static_cast<std::ptrdiff_t>(dim));
    to.insert(to.begin() + static_cast<std::ptrdiff_t>(dim), parts.begin(), parts.end());
    reshape(to);
  }

  /// Pads (with zeros) or cuts a dimension at its end.
  void resize(std::size_t dim, std::int64_t size) {
    const ir::Dims now = dims();
    if (now[dim] < size) {
      ir::Dims low(now.size(), 0), high(now.size(), 0);
      high[dim] = size - now[dim];
      value_ = builder_.pad(value_, builder_.scalar(dtype_, 0), low, high);
    } else if (now[dim] > size) {
      ir::Dims limit = now;
      limit[dim] = size;
      value_ = builder_.slice(value_, ir::Dims(now.size(), 0), limit);
    }
  }

  /// Place of this device in its group over `axes`, times `stride`, as a scalar.
  ir::ValueId offset(const std::vector<AxisId>& axes, std::int64_t stride) {
    const auto constant = [&](std::int64_t x) { return builder_.scalar_int(ir::DType::I64, x); };
    ir::ValueId sum;
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
      ir::ValueId coordinate = device_;
      std::int64_t below = 1;
      for (AxisId a = *axis + 1; a < mesh_.rank(); ++a)
        below *= mesh_.size(a);
      if (below > 1) coordinate = builder_(ir::OpKind::Divide, coordinate, constant(below));
      if (below * mesh_.size(*axis) < mesh_.devices())
        coordinate = builder_(ir::OpKind::Remainder, coordinate, constant(mesh_.size(*axis)));
      if (stride > 1) coordinate = builder_(ir::OpKind::Multiply, coordinate, constant(stride));
      sum = sum.valid() ? builder_(ir::OpKind::Add, sum, coordinate) : coordinate;
      stride *= mesh_.size(*axis);
    }
    return sum;
  }

  ir::CollectiveAttrs collective(const std::vector<AxisId>& axes) {
    ir::CollectiveAttrs attrs;
    attrs.groups = std::make_shared<const ir::ReplicaGroups>(mesh_.groups(axes));
    attrs.mode = ir::GroupMode::FlattenedIds;
    attrs.channel = 1;
    attrs.group_size = mesh_.group_size(axes);
    return attrs;
  }

  ir::FunctionId reducer(PartialKind kind) {
    const ir::ReducerKind wanted = wire_reducer(kind, dtype_);
    const auto& functions = builder_.program().functions;
    for (std::size_t f = 0; f < functions.size(); ++f) {
      const ir::Function& candidate = functions[f];
      if (candidate.params.size() == 2 && candidate.ops.size() == 1 &&
          candidate.type(candidate.params[0]) == ir::TensorType{dtype_, {}} &&
          ir::classify_reducer(candidate) == wanted)
        return ir::FunctionId(f);
    }
    return ir::make_reducer(builder_.program(), wanted, dtype_);
  }

  void emit_slice(const ReshardStep& step) {
    const auto d = static_cast<std::size_t>(step.to_dim);
    const std::int64_t n = mesh_.group_size(step.axes);
    const std::int64_t above = local_above(step.after.dims[d], step.axes, mesh_);
    const std::int64_t block = local_size(step.after.dims[d], mesh_) / above;
    resize(d, above * n * block);
    split_dim(d, {above, n * block});
    ir::Dims sizes = dims();
    sizes[d + 1] = block;
    std::vector<ir::ValueId> starts(sizes.size(), builder_.scalar_int(ir::DType::I64, 0));
    starts[d + 1] = offset(step.axes, block);
    value_ = builder_.dynamic_slice(value_, starts, sizes);
    merge(step.after);
  }

  void emit_all_gather(const ReshardStep& step, const Layout& before) {
    const auto d = static_cast<std::size_t>(step.from_dim);
    const std::int64_t above = local_above(before.dims[d], step.axes, mesh_);
    split_dim(d, {above, dims()[d] / above});
    ir::CollectiveAttrs attrs = collective(step.axes);
    attrs.dimension = step.from_dim + 1;
    value_ = builder_.add(ir::OpKind::AllGather, {value_}, attrs);
    finish_gather(d, above, local_size(step.after.dims[d], mesh_));
    merge(step.after);
  }

  /// Cuts the padding that a gathered uneven split left behind; the dimension is seen as [above, rest] at `d`.
  void finish_gather(std::size_t d, std::int64_t above, std::int64_t size) {
    if (above * dims()[d + 1] == size) return;
    RHINO_ASSERT(above == 1);
    resize(d + 1, size);
  }

  void merge(const Layout& after) { reshape(local_dims(after, mesh_)); }

  void emit_all_reduce(const ReshardStep& step, const Layout& before) {
    const ir::FunctionId region = reducer(before.partial_kind);
    value_ = builder_.add(ir::OpKind::AllReduce, {value_}, collective(step.axes), {region});
  }

  void emit_reduce_scatter(const ReshardStep& step, const Layout& before) {
    const auto d = static_cast<std::size_t>(step.to_dim);
    const std::int64_t n = mesh_.group_size(step.axes);
    const std::int64_t above = local_above(step.after.dims[d], step.axes, mesh_);
    const std::int64_t block = local_size(step.after.dims[d], mesh_) / above;
    resize(d, above * n * block);
    split_dim(d, {above, n * block});
    ir::CollectiveAttrs attrs = collective(step.axes);
    attrs.dimension = step.to_dim + 1;
    const ir::FunctionId region = reducer(before.partial_kind);
    value_ = builder_.add(ir::OpKind::ReduceScatter, {value_}, attrs, {region});
    merge(step.after);
  }

  void emit_all_to_all(const ReshardStep& step, const Layout& before) {
    const auto from = static_cast<std::size_t>(step.from_dim), to = static_cast<std::size_t>(step.to_dim);
    const std::int64_t n = mesh_.group_size(step.axes);
    const std::int64_t from_above = local_above(before.dims[from], step.axes, mesh_);
    const std::int64_t to_above = local_above(step.after.dims[to], step.axes, mesh_);
    ir::CollectiveAttrs attrs = collective(step.axes);
    if (from == to) {
      const std::int64_t size = dims()[from];
      if (from_above < to_above) {  // [from_above, (n), between, n, rest]: n moves from the fourth place to the second
        const std::int64_t between = to_above / (from_above * n);
        split_dim(from, {from_above, 1, between, n, size / (from_above * between * n)});
        attrs.dimension = step.from_dim + 3;
        attrs.concat_dimension = step.from_dim + 1;
      } else {
        const std::int64_t between = from_above / (to_above * n);
        split_dim(from, {to_above, n, between, 1, size / (to_above * between * n)});
        attrs.dimension = step.from_dim + 1;
        attrs.concat_dimension = step.from_dim + 3;
      }
      value_ = builder_.add(ir::OpKind::AllToAll, {value_}, attrs);
      return merge(step.after);
    }
    const std::int64_t block = local_size(step.after.dims[to], mesh_) / to_above;
    resize(to, to_above * n * block);
    // The later dimension first, so that the earlier one keeps its place.
    const auto expose = [&](std::size_t dim, std::int64_t above) { split_dim(dim, {above, dims()[dim] / above}); };
    expose(std::max(from, to), from > to ? from_above : to_above);
    expose(std::min(from, to), from > to ? to_above : from_above);
    const std::size_t from_at = from + (from > to ? 1 : 0), to_at = to + (to > from ? 1 : 0);
    attrs.dimension = static_cast<int>(to_at) + 1;
    attrs.concat_dimension = static_cast<int>(from_at) + 1;
    value_ = builder_.add(ir::OpKind::AllToAll, {value_}, attrs);
    finish_gather(from_at, from_above, local_size(step.after.dims[from], mesh_));
    merge(step.after);
  }

  /// Each device gets the whole local tensor of the device that held, before, what it shall hold after.
  void emit_permute(const ReshardStep& step, const Layout& before) {
    std::vector<std::vector<AxisId>> old_runs, new_runs;
    std::vector<AxisId> old_axes, new_axes;
    for (std::size_t d = 0; d < before.dims.size(); ++d)
      for (std::size_t s = 0; s < before.dims[d].subs.size(); ++s) {
        const auto& old_run = before.dims[d].subs[s].axes;
        const auto& new_run = step.after.dims[d].subs[s].axes;
        if (old_run == new_run) continue;
        old_runs.push_back(old_run);
        new_runs.push_back(new_run);
        old_axes.insert(old_axes.end(), old_run.begin(), old_run.end());
        new_axes.insert(new_axes.end(), new_run.begin(), new_run.end());
      }
    const auto missing = [](const std::vector<AxisId>& from, const std::vector<AxisId>& in) {
      std::vector<AxisId> left;
      for (AxisId axis : from)
        if (!contains(in, axis)) left.push_back(axis);
      std::sort(left.begin(), left.end());
      return left;
    };
    // Axes that come or go number the copies, which may be paired up in any way.
    old_runs.push_back(missing(new_axes, old_axes));
    new_runs.push_back(missing(old_axes, new_axes));
    ir::ReplicaGroups pairs;
    for (std::int64_t target = 0; target < mesh_.devices(); ++target) {
      std::vector<std::int64_t> coordinates;
      for (AxisId a = 0; a < mesh_.rank(); ++a)
        coordinates.push_back(mesh_.coordinate(target, a));
      for (std::size_t r = 0; r < old_runs.size(); ++r) {
        std::int64_t index = mesh_.group_index(target, new_runs[r]);
        for (auto axis = old_runs[r].rbegin(); axis != old_runs[r].rend(); ++axis) {
          coordinates[static_cast<std::size_t>(*axis)] = index % mesh_.size(*axis);
          index /= mesh_.size(*axis);
        }
      }
      std::int64_t source = 0;
      for (AxisId a = 0; a < mesh_.rank(); ++a)
        source = source * mesh_.size(a) + coordinates[static_cast<std::size_t>(a)];
      pairs.push_back({source, target});
    }
    ir::CollectiveAttrs attrs;
    attrs.groups = std::make_shared<const ir::ReplicaGroups>(std::move(pairs));
    attrs.mode = ir::GroupMode::FlattenedIds;
    attrs.channel = 1;
    value_ = builder_.add(ir::OpKind::CollectivePermute, {value_}, attrs);
  }

  ir::Builder& builder_;
  ir::ValueId value_;
  ir::DType dtype_;
  const MeshShape& mesh_;
  ir::ValueId device_;
};

}  // namespace

ir::ValueId emit_reshard(ir::Builder& builder, ir::ValueId value, const ir::TensorType& type, const Layout& from,
                         const std::vector<ReshardStep>& steps, const MeshShape& mesh, ir::ValueId device) {
  Layout before = canonical(from, mesh);
  StepEmitter emitter(builder, value, type.dtype, mesh, device);
  for (const ReshardStep& step : steps) {
    emitter.emit(step, before);
    before = step.after;
  }
  return emitter.value();
}

}  // namespace rhino::shard
