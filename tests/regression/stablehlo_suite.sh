#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs `rhino eval` on a folder of the public StableHLO test data; exit code 77 (skipped) where the data is absent.
#
# usage: stablehlo_suite.sh RHINO_PROGRAM FOLDER [FLAGS OF EVAL ...]
set -eu
program=$1
folder=$2
shift 2
if [ ! -d "$folder" ]; then
  echo "skipped: no test data at $folder"
  exit 77
fi
exec "$program" eval --quiet --summary --allow-unsupported "$folder" "$@"
