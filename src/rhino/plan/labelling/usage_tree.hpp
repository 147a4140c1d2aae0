// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace rhino::plan::labelling {

/// A sum per point of time that changes by ranges, and its greatest value: a segment tree.
class UsageTree {
 public:
  explicit UsageTree(const std::vector<std::int64_t>& start) : size_(static_cast<int>(start.size())) {
    greatest_.assign(2 * std::max(size_, 1), 0);
    added_.assign(std::max(size_, 1), 0);
    for (int t = 0; t < size_; ++t) greatest_[size_ + t] = start[t];
    for (int p = size_ - 1; p > 0; --p) greatest_[p] = std::max(greatest_[2 * p], greatest_[2 * p + 1]);
  }

  /// Adds to the points [lower, upper).
  void add(int lower, int upper, std::int64_t change) {
    if (lower >= upper || change == 0) return;
    const int first = lower + size_, last = upper + size_ - 1;
    for (int l = first, r = last + 1; l < r; l >>= 1, r >>= 1) {
      if (l & 1) apply(l++, change);
      if (r & 1) apply(--r, change);
    }
    rebuild(first);
    rebuild(last);
  }

  /// The greatest sum; 0 where there is no point of time.
  std::int64_t greatest() const { return size_ == 0 ? 0 : greatest_[1]; }

  /// A point of time with the greatest sum.
  int greatest_time() const {
    int p = 1;
    while (p < size_) p = 2 * p + (greatest_[2 * p] >= greatest_[2 * p + 1] ? 0 : 1);
    return p - size_;
  }

 private:
  void apply(int p, std::int64_t change) {
    greatest_[p] += change;
    if (p < size_) added_[p] += change;
  }
  void rebuild(int p) {
    while (p > 1) {
      p >>= 1;
      greatest_[p] = std::max(greatest_[2 * p], greatest_[2 * p + 1]) + added_[p];
    }
  }

  int size_;
  std::vector<std::int64_t> greatest_, added_;
};

}  // namespace rhino::plan::labelling
