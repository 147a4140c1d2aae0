// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <rhino/ad/gradient.hpp>
#include <rhino/ad/rules.hpp>

// call, case and sort: ops with regions that are no loops.

namespace rhino::ad {

using ir::Builder;
using ir::DType;
using ir::Function;
using ir::FunctionId;
using ir::OpKind;
using ir::TensorType;
using ir::ValueId;

namespace {

/// A function of the arguments of `region` and of the cotangents of its results `of` that gives the gradients of its
/// parameters `wanted`. The region is computed again in it.
FunctionId reverse_of(Rule& r, FunctionId region, const std::vector<std::size_t>& of,
                      const std::vector<std::size_t>& wanted) {
  ir::Program& program = r.program();
  const FunctionId id = program.add_function("reverse");
  const std::string name = program.function(id).name;
  program.function(id) = program.function(region);
  program.function(id).name = name;
  Builder b(program, id);
  std::vector<ValueId> outputs, cotangents, wrt;
  for (const std::size_t i : wanted)
    wrt.push_back(b.function().params[i]);
  for (const std::size_t i : of) {
    outputs.push_back(b.function().results[i]);
    cotangents.push_back(b.param(b.type(outputs.back())));
  }
  std::vector<ValueId> gradients = vjp(program, id, outputs, cotangents, wrt);
  b.set_results(std::move(gradients));
  return id;
}

/// The reverse of an op that runs one of its regions on its operands from `first` on.
void reverse_regions(Rule& r, std::size_t first) {
  std::vector<std::size_t> of, wanted;
  std::vector<ValueId> operands = r.op.operands;
  for (std::size_t i = 0; i < r.op.results.size(); ++i) {
    if (!r.cotangent(i).valid()) continue;
    of.push_back(i);
    operands.push_back(r.cotangent(i));
  }
  for (std::size_t i = first; i < r.operand_count(); ++i)
    if (r.needs(i)) wanted.push_back(i - first);
  std::vector<FunctionId> regions;
  for (const FunctionId region : r.op.regions)
    regions.push_back(reverse_of(r, region, of, wanted));
  const std::vector<ValueId> gradients =
      r.b.add_multi(r.op.kind, std::move(operands), ir::NoAttrs{}, std::move(regions));
  for (std::size_t k = 0; k < wanted.size(); ++k)
    r.add(first + wanted[k], gradients[k]);
}

}  // namespace

void rule_call(Rule& r) { reverse_regions(r, 0); }

void rule_case(Rule& r) { reverse_regions(r, 1); }

/// The sort is done again with the places beside; sorting by these brings the cotangents back.
void rule_sort(Rule& r) {
  const auto& attrs = r.op.as<ir::SortAttrs>();
  const TensorType places{DType::I32, r.type(r.operand(0)).dims};
  std::vector<ValueId> operands = r.op.operands;
  operands.push_back(r.b.iota(places, attrs.dimension));
  const FunctionId comparator = r.program().add_function("compare");
  const std::string name = r.program().function(comparator).name;
  r.program().function(comparator) = r.program().function(r.op.regions[0]);
  r.program().function(comparator).name = name;
  for (int side = 0; side < 2; ++side)
    r.program().function(comparator).add_param({DType::I32, {}});
  if (!attrs.is_stable && r.operand_count() > 1) r.refuse("a sort of several tensors must be stable to have a reverse");
  // Stable, so that the places of equal elements are those of this sort in both directions.
  const ValueId origin =
      r.b.add_multi(OpKind::Sort, std::move(operands), ir::SortAttrs{attrs.dimension, true}, {comparator}).back();

  std::vector<ValueId> back{origin};
  std::vector<std::size_t> wanted;
  const FunctionId less = r.program().add_function("less");
  Builder b(r.program(), less);
  const ValueId left = b.param({DType::I32, {}});
  const ValueId right = b.param({DType::I32, {}});
  for (std::size_t i = 0; i < r.operand_count(); ++i) {
    if (!r.needs(i) || !r.cotangent(i).valid()) continue;
    wanted.push_back(i);
    back.push_back(r.cotangent(i));
    for (int side = 0; side < 2; ++side)
      b.param({r.type(back.back()).dtype, {}});
  }
  b.set_results({b.compare(left, right, ir::Comparison::Lt)});
  const std::vector<ValueId> sorted =
      r.b.add_multi(OpKind::Sort, std::move(back), ir::SortAttrs{attrs.dimension, true}, {less});
  for (std::size_t k = 0; k < wanted.size(); ++k)
    r.add(wanted[k], sorted[k + 1]);
}

}  // namespace rhino::ad
