// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <rhino/runtime/feed.hpp>

namespace rhino::runtime {

/// What one step gave.
struct StepReport {
  std::int64_t step = 0;      ///< from 1
  double loss = 0;            ///< NaN if the program has no loss
  double seconds = 0;         ///< wall time of this step on this rank, data included
  std::vector<std::pair<std::string, double>> metrics;  ///< scalars by name, the loss left out
};

/// Feeds batches to an executor and reads its results. Program, signature and data must outlive it.
class Trainer {
 public:
  Trainer(Executor& executor, const ir::Signature& signature, const io::DataSet& data);

  /// Trains one step on the batch of the stream's position, then moves the position on. Collective.
  StepReport step();

  std::int64_t steps_done() const { return steps_done_; }
  /// Place in the stream of examples where the next batch is looked for (io::DataSet).
  std::int64_t position() const { return position_; }
  void resume(std::int64_t steps_done, std::int64_t position) {
    steps_done_ = steps_done;
    position_ = position;
  }

 private:
  Executor& executor_;
  const io::DataSet& data_;
  Feed feed_;
  std::int64_t steps_done_ = 0;
  std::int64_t position_ = 0;
};

}  // namespace rhino::runtime
