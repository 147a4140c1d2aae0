// SPDX-License-Identifier: Apache-2.0
#include <random>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <rhino/base/error.hpp>
#include <rhino/ir/op_info.hpp>
#include <rhino/shard/reshard.hpp>

#include "lockstep.hpp"

namespace rhino::shard {
namespace {

using testing::Local;

std::string show(const std::vector<ReshardStep>& steps, const MeshShape& mesh) {
  static constexpr const char* names[] = {"slice",          "all_gather", "all_reduce",
                                          "reduce_scatter", "all_to_all", "permute"};
  std::string text;
  for (const ReshardStep& step : steps) {
    text += fmt::format("{}(", names[static_cast<int>(step.kind)]);
    for (AxisId axis : step.axes)
      text += mesh.axes()[static_cast<std::size_t>(axis)].name;
    text += fmt::format(" {}>{}) ", step.from_dim, step.to_dim);
  }
  return text;
}

/// Emits the steps, runs them on all devices, and returns the number of wrong elements.
std::int64_t run(const ir::TensorType& type, const Layout& from, const Layout& to,
                 const std::vector<ReshardStep>& steps, const MeshShape& mesh) {
  ir::Program program;
  program.main = program.add_function("main");
  ir::Builder builder(program, program.main);
  const ir::ValueId input = builder.param({type.dtype, local_dims(from, mesh)});
  const ir::ValueId device = builder.param({ir::DType::I64, {}});
  builder.set_results({emit_reshard(builder, input, type, from, steps, mesh, device)});
  ir::verify(program);
  std::vector<double> global(static_cast<std::size_t>(type.elements()));
  for (std::size_t i = 0; i < global.size(); ++i)
    global[i] = static_cast<double>(i + 1);
  std::vector<Local> locals;
  for (std::int64_t d = 0; d < mesh.devices(); ++d)
    locals.push_back(testing::scatter(global, type.dims, from, mesh, d));
  return testing::mismatches(testing::run_lockstep(program, locals), global, type.dims, to, mesh);
}

class ReshardTest : public ::testing::Test {
 protected:
  const MeshShape mesh{{{"x", 2}, {"y", 2}, {"z", 3}}};

  std::vector<ReshardStep> plan(const std::string& from, const std::string& to) {
    from_ = parse_layout(from, mesh);
    to_ = parse_layout(to, mesh);
    type_ = {ir::DType::F32, {}};
    for (const DimLayout& dim : from_.dims)
      type_.dims.push_back(dim.size());
    return plan_reshard(type_, from_, to_, mesh, bytes_moved_cost(mesh));
  }
  /// The chosen steps, after they were run and found right.
  std::string steps(const std::string& from, const std::string& to) {
    const auto found = plan(from, to);
    EXPECT_EQ(run(type_, from_, to_, found, mesh), 0) << from << " -> " << to << ": " << show(found, mesh);
    return show(found, mesh);
  }

