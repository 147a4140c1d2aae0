// SPDX-License-Identifier: Apache-2.0
#include "lockstep.hpp"

#include <algorithm>
#include <functional>

#include <rhino/base/error.hpp>

namespace rhino::shard::testing {

namespace {

std::int64_t elements(const ir::Dims& dims) {
  std::int64_t n = 1;
  for (std::int64_t size : dims)
    n *= size;
  return n;
}

/// Calls `visit(index vector, linear)` for every element.
void for_each(const ir::Dims& dims, const std::function<void(const ir::Dims&, std::size_t)>& visit) {
  ir::Dims index(dims.size(), 0);
  for (std::int64_t e = 0; e < elements(dims); ++e) {
    std::int64_t rest = e;
    for (std::size_t d = dims.size(); d-- > 0;) {
      index[d] = rest % dims[d];
      rest /= dims[d];
    }
    visit(index, static_cast<std::size_t>(e));
  }
}

std::size_t linear(const ir::Dims& index, const ir::Dims& dims) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < dims.size(); ++d)
    at = at * dims[d] + index[d];
  return static_cast<std::size_t>(at);
}

/// Global linear index of a local element, or -1 for padding.
std::int64_t global_of(const ir::Dims& local, const ir::Dims& dims, const Layout& layout, const MeshShape& mesh,
                       std::int64_t device) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const std::int64_t i = global_index(layout.dims[d], mesh, device, local[d]);
    if (i < 0) return -1;
    at = at * dims[d] + i;
  }
  return at;
}

double combine(PartialKind kind, double a, double b) {
  switch (kind) {
    case PartialKind::Sum:
      return a + b;
    case PartialKind::Max:
      return std::max(a, b);
    case PartialKind::Min:
      return std::min(a, b);
    default:
      RHINO_FAIL(InternalError, "not used on doubles");
  }
}

}  // namespace

Local scatter(const std::vector<double>& global, const ir::Dims& dims, const Layout& layout, const MeshShape& mesh,
              std::int64_t device) {
  Local local{local_dims(layout, mesh), {}};
  local.data.assign(static_cast<std::size_t>(elements(local.dims)), padding_value);
  const std::int64_t share = mesh.group_index(device, layout.partial_axes);
  const std::int64_t n = mesh.group_size(layout.partial_axes);
  for_each(local.dims, [&](const ir::Dims& index, std::size_t e) {
    const std::int64_t g = global_of(index, dims, layout, mesh, device);
    if (g < 0) return;
    const double value = global[static_cast<std::size_t>(g)];
    const bool mine = (g % n) == share;                                  // one device has the extremum, the others less
    const double noise = static_cast<double>(share * 16 - (n - 1) * 8);  // sums to zero over the group
    switch (layout.partial_kind) {
      case PartialKind::Max:
        local.data[e] = value - (mine ? 0 : 3);
        break;
      case PartialKind::Min:
        local.data[e] = value + (mine ? 0 : 3);
        break;
      default:
        local.data[e] = n == 1 ? value : (mine ? value : 0) + noise;
        break;
    }
  });
  return local;
}

std::int64_t mismatches(const std::vector<Local>& locals, const std::vector<double>& global, const ir::Dims& dims,
                        const Layout& layout, const MeshShape& mesh) {
  std::int64_t wrong = 0;
  for (const auto& group : mesh.groups(layout.partial_axes)) {
    for (std::int64_t device : group) {
      const Local& first = locals[static_cast<std::size_t>(device)];
      if (first.dims != local_dims(layout, mesh)) return elements(dims) + 1;
      for_each(first.dims, [&](const ir::Dims& index, std::size_t e) {
        const std::int64_t g = global_of(index, dims, layout, mesh, device);
        if (g < 0) return;
        double value = locals[static_cast<std::size_t>(group[0])].data[e];
        for (std::size_t m = 1; m < group.size(); ++m)
          value = combine(layout.partial_kind, value, locals[static_cast<std::size_t>(group[m])].data[e]);
        if (value != global[static_cast<std::size_t>(g)]) ++wrong;
      });
    }
  }
  return wrong;
}

