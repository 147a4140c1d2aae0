// SPDX-License-Identifier: Apache-2.0
#include <rhino/runtime/trainer.hpp>

#include <chrono>

namespace rhino::runtime {

Trainer::Trainer(Executor& executor, const ir::Signature& signature, const io::DataSet& data)
    : executor_(executor), data_(data), feed_(executor, signature, data) {}

StepReport Trainer::step() {
  const auto begin = std::chrono::steady_clock::now();
  const std::int64_t start = data_.batch_start(position_);
  feed_.fill(start);
  executor_.run_step();
  Scalars scalars = feed_.scalars();
  executor_.advance();
  position_ = start + data_.batch_size();
  StepReport report;
  report.step = ++steps_done_;
  report.loss = scalars.loss;
  report.metrics = std::move(scalars.metrics);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

}  // namespace rhino::runtime
