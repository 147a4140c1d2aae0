// SPDX-License-Identifier: Apache-2.0
#include <rhino/runtime/trainer.hpp>

#include <chrono>
#include <limits>

#include <rhino/base/error.hpp>
#include <rhino/io/elements.hpp>

namespace rhino::runtime {

double read_scalar(const ir::TensorType& type, const std::byte* from) {
  double value = 0;
  const std::span<std::byte> out(reinterpret_cast<std::byte*>(&value), sizeof(value));
  io::convert_elements(type.dtype, {from, ir::dtype_bytes(type.dtype)}, ir::DType::F64, out);
  return value;
}

Trainer::Trainer(Executor& executor, const ir::Signature& signature, const io::DataSet& data)
    : executor_(executor), signature_(signature), data_(data) {
  for (const lower::BatchSlot& slot : executor.program().batch) {
    const std::string& path = signature.params[slot.param].path;
    std::size_t field = 0;
    while (field < data.fields().size() && data.fields()[field].path != path) ++field;
    RHINO_ASSERT(field < data.fields().size(), "the data set has no field {}", path);
    field_of_slot_.push_back(field);
  }
}

StepReport Trainer::step() {
  const auto begin = std::chrono::steady_clock::now();
  const lower::RankProgram& program = executor_.program();
  const std::int64_t start = data_.batch_start(position_);
  for (std::size_t i = 0; i < program.batch.size(); ++i) {
    const lower::BatchSlot& slot = program.batch[i];
    const auto bytes = static_cast<std::size_t>(program.buffers[slot.buffer.index()].type.bytes());
    data_.read_batch(field_of_slot_[i], start, slot.layout, program.mesh, program.rank, {executor_.address(slot.buffer), bytes});
  }
  executor_.run_step();
  StepReport report;
  report.loss = std::numeric_limits<double>::quiet_NaN();
  for (const lower::ResultSlot& slot : program.results) {
    const ir::TensorType& type = program.buffers[slot.buffer.index()].type;
    if (type.elements() != 1) continue;
    const double value = read_scalar(type, executor_.address(slot.buffer));
    const ir::ResultInfo& info = signature_.results[slot.result];
    if (info.role == ir::ResultRole::Loss) {
      report.loss = value;
    } else {
      report.metrics.emplace_back(info.path, value);
    }
  }
  executor_.advance();
  position_ = start + data_.batch_size();
  report.step = ++steps_done_;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

}  // namespace rhino::runtime
