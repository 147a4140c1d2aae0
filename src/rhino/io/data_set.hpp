// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rhino/ir/program.hpp>
#include <rhino/ir/signature.hpp>
#include <rhino/shard/layout.hpp>

namespace rhino::io {

/// A pseudo-random permutation of 0 .. size-1 that any process can evaluate at any place without a table: a Feistel network
/// on Philox, walked until the result lies in the range. Depends on (size, seed, epoch) only.
class Permutation {
 public:
  Permutation(std::int64_t size, std::uint64_t seed, std::uint64_t epoch);
  std::int64_t operator()(std::int64_t index) const;

 private:
  std::uint64_t once(std::uint64_t value) const;

  std::uint64_t size_;
  std::uint64_t seed_;
  std::uint64_t epoch_;
  int half_bits_ = 1;
};

/// What happens to the examples that do not fill the last batch of an epoch.
enum class ShortBatch : std::uint8_t { Drop, Wrap };

struct DataOptions {
  bool shuffle = true;
  std::uint64_t seed = 0;
  ShortBatch short_batch = ShortBatch::Drop;
};

/// One batch parameter: shape [examples of a batch, ...].
struct DataField {
  std::string path;  ///< of the parameter, and of the data set in the file
  ir::TensorType type;
};

/// The batch parameters of a step.
std::vector<DataField> data_fields(const ir::Signature& signature, const ir::Function& function);

/// Examples in an HDF5 file: one data set per batch parameter, with the example as leading dimension. The order of the
/// examples is a stream of positions: position p is example p % N of epoch p / N, through a permutation that depends on
/// seed and epoch only, never on the number of ranks. Under Drop a batch that would cross the end of an epoch begins with
/// the next epoch; under Wrap it is filled up from it. A position is what a checkpoint has to store.
/// Element types: equal, or integers and booleans that widen, or any floating type for any other. Everything is local; each
/// process reads what its layouts need.
class DataSet {
 public:
  /// Opens the file and checks names, leading dimensions, shapes, types and that one batch fits. Throws InputError.
  DataSet(const std::string& path, std::vector<DataField> fields, const DataOptions& options = {});
  ~DataSet();
  DataSet(DataSet&&) noexcept;

  const std::vector<DataField>& fields() const;
  std::int64_t examples() const;    ///< N
  std::int64_t batch_size() const;  ///< examples per batch, all ranks together
  /// Batches that begin within one epoch (Wrap: rounded down).
  std::int64_t batches_per_epoch() const;

  /// Where batch number `step` (from 0) of a run that starts at position 0 begins.
  std::int64_t position_of_step(std::int64_t step) const;
  /// Where the next batch begins if the stream is at `position`; a batch ends batch_size() later.
  std::int64_t batch_start(std::int64_t position) const;
  std::int64_t epoch_of(std::int64_t position) const { return position / examples(); }
  /// Numbers of the examples of the batch that begins at `start` = batch_start(..), in batch order.
  std::vector<std::int64_t> batch_examples(std::int64_t start) const;

  /// Fills `out` with elements of field `field`: row-major over the lists, where `indices[0]` are example numbers and
  /// `indices[d]` indices of dimension d; -1 gives zeros.
  void read(std::size_t field, const std::vector<std::vector<std::int64_t>>& indices, std::span<std::byte> out) const;
  /// The local buffer (with padding) of field `field` on `device` for the batch that begins at `start`.
  void read_batch(std::size_t field, std::int64_t start, const shard::Layout& layout, const shard::MeshShape& mesh,
                  std::int64_t device, std::span<std::byte> out) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rhino::io
