// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <queue>

#include <rhino/base/contains.hpp>
#include <rhino/base/error.hpp>
#include <rhino/shard/reshard.hpp>
#include <rhino/shard/reshard_moves.hpp>

namespace rhino::shard {

namespace {

/// Layouts expanded before the search gives up and gathers everything; the spaces that occur have a few dozen.
constexpr int max_expansions = 600;

std::vector<AxisId> without(const std::vector<AxisId>& axes, const std::vector<AxisId>& removed) {
  std::vector<AxisId> left;
  for (AxisId axis : axes)
    if (!contains(removed, axis)) left.push_back(axis);
  return left;
}

/// A layout as a sequence of numbers that can be ordered.
std::vector<std::int64_t> key_of(const Layout& layout) {
  std::vector<std::int64_t> key;
  for (const DimLayout& dim : layout.dims) {
    key.push_back(static_cast<std::int64_t>(dim.subs.size()));
    for (const SubDim& sub : dim.subs) {
      key.push_back(sub.size);
      key.push_back(static_cast<std::int64_t>(sub.axes.size()));
      key.insert(key.end(), sub.axes.begin(), sub.axes.end());
    }
  }
  key.insert(key.end(), layout.partial_axes.begin(), layout.partial_axes.end());
  return key;
}

/// Lists the steps that lead out of a layout towards a target.
class StepGenerator {
 public:
  StepGenerator(const Layout& to, const MeshShape& mesh) : to_(to), mesh_(mesh) {
    for (const DimLayout& dim : to.dims)
      wanted_.push_back(axis_runs(dim));
  }

  std::vector<ReshardStep> steps(const Layout& from) {
    steps_.clear();
    from_ = &from;
    add_reductions();
    add_insertions();
    add_gathers();
    add_permutes();
    return std::move(steps_);
  }

 private:
  bool done(std::size_t dim) const { return from_->dims[dim] == to_.dims[dim]; }

  void add(ReshardKind kind, std::vector<AxisId> axes, int from_dim, int to_dim, Layout after) {
    steps_.push_back({kind, std::move(axes), from_dim, to_dim, std::move(after)});
  }

  Layout with_dim(std::size_t dim, DimLayout layout) const {
    Layout after = *from_;
    after.dims[dim] = std::move(layout);
    return after;
  }

  Layout without_partial(Layout layout, const std::vector<AxisId>& axes) const {
    layout.partial_axes = without(layout.partial_axes, axes);
    if (layout.partial_axes.empty()) layout.partial_kind = PartialKind::Sum;
    return layout;
  }

  void add_reductions() {
    const std::vector<AxisId> owed = without(from_->partial_axes, to_.partial_axes);
    if (owed.empty()) return;
    add(ReshardKind::AllReduce, owed, -1, -1, without_partial(*from_, owed));
    if (owed.size() == 1) return;
    for (AxisId axis : owed)
      add(ReshardKind::AllReduce, {axis}, -1, -1, without_partial(*from_, {axis}));
  }

  /// Splits of dimensions as the target has them: by taking a part of what every device has, of partial sums, or of
  /// what is split along another place.
  void add_insertions() {
    for (std::size_t d = 0; d < to_.dims.size(); ++d) {
      if (done(d)) continue;
      for (const auto& axes : wanted_[d]) {
        const auto all_in = [&](const std::vector<AxisId>& list) {
          return std::all_of(axes.begin(), axes.end(), [&](AxisId axis) { return contains(list, axis); });
        };
        const auto any_in = [&](const std::vector<AxisId>& list) {
          return std::any_of(axes.begin(), axes.end(), [&](AxisId axis) { return contains(list, axis); });
        };
        std::vector<AxisId> used;
        int source = -1;
        for (std::size_t i = 0; i < from_->dims.size(); ++i) {
          for (const SubDim& sub : from_->dims[i].subs)
            used.insert(used.end(), sub.axes.begin(), sub.axes.end());
          if (find_axes(from_->dims[i], axes)) source = static_cast<int>(i);
        }
        if (source >= 0) {
          add_all_to_all(axes, static_cast<std::size_t>(source), d);
        } else if (!any_in(used)) {
          const bool partial = all_in(from_->partial_axes);
          if (!partial && any_in(from_->partial_axes)) continue;
          if (auto dim = insert_axes(from_->dims[d], axes, to_.dims[d], mesh_)) {
            const int to_dim = static_cast<int>(d);
            Layout after = with_dim(d, std::move(*dim));
            if (partial)
              add(ReshardKind::ReduceScatter, axes, -1, to_dim, without_partial(std::move(after), axes));
            else
              add(ReshardKind::Slice, axes, -1, to_dim, std::move(after));
          }
        }
      }
    }
  }

