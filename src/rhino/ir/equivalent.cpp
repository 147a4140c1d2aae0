// SPDX-License-Identifier: Apache-2.0
#include <unordered_set>

#include <rhino/ir/program.hpp>

namespace rhino::ir {
namespace {

/// Compares functions pairwise; pairs that regions lead to are queued, each once.
class Comparer {
 public:
  Comparer(const Program& a, const Program& b) : a_(a), b_(b) {}

  bool run() {
    if (a_.main.valid() != b_.main.valid()) return false;
    if (!a_.main.valid()) return true;
    enqueue(a_.main, b_.main);
    for (std::size_t next = 0; next < queue_.size(); ++next) {
      const auto [fa, fb] = queue_[next];
      if (!same_function(a_.function(fa), b_.function(fb))) return false;
    }
    return true;
  }

 private:
  void enqueue(FunctionId fa, FunctionId fb) {
    const std::uint64_t key = (static_cast<std::uint64_t>(fa.index()) << 32) | fb.index();
    if (seen_.insert(key).second) queue_.emplace_back(fa, fb);
  }

  bool same_function(const Function& fa, const Function& fb) {
    if (fa.params.size() != fb.params.size() || fa.results.size() != fb.results.size() ||
        fa.ops.size() != fb.ops.size())
      return false;
    std::vector<ValueId> image(fa.values.size());
    const auto bind = [&](ValueId va, ValueId vb) {
      image[va.index()] = vb;
      return fa.type(va) == fb.type(vb);
    };
    for (std::size_t i = 0; i < fa.params.size(); ++i)
      if (!bind(fa.params[i], fb.params[i])) return false;
    for (std::size_t i = 0; i < fa.ops.size(); ++i) {
      const Op& oa = fa.ops[i];
      const Op& ob = fb.ops[i];
      if (oa.kind != ob.kind || oa.operands.size() != ob.operands.size() || oa.results.size() != ob.results.size() ||
          oa.regions.size() != ob.regions.size() || oa.attrs != ob.attrs)
        return false;
      for (std::size_t j = 0; j < oa.operands.size(); ++j)
        if (image[oa.operands[j].index()] != ob.operands[j]) return false;
      for (std::size_t j = 0; j < oa.results.size(); ++j)
        if (!bind(oa.results[j], ob.results[j])) return false;
      for (std::size_t j = 0; j < oa.regions.size(); ++j)
        enqueue(oa.regions[j], ob.regions[j]);
    }
    for (std::size_t i = 0; i < fa.results.size(); ++i)
      if (image[fa.results[i].index()] != fb.results[i]) return false;
    return true;
  }

  const Program& a_;
  const Program& b_;
  std::vector<std::pair<FunctionId, FunctionId>> queue_;
  std::unordered_set<std::uint64_t> seen_;
};

}  // namespace

bool equivalent(const Program& a, const Program& b) { return Comparer(a, b).run(); }

}  // namespace rhino::ir