std::vector<Local> run_lockstep(const ir::Program& program, std::vector<Local> inputs) {
  const ir::Function& f = program.entry();
  const std::size_t devices = inputs.size();
  std::vector<std::vector<Local>> values(f.values.size(), std::vector<Local>(devices));
  values[f.params[0].index()] = std::move(inputs);
  for (std::size_t p = 0; p < devices; ++p)
    values[f.params[1].index()][p] = {{}, {static_cast<double>(p)}};
  for (const ir::Op& op : f.ops) {
    const ir::Dims& out = f.type(op.results[0]).dims;
    auto& result = values[op.results[0].index()];
    const auto in = [&](std::size_t i, std::size_t p) -> const Local& { return values[op.operands[i].index()][p]; };
    const auto fill = [&](std::size_t p, auto&& element) {
      result[p].dims = out;
      result[p].data.resize(static_cast<std::size_t>(elements(out)));
      for_each(out, [&](const ir::Dims& index, std::size_t e) { result[p].data[e] = element(index, e); });
    };
    /// Calls visit(group, member) for each device of each group.
    const auto each_member = [&](auto&& visit) {
      std::vector<bool> seen(devices, false);
      for (const auto& group : *op.as<ir::CollectiveAttrs>().groups) {
        RHINO_ASSERT(static_cast<std::int64_t>(group.size()) == op.as<ir::CollectiveAttrs>().group_size);
        for (std::size_t m = 0; m < group.size(); ++m) {
          RHINO_ASSERT(!seen[static_cast<std::size_t>(group[m])]);
          seen[static_cast<std::size_t>(group[m])] = true;
          visit(group, m, static_cast<std::size_t>(group[m]));
        }
      }
    };
    const auto reduced = [&](const std::vector<std::int64_t>& group, std::size_t e) {
      PartialKind kind = PartialKind::Sum;
      switch (ir::classify_reducer(program.function(op.regions[0]))) {
        case ir::ReducerKind::Add:
          break;
        case ir::ReducerKind::Maximum:
          kind = PartialKind::Max;
          break;
        case ir::ReducerKind::Minimum:
          kind = PartialKind::Min;
          break;
        default:
          RHINO_FAIL(InternalError, "unexpected reducer");
      }
      double value = in(0, static_cast<std::size_t>(group[0])).data[e];
      for (std::size_t m = 1; m < group.size(); ++m)
        value = combine(kind, value, in(0, static_cast<std::size_t>(group[m])).data[e]);
      return value;
    };
    for (std::size_t p = 0; p < devices; ++p) {
      switch (op.kind) {
        case ir::OpKind::Constant:
          fill(p, [&](const ir::Dims&, std::size_t) { return op.as<ir::ConstantAttrs>().value.element_as_double(0); });
          break;
        case ir::OpKind::Reshape:
          result[p] = {out, in(0, p).data};
          break;
        case ir::OpKind::Slice:
        case ir::OpKind::DynamicSlice:
          fill(p, [&](ir::Dims index, std::size_t) {
            for (std::size_t d = 0; d < index.size(); ++d)
              index[d] += op.kind == ir::OpKind::Slice ? op.as<ir::SliceAttrs>().start[d]
                                                       : static_cast<std::int64_t>(in(d + 1, p).data[0]);
            return in(0, p).data[linear(index, in(0, p).dims)];
          });
          break;
        case ir::OpKind::Pad:
          fill(p, [&](const ir::Dims& index, std::size_t) {
            for (std::size_t d = 0; d < index.size(); ++d)
              if (index[d] >= in(0, p).dims[d]) return in(1, p).data[0];
            return in(0, p).data[linear(index, in(0, p).dims)];
          });
          break;
        case ir::OpKind::Add:
          result[p] = {{}, {in(0, p).data[0] + in(1, p).data[0]}};
          break;
        case ir::OpKind::Multiply:
          result[p] = {{}, {in(0, p).data[0] * in(1, p).data[0]}};
          break;
        case ir::OpKind::Divide:
          result[p] = {{},
                       {static_cast<double>(static_cast<std::int64_t>(in(0, p).data[0]) /
                                            static_cast<std::int64_t>(in(1, p).data[0]))}};
          break;
        case ir::OpKind::Remainder:
          result[p] = {{},
                       {static_cast<double>(static_cast<std::int64_t>(in(0, p).data[0]) %
                                            static_cast<std::int64_t>(in(1, p).data[0]))}};
          break;
        default:
          break;
      }
    }
    if (op.kind == ir::OpKind::AllGather) {
      const auto d = static_cast<std::size_t>(op.as<ir::CollectiveAttrs>().dimension);
      each_member([&](const auto& group, std::size_t, std::size_t p) {
        fill(p, [&](ir::Dims index, std::size_t) {
          const std::int64_t block = in(0, p).dims[d];
          const auto source = static_cast<std::size_t>(group[static_cast<std::size_t>(index[d] / block)]);
          index[d] %= block;
          return in(0, source).data[linear(index, in(0, source).dims)];
        });
      });
    } else if (op.kind == ir::OpKind::AllReduce) {
      each_member([&](const auto& group, std::size_t, std::size_t p) {
        fill(p, [&](const ir::Dims&, std::size_t e) { return reduced(group, e); });
      });
    } else if (op.kind == ir::OpKind::ReduceScatter) {
      const auto d = static_cast<std::size_t>(op.as<ir::CollectiveAttrs>().dimension);
      each_member([&](const auto& group, std::size_t m, std::size_t p) {
        fill(p, [&](ir::Dims index, std::size_t) {
          index[d] += static_cast<std::int64_t>(m) * out[d];
          return reduced(group, linear(index, in(0, p).dims));
        });
      });
    } else if (op.kind == ir::OpKind::AllToAll) {
      const auto s = static_cast<std::size_t>(op.as<ir::CollectiveAttrs>().dimension);
      const auto c = static_cast<std::size_t>(op.as<ir::CollectiveAttrs>().concat_dimension);
      each_member([&](const auto& group, std::size_t m, std::size_t p) {
        fill(p, [&](ir::Dims index, std::size_t) {
          const std::int64_t block = in(0, p).dims[c];
          const auto source = static_cast<std::size_t>(group[static_cast<std::size_t>(index[c] / block)]);
          index[c] %= block;
          index[s] += static_cast<std::int64_t>(m) * out[s];
          return in(0, source).data[linear(index, in(0, source).dims)];
        });
      });
    } else if (op.kind == ir::OpKind::CollectivePermute) {
      std::vector<bool> sent(devices, false);
      for (const auto& pair : *op.as<ir::CollectiveAttrs>().groups) {
        RHINO_ASSERT(!sent[static_cast<std::size_t>(pair[0])]);
        sent[static_cast<std::size_t>(pair[0])] = true;
        result[static_cast<std::size_t>(pair[1])] = in(0, static_cast<std::size_t>(pair[0]));
      }
    }
    for (const Local& local : result)
      RHINO_ASSERT(local.dims == out, "{} was not run", ir::op_name(op.kind));
  }
  return values[f.results[0].index()];
}

}  // namespace rhino::shard::testing
