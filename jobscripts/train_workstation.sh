#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Trains a deck on this machine, one rank per core (or RANKS of them).
#
#   jobscripts/train_workstation.sh                                  # gpt_tiny
#   RANKS=2 jobscripts/train_workstation.sh inputs/mlp_digits.toml train.steps=50
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
RHINO="${RHINO:-build/release/bin/rhino}"
RANKS="${RANKS:-$(nproc)}"
deck="${1:-inputs/gpt_tiny.toml}"
shift || true

# shellcheck source=tools/common.sh
source tools/common.sh
mpi_environment
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
exec mpirun -n "$RANKS" "$RHINO" train "$deck" "$@"
