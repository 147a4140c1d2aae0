// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <rhino/runtime/feed.hpp>

namespace rhino::runtime {

/// Runs an evaluation step on the state of a training executor. The evaluation has an arena of its own and changes nothing
/// of the training; its program must read every state parameter in the layout that the training program keeps it in
/// (plan::evaluation_sharding). Everything given must outlive it.
class Evaluator {
 public:
  /// Throws InputError if the training has no state of a path that the evaluation reads.
  Evaluator(Executor& evaluation, const ir::Signature& signature, Executor& training, const ir::Signature& training_signature,
            const io::DataSet& data);

  /// Loss and metrics on the current state, as means over `batches` batches from the start of the data (0: over one whole
  /// epoch, which is also the most; the examples that do not fill a last batch are left out). Collective.
  Scalars evaluate(std::int64_t batches);

 private:
  void copy_state();

  Executor& evaluation_;
  Executor& training_;
  const io::DataSet& data_;
  Feed feed_;
  std::vector<std::pair<std::size_t, std::size_t>> state_;  ///< state slot of the evaluation, of the training
};

}  // namespace rhino::runtime
