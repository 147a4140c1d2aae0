// SPDX-License-Identifier: Apache-2.0
#include <rhino/runtime/feed.hpp>

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

Feed::Feed(Executor& executor, const ir::Signature& signature, const io::DataSet& data)
    : executor_(executor), signature_(signature), data_(data) {
  for (const lower::BatchSlot& slot : executor.program().batch) {
    const std::string& path = signature.params[slot.param].path;
    std::size_t field = 0;
    while (field < data.fields().size() && data.fields()[field].path != path) ++field;
    RHINO_ASSERT(field < data.fields().size(), "the data set has no field {}", path);
    field_of_slot_.push_back(field);
  }
}

void Feed::fill(std::int64_t start) {
  const lower::RankProgram& program = executor_.program();
  for (std::size_t i = 0; i < program.batch.size(); ++i) {
    const lower::BatchSlot& slot = program.batch[i];
    const auto bytes = static_cast<std::size_t>(program.buffers[slot.buffer.index()].type.bytes());
    data_.read_batch(field_of_slot_[i], start, slot.layout, program.mesh, program.rank, {executor_.address(slot.buffer), bytes});
  }
}

Scalars Feed::scalars() const {
  Scalars scalars;
  scalars.loss = std::numeric_limits<double>::quiet_NaN();
  const lower::RankProgram& program = executor_.program();
  for (const lower::ResultSlot& slot : program.results) {
    const ir::TensorType& type = program.buffers[slot.buffer.index()].type;
    if (type.elements() != 1) continue;
    const double value = read_scalar(type, executor_.address(slot.buffer));
    const ir::ResultInfo& info = signature_.results[slot.result];
    if (info.role == ir::ResultRole::Loss) {
      scalars.loss = value;
    } else {
      scalars.metrics.emplace_back(info.path, value);
    }
  }
  return scalars;
}

}  // namespace rhino::runtime
