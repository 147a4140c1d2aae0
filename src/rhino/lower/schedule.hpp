// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <rhino/ir/program.hpp>
#include <rhino/lower/fusion.hpp>

namespace rhino::lower {

enum class UnitKind : std::uint8_t { Fused, Kernel, CollectiveStart, CollectiveWait, Loop, Branch };

struct FunctionSchedule;

/// What becomes one task (a bundle of all-reduces included).
struct Unit {
  UnitKind kind = UnitKind::Kernel;
  std::vector<ir::OpId> ops;        ///< Fused: the members; CollectiveStart: the bundle; else one
  std::vector<ir::ValueId> reads;   ///< values whose buffers are read
  std::vector<ir::ValueId> writes;  ///< values that reach memory
  std::size_t started_by = 0;       ///< CollectiveWait: index of its start
  std::size_t awaited_by = 0;       ///< CollectiveStart: index of its wait
  std::int64_t begin = 0, end = 0;  ///< time stamps over the whole program; equal unless there are regions
  std::vector<FunctionSchedule> regions;  ///< Loop: condition, body; Branch: the branches
};

/// One function at one place of the program: its units in execution order.
struct FunctionSchedule {
  ir::FunctionId function;
  FusionPlan fusion;
  std::vector<Unit> units;
  std::int64_t begin = 0, end = 0;  ///< times before the first and after the last unit
};

struct ScheduleOptions {
  bool overlap = true;
  std::int64_t bundle_bytes = 0;
  /// Units run in an order that is planned for a low peak; otherwise close to program order.
  bool low_peak = false;
  /// Results of the entry function that are to be written over a parameter, with that parameter.
  std::vector<std::pair<ir::ValueId, ir::ValueId>> donated;
};

/// Orders the units of `function` and of the regions below it and stamps them with times from `time` on. The order is a
/// topological one close to program order or to the order of low peak; collectives start as soon as they can and small all-reduces over the same group
/// wait for each other until nothing else is ready or the bundle is full.
FunctionSchedule schedule(const ir::Program& program, ir::FunctionId function, const ScheduleOptions& options,
                          std::int64_t& time);

/// The value whose bytes `value` shares, through views.
ir::ValueId view_root(const ir::Function& function, const FusionPlan& plan, ir::ValueId value);

}  // namespace rhino::lower