  void add_all_to_all(const std::vector<AxisId>& axes, std::size_t source, std::size_t d) {
    if (source != d && done(source)) return;
    auto removed = remove_axes(from_->dims[source], axes, mesh_);
    if (!removed) return;
    auto inserted = insert_axes(source == d ? *removed : from_->dims[d], axes, to_.dims[d], mesh_);
    if (!inserted) return;
    Layout after = with_dim(d, std::move(*inserted));
    if (source != d) {
      after.dims[source] = std::move(*removed);
    } else {  // to another place in the same dimension: the two digits must not overlap
      if (after.dims[d] == from_->dims[d]) return;
      if (is_uneven(after.dims[d], mesh_) || is_uneven(from_->dims[d], mesh_)) return;
      const std::int64_t n = mesh_.group_size(axes);
      const std::int64_t old_above = local_above(from_->dims[d], axes, mesh_);
      const std::int64_t new_above = local_above(after.dims[d], axes, mesh_);
      if (new_above % (old_above * n) != 0 && old_above % (new_above * n) != 0) return;
    }
    add(ReshardKind::AllToAll, axes, static_cast<int>(source), static_cast<int>(d), std::move(after));
  }

  void add_gathers() {
    for (std::size_t d = 0; d < to_.dims.size(); ++d) {
      if (done(d)) continue;
      for (auto& axes : axis_runs(from_->dims[d]))
        if (auto dim = remove_axes(from_->dims[d], axes, mesh_)) {
          Layout after = with_dim(d, std::move(*dim));
          add(ReshardKind::AllGather, std::move(axes), static_cast<int>(d), -1, std::move(after));
        }
    }
  }

  /// Exchanges whole local tensors, where only the axes differ and not the shapes of the pieces.
  void add_permutes() {
    std::vector<std::size_t> alike, different;
    for (std::size_t d = 0; d < to_.dims.size(); ++d) {
      if (done(d)) continue;
      (same_shape(from_->dims[d], to_.dims[d], mesh_) ? alike : different).push_back(d);
    }
    const auto try_permute = [&](const std::vector<std::size_t>& dims) {
      Layout after = *from_;
      for (std::size_t d : dims)
        after.dims[d] = to_.dims[d];
      std::vector<AxisId> used = after.partial_axes, touched;
      for (const DimLayout& dim : after.dims)
        for (const SubDim& sub : dim.subs)
          used.insert(used.end(), sub.axes.begin(), sub.axes.end());
      std::sort(used.begin(), used.end());
      if (std::adjacent_find(used.begin(), used.end()) != used.end()) return;
      for (std::size_t d : dims)
        for (std::size_t s = 0; s < after.dims[d].subs.size(); ++s) {
          const auto& old_axes = from_->dims[d].subs[s].axes;
          const auto& new_axes = after.dims[d].subs[s].axes;
          if (old_axes == new_axes) continue;
          touched.insert(touched.end(), old_axes.begin(), old_axes.end());
          touched.insert(touched.end(), new_axes.begin(), new_axes.end());
        }
      std::sort(touched.begin(), touched.end());
      touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
      add(ReshardKind::Permute, std::move(touched), -1, -1, std::move(after));
    };
    if (!alike.empty()) try_permute(alike);
    if (alike.size() > 1)
      for (std::size_t d : alike)
        try_permute({d});
  }

