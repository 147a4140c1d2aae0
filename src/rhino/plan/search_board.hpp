// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rhino::plan {

/// What searching ranks share. The one-process implementation is here; the MPI one in plan/mpi/.
/// All ranks make the same sequence of `begin` and `agree` calls; draw and publish are free in number.
class SearchBoard {
 public:
  virtual ~SearchBoard() = default;

  virtual std::int64_t rank() const = 0;
  virtual std::int64_t size() const = 0;

  /// Starts a round of candidates 0 .. count-1. Collective.
  virtual void begin(std::int64_t count) = 0;
  /// Next candidate that nobody has drawn yet; nullopt when all are drawn. Not collective.
  virtual std::optional<std::int64_t> draw() = 0;
  /// Makes the result of a candidate known (any bytes). Not collective.
  virtual void publish(std::int64_t candidate, std::vector<std::byte> result) = 0;
  /// Best cost that any rank has announced in this round, and the way to announce one. Only bounds that cannot change the
  /// winner may be pruned with it.
  virtual double incumbent() = 0;
  virtual void announce(double cost) = 0;
  /// Ends the round: every rank gets what all ranks published, indexed by candidate (empty where nothing was). Collective.
  virtual std::vector<std::vector<std::byte>> agree() = 0;
};

/// The board of a single process.
class LocalSearchBoard final : public SearchBoard {
 public:
  std::int64_t rank() const override { return 0; }
  std::int64_t size() const override { return 1; }
  void begin(std::int64_t count) override;
  std::optional<std::int64_t> draw() override;
  void publish(std::int64_t candidate, std::vector<std::byte> result) override;
  double incumbent() override { return incumbent_; }
  void announce(double cost) override;
  std::vector<std::vector<std::byte>> agree() override;

 private:
  std::int64_t next_ = 0;
  std::int64_t count_ = 0;
  double incumbent_ = 0;
  std::vector<std::vector<std::byte>> results_;
};

}  // namespace rhino::plan
