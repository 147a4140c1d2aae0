#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains decks of inputs/ on several numbers of ranks under several strategies and compares the losses with JAX's.

In f32 each run must agree with JAX's losses within 1e-4 (relative) over the first 20 steps; in f64 (--promote f64) within
1e-7, and all runs of a deck among each other within 1e-9. Exits 0 if all agree, 1 if not; prints one line per run.

examples:
  train_matrix.py build/release/bin/rhino gpt_tiny
  train_matrix.py build/release/bin/rhino all --ranks 1,2,3,4 --strategies auto,data,tensor --precisions f32,f64
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
STEPS = 20
TOLERANCE = {"f32": 1e-4, "f64": 1e-7}
AMONG_EACH_OTHER = 1e-9  # f64 only


def mpi_environment():
    """More ranks than cores, also as root, on this machine alone."""
    return {
        **os.environ,
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
        "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "vader,self", "OMPI_MCA_mpi_yield_when_idle": "1",
        "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "ASAN_OPTIONS": "detect_leaks=0",
    }


def last_line(text):
    lines = [line for line in text.splitlines() if line.startswith("rhino: error")] or text.splitlines()
    return lines[-1] if lines else "no message"


def train(options, deck, ranks, strategy, precision, metrics):
    """Runs one training; gives an error message or None."""
    command = [options.mpiexec, "-n", str(ranks), options.rhino, "train", str(SOURCE / "inputs" / f"{deck}.toml"),
               f"train.steps={STEPS}", f"plan.strategy={strategy}", f"train.metrics={metrics}",
               f"model.promote={'f64' if precision == 'f64' else 'none'}"]
    try:
        result = subprocess.run(command, env=mpi_environment(), capture_output=True, text=True, timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return f"not done after {options.timeout} s"
    if result.returncode != 0:
        return f"exit code {result.returncode}: {last_line(result.stderr)}"
    return None


def compare(metrics, reference, precision, tolerance):
    """Gives (whether equal, the verdict) of tools/compare_losses.py."""
    result = subprocess.run(
        [sys.executable, str(SOURCE / "tools" / "compare_losses.py"), str(metrics), str(reference),
         "--precision", precision, "--rtol", str(tolerance), "--steps", str(STEPS), "--quiet"],
        capture_output=True, text=True)
    return result.returncode == 0, (result.stdout + result.stderr).strip()


def run_deck(options, deck, folder):
    """Number of runs of the deck that failed."""
    failures = 0
    for precision in options.precisions:
        first = None
        for strategy in options.strategies:
            for ranks in options.ranks:
                metrics = folder / f"{deck}_{precision}_{strategy}_{ranks}.jsonl"
                start = time.monotonic()
                error = train(options, deck, ranks, strategy, precision, metrics)
                verdict = error
                if not error:
                    good, verdict = compare(metrics, SOURCE / "inputs" / deck / "losses.json", precision, TOLERANCE[precision])
                    if good and precision == "f64" and first:
                        good, among = compare(metrics, first, precision, AMONG_EACH_OTHER)
                        verdict += "; to the first run: " + re.sub(r"\d+ steps ", "", among)
                    if not good:
                        error = verdict
                    first = first or metrics
                failures += bool(error)
                print(f"{'FAILED' if error else 'ok':<7}{deck:<17}{precision} {strategy:<7}{ranks} ranks "
                      f"{time.monotonic() - start:6.1f} s  {verdict}", flush=True)
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = sorted(path.stem for path in (SOURCE / "inputs").glob("*.toml") if (path.with_suffix("") / "losses.json").exists())
    parser.add_argument("rhino", help="the program")
    parser.add_argument("decks", nargs="+", choices=names + ["all"], metavar="deck", help=f"{', '.join(names)}, all")
    parser.add_argument("--ranks", default="1,2,3,4")
    parser.add_argument("--strategies", default="auto,data,tensor")
    parser.add_argument("--precisions", default="f32")
    parser.add_argument("--mpiexec", default="mpiexec")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one run")
    options = parser.parse_args()
    options.ranks = [int(n) for n in options.ranks.split(",")]
    options.strategies = options.strategies.split(",")
    options.precisions = options.precisions.split(",")
    options.rhino = str(pathlib.Path(options.rhino).resolve())
    decks = names if "all" in options.decks else options.decks
    with tempfile.TemporaryDirectory() as folder:
        failures = sum(run_deck(options, deck, pathlib.Path(folder)) for deck in decks)
    print(f"{failures} runs failed" if failures else "all runs agree")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