  const Layout& to_;
  const MeshShape& mesh_;
  std::vector<std::vector<std::vector<AxisId>>> wanted_;
  const Layout* from_ = nullptr;
  std::vector<ReshardStep> steps_;
};

struct Node {
  Layout layout;
  double cost = 0;
  int previous = -1;
  ReshardStep step;  ///< that led here
  bool settled = false;
};

std::vector<ReshardStep> path_to(const std::vector<Node>& nodes, int node) {
  std::vector<ReshardStep> steps;
  for (; nodes[static_cast<std::size_t>(node)].previous >= 0; node = nodes[static_cast<std::size_t>(node)].previous)
    steps.push_back(nodes[static_cast<std::size_t>(node)].step);
  std::reverse(steps.begin(), steps.end());
  return steps;
}

/// Reduces, gathers every dimension that differs, slices again: always possible.
std::vector<ReshardStep> gather_and_slice(const Layout& from, const Layout& to, const MeshShape& mesh) {
  std::vector<ReshardStep> steps;
  Layout now = from;
  StepGenerator generator(to, mesh);
  for (const ReshardKind kind : {ReshardKind::AllReduce, ReshardKind::AllGather, ReshardKind::Slice}) {
    while (true) {
      // The last step of a kind takes whole sub-dimensions, in which an uneven one is always possible.
      const std::vector<ReshardStep> possible = generator.steps(now);
      const ReshardStep* best = nullptr;
      for (const ReshardStep& step : possible)
        if (step.kind == kind && (best == nullptr || step.axes.size() > best->axes.size())) best = &step;
      if (best == nullptr) break;
      now = best->after;
      steps.push_back(*best);
    }
  }
  RHINO_ASSERT(now == to, "resharding {} to {} failed at {}", to_string(from, mesh), to_string(to, mesh),
               to_string(now, mesh));
  return steps;
}

}  // namespace

ReshardCost bytes_moved_cost(const MeshShape& mesh) {
  return [mesh](const ReshardStep& step, const ir::TensorType& type, const Layout& before) {
    constexpr double per_step = 256;
    const auto local_bytes = [&](const Layout& layout) {
      double bytes = static_cast<double>(ir::dtype_bytes(type.dtype));
      for (std::int64_t size : local_dims(layout, mesh))
        bytes *= static_cast<double>(size);
      return bytes;
    };
    const double n = static_cast<double>(mesh.group_size(step.axes));
    const double share = (n - 1) / n;
    switch (step.kind) {
      case ReshardKind::Slice:
        return 1.0;
      case ReshardKind::AllGather:
        return per_step + n * local_bytes(before) * share;
      case ReshardKind::AllReduce:
        return per_step + 2 * local_bytes(before) * share;
      case ReshardKind::ReduceScatter:
      case ReshardKind::AllToAll:
        return per_step + local_bytes(before) * share;
      case ReshardKind::Permute:
        return per_step + local_bytes(before);
    }
    return 0.0;
  };
}

std::vector<ReshardStep> plan_reshard(const ir::TensorType& type, const Layout& from, const Layout& to,
                                      const MeshShape& mesh, const ReshardCost& cost) {
  const Layout start = canonical(from, mesh), goal = canonical(to, mesh);
  RHINO_ASSERT(start.dims.size() == goal.dims.size());
  for (AxisId axis : goal.partial_axes)
    RHINO_ASSERT(contains(start.partial_axes, axis) && start.partial_kind == goal.partial_kind,
                 "a value in layout {} cannot become partial as in {}", to_string(from, mesh), to_string(to, mesh));
  if (start == goal) return {};
  std::vector<Node> nodes{{start, 0, -1, {}, false}};
  std::map<std::vector<std::int64_t>, int> known{{key_of(start), 0}};
  using Entry = std::pair<double, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  open.emplace(0.0, 0);
  StepGenerator generator(goal, mesh);
  for (int expansions = 0; !open.empty() && expansions < max_expansions;) {
    const int at = open.top().second;
    open.pop();
    if (nodes[static_cast<std::size_t>(at)].settled) continue;
    nodes[static_cast<std::size_t>(at)].settled = true;
    if (nodes[static_cast<std::size_t>(at)].layout == goal) return path_to(nodes, at);
    ++expansions;
    const Layout layout = nodes[static_cast<std::size_t>(at)].layout;
    const double so_far = nodes[static_cast<std::size_t>(at)].cost;
    for (ReshardStep& step : generator.steps(layout)) {
      const double total = so_far + cost(step, type, layout);
      const auto [entry, fresh] = known.emplace(key_of(step.after), static_cast<int>(nodes.size()));
      if (fresh)
        nodes.push_back({step.after, total, at, std::move(step), false});
      else if (Node& node = nodes[static_cast<std::size_t>(entry->second)]; total < node.cost)
        node = {step.after, total, at, std::move(step), false};
      else
        continue;
      open.emplace(total, entry->second);
    }
  }
  return gather_and_slice(start, goal, mesh);
}

}  // namespace rhino::shard
