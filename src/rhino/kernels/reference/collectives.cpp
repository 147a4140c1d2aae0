// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <rhino/base/error.hpp>
#include <rhino/kernels/reference/op_context.hpp>
#include <rhino/kernels/reference/reducers.hpp>
#include <rhino/kernels/reference/region.hpp>
#include <rhino/kernels/reference/strided.hpp>

namespace rhino::kernels::reference {
namespace {

/// What the members of this process's group gave; without peers the process is alone.
Exchanged exchange(const OpContext& context, const Tensor& mine) {
  if (context.options.peers != nullptr) return context.options.peers->exchange(context.op, mine);
  RHINO_CHECK(context.attrs<ir::CollectiveAttrs>().group_size <= 1,
              "{}: a group of {} processes, but the program runs on one", describe(context.op),
              context.attrs<ir::CollectiveAttrs>().group_size);
  return {{std::make_shared<Tensor>(mine)}, 0};
}

Exchanged exchange_in_group(const OpContext& context, const Tensor& mine) {
  Exchanged exchanged = exchange(context, mine);
  RHINO_CHECK(!exchanged.parts.empty(), "{}: this process is in none of the groups", describe(context.op));
  return exchanged;
}

/// Applies the reducer of the op to the parts, first to last.
Tensor reduce_parts(const OpContext& context, const Exchanged& exchanged, ir::DType dtype) {
  Tensor storage;
  const Tensor& first = with_dtype(*exchanged.parts[0], dtype, storage);
  Tensor result = first;
  const ir::FunctionId reducer = context.op.regions[0];
  const auto kind = ir::classify_reducer(context.program.function(reducer));
  const std::int64_t count = result.type.elements();
  for (std::size_t p = 1; p < exchanged.parts.size(); ++p) {
    Tensor part_storage;
    const Tensor& part = with_dtype(*exchanged.parts[p], dtype, part_storage);
    RHINO_CHECK(part.type == result.type, "{}: members of one group give {} and {}", describe(context.op),
                ir::to_string(result.type), ir::to_string(part.type));
    const bool direct = dispatch_reducer(kind, dtype, [&]<class Operation, class T>() {
      T* out = result.as<T>().data();
      const T* in = part.as<T>().data();
      for (std::int64_t i = 0; i < count; ++i)
        out[i] = Operation::template apply<T>(out[i], in[i]);
    });
    if (direct) continue;
    ScalarRegion region(context.program, reducer, context.options);
    const std::byte* const arguments[] = {result.bytes.data(), part.bytes.data()};
    std::byte* const outputs[] = {result.bytes.data()};
    region.apply(arguments, outputs, count);
  }
  return result;
}

/// Part `index` of `count` equal parts of a tensor along a dimension, as a tensor of `type`.
Tensor slice_part(const Tensor& tensor, std::size_t dimension, std::size_t index, ir::TensorType type) {
  Tensor part(std::move(type));
  const ir::Dims strides = ir::row_major_strides(tensor.type.dims);
  const std::size_t width = ir::dtype_bytes(tensor.type.dtype);
  const auto first = static_cast<std::size_t>(part.type.dims[dimension] * strides[dimension]) * index;
  strided_copy(part.type.dims, tensor.bytes.data() + first * width, strides, part.bytes.data(),
               ir::row_major_strides(part.type.dims), width);
  return part;
}

/// Puts the parts side by side along a dimension.
Tensor concatenate(const std::vector<const Tensor*>& parts, std::size_t dimension, const ir::TensorType& type) {
  Tensor result(type);
  const ir::Dims strides = ir::row_major_strides(type.dims);
  const std::size_t width = ir::dtype_bytes(type.dtype);
  std::int64_t position = 0;
  for (const Tensor* part : parts) {
    strided_copy(part->type.dims, part->bytes.data(), ir::row_major_strides(part->type.dims),
                 result.bytes.data() + static_cast<std::size_t>(position * strides[dimension]) * width, strides, width);
    position += part->type.dims[dimension];
  }
  RHINO_ASSERT(position == type.dims[dimension]);
  return result;
}

void check_group_size(const OpContext& context, const Exchanged& exchanged) {
  const auto expected = context.attrs<ir::CollectiveAttrs>().group_size;
  RHINO_CHECK(static_cast<std::int64_t>(exchanged.parts.size()) == expected,
              "{}: the result is for groups of {} processes, this group has {}", describe(context.op), expected,
              exchanged.parts.size());
}

}  // namespace

std::vector<Tensor> run_all_reduce(const OpContext& context) {
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < context.operands.size(); ++i)
    results.push_back(
        reduce_parts(context, exchange_in_group(context, context.operand(i)), context.result_type(i).dtype));
  return results;
}

