// SPDX-License-Identifier: Apache-2.0
#include <rhino/runtime/evaluator.hpp>

#include <cstring>

#include <rhino/base/error.hpp>

namespace rhino::runtime {

Evaluator::Evaluator(Executor& evaluation, const ir::Signature& signature, Executor& training,
                     const ir::Signature& training_signature, const io::DataSet& data)
    : evaluation_(evaluation), training_(training), data_(data), feed_(evaluation, signature, data) {
  const std::vector<lower::StateSlot>& slots = evaluation.program().state;
  const std::vector<lower::StateSlot>& trained = training.program().state;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const std::string& path = signature.params[slots[i].param].path;
    std::size_t source = 0;
    while (source < trained.size() && training_signature.params[trained[source].param].path != path) ++source;
    RHINO_CHECK(source < trained.size(), "the evaluation step reads state {}, which the training step does not have", path);
    RHINO_ASSERT(trained[source].layout == slots[i].layout, "state {} lies elsewhere in the evaluation", path);
    state_.emplace_back(i, source);
  }
}

void Evaluator::copy_state() {
  for (const auto& [slot, source] : state_) {
    const lower::BufferId to = evaluation_.program().state[slot].current;
    const lower::BufferId from = training_.program().state[source].current;
    const auto bytes = static_cast<std::size_t>(evaluation_.program().buffers[to.index()].type.bytes());
    std::memcpy(evaluation_.address(to), training_.address(from), bytes);
  }
}

Scalars Evaluator::evaluate(std::int64_t batches) {
  if (batches == 0) batches = data_.batches_per_epoch();
  RHINO_ASSERT(batches <= data_.batches_per_epoch());
  Scalars sum;
  std::int64_t position = 0;
  for (std::int64_t b = 0; b < batches; ++b) {
    copy_state();  // each batch sees the training's state, whatever the step returns as new state
    const std::int64_t start = data_.batch_start(position);
    feed_.fill(start);
    evaluation_.run_step();
    position = start + data_.batch_size();
    const Scalars scalars = feed_.scalars();
    sum.loss += scalars.loss;
    if (sum.metrics.empty()) {
      for (const auto& [name, value] : scalars.metrics) sum.metrics.emplace_back(name, 0.0);
    }
    for (std::size_t m = 0; m < scalars.metrics.size(); ++m) sum.metrics[m].second += scalars.metrics[m].second;
  }
  sum.loss /= static_cast<double>(batches);
  for (auto& [name, value] : sum.metrics) value /= static_cast<double>(batches);
  return sum;
}

}  // namespace rhino::runtime
