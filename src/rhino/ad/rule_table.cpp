// SPDX-License-Identifier: Apache-2.0
#include <rhino/ad/gradient.hpp>
#include <rhino/ad/rules.hpp>

namespace rhino::ad {
namespace {

struct Row {
  Differentiability differentiability;
  RuleFunction rule;
};

// A switch without default: a kind without a row, or with two, does not compile.
constexpr Row row_of(ir::OpKind kind) {
  switch (kind) {
#define AD_RULE(Kind, function) \
  case ir::OpKind::Kind:        \
    return {Differentiability::Rule, function};
#define AD_ZERO(Kind)    \
  case ir::OpKind::Kind: \
    return {Differentiability::Zero, nullptr};
#define AD_REFUSED(Kind) \
  case ir::OpKind::Kind: \
    return {Differentiability::Refused, nullptr};
#include <rhino/ad/rules.def>
#undef AD_RULE
#undef AD_ZERO
#undef AD_REFUSED
  }
  return {Differentiability::Refused, nullptr};
}

}  // namespace

Differentiability differentiability(ir::OpKind kind) { return row_of(kind).differentiability; }

RuleFunction rule_of(ir::OpKind kind) { return row_of(kind).rule; }

}  // namespace rhino::ad
