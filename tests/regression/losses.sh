#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Trains a deck for 20 steps on some ranks under some plan and compares every loss with JAX's own.
# usage: losses.sh RHINO MPIEXEC SOURCE_DIR DECK RANKS PLAN f32|f64
set -euo pipefail
rhino=$1 mpiexec=$2 source=$3 deck=$4 ranks=$5 plan=$6 precision=$7
metrics=losses.jsonl
rm -f "$metrics"
promote=none
tolerance=1e-4
if [ "$precision" = f64 ]; then
  promote=f64
  tolerance=1e-9
fi
"$mpiexec" -n "$ranks" "$rhino" train "$source/inputs/$deck.toml" --steps 20 --plan "$plan" --promote "$promote" \
  --metrics "$metrics"
python3 "$source/tools/compare_losses.py" "$metrics" "$source/inputs/$deck/losses.json" --precision "$precision" \
  --rtol "$tolerance"
