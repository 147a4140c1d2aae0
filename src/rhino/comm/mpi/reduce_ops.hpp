// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <rhino/ir/program.hpp>

namespace rhino::comm::mpi {

MPI_Datatype datatype_of(ir::DType dtype);

/// MPI operations for reductions. Sums and products of 16-bit floats, which MPI does not know, are operations of our own;
/// they are made with this object and freed with it.
class ReduceOps {
 public:
  ReduceOps();
  ~ReduceOps();
  ReduceOps(const ReduceOps&) = delete;
  ReduceOps& operator=(const ReduceOps&) = delete;

  /// Throws InputError where the type has no such reduction (xor of floats).
  MPI_Op op(ir::ReducerKind kind, ir::DType dtype) const;

 private:
  struct HalfOps {
    MPI_Op add, multiply, maximum, minimum;
  };
  HalfOps f16_, bf16_;
};

}  // namespace rhino::comm::mpi
