// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>

#include <rhino/base/hash.hpp>
#include <rhino/ir/passes.hpp>
#include <rhino/ir/rewrite.hpp>

namespace rhino::ir {
namespace {

/// Collects numbers and hashes them.
class Digest {
 public:
  void add(std::uint64_t number) { state_ = (state_ ^ number) * 0x9e3779b97f4a7c15u, state_ ^= state_ >> 29; }
  void add(const Dims& list) {
    add(list.size());
    for (const std::int64_t entry : list)
      add(static_cast<std::uint64_t>(entry));
  }
  void add(const std::vector<int>& list) {
    add(list.size());
    for (const int entry : list)
      add(static_cast<std::uint64_t>(entry));
  }
  void add(const TensorType& type) {
    add(static_cast<std::uint64_t>(type.dtype));
    add(type.dims);
  }
  void add(const std::vector<WindowDim>& window) {
    for (const WindowDim& w : window)
      add(Dims{w.size, w.stride, w.pad_low, w.pad_high, w.base_dilation, w.window_dilation});
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0x243f6a8885a308d3u;
};

/// Equal literals hash equal whichever way they are stored.
std::uint64_t constant_hash(const Literal& literal) {
  const auto bytes = literal.stored_bytes();
  if (literal.is_splat() || bytes.empty()) return hash64(bytes);
  const auto first = bytes.first(dtype_bytes(literal.type().dtype));
  if (literal == Literal(literal.type(), {first.begin(), first.end()}, true)) return hash64(first);
  return hash64(bytes);
}

/// Equal attributes give equal digests; the attributes that often tell ops of equal operands apart take part.
struct AttributeDigest {
  Digest& digest;

  template <class Attrs>
  void operator()(const Attrs&) const {}
  void operator()(const ConstantAttrs& a) const {
    digest.add(a.value.type());
    digest.add(constant_hash(a.value));
  }
  void operator()(const ConvertAttrs& a) const { digest.add(static_cast<std::uint64_t>(a.dtype)); }
  void operator()(const CompareAttrs& a) const {
    digest.add(static_cast<std::uint64_t>(a.direction) * 8 + static_cast<std::uint64_t>(a.type));
  }
  void operator()(const IotaAttrs& a) const { digest.add(static_cast<std::uint64_t>(a.dimension)); }
  void operator()(const BroadcastInDimAttrs& a) const { digest.add(a.dimensions); }
  void operator()(const DimensionsAttrs& a) const { digest.add(a.dimensions); }
  void operator()(const DimensionAttrs& a) const { digest.add(static_cast<std::uint64_t>(a.dimension)); }
  void operator()(const SliceAttrs& a) const {
    digest.add(a.start);
    digest.add(a.limit);
    digest.add(a.stride);
  }
  void operator()(const PadAttrs& a) const {
    digest.add(a.low);
    digest.add(a.high);
    digest.add(a.interior);
  }
  void operator()(const DotGeneralAttrs& a) const {
    digest.add(a.lhs_batch);
    digest.add(a.rhs_batch);
    digest.add(a.lhs_contracting);
    digest.add(a.rhs_contracting);
  }
  void operator()(const ReduceAttrs& a) const { digest.add(a.dimensions); }
  void operator()(const ReduceWindowAttrs& a) const { digest.add(a.window); }
  void operator()(const GatherAttrs& a) const { digest.add(a.start_index_map); }
  void operator()(const CollectiveAttrs& a) const {
    digest.add(static_cast<std::uint64_t>(a.group_size));
    digest.add(static_cast<std::uint64_t>(a.dimension));
  }
};

/// Ops that may be merged with an equal one.
bool is_mergeable(const Op& op, const std::vector<bool>& effects) {
  return op.kind != OpKind::OptimizationBarrier && op.kind != OpKind::CustomCall && !op.results.empty() &&
         !has_effects(op, effects);
}

/// Numbers functions such that functions of equal content have equal numbers, callees first.
class FunctionClasses {
 public:
  explicit FunctionClasses(const Program& program) : program_(program), class_(program.functions.size()) {
    for (const std::size_t f : callees_first(program))
      classify(f);
  }
  std::size_t of(FunctionId id) const { return class_[id.index()]; }