  Layout from_, to_;
  ir::TensorType type_;
};

TEST_F(ReshardTest, CheapestSteps) {
  EXPECT_EQ(steps("[1200:x]", "[1200:x]"), "");
  EXPECT_EQ(steps("[1200:_]", "[1200:x]"), "slice(x -1>0) ");
  EXPECT_EQ(steps("[1200:x]", "[1200:_]"), "all_gather(x 0>-1) ");
  EXPECT_EQ(steps("[1200:x, 60:_]", "[1200:_, 60:x]"), "all_to_all(x 0>1) ");
  EXPECT_EQ(steps("[1200:_] partial(+,x)", "[1200:_]"), "all_reduce(x -1>-1) ");
  EXPECT_EQ(steps("[1200:_] partial(+,x)", "[1200:x]"), "reduce_scatter(x -1>0) ");
  EXPECT_EQ(steps("[1200:_] partial(max,x,y)", "[1200:y]"), "reduce_scatter(y -1>0) all_reduce(x -1>-1) ");
  EXPECT_EQ(steps("[1200:x]", "[1200:y]"), "permute(xy -1>-1) ");
  EXPECT_EQ(steps("[1200:x.y]", "[1200:y.x]"), "permute(xy -1>-1) ");
  EXPECT_EQ(steps("[1200:x, 60:y]", "[1200:y, 60:x]"), "permute(xy -1>-1) ");
  EXPECT_EQ(steps("[1200:x.y]", "[1200:x]"), "all_gather(y 0>-1) ");
  EXPECT_EQ(steps("[1200:x.y]", "[1200:_]"), "all_gather(xy 0>-1) ");
  EXPECT_EQ(steps("[1200:_, 60:_]", "[1200:x, 60:y]"), "slice(x -1>0) slice(y -1>1) ");
  EXPECT_EQ(steps("[1200:x]", "[4:_*300:x]"), "all_to_all(x 0>0) ");
  EXPECT_EQ(steps("[4:_*300:x]", "[1200:x]"), "all_to_all(x 0>0) ");
  EXPECT_EQ(steps("[1200:x]", "[3:_*400:x]"), "all_gather(x 0>-1) slice(x -1>0) ");  // no whole digit to trade
  EXPECT_EQ(steps("[3:_*400:x, 60:_]", "[1200:_, 60:x]"), "all_to_all(x 0>1) ");
  EXPECT_EQ(steps("[1200:_] partial(+,x,y)", "[1200:_] partial(+,y)"), "all_reduce(x -1>-1) ");
  EXPECT_EQ(steps("[] partial(min,x)", "[]"), "all_reduce(x -1>-1) ");
}

TEST_F(ReshardTest, UnevenBlocks) {
  EXPECT_EQ(steps("[1201:x]", "[1201:_]"), "all_gather(x 0>-1) ");
  EXPECT_EQ(steps("[1201:_]", "[1201:x.z]"), "slice(xz -1>0) ");
  EXPECT_EQ(steps("[1201:_] partial(+,z)", "[1201:z]"), "reduce_scatter(z -1>0) ");
  EXPECT_EQ(steps("[1201:x, 61:_]", "[1201:_, 61:x]"), "all_to_all(x 0>1) ");
  EXPECT_EQ(steps("[1:x, 5:_]", "[_, 5:x]"), "all_to_all(x 0>1) ");
  EXPECT_EQ(steps("[7:x*6:z]", "[7:y*6:z]"), "permute(xy -1>-1) ");
}

TEST_F(ReshardTest, RefusesToMakePartials) {
  EXPECT_THROW(plan("[4:_]", "[4:_] partial(+,x)"), InternalError);
  EXPECT_THROW(plan("[4:_] partial(max,x)", "[4:_] partial(+,x)"), InternalError);
}

/// A random layout of `dims`; `free` says which axes may still be used.
class RandomLayouts {
 public:
  explicit RandomLayouts(std::uint32_t seed) : random_(seed) {}

  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  MeshShape mesh() {
    std::vector<MeshAxis> axes;
    const std::int64_t rank = pick(1, 3);
    for (std::int64_t a = 0; a < rank; ++a)
      axes.push_back({std::string(1, "xyz"[a]), pick(1, rank == 3 ? 4 : 6)});
    return MeshShape(std::move(axes));
  }

  ir::Dims dims() {
    ir::Dims dims;
    static constexpr std::int64_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 18, 24, 30, 36};
    const std::int64_t rank = pick(1, 3);
    for (std::int64_t d = 0; d < rank; ++d)
      dims.push_back(sizes[pick(0, rank == 3 ? 9 : 14)]);
    return dims;
  }

