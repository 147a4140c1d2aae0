// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include <rhino/frontend/op_context.hpp>

namespace rhino::frontend {
namespace {

using ir::OpKind;

/// Rows of a rank-2 list of integers; -1 fills short groups.
ir::ReplicaGroups rows(OpContext& context, const AttributeValue& value) {
  ir::ReplicaGroups groups;
  if (value.kind == AttributeValue::Kind::List) {
    for (const AttributeValue& item : value.items)
      groups.push_back(context.integers_of(item));
  } else {
    if (value.kind != AttributeValue::Kind::Literal || value.literal.type().rank() != 2)
      context.fail("the groups must be a literal of two dimensions");
    const auto all = context.integers_of(value);
    const auto width = static_cast<std::size_t>(value.literal.type().dims[1]);
    for (std::size_t at = 0; width > 0 && at < all.size(); at += width)
      groups.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(at),
                          all.begin() + static_cast<std::ptrdiff_t>(at + width));
  }
  for (auto& group : groups)
    std::erase(group, -1);
  return groups;
}

void read_groups(OpContext& context, ir::CollectiveAttrs& attrs, std::string_view key) {
  const AttributeValue* value = context.find({key});
  ir::ReplicaGroups groups = value == nullptr ? ir::ReplicaGroups() : rows(context, *value);
  if (groups.empty()) return;  // all processes
  attrs.group_size = static_cast<std::int64_t>(groups[0].size());
  attrs.groups = std::make_shared<const ir::ReplicaGroups>(std::move(groups));
}

void read_channel(OpContext& context, ir::CollectiveAttrs& attrs) {
  const AttributeValue* channel = context.find({"channel_handle"});
  if (channel != nullptr && channel->kind == AttributeValue::Kind::Dict) {
    if (const AttributeValue* handle = find_attribute(channel->fields, "handle")) attrs.channel = handle->integer;
  } else {
    attrs.channel = context.integer_or({"channel_id"}, 0);
  }
}

/// all_reduce, all_gather, reduce_scatter: three ways of numbering.
void read_reduction_mode(OpContext& context, ir::CollectiveAttrs& attrs) {
  read_channel(context, attrs);
  const bool global = context.boolean_or({"use_global_device_ids"}, false);
  if (attrs.channel <= 0) {
    if (global) context.fail("use_global_device_ids needs a channel");
    attrs.mode = ir::GroupMode::CrossReplica;
  } else {
    attrs.mode = global ? ir::GroupMode::FlattenedIds : ir::GroupMode::CrossReplicaAndPartition;
  }
}

/// The other collectives: replicas, or partitions where there is a channel.
void read_exchange_mode(OpContext& context, ir::CollectiveAttrs& attrs) {
  read_channel(context, attrs);
  attrs.mode = attrs.channel <= 0 ? ir::GroupMode::CrossReplica : ir::GroupMode::CrossPartition;
}

/// Where there are no groups, the size of the one group follows from the types.
void group_size_from(OpContext& context, ir::CollectiveAttrs& attrs, std::int64_t large, std::int64_t small) {
  if (attrs.groups || small <= 0 || large % small != 0 || large == small) return;
  attrs.group_size = large / small;
  ir::ReplicaGroups all(1);
  if (attrs.group_size > (1 << 20)) context.fail("the group is too large");
  for (std::int64_t i = 0; i < attrs.group_size; ++i)
    all[0].push_back(i);
  attrs.groups = std::make_shared<const ir::ReplicaGroups>(std::move(all));
}

std::int64_t size_of(OpContext& context, const ir::TensorType& type, int dimension) {
  if (dimension < 0 || dimension >= type.rank()) context.fail(fmt::format("there is no dimension {}", dimension));
  return type.dims[static_cast<std::size_t>(dimension)];
}

std::vector<Bound> read_all_reduce(OpContext& context) {
  context.expect_regions(1);
  ir::CollectiveAttrs attrs;
  read_groups(context, attrs, "replica_groups");
  read_reduction_mode(context, attrs);
  const ir::FunctionId reducer = context.region_by_copy(0, "reducer");
  const auto values = context.values_widened(reducer, [](std::size_t) { return 0; });
  return results(context.builder.add_multi(OpKind::AllReduce, values, std::move(attrs), {reducer}));
}

std::vector<Bound> read_all_gather(OpContext& context) {
  ir::CollectiveAttrs attrs;
  attrs.dimension = static_cast<int>(context.integer({"all_gather_dim"}));
  read_groups(context, attrs, "replica_groups");
  read_reduction_mode(context, attrs);
  group_size_from(context, attrs, size_of(context, context.result_type(), attrs.dimension),
                  size_of(context, context.operand_type(0), attrs.dimension));
  return results(context.builder.add_multi(OpKind::AllGather, context.values(), std::move(attrs)));
}

std::vector<Bound> read_reduce_scatter(OpContext& context) {
  context.expect_operands(1);
  context.expect_regions(1);
  ir::CollectiveAttrs attrs;
  attrs.dimension = static_cast<int>(context.integer({"scatter_dimension"}));
  read_groups(context, attrs, "replica_groups");
  read_reduction_mode(context, attrs);
  group_size_from(context, attrs, size_of(context, context.operand_type(0), attrs.dimension),
                  size_of(context, context.result_type(), attrs.dimension));
  const ir::FunctionId reducer = context.region_by_copy(0, "reducer");
  const auto values = context.values_widened(reducer, [](std::size_t) { return 0; });
  return results(context.builder.add_multi(OpKind::ReduceScatter, values, std::move(attrs), {reducer}));
}

std::vector<Bound> read_all_to_all(OpContext& context) {
  ir::CollectiveAttrs attrs;
  attrs.dimension = static_cast<int>(context.integer({"split_dimension"}));
  attrs.concat_dimension = static_cast<int>(context.integer({"concat_dimension"}));
  const std::int64_t count = context.integer_or({"split_count"}, 0);
  read_groups(context, attrs, "replica_groups");
  if (!attrs.groups) group_size_from(context, attrs, count, 1);
  if (count != 0 && count != attrs.group_size) context.fail("split_count is not the size of the groups");
  read_exchange_mode(context, attrs);
  return results(context.builder.add_multi(OpKind::AllToAll, context.values(), std::move(attrs)));
}

std::vector<Bound> read_collective_broadcast(OpContext& context) {
  ir::CollectiveAttrs attrs;
  read_groups(context, attrs, "replica_groups");
  read_exchange_mode(context, attrs);
  return results(context.builder.add_multi(OpKind::CollectiveBroadcast, context.values(), std::move(attrs)));
}

std::vector<Bound> read_collective_permute(OpContext& context) {
  ir::CollectiveAttrs attrs;
  read_groups(context, attrs, "source_target_pairs");
  read_exchange_mode(context, attrs);
  return results(context.builder.add_multi(OpKind::CollectivePermute, context.values(), std::move(attrs)));
}

std::vector<Bound> read_partition_id(OpContext& context) {
  return results(context.builder.add(OpKind::PartitionId, context.values()));
}

std::vector<Bound> read_replica_id(OpContext& context) {
  return results(context.builder.add(OpKind::ReplicaId, context.values()));
}

std::vector<Bound> refuse_side_effects(OpContext& context) {
  context.unsupported("communication with the host or between programs is not supported",
                      "remove prints, callbacks, infeed and send/recv from the step");
}

}  // namespace

void add_collective_readers(OpReaders& readers) {
  readers["all_reduce"] = readers["cross-replica-sum"] = read_all_reduce;
  readers["all_gather"] = read_all_gather;
  readers["reduce_scatter"] = read_reduce_scatter;
  readers["all_to_all"] = read_all_to_all;
  readers["collective_broadcast"] = read_collective_broadcast;
  readers["collective_permute"] = read_collective_permute;
  readers["partition_id"] = read_partition_id;
  readers["replica_id"] = read_replica_id;
  for (const std::string_view name : {"send", "recv", "infeed", "outfeed", "after_all", "create_token"})
    readers[name] = refuse_side_effects;
}

}  // namespace rhino::frontend
