// SPDX-License-Identifier: Apache-2.0
#include <rhino/io/data_set.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

#include <rhino/base/error.hpp>
#include <rhino/base/random.hpp>
#include <rhino/base/strings.hpp>
#include <rhino/io/elements.hpp>
#include <rhino/io/hdf5.hpp>

namespace rhino::io {

Permutation::Permutation(std::int64_t size, std::uint64_t seed, std::uint64_t epoch)
    : size_(static_cast<std::uint64_t>(size)), seed_(seed), epoch_(epoch) {
  RHINO_ASSERT(size > 0);
  while (half_bits_ < 31 && (std::uint64_t{1} << (2 * half_bits_)) < size_) ++half_bits_;
}

std::uint64_t Permutation::once(std::uint64_t value) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = value >> half_bits_;
  std::uint64_t right = value & mask;
  for (std::uint32_t round = 0; round < 8; ++round) {
    const auto bits = philox4x32({static_cast<std::uint32_t>(right), round, static_cast<std::uint32_t>(epoch_),
                                  static_cast<std::uint32_t>(epoch_ >> 32)},
                                 {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)});
    const std::uint64_t mixed = left ^ (bits[0] & mask);
    left = right;
    right = mixed;
  }
  return left << half_bits_ | right;
}

std::int64_t Permutation::operator()(std::int64_t index) const {
  RHINO_ASSERT(index >= 0 && static_cast<std::uint64_t>(index) < size_);
  // The cycle through `index` comes back to it at the latest, so this ends.
  std::uint64_t value = once(static_cast<std::uint64_t>(index));
  while (value >= size_) value = once(value);
  return static_cast<std::int64_t>(value);
}

std::vector<DataField> data_fields(const ir::Signature& signature, const ir::Function& function) {
  std::vector<DataField> fields;
  for (std::size_t i = 0; i < signature.params.size(); ++i)
    if (signature.params[i].role == ir::ParamRole::Batch)
      fields.push_back({signature.params[i].path, function.type(function.params[i])});
  return fields;
}

struct DataSet::Impl {
  struct Source {
    Hdf5DataSet set;
    ir::DType stored;
  };

  Hdf5File file;
  std::string path;
  std::vector<DataField> fields;
  std::vector<Source> sources;
  DataOptions options;
  std::int64_t examples = 0;
  std::int64_t batch = 0;

  Impl(const std::string& path, std::vector<DataField> fields, const DataOptions& options)
      : file(Hdf5File::open(path)), path(path), fields(std::move(fields)), options(options) {
    RHINO_CHECK(!this->fields.empty(), "the program has no batch parameter, so there is nothing to read from '{}'", path);
    for (const DataField& field : this->fields) open_field(field);
    RHINO_CHECK(examples > 0, "'{}' has no examples", path);
    RHINO_CHECK(batch <= examples, "one batch has {} examples, but '{}' has only {}", batch, path, examples);
  }

  void open_field(const DataField& field) {
    const Hdf5Group& root = file.root();
    if (root.kind(field.path) != Hdf5Group::Kind::DataSet) {
      const std::vector<std::string> there = root.data_set_paths();
      std::string list;
      for (std::size_t i = 0; i < there.size() && i < 8; ++i) list += (i == 0 ? "" : ", ") + there[i];
      RHINO_FAIL(InputError, "'{}' has no data set '{}' for the batch parameter of this name{}; it has: {}", path, field.path,
                 did_you_mean(field.path, there), there.empty() ? "none" : list);
    }
    RHINO_CHECK(field.type.rank() > 0,
                "the batch parameter '{}' is a scalar and has no dimension of examples; make it a constant", field.path);
    // Shuffled examples come from all over the file; without a cache each would decompress a whole chunk.
    constexpr std::size_t cache_bytes = std::size_t{64} << 20;
    Hdf5DataSet set = root.data_set(field.path, cache_bytes);
    const std::optional<ir::DType> stored = stored_dtype(set);
    RHINO_CHECK(stored.has_value() && !set.is_null(), "{} holds no numbers", set.where());
    RHINO_CHECK(may_convert_data(*stored, field.type.dtype), "{} holds {}, which does not convert to the {} of the program",
                set.where(), ir::dtype_name(*stored), ir::dtype_name(field.type.dtype));
    const ir::Dims& dims = set.dims();
    RHINO_CHECK(dims.size() == field.type.dims.size() &&
                    std::equal(dims.begin() + 1, dims.end(), field.type.dims.begin() + 1),
                "{} has shape {}, but a batch of the program has {}: all dimensions but the first must be equal", set.where(),
                ir::to_string(dims), ir::to_string(field.type.dims));
    if (sources.empty()) {
      examples = dims[0];
      batch = field.type.dims[0];
      RHINO_CHECK(batch > 0, "the batch parameter '{}' has no examples", field.path);
    }
    RHINO_CHECK(dims[0] == examples, "{} has {} examples, but {} has {}", set.where(), dims[0], sources[0].set.where(),
                examples);
    RHINO_CHECK(field.type.dims[0] == batch, "the batch parameters '{}' and '{}' differ in their first dimension: {} and {}",
                fields[0].path, field.path, batch, field.type.dims[0]);
    if (set.elements() > 0) set.check_stored();
    sources.push_back({std::move(set), *stored});
  }
};

