// SPDX-License-Identifier: Apache-2.0
#include <rhino/io/plan_file.hpp>

#include <array>
#include <cstring>
#include <unordered_map>

#include <rhino/base/error.hpp>
#include <rhino/base/hash.hpp>
#include <rhino/io/hdf5.hpp>

namespace rhino::io {

namespace {

using plan::Plan;
using Numbers = std::vector<std::int64_t>;

constexpr std::string_view format_name = "rhino-plan";
constexpr std::array<std::string_view, 5> schedule_names = {"none", "gpipe", "1f1b", "interleaved", "token-level"};

// ---------------------------------------------------------------------------------------- tables of numbers

/// Numbers under construction, and the distinct rows that were added.
class Table {
 public:
  /// Position of a row among the distinct ones.
  std::int64_t add(const Numbers& row) {
    std::string key(reinterpret_cast<const char*>(row.data()), row.size() * sizeof(std::int64_t));
    const auto [found, added] = rows_.emplace(std::move(key), static_cast<std::int64_t>(rows_.size()));
    if (added) numbers_.insert(numbers_.end(), row.begin(), row.end());
    return found->second;
  }
  const Numbers& numbers() const { return numbers_; }
  std::int64_t count() const { return static_cast<std::int64_t>(rows_.size()); }

 private:
  Numbers numbers_;
  std::unordered_map<std::string, std::int64_t> rows_;
};

/// Takes numbers one by one, never beyond the end and never more than are there.
class Reader {
 public:
  Reader(const Numbers& numbers, std::string where) : numbers_(numbers), where_(std::move(where)) {}

  std::int64_t next(std::int64_t low, std::int64_t high) {
    RHINO_CHECK(at_ < numbers_.size(), "{} ends too early", where_);
    const std::int64_t value = numbers_[at_++];
    RHINO_CHECK(value >= low && value <= high, "{}: {} is not between {} and {}", where_, value, low, high);
    return value;
  }
  /// A number of things that take at least one number each.
  std::size_t count() { return static_cast<std::size_t>(next(0, static_cast<std::int64_t>(numbers_.size() - at_) - 1)); }
  void end() const { RHINO_CHECK(at_ == numbers_.size(), "{} has numbers left over", where_); }

 private:
  const Numbers& numbers_;
  std::string where_;
  std::size_t at_ = 0;
};

void append_axes(Numbers& row, const std::vector<shard::AxisId>& axes) {
  row.push_back(static_cast<std::int64_t>(axes.size()));
  row.insert(row.end(), axes.begin(), axes.end());
}

std::vector<shard::AxisId> read_axes(Reader& reader, const shard::MeshShape& mesh) {
  std::vector<shard::AxisId> axes(reader.count());
  for (shard::AxisId& axis : axes) axis = static_cast<shard::AxisId>(reader.next(0, mesh.rank() - 1));
  return axes;
}

/// The sharding as four tables of numbers: distinct dimensions, layouts made of them, strategies made of them, functions.
struct Tables {
  Table dims, layouts, strategies;
  Numbers functions;

  explicit Tables(const shard::Sharding& sharding) {
    for (const shard::FunctionSharding& function : sharding.functions) {
      const auto add_layouts = [&](const std::vector<shard::Layout>& list) {
        functions.push_back(static_cast<std::int64_t>(list.size()));
        for (const shard::Layout& layout : list) functions.push_back(add(layout));
      };
      add_layouts(function.params);
      add_layouts(function.results);
      functions.push_back(static_cast<std::int64_t>(function.ops.size()));
      for (const shard::Strategy& strategy : function.ops) functions.push_back(add(strategy));
    }
    functions.push_back(0);  // so that the last count, too, is followed by a number
  }

