// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <rhino/ir/signature.hpp>
#include <rhino/lower/lower.hpp>
#include <rhino/lower/schedule.hpp>
#include <rhino/memory/arena.hpp>

namespace rhino::lower {

/// A block of the arena that several values may share.
struct Storage {
  BufferKind kind = BufferKind::Temporary;
  std::int64_t bytes = 0;
  std::int64_t first = 0, last = 0;  ///< times, both included
  bool reusable = true;              ///< whether a later value may take it over when its values are dead
};

/// Where a value's bytes are.
struct Place {
  std::size_t storage = SIZE_MAX;
  std::int64_t offset = 0;
  bool valid() const { return storage != SIZE_MAX; }
  bool operator==(const Place&) const = default;
};

/// A copy that must run after the last unit of a function (or before the first of a region).
struct Move {
  Place from, to;
  ir::TensorType type;
};

/// Places of the values of one function at one place of the program; mirrors FunctionSchedule.
struct FunctionPlaces {
  std::vector<Place> values;             ///< per value; views have the place of their root
  std::vector<Place> workspace;          ///< per unit; invalid if none
  std::vector<Place> bundles;            ///< per unit: the contiguous message of a bundle; invalid if not a bundle
  std::vector<std::vector<Move>> before; ///< per unit: copies into a loop's carried values or a bundle
  std::vector<Move> at_end;              ///< copies of results, in order
  std::vector<std::vector<FunctionPlaces>> regions;  ///< per unit
};

/// All storages of a program and the places of its values.
struct StoragePlan {
  std::vector<Storage> storages;
  FunctionPlaces entry;
  std::vector<Place> next_state;  ///< per entry parameter: where the new value is left; invalid if the parameter is no state
  std::vector<Place> results;     ///< per entry result
};

/// Decides which values share bytes: views, in-place updates, loop-carried values, states; and how long each block lives.
StoragePlan plan_storage(const ir::Program& program, const FunctionSchedule& schedule, const ir::Signature& signature,
                         const LowerOptions& options);

}  // namespace rhino::lower
