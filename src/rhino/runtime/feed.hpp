// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <rhino/io/data_set.hpp>
#include <rhino/ir/signature.hpp>
#include <rhino/runtime/executor.hpp>

namespace rhino::runtime {

/// Reads a scalar of any type as a double.
double read_scalar(const ir::TensorType& type, const std::byte* from);

/// What a step reports: its loss (NaN if the program has none) and its other scalar results by name.
struct Scalars {
  double loss = 0;
  std::vector<std::pair<std::string, double>> metrics;
};

/// Fills the batch buffers of an executor from a data set and reads the scalars that its step left. All of it is local.
/// Executor, signature and data must outlive it.
class Feed {
 public:
  Feed(Executor& executor, const ir::Signature& signature, const io::DataSet& data);

  /// This rank's part of the batch that begins at `start` = data.batch_start(..).
  void fill(std::int64_t start);
  /// Loss and metrics of the step that was run last.
  Scalars scalars() const;

 private:
  Executor& executor_;
  const ir::Signature& signature_;
  const io::DataSet& data_;
  std::vector<std::size_t> field_of_slot_;  ///< per batch slot: field of the data set
};

}  // namespace rhino::runtime
