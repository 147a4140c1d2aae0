// SPDX-License-Identifier: Apache-2.0
// Ops that cut dimensions into others or move elements along them: reshape, slice, pad, concatenate.
#include <rhino/shard/factor_rules.hpp>

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace rhino::shard {

namespace {

/// Up to this many groups, a dimension that moves in groups of equal size is two factors: the groups and what is in
/// them. Above, it is one Halo factor, since a plain block split then seldom consists of whole groups.
constexpr std::int64_t max_groups = 8;

std::int64_t group_of(std::int64_t gcd, std::int64_t larger) { return gcd > 1 && larger / gcd <= max_groups ? gcd : 1; }

/// The dimensions of one side of a reshape that are not used up yet, most significant first.
struct Side {
  bool result;
  std::vector<int> dims;
  std::vector<std::int64_t> rest;                // of each dimension, what factors do not cover yet
  std::vector<std::vector<std::int64_t>> major;  // factor numbers from the front ..
  std::vector<std::vector<std::int64_t>> minor;  // .. and from the back (last one first)
};

/// Takes common digits off one end of both sides until the next digits are coprime.
void take_common(Side& a, Side& b, bool from_front, std::vector<std::int64_t>& factors) {
  const auto at_end = [&](Side& side) -> std::size_t {
    std::size_t i = from_front ? 0 : side.rest.size() - 1;
    while (i < side.rest.size() && side.rest[i] == 1)
      i += from_front ? 1 : static_cast<std::size_t>(-1);
    return i;
  };
  while (true) {
    const std::size_t i = at_end(a), k = at_end(b);
    if (i >= a.rest.size() || k >= b.rest.size()) return;
    const std::int64_t common = std::gcd(a.rest[i], b.rest[k]);
    if (common == 1) return;
    const auto number = static_cast<std::int64_t>(factors.size());
    factors.push_back(common);
    a.rest[i] /= common;
    b.rest[k] /= common;
    (from_front ? a.major : a.minor)[i].push_back(number);
    (from_front ? b.major : b.minor)[k].push_back(number);
    // Past this point the digits of both sides are aligned only if one of the two dimensions is used up.
    if (a.rest[i] != 1 && b.rest[k] != 1) return;
  }
}

}  // namespace

/// Common factors are found from both ends of every aligned group of dimensions; what remains in the middle, where the
/// digits of both sides interleave ([2,3] -> [3,2]), must stay whole.
void factors_reshape(FactorMapBuilder& map) {
  const ir::Dims& from = map.operand(0).dims;
  const ir::Dims& to = map.result(0).dims;
  if (std::count(from.begin(), from.end(), 0) > 0) return;
  std::size_t i = 0, k = 0;
  while (i < from.size() || k < to.size()) {
    Side a{false, {}, {}, {}, {}}, b{true, {}, {}, {}, {}};
    std::int64_t product_a = 1, product_b = 1;
    const auto take = [](Side& side, const ir::Dims& dims, std::size_t& at, std::int64_t& product) {
      product *= dims[at];
      side.dims.push_back(static_cast<int>(at));
      side.rest.push_back(dims[at++]);
    };
    do {
      if (i < from.size() && (product_a <= product_b || k == to.size()))
        take(a, from, i, product_a);
      else
        take(b, to, k, product_b);
    } while (product_a != product_b);
    for (Side* side : {&a, &b}) {
      side->major.resize(side->dims.size());
      side->minor.resize(side->dims.size());
    }
    std::vector<std::int64_t> common;
    take_common(a, b, true, common);
    take_common(a, b, false, common);
    // Factors must be added in the order of their digits in both sides; both sides agree on that order.
    std::vector<std::vector<Place>> places(common.size());
    struct Item {
      std::int64_t number;  // of a common factor; -1: what remains
      Place place;
    };
    const auto list = [&](const Side& side) {
      std::vector<Item> items;
      for (std::size_t d = 0; d < side.dims.size(); ++d) {
        const auto place = [&](std::int64_t size) {
          return side.result ? result_at(0, side.dims[d], size) : operand_at(0, side.dims[d], size);
        };
        for (std::int64_t number : side.major[d])
          items.push_back({number, place(common[static_cast<std::size_t>(number)])});
        if (side.rest[d] != 1) items.push_back({-1, place(side.rest[d])});
        for (auto number = side.minor[d].rbegin(); number != side.minor[d].rend(); ++number)
          items.push_back({*number, place(common[static_cast<std::size_t>(*number)])});
      }
      return items;
    };
    const std::vector<Item> items_a = list(a), items_b = list(b);
    for (const auto* items : {&items_a, &items_b})
      for (const Item& item : *items)
        if (item.number >= 0) places[static_cast<std::size_t>(item.number)].push_back(item.place);
    auto b_at = items_b.begin();
    const auto add_rest_of_b = [&] {
      for (; b_at != items_b.end() && b_at->number < 0; ++b_at)
        map.add(FactorKind::NoSplit, {b_at->place});
    };
    for (const Item& item : items_a) {
      if (item.number < 0) {
        map.add(FactorKind::NoSplit, {item.place});
        continue;
      }
      add_rest_of_b();
      map.parallel(places[static_cast<std::size_t>(item.number)]);
      ++b_at;
    }
    add_rest_of_b();
  }
}

void factors_concatenate(FactorMapBuilder& map) {
  const int along = map.op().as<ir::DimensionAttrs>().dimension;
  for (int d = 0; d < map.result(0).rank(); ++d) {
    if (d == along) continue;
    std::vector<Place> places{result_at(0, d)};
    for (int i = 0; i < map.operand_count(); ++i)
      places.push_back(operand_at(i, d));
    map.parallel(places);
  }
  const std::int64_t total = map.result_dim(0, along);
  std::int64_t gcd = total;
  for (int i = 0; i < map.operand_count(); ++i)
    gcd = std::gcd(gcd, map.operand_dim(i, along));
  const std::int64_t group = group_of(gcd, total);
  std::vector<Place> groups{result_at(0, along, total / group)}, within{result_at(0, along, group)};
  bool stacked = true;  // each operand is one group: then each device picks what it needs of whole operands
  for (int i = 0; i < map.operand_count(); ++i) {
    const std::int64_t size = map.operand_dim(i, along);
    if (size == 0) continue;
    groups.push_back(operand_at(i, along, size / group));
    within.push_back(operand_at(i, along, group));
    stacked = stacked && size == group;
  }
  if (stacked)
    map.add(FactorKind::Owned, {groups[0]});
  else
    map.add(FactorKind::Halo, groups);
  map.parallel(within);
}

void factors_slice(FactorMapBuilder& map) {
  const auto& attrs = map.op().as<ir::SliceAttrs>();
  for (int d = 0; d < map.result(0).rank(); ++d) {
    const auto at = static_cast<std::size_t>(d);
    const std::int64_t in = map.operand_dim(0, d), out = map.result_dim(0, d);
    const std::int64_t start = attrs.start[at], stride = attrs.stride.empty() ? 1 : attrs.stride[at];
    if (in == out) {
      map.parallel({result_at(0, d), operand_at(0, d)});
    } else if (out == 0) {
      continue;
    } else if (stride > 1 && out > 1 && in == out * stride && start < stride) {  // one of every `stride` elements
      map.parallel({result_at(0, d), operand_at(0, d, out)});
      map.add(FactorKind::NoSplit, {operand_at(0, d, stride)});
    } else {
      const std::int64_t group = stride == 1 ? group_of(std::gcd(std::gcd(in, start), out), in) : 1;
      if (out == group)
        map.masked(operand_at(0, d, in / group));
      else
        map.add(FactorKind::Halo, {result_at(0, d, out / group), operand_at(0, d, in / group)});
      map.parallel({result_at(0, d, group), operand_at(0, d, group)});
    }
  }
}

void factors_pad(FactorMapBuilder& map) {
  const auto& attrs = map.op().as<ir::PadAttrs>();
  for (int d = 0; d < map.result(0).rank(); ++d) {
    const auto at = static_cast<std::size_t>(d);
    const std::int64_t in = map.operand_dim(0, d), out = map.result_dim(0, d);
    const std::int64_t low = attrs.low[at], high = attrs.high[at];
    const std::int64_t stride = (attrs.interior.empty() ? 0 : attrs.interior[at]) + 1;
    if (low == 0 && high == 0 && (stride == 1 || in <= 1)) {
      map.parallel({result_at(0, d), operand_at(0, d)});
    } else if (in == 0 || out == 0) {
      continue;
    } else if (stride > 1 && in > 1 && out == in * stride && low >= 0 &&
               low < stride) {  // one of every `stride` elements
      map.parallel({result_at(0, d, in), operand_at(0, d)});
      map.add(FactorKind::NoSplit, {result_at(0, d, stride)});
    } else {
      const std::int64_t gcd = std::gcd(std::gcd(in, out), std::gcd(std::abs(low), std::abs(high)));
      const std::int64_t group = stride == 1 ? group_of(gcd, std::max(in, out)) : 1;
      if (in == group)
        map.add(FactorKind::Owned, {result_at(0, d, out / group)});
      else if (out == group)
        map.add(FactorKind::NoSplit, {operand_at(0, d, in / group)});
      else
        map.add(FactorKind::Halo, {result_at(0, d, out / group), operand_at(0, d, in / group)});
      map.parallel({result_at(0, d, group), operand_at(0, d, group)});
    }
  }
}

}  // namespace rhino::shard