std::vector<Tensor> run_all_gather(const OpContext& context) {
  const auto dimension = static_cast<std::size_t>(context.attrs<ir::CollectiveAttrs>().dimension);
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < context.operands.size(); ++i) {
    const Exchanged exchanged = exchange_in_group(context, context.operand(i));
    check_group_size(context, exchanged);
    std::vector<const Tensor*> parts;
    for (const auto& part : exchanged.parts)
      parts.push_back(part.get());
    results.push_back(concatenate(parts, dimension, context.result_type(i)));
  }
  return results;
}

std::vector<Tensor> run_reduce_scatter(const OpContext& context) {
  const auto dimension = static_cast<std::size_t>(context.attrs<ir::CollectiveAttrs>().dimension);
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < context.operands.size(); ++i) {
    const Exchanged exchanged = exchange_in_group(context, context.operand(i));
    check_group_size(context, exchanged);
    const Tensor sum = reduce_parts(context, exchanged, context.result_type(i).dtype);
    results.push_back(slice_part(sum, dimension, exchanged.position, context.result_type(i)));
  }
  return results;
}

std::vector<Tensor> run_all_to_all(const OpContext& context) {
  const auto& attrs = context.attrs<ir::CollectiveAttrs>();
  const auto split = static_cast<std::size_t>(attrs.dimension),
             concat = static_cast<std::size_t>(attrs.concat_dimension);
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < context.operands.size(); ++i) {
    const Exchanged exchanged = exchange_in_group(context, context.operand(i));
    check_group_size(context, exchanged);
    ir::TensorType part_type = context.operand(i).type;
    part_type.dims[split] /= static_cast<std::int64_t>(exchanged.parts.size());
    std::vector<Tensor> mine;
    mine.reserve(exchanged.parts.size());
    for (const auto& part : exchanged.parts)
      mine.push_back(slice_part(*part, split, exchanged.position, part_type));
    std::vector<const Tensor*> pointers;
    for (const Tensor& tensor : mine)
      pointers.push_back(&tensor);
    results.push_back(concatenate(pointers, concat, context.result_type(i)));
  }
  return results;
}

std::vector<Tensor> run_collective_broadcast(const OpContext& context) {
  // The first member of a group sends; who is in no group gets zeros.
  const Exchanged exchanged = exchange(context, context.operand(0));
  return one_result(exchanged.parts.empty() ? Tensor(context.result_type()) : *exchanged.parts[0]);
}

std::vector<Tensor> run_collective_permute(const OpContext& context) {
  std::shared_ptr<const Tensor> received;
  if (context.options.peers != nullptr) {
    received = context.options.peers->permute(context.op, context.operand(0));
  } else {
    for (const auto& pair : *context.attrs<ir::CollectiveAttrs>().groups) {
      RHINO_CHECK(pair.size() == 2 && pair[0] == 0 && pair[1] == 0,
                  "{}: the program runs on one process, but the op sends to another", describe(context.op));
      received = std::make_shared<Tensor>(context.operand(0));
    }
  }
  return one_result(received ? *received : Tensor(context.result_type()));
}

std::vector<Tensor> run_device_id(const OpContext& context) {
  Tensor result(context.result_type());
  const Peers* peers = context.options.peers;
  std::int64_t id = 0;
  if (peers != nullptr) id = context.op.kind == ir::OpKind::PartitionId ? peers->partition_id() : peers->replica_id();
  dispatch_dtype(result.type.dtype,
                 [&]<class T>(std::type_identity<T>) { result.as<T>()[0] = convert_element<T, std::int64_t>(id); });
  return one_result(std::move(result));
}

}  // namespace rhino::kernels::reference