 private:
  void classify(std::size_t f) {
    const Function& function = program_.functions[f];
    Digest digest;
    for (const ValueId param : function.params)
      digest.add(function.type(param));
    for (const Op& op : function.ops) {
      digest.add(static_cast<std::uint64_t>(op.kind));
      std::visit(AttributeDigest{digest}, op.attrs);
      for (const FunctionId region : op.regions)
        digest.add(of(region));
    }
    auto& bucket = buckets_[digest.value()];
    for (const std::size_t other : bucket) {
      if (!same(function, program_.functions[other])) continue;
      class_[f] = class_[other];
      return;
    }
    bucket.push_back(f);
    class_[f] = f;
  }

  bool same(const Function& a, const Function& b) const {
    if (a.params.size() != b.params.size() || a.ops.size() != b.ops.size() || a.results.size() != b.results.size())
      return false;
    std::vector<ValueId> image(a.values.size());
    const auto bind = [&](ValueId va, ValueId vb) {
      image[va.index()] = vb;
      return a.type(va) == b.type(vb);
    };
    const auto is_image = [&](ValueId va, ValueId vb) { return image[va.index()] == vb; };
    for (std::size_t i = 0; i < a.params.size(); ++i)
      if (!bind(a.params[i], b.params[i])) return false;
    for (std::size_t i = 0; i < a.ops.size(); ++i) {
      const Op& oa = a.ops[i];
      const Op& ob = b.ops[i];
      if (oa.kind != ob.kind || oa.operands.size() != ob.operands.size() || oa.results.size() != ob.results.size() ||
          oa.regions.size() != ob.regions.size() || oa.attrs != ob.attrs)
        return false;
      for (std::size_t j = 0; j < oa.regions.size(); ++j)
        if (of(oa.regions[j]) != of(ob.regions[j])) return false;
      for (std::size_t j = 0; j < oa.operands.size(); ++j)
        if (!is_image(oa.operands[j], ob.operands[j])) return false;
      for (std::size_t j = 0; j < oa.results.size(); ++j)
        if (!bind(oa.results[j], ob.results[j])) return false;
    }
    for (std::size_t i = 0; i < a.results.size(); ++i)
      if (!is_image(a.results[i], b.results[i])) return false;
    return true;
  }

  const Program& program_;
  std::vector<std::size_t> class_;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> buckets_;
};

void merge_ops(Function& function, const FunctionClasses& classes, const std::vector<bool>& effects) {
  Function old = std::move(function);
  Rewriter rewriter(old);
  Function& made = rewriter.result();
  std::unordered_multimap<std::uint64_t, std::size_t> seen;  // digest -> op of the new function
  seen.reserve(old.ops.size());
  const auto equal = [&](const Op& op, const std::vector<ValueId>& operands, const Op& other) {
    if (op.kind != other.kind || operands != other.operands || op.attrs != other.attrs ||
        op.results.size() != other.results.size() || op.regions.size() != other.regions.size())
      return false;
    for (std::size_t i = 0; i < op.regions.size(); ++i)
      if (classes.of(op.regions[i]) != classes.of(other.regions[i])) return false;
    return true;
  };
  for (Op& op : old.ops) {
    if (!is_mergeable(op, effects)) {
      rewriter.copy(op);
      continue;
    }
    const std::vector<ValueId> operands = rewriter.mapped(op.operands);
    Digest digest;
    digest.add(static_cast<std::uint64_t>(op.kind));
    for (const ValueId operand : operands)
      digest.add(operand.index());
    digest.add(old.type(op.results[0]));
    std::visit(AttributeDigest{digest}, op.attrs);
    const auto [begin, end] = seen.equal_range(digest.value());
    bool merged = false;
    for (auto at = begin; at != end && !merged; ++at) {
      const Op& other = made.ops[at->second];
      if (!equal(op, operands, other)) continue;
      for (std::size_t i = 0; i < op.results.size(); ++i)
        rewriter.replace(op.results[i], other.results[i]);
      merged = true;
    }
    if (merged) continue;
    seen.emplace(digest.value(), made.ops.size());
    rewriter.copy(op);
  }
  function = rewriter.finish();
}

}  // namespace

void eliminate_common_subexpressions(Program& program) {
  const std::vector<bool> effects = functions_with_effects(program);
  const FunctionClasses classes(program);
  for (Function& function : program.functions)
    merge_ops(function, classes, effects);
}

}  // namespace rhino::ir