DataSet::DataSet(const std::string& path, std::vector<DataField> fields, const DataOptions& options)
    : impl_(std::make_unique<Impl>(path, std::move(fields), options)) {}
DataSet::~DataSet() = default;
DataSet::DataSet(DataSet&&) noexcept = default;

const std::vector<DataField>& DataSet::fields() const { return impl_->fields; }
std::int64_t DataSet::examples() const { return impl_->examples; }
std::int64_t DataSet::batch_size() const { return impl_->batch; }
std::int64_t DataSet::batches_per_epoch() const { return impl_->examples / impl_->batch; }

std::int64_t DataSet::position_of_step(std::int64_t step) const {
  if (impl_->options.short_batch == ShortBatch::Wrap) return step * impl_->batch;
  const std::int64_t per_epoch = batches_per_epoch();
  return step / per_epoch * impl_->examples + step % per_epoch * impl_->batch;
}

std::int64_t DataSet::batch_start(std::int64_t position) const {
  RHINO_ASSERT(position >= 0);
  if (impl_->options.short_batch == ShortBatch::Wrap) return position;
  const std::int64_t epoch = position / impl_->examples;
  const std::int64_t left = impl_->examples - position % impl_->examples;
  return left >= impl_->batch ? position : (epoch + 1) * impl_->examples;
}

std::vector<std::int64_t> DataSet::batch_examples(std::int64_t start) const {
  std::vector<std::int64_t> numbers;
  std::optional<Permutation> permutation;
  std::int64_t epoch = -1;
  for (std::int64_t position = start; position < start + impl_->batch; ++position) {
    const std::int64_t offset = position % impl_->examples;
    if (impl_->options.shuffle && position / impl_->examples != epoch) {
      epoch = position / impl_->examples;
      permutation.emplace(impl_->examples, impl_->options.seed, static_cast<std::uint64_t>(epoch));
    }
    numbers.push_back(permutation.has_value() ? (*permutation)(offset) : offset);
  }
  return numbers;
}

void DataSet::read(std::size_t field, const std::vector<std::vector<std::int64_t>>& indices,
                   std::span<std::byte> out) const {
  RHINO_ASSERT(field < impl_->sources.size() && !indices.empty());
  const Impl::Source& source = impl_->sources[field];
  const ir::DType dtype = impl_->fields[field].type.dtype;
  const std::vector<std::int64_t>& rows = indices[0];
  if (std::is_sorted(rows.begin(), rows.end())) {
    read_elements(source.set, source.stored, indices, dtype, out);
    return;
  }
  // In the order of the file, so that each chunk is read once.
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rows[a] < rows[b]; });
  std::vector<std::vector<std::int64_t>> sorted = indices;
  for (std::size_t i = 0; i < order.size(); ++i) sorted[0][i] = rows[order[i]];
  std::vector<std::byte> buffer(out.size());
  read_elements(source.set, source.stored, sorted, dtype, buffer);
  const std::size_t row = out.size() / rows.size();
  for (std::size_t i = 0; i < order.size(); ++i)
    std::memcpy(out.data() + order[i] * row, buffer.data() + i * row, row);
}

void DataSet::read_batch(std::size_t field, std::int64_t start, const shard::Layout& layout, const shard::MeshShape& mesh,
                         std::int64_t device, std::span<std::byte> out) const {
  RHINO_ASSERT(field < impl_->fields.size() && layout.dims.size() == impl_->fields[field].type.dims.size());
  std::vector<std::vector<std::int64_t>> indices(layout.dims.size());
  for (std::size_t d = 0; d < layout.dims.size(); ++d) {
    const std::int64_t size = shard::local_size(layout.dims[d], mesh);
    for (std::int64_t local = 0; local < size; ++local)
      indices[d].push_back(shard::global_index(layout.dims[d], mesh, device, local));
  }
  const std::vector<std::int64_t> examples = batch_examples(start);
  for (std::int64_t& row : indices[0])
    if (row >= 0) row = examples[static_cast<std::size_t>(row)];
  read(field, indices, out);
}

}  // namespace rhino::io