  std::int64_t add(const shard::DimLayout& dim) {
    Numbers row = {static_cast<std::int64_t>(dim.subs.size())};
    for (const shard::SubDim& sub : dim.subs) {
      row.push_back(sub.size);
      append_axes(row, sub.axes);
    }
    row.push_back(0);
    return dims.add(row);
  }
  std::int64_t add(const shard::Layout& layout) {
    Numbers row = {static_cast<std::int64_t>(layout.dims.size())};
    for (const shard::DimLayout& dim : layout.dims) row.push_back(add(dim));
    append_axes(row, layout.partial_axes);
    row.push_back(static_cast<std::int64_t>(layout.partial_kind));
    return layouts.add(row);
  }
  std::int64_t add(const shard::Strategy& strategy) {
    Numbers row = {static_cast<std::int64_t>(strategy.factors.size())};
    for (const shard::DimLayout& factor : strategy.factors) row.push_back(add(factor));
    append_axes(row, strategy.carried_axes);
    row.push_back(static_cast<std::int64_t>(strategy.carried_operands.size()));
    for (const bool carried : strategy.carried_operands) row.push_back(carried ? 1 : 0);
    row.push_back(static_cast<std::int64_t>(strategy.carried_kind));
    return strategies.add(row);
  }
};

std::vector<shard::DimLayout> read_dims(const Numbers& numbers, std::int64_t count, const shard::MeshShape& mesh,
                                        const std::string& where) {
  Reader reader(numbers, where);
  RHINO_CHECK(count >= 0 && count <= std::ssize(numbers), "{} claims {} entries", where, count);
  std::vector<shard::DimLayout> dims(static_cast<std::size_t>(count));
  for (shard::DimLayout& dim : dims) {
    dim.subs.resize(reader.count());
    for (shard::SubDim& sub : dim.subs) {
      sub.size = reader.next(0, INT64_MAX);
      sub.axes = read_axes(reader, mesh);
    }
    reader.next(0, 0);
  }
  reader.end();
  return dims;
}

std::vector<shard::Layout> read_layouts(const Numbers& numbers, std::int64_t count, const std::vector<shard::DimLayout>& dims,
                                        const shard::MeshShape& mesh, const std::string& where) {
  Reader reader(numbers, where);
  RHINO_CHECK(count >= 0 && count <= std::ssize(numbers), "{} claims {} entries", where, count);
  std::vector<shard::Layout> layouts(static_cast<std::size_t>(count));
  for (shard::Layout& layout : layouts) {
    layout.dims.resize(reader.count());
    for (shard::DimLayout& dim : layout.dims) dim = dims[static_cast<std::size_t>(reader.next(0, std::ssize(dims) - 1))];
    layout.partial_axes = read_axes(reader, mesh);
    layout.partial_kind = static_cast<shard::PartialKind>(reader.next(0, 4));
  }
  reader.end();
  return layouts;
}

std::vector<shard::Strategy> read_strategies(const Numbers& numbers, std::int64_t count,
                                             const std::vector<shard::DimLayout>& dims, const shard::MeshShape& mesh,
                                             const std::string& where) {
  Reader reader(numbers, where);
  RHINO_CHECK(count >= 0 && count <= std::ssize(numbers), "{} claims {} entries", where, count);
  std::vector<shard::Strategy> strategies(static_cast<std::size_t>(count));
  for (shard::Strategy& strategy : strategies) {
    strategy.factors.resize(reader.count());
    for (shard::DimLayout& factor : strategy.factors)
      factor = dims[static_cast<std::size_t>(reader.next(0, std::ssize(dims) - 1))];
    strategy.carried_axes = read_axes(reader, mesh);
    strategy.carried_operands.resize(reader.count());
    for (std::size_t i = 0; i < strategy.carried_operands.size(); ++i)
      strategy.carried_operands[i] = reader.next(0, 1) == 1;
    strategy.carried_kind = static_cast<shard::PartialKind>(reader.next(0, 4));
  }
  reader.end();
  return strategies;
}

std::vector<shard::FunctionSharding> read_functions(const Numbers& numbers, std::int64_t count,
                                                    const std::vector<shard::Layout>& layouts,
                                                    const std::vector<shard::Strategy>& strategies, const std::string& where) {
  Reader reader(numbers, where);
  RHINO_CHECK(count >= 0 && count <= std::ssize(numbers), "{} claims {} entries", where, count);
  std::vector<shard::FunctionSharding> functions(static_cast<std::size_t>(count));
  for (shard::FunctionSharding& function : functions) {
    for (auto* list : {&function.params, &function.results}) {
      list->resize(reader.count());
      for (shard::Layout& layout : *list) layout = layouts[static_cast<std::size_t>(reader.next(0, std::ssize(layouts) - 1))];
    }
    function.ops.resize(reader.count());
    for (shard::Strategy& strategy : function.ops)
      strategy = strategies[static_cast<std::size_t>(reader.next(0, std::ssize(strategies) - 1))];
  }
  reader.next(0, 0);
  reader.end();
  return functions;
}

// ---------------------------------------------------------------------------------------- fingerprint

/// All that a plan says, as bytes; for the hash by which an edited file is noticed.
class Fingerprint {
 public:
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void add(const T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  void add(const std::string& text) {
    add(text.size());
    bytes_ += text;
  }
  template <class T>
  void add(const std::vector<T>& values) {
    add(values.size());
    for (const T& value : values) add(value);
  }
  std::string hash() const { return to_string(hash128(bytes_)); }

 private:
  std::string bytes_;
};

std::string content_hash(const Plan& plan, const Tables& tables) {
  Fingerprint print;
  print.add(plan.program_hash.high);
  print.add(plan.program_hash.low);
  print.add(plan.devices);
  print.add(plan.strategy_name);
  for (const shard::MeshAxis& axis : plan.sharding.mesh.axes()) {
    print.add(axis.name);
    print.add(axis.size);
  }
  print.add(tables.dims.numbers());
  print.add(tables.layouts.numbers());
  print.add(tables.strategies.numbers());
  print.add(tables.functions);
  print.add(plan.stages);
  print.add(plan.stage_of_op);
  print.add(plan.micro_batches);
  print.add(static_cast<int>(plan.schedule));
  print.add(plan.recomputed_ops);
  print.add(plan.optimizer_sharded);
  print.add(plan.bytes_per_rank);
  print.add(plan.predicted.compute);
  print.add(plan.predicted.communication);
  print.add(plan.predicted.total);
  print.add(plan.lower_bound_seconds);
  for (const plan::Candidate& candidate : plan.candidates) {
    print.add(candidate.name);
    print.add(candidate.seconds);
    print.add(candidate.bytes_per_rank);
    print.add(candidate.feasible ? 1 : 0);
  }
  print.add(plan.seed);
  print.add(plan.level);
  print.add(plan.cluster_name);
  print.add(plan.options);
  return print.hash();
}

void write_table(Hdf5Group& group, const std::string& name, const Numbers& numbers, std::int64_t count) {
  group.write_numbers(name, numbers).set_attribute("count", count);
}

shard::MeshShape read_mesh(const Hdf5Group& root) {
  const std::vector<std::string> names = root.data_set("mesh/name").read_texts();
  const Numbers sizes = root.read_numbers<std::int64_t>("mesh/size", 64);
  RHINO_CHECK(names.size() == sizes.size(), "{}: the mesh has {} names and {} sizes", root.where(), names.size(), sizes.size());
  std::vector<shard::MeshAxis> axes;
  std::int64_t devices = 1;
  for (std::size_t i = 0; i < names.size(); ++i) {
    RHINO_CHECK(sizes[i] >= 1 && !__builtin_mul_overflow(devices, sizes[i], &devices) && devices <= INT32_MAX,
                "{}: impossible mesh", root.where());
    axes.push_back({names[i], sizes[i]});
  }
  return shard::MeshShape(std::move(axes));
}

}  // namespace

void write_plan(const Plan& plan, const std::string& path) {
  const Tables tables(plan.sharding);
  Hdf5File file = Hdf5File::create(path);
  {
    Hdf5Group& root = file.root();
    set_format(file, format_name, Plan::format_version);
    root.set_attribute("content_hash", content_hash(plan, tables));
    root.set_attribute("program_hash", to_string(plan.program_hash));
    root.set_attribute("devices", plan.devices);
    root.set_attribute("strategy_name", plan.strategy_name);
    root.set_attribute("stages", plan.stages);
    root.set_attribute("micro_batches", plan.micro_batches);
    root.set_attribute("schedule", schedule_names.at(static_cast<std::size_t>(plan.schedule)));
    root.set_attribute("predicted_compute_seconds", plan.predicted.compute);
    root.set_attribute("predicted_communication_seconds", plan.predicted.communication);
    root.set_attribute("predicted_seconds", plan.predicted.total);
    root.set_attribute("lower_bound_seconds", plan.lower_bound_seconds);
    root.set_attribute("seed", plan.seed);
    root.set_attribute("level", std::int64_t{plan.level});
    root.set_attribute("cluster_name", plan.cluster_name);
    root.set_attribute("options", plan.options);
    std::vector<std::string> names;
    Numbers sizes;
    for (const shard::MeshAxis& axis : plan.sharding.mesh.axes()) {
      names.push_back(axis.name);
      sizes.push_back(axis.size);
    }
    root.write_texts("mesh/name", names);
    root.write_numbers("mesh/size", sizes);
    Hdf5Group sharding = root.create_group("sharding");
    write_table(sharding, "dims", tables.dims.numbers(), tables.dims.count());
    write_table(sharding, "layouts", tables.layouts.numbers(), tables.layouts.count());
    write_table(sharding, "strategies", tables.strategies.numbers(), tables.strategies.count());
    write_table(sharding, "functions", tables.functions, std::ssize(plan.sharding.functions));
    root.write_numbers("stage_of_op", plan.stage_of_op);
    root.write_numbers("recomputed_ops", plan.recomputed_ops);
    root.write_numbers("optimizer_sharded", plan.optimizer_sharded);
    root.write_numbers("bytes_per_rank", plan.bytes_per_rank);
    names.clear();
    Numbers bytes;
    std::vector<double> seconds;
    std::vector<std::uint8_t> feasible;
    for (const plan::Candidate& candidate : plan.candidates) {
      names.push_back(candidate.name);
      seconds.push_back(candidate.seconds);
      bytes.push_back(candidate.bytes_per_rank);
      feasible.push_back(candidate.feasible ? 1 : 0);
    }
    root.write_texts("candidates/name", names);
    root.write_numbers("candidates/seconds", seconds);
    root.write_numbers("candidates/bytes_per_rank", bytes);
    root.write_numbers("candidates/feasible", feasible);
  }
  file.commit();
}

Plan read_plan(const std::string& path) {
  const Hdf5File file = Hdf5File::open(path);
  check_format(file, format_name, Plan::format_version, "a plan file");
  const Hdf5Group& root = file.root();
  Plan plan;
  plan.program_hash = hash128_from_string(root.text_attribute("program_hash"));
  plan.devices = root.int_attribute("devices");
  plan.strategy_name = root.text_attribute("strategy_name");
  plan.stages = root.int_attribute("stages");
  plan.micro_batches = root.int_attribute("micro_batches");
  const std::string schedule = root.text_attribute("schedule");
  std::size_t number = 0;
  while (number < schedule_names.size() && schedule_names[number] != schedule) ++number;
  RHINO_CHECK(number < schedule_names.size(), "{}: unknown schedule '{}'", path, schedule);
  plan.schedule = static_cast<plan::Schedule>(number);
  plan.predicted.compute = root.float_attribute("predicted_compute_seconds");
  plan.predicted.communication = root.float_attribute("predicted_communication_seconds");
  plan.predicted.total = root.float_attribute("predicted_seconds");
  plan.lower_bound_seconds = root.float_attribute("lower_bound_seconds");
  plan.seed = root.uint_attribute("seed");
  const std::int64_t level = root.int_attribute("level");
  RHINO_CHECK(level >= INT32_MIN && level <= INT32_MAX, "{}: level {}", path, level);
  plan.level = static_cast<int>(level);
  plan.cluster_name = root.text_attribute("cluster_name");
  plan.options = root.text_attribute("options");

  plan.sharding.mesh = read_mesh(root);
  const shard::MeshShape& mesh = plan.sharding.mesh;
  const Hdf5Group group = root.group("sharding");
  const auto numbers = [&](const std::string& name) { return group.read_numbers<std::int64_t>(name); };
  const auto count = [&](const std::string& name) { return group.data_set(name).int_attribute("count"); };
  const auto place = [&](const std::string& name) { return group.where() + "/" + name; };
  const auto dims = read_dims(numbers("dims"), count("dims"), mesh, place("dims"));
  const auto layouts = read_layouts(numbers("layouts"), count("layouts"), dims, mesh, place("layouts"));
  const auto strategies = read_strategies(numbers("strategies"), count("strategies"), dims, mesh, place("strategies"));
  plan.sharding.functions =
      read_functions(numbers("functions"), count("functions"), layouts, strategies, place("functions"));

  plan.stage_of_op = root.read_numbers<std::uint32_t>("stage_of_op");
  plan.recomputed_ops = root.read_numbers<std::uint32_t>("recomputed_ops");
  plan.optimizer_sharded = root.read_numbers<std::uint32_t>("optimizer_sharded");
  plan.bytes_per_rank = root.read_numbers<std::int64_t>("bytes_per_rank");
  const std::vector<std::string> names = root.data_set("candidates/name").read_texts();
  const auto seconds = root.read_numbers<double>("candidates/seconds");
  const auto bytes = root.read_numbers<std::int64_t>("candidates/bytes_per_rank");
  const auto feasible = root.read_numbers<std::uint8_t>("candidates/feasible");
  RHINO_CHECK(seconds.size() == names.size() && bytes.size() == names.size() && feasible.size() == names.size(),
              "{}: the lists of candidates differ in length", path);
  for (std::size_t i = 0; i < names.size(); ++i)
    plan.candidates.push_back({names[i], seconds[i], bytes[i], feasible[i] != 0});

  RHINO_CHECK(root.text_attribute("content_hash") == content_hash(plan, Tables(plan.sharding)),
              "'{}' was edited: its content does not have the hash that is stored in it", path);
  return plan;
}

}  // namespace rhino::io