  Layout layout(const ir::Dims& dims, const MeshShape& mesh) {
    Layout layout = Layout::replicated(dims);
    std::vector<AxisId> axes;
    for (AxisId a = 0; a < mesh.rank(); ++a)
      axes.push_back(a);
    std::shuffle(axes.begin(), axes.end(), random_);
    for (AxisId axis : axes) {
      const std::int64_t what = pick(0, static_cast<std::int64_t>(dims.size()));
      if (what == static_cast<std::int64_t>(dims.size())) continue;
      for (int attempt = 0; attempt < 6; ++attempt) {
        Layout changed = layout;
        DimLayout& dim = changed.dims[static_cast<std::size_t>(what)];
        if (dim.subs.empty()) dim.subs.push_back({1, {}});
        SubDim& sub = dim.subs[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(dim.subs.size()) - 1))];
        if (pick(0, 2) == 0) {  // cut it first
          const std::int64_t factor = pick(2, 4);
          if (sub.size % factor != 0 || !sub.axes.empty()) continue;
          sub.size /= factor;
          const SubDim minor{factor, pick(0, 1) == 0 ? std::vector<AxisId>{axis} : std::vector<AxisId>{}};
          if (minor.axes.empty()) sub.axes.push_back(axis);
          dim.subs.insert(dim.subs.begin() + (&sub - dim.subs.data()) + 1, minor);
        } else {
          sub.axes.insert(sub.axes.begin() + pick(0, static_cast<std::int64_t>(sub.axes.size())), axis);
        }
        try {
          check_layout(changed, dims, mesh, "random");
          layout = std::move(changed);
          break;
        } catch (const InputError&) {
        }
      }
    }
    return layout;
  }

  /// Makes a layout partial over some of the axes that it does not use.
  void make_partial(Layout& layout, const MeshShape& mesh) {
    for (AxisId a = 0; a < mesh.rank(); ++a) {
      bool used = false;
      for (const DimLayout& dim : layout.dims)
        for (const SubDim& sub : dim.subs)
          used |= std::find(sub.axes.begin(), sub.axes.end(), a) != sub.axes.end();
      if (!used && pick(0, 1) == 0) layout.partial_axes.push_back(a);
    }
    if (layout.is_partial()) layout.partial_kind = static_cast<PartialKind>(pick(0, 2));
  }

 private:
  std::mt19937 random_;
};

// Any layout to any other: each emitted sequence is run on all devices and every element compared.
TEST(ReshardProperty, RandomPairs) {
  RandomLayouts random(20261201);
  int collectives = 0;
  for (int i = 0; i < 3000; ++i) {
    const MeshShape mesh = random.mesh();
    const ir::TensorType type{ir::DType::F64, random.dims()};
    Layout from = random.layout(type.dims, mesh), to = random.layout(type.dims, mesh);
    if (random.pick(0, 2) == 0) random.make_partial(from, mesh);
    if (from.is_partial() && random.pick(0, 3) == 0) {
      // keep what the target leaves free
      for (AxisId axis : from.partial_axes) {
        bool used = false;
        for (const DimLayout& dim : to.dims)
          for (const SubDim& sub : dim.subs)
            used |= std::find(sub.axes.begin(), sub.axes.end(), axis) != sub.axes.end();
        if (!used) to.partial_axes.push_back(axis);
      }
      if (to.is_partial()) to.partial_kind = from.partial_kind;
    }
    const auto steps = plan_reshard(type, from, to, mesh, bytes_moved_cost(mesh));
    for (const ReshardStep& step : steps) {
      check_layout(step.after, type.dims, mesh, "step");
      collectives += step.kind != ReshardKind::Slice;
    }
    ASSERT_EQ(run(type, from, to, steps, mesh), 0) << ir::to_string(type) << " " << to_string(from, mesh) << " -> "
                                                   << to_string(to, mesh) << ": " << show(steps, mesh);
  }
  EXPECT_GT(collectives, 1000);
}

// No sequence may cost more than gathering everything and slicing again.
TEST(ReshardProperty, NeverDearerThanGatherAndSlice) {
  RandomLayouts random(99);
  for (int i = 0; i < 500; ++i) {
    const MeshShape mesh = random.mesh();
    const ir::TensorType type{ir::DType::F32, random.dims()};
    const Layout from = random.layout(type.dims, mesh), to = random.layout(type.dims, mesh),
                 whole = Layout::replicated(type.dims);
    const ReshardCost cost = bytes_moved_cost(mesh);
    const auto price = [&](const Layout& a, const Layout& b) {
      double sum = 0;
      Layout before = canonical(a, mesh);
      for (const ReshardStep& step : plan_reshard(type, a, b, mesh, cost)) {
        sum += cost(step, type, before);
        before = step.after;
      }
      return sum;
    };
    ASSERT_LE(price(from, to), price(from, whole) + price(whole, to) + 1e-9)
        << to_string(from, mesh) << " -> " << to_string(to, mesh);
  }
}

}  // namespace
}  // namespace rhino::shard
