// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include <rhino/base/error.hpp>
#include <rhino/shard/layout.hpp>

namespace rhino::shard {
namespace {

using Table = std::vector<std::vector<std::int64_t>>;

/// What a layout means: the global index of every local element on every device.
Table table_of(const DimLayout& dim, const MeshShape& mesh) {
  Table table;
  for (std::int64_t device = 0; device < mesh.devices(); ++device) {
    table.emplace_back();
    for (std::int64_t local = 0; local < local_size(dim, mesh); ++local)
      table.back().push_back(global_index(dim, mesh, device, local));
  }
  return table;
}

/// Every valid layout of a dimension of `size` with at most `max_subs` sub-dimensions (also those with redundant
/// parts).
std::vector<DimLayout> all_layouts(std::int64_t size, int max_subs, const MeshShape& mesh) {
  std::vector<DimLayout> found;
  std::vector<std::vector<AxisId>> orders;  // every ordered choice of axes
  const std::function<void(std::vector<AxisId>)> extend = [&](std::vector<AxisId> axes) {
    orders.push_back(axes);
    for (AxisId a = 0; a < mesh.rank(); ++a)
      if (std::find(axes.begin(), axes.end(), a) == axes.end()) {
        axes.push_back(a);
        extend(axes);
        axes.pop_back();
      }
  };
  extend({});
  std::vector<SubDim> subs;
  const std::function<void(std::int64_t)> place = [&](std::int64_t rest) {
    if (rest == 1) {
      const DimLayout dim{subs};
      try {
        Layout layout;
        layout.dims = {dim};
        check_layout(layout, {size}, mesh, "generated");
        found.push_back(dim);
      } catch (const InputError&) {
      }
    }
    if (static_cast<int>(subs.size()) == max_subs) return;
    for (std::int64_t s = 1; s <= rest; ++s) {
      if (rest % s != 0) continue;
      for (const auto& axes : orders) {
        subs.push_back({s, axes});
        place(rest / s);
        subs.pop_back();
      }
    }
  };
  place(size);
  return found;
}

std::vector<std::int64_t> boundaries(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> weights;
  std::int64_t weight = 1;
  for (auto s = sizes.rbegin(); s != sizes.rend(); ++s)
    weights.push_back(weight *= *s);
  return weights;
}

bool has_boundaries(const DimLayout& dim, const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> own;
  for (const SubDim& sub : dim.subs)
    own.push_back(sub.size);
  const auto have = boundaries(own);
  for (std::int64_t wanted : boundaries(sizes))
    if (wanted != 1 && std::find(have.begin(), have.end(), wanted) == have.end()) return false;
  return true;
}

std::string show(const DimLayout& dim, const MeshShape& mesh) {
  Layout layout;
  layout.dims = {dim};
  return to_string(layout, mesh);
}

const MeshShape mesh_xyz({{"x", 2}, {"y", 3}, {"z", 4}});

TEST(MeshShape, NumbersDevicesRowMajor) {
  EXPECT_EQ(mesh_xyz.devices(), 24);
  EXPECT_EQ(mesh_xyz.coordinate(23, 0), 1);
  EXPECT_EQ(mesh_xyz.coordinate(13, 0), 1);
  EXPECT_EQ(mesh_xyz.coordinate(13, 1), 0);
  EXPECT_EQ(mesh_xyz.coordinate(13, 2), 1);
  EXPECT_EQ(mesh_xyz.group_index(23, {2, 0}), 7);
  EXPECT_EQ(mesh_xyz.find("y"), 1);
  EXPECT_EQ(mesh_xyz.find("w"), -1);
}

TEST(MeshShape, GroupsPartitionTheDevicesInGroupOrder) {
  const auto groups = mesh_xyz.groups({2, 0});
  ASSERT_EQ(groups.size(), 3u);
  std::vector<bool> seen(24, false);
  for (const auto& group : groups) {
    ASSERT_EQ(group.size(), 8u);
    for (std::size_t i = 0; i < group.size(); ++i) {
      EXPECT_EQ(mesh_xyz.group_index(group[i], {2, 0}), static_cast<std::int64_t>(i));
      EXPECT_EQ(mesh_xyz.coordinate(group[i], 1), mesh_xyz.coordinate(group[0], 1));
      seen[static_cast<std::size_t>(group[i])] = true;
    }
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 24);
  EXPECT_EQ(mesh_xyz.groups({}).size(), 24u);
}

TEST(MeshShape, RefusesBadAxes) {
  EXPECT_THROW(MeshShape({{"x", 0}}), InputError);
  EXPECT_THROW(MeshShape({{"x", 2}, {"x", 3}}), InputError);
  EXPECT_THROW(MeshShape({{"", 2}}), InputError);
  EXPECT_THROW(MeshShape({{"x", std::int64_t{1} << 62}, {"y", 8}}), InputError);
}

TEST(Layout, BlockAndStridedSplit) {
  EXPECT_EQ(table_of({{{12, {0}}}}, mesh_xyz)[0], (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(table_of({{{12, {0}}}}, mesh_xyz)[12], (std::vector<std::int64_t>{6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(table_of({{{3, {}}, {4, {0}}}}, mesh_xyz)[0], (std::vector<std::int64_t>{0, 1, 4, 5, 8, 9}));
  EXPECT_EQ(table_of({{{3, {}}, {4, {0}}}}, mesh_xyz)[12], (std::vector<std::int64_t>{2, 3, 6, 7, 10, 11}));
}

TEST(Layout, UnevenBlocksEndInPadding) {
  const DimLayout dim{{{5, {2}}}};
  EXPECT_EQ(local_size(dim, mesh_xyz), 2);
  EXPECT_TRUE(is_uneven(dim, mesh_xyz));
  const Table table = table_of(dim, mesh_xyz);
  EXPECT_EQ(table[2], (std::vector<std::int64_t>{4, -1}));
  EXPECT_EQ(table[3], (std::vector<std::int64_t>{-1, -1}));
}

TEST(Layout, EmptyDimension) {
  const DimLayout dim{{{0, {0}}}};
  EXPECT_EQ(local_size(dim, mesh_xyz), 0);
  EXPECT_EQ(canonical(dim, mesh_xyz), (DimLayout{{{0, {}}}}));
  EXPECT_EQ(local_dims(Layout::replicated({0, 3}), mesh_xyz), (ir::Dims{0, 3}));
}

TEST(Layout, Constructors) {
  const Layout split = Layout::split({4, 6, 1}, 1, {0, 1});
  EXPECT_EQ(to_string(split, mesh_xyz), "[4:_, 6:x.y, _]");
  EXPECT_EQ(local_dims(split, mesh_xyz), (ir::Dims{4, 1, 1}));
  EXPECT_FALSE(split.is_replicated());
  EXPECT_TRUE(Layout::replicated({4, 6, 1}).is_replicated());
  EXPECT_EQ(Layout::split({4}, 0, {}), Layout::replicated({4}));
  EXPECT_THROW(Layout::split({4}, 1, {0}), InputError);
}

TEST(Layout, CheckRefusesWhatDoesNotFit) {
  const auto refused = [](const std::string& text, ir::Dims dims) {
    try {
      check_layout(parse_layout(text, mesh_xyz), dims, mesh_xyz, "t");
    } catch (const InputError&) {
      return true;
    }
    return false;
  };
  EXPECT_TRUE(refused("[12:x, 3:_*4:x]", {12, 12}));  // twice
  EXPECT_TRUE(refused("[3:_*5:x]", {15}));            // inner uneven
  EXPECT_FALSE(refused("[5:x*3:_]", {15}));           // outer uneven
  EXPECT_TRUE(refused("[5:x]", {6}));                 // size
  EXPECT_TRUE(refused("[6:x]", {6, 1}));              // rank
  EXPECT_TRUE(refused("[6:x] partial(+,x)", {6}));    // twice
  EXPECT_TRUE(refused("[6:_] partial(+,y,x)", {6}));  // order
  EXPECT_FALSE(refused("[6:_] partial(max,x,y)", {6}));
  Layout layout = Layout::split({4}, 0, {7});
  EXPECT_THROW(check_layout(layout, {4}, mesh_xyz, "t"), InputError);
}

TEST(Layout, CanonicalOfPartials) {
  Layout layout = Layout::replicated({4});
  layout.partial_axes = {1};
  layout.partial_kind = PartialKind::Max;
  const MeshShape mesh({{"x", 2}, {"y", 1}});
  EXPECT_EQ(canonical(layout, mesh), Layout::replicated({4}));
}

TEST(Layout, CanonicalExamples) {
  const auto canon = [](const char* text) {
    return to_string(canonical(parse_layout(text, mesh_xyz), mesh_xyz), mesh_xyz);
  };
  EXPECT_EQ(canon("[4:x*3:_]"), "[12:x]");
  EXPECT_EQ(canon("[2:x*6:y]"), "[12:x.y]");
  EXPECT_EQ(canon("[3:_*4:_]"), "[12:_]");
  EXPECT_EQ(canon("[3:_*4:x]"), "[3:_*4:x]");
  EXPECT_EQ(canon("[5:x*3:_]"), "[5:x*3:_]");  // blocks of 9, not of 8
  EXPECT_EQ(canon("[1:_]"), "[_]");
  EXPECT_EQ(canon("[1:y.x]"), "[1:x.y]");  // only the first device has it, in any order
}

// Brute force over every layout of small dimensions: equal meaning iff equal canonical form.
class CanonicalBruteForce : public ::testing::TestWithParam<std::vector<MeshAxis>> {};

TEST_P(CanonicalBruteForce, EqualIffSameTable) {
  const MeshShape mesh(GetParam());
  for (std::int64_t size : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 18, 30}) {
    std::map<Table, DimLayout> by_table;
    std::map<std::string, Table> by_form;
    for (const DimLayout& dim : all_layouts(size, mesh.rank() > 1 && size > 12 ? 3 : mesh.rank() > 2 ? 3 : 4, mesh)) {
      const Table table = table_of(dim, mesh);
      const DimLayout form = canonical(dim, mesh);
      ASSERT_EQ(table_of(form, mesh), table) << show(dim, mesh) << " became " << show(form, mesh);
      ASSERT_EQ(canonical(form, mesh), form) << show(form, mesh);
      const auto [same_table, fresh] = by_table.emplace(table, form);
      ASSERT_EQ(same_table->second, form) << show(dim, mesh) << ": " << show(form, mesh) << " and "
                                          << show(same_table->second, mesh) << " mean the same";
      const auto [same_form, fresh_form] = by_form.emplace(show(form, mesh), table);
      ASSERT_EQ(same_form->second, table) << show(form, mesh);
    }
    EXPECT_GT(by_table.size(), 0u);
  }
}

// refine() finds a form with the wanted boundaries whenever the brute-force list contains one of the same meaning.
TEST_P(CanonicalBruteForce, RefineIsCompleteAndKeepsTheMeaning) {
  const MeshShape mesh(GetParam());
  const std::vector<std::vector<std::int64_t>> factorisations = {
      {12},    {2, 6}, {3, 4},  {6, 2},  {2, 3, 2}, {4, 3}, {2, 2, 3}, {1, 12, 1}, {2, 15},
      {3, 10}, {5, 6}, {15, 2}, {10, 3}, {2, 3, 5}, {2, 9}, {9, 2},    {3, 3, 2}};
  for (const auto& sizes : factorisations) {
    std::int64_t total = 1;
    for (std::int64_t s : sizes)
      total *= s;
    const auto layouts = all_layouts(total, mesh.rank() > 2 ? 2 : mesh.rank() > 1 && total > 12 ? 3 : 4, mesh);
    std::map<Table, bool> possible;
    for (const DimLayout& dim : layouts)
      possible[table_of(dim, mesh)] |= has_boundaries(dim, sizes);
    for (const DimLayout& dim : layouts) {
      if (dim.subs.size() > 3) continue;
      DimLayout refined = dim;
      const bool ok = refine(refined, sizes, mesh);
      ASSERT_TRUE(ok || !possible[table_of(dim, mesh)]) << show(dim, mesh) << " by " << ::testing::PrintToString(sizes);
      if (ok) {
        ASSERT_TRUE(has_boundaries(refined, sizes)) << show(dim, mesh) << " became " << show(refined, mesh);
        ASSERT_EQ(table_of(refined, mesh), table_of(dim, mesh)) << show(dim, mesh) << " became " << show(refined, mesh);
      } else {
        ASSERT_EQ(refined, dim);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Meshes, CanonicalBruteForce,
                         ::testing::Values(std::vector<MeshAxis>{{"x", 2}}, std::vector<MeshAxis>{{"x", 3}},
                                           std::vector<MeshAxis>{{"x", 5}}, std::vector<MeshAxis>{{"x", 7}},
                                           std::vector<MeshAxis>{{"x", 2}, {"y", 2}},
                                           std::vector<MeshAxis>{{"x", 2}, {"y", 3}},
                                           std::vector<MeshAxis>{{"x", 4}, {"y", 1}},
                                           std::vector<MeshAxis>{{"x", 2}, {"y", 2}, {"z", 3}}));

TEST(LayoutText, RoundTripsRandomLayouts) {
  std::mt19937 random(7);
  for (std::int64_t size : {1, 6, 12, 5}) {
    const auto layouts = all_layouts(size, 3, MeshShape({{"x", 2}, {"_y", 3}}));
    const MeshShape mesh({{"x", 2}, {"_y", 3}, {"z", 2}, {"w", 4}});
    for (const DimLayout& dim : layouts) {
      Layout layout;
      layout.dims = {dim, DimLayout{}, DimLayout{{{7, {}}}}};
      if (random() % 2 != 0) {
        layout.partial_axes = random() % 2 != 0 ? std::vector<AxisId>{2} : std::vector<AxisId>{2, 3};
        layout.partial_kind = static_cast<PartialKind>(random() % 5);
      }
      const std::string text = to_string(layout, mesh);
      EXPECT_EQ(parse_layout(text, mesh), layout) << text;
    }
  }
  EXPECT_EQ(to_string(Layout{}, mesh_xyz), "[]");
  EXPECT_EQ(parse_layout(" [ ] ", mesh_xyz), Layout{});
}

TEST(LayoutText, BadTextIsAnError) {
  for (const char* text :
       {"", "[", "[12:x", "[12:w]", "[12]", "[:x]", "[-3:x]", "[12:x,]", "[12:x] partial", "[12:x] partial(+)",
        "[12:x] partial(plus,y)", "[12:x]]", "[12:x.]", "[12:x.x]", "[99999999999999999999:x]", "[3:_*5:x]",
        "[9223372036854775807:_*9223372036854775807:_]", "[12:x] partial(+,x)"})
    EXPECT_THROW(parse_layout(text, mesh_xyz), InputError) << text;
}

}  // namespace
}  // namespace rhino::shard
