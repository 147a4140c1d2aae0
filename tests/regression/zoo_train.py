#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains decks of inputs/zoo: each learns its task, and its losses do not depend on ranks and plan.

The deck on two ranks must come to a mean loss over ten steps below the bound in BOUNDS (and must have begun above it),
within the number of steps beside it; --whole runs all its steps. The first steps, in f64, must have equal losses on one rank
and on three under the tensor strategy.
Exits 0 if all hold, 1 if not; prints one line per deck.

examples:
  zoo_train.py build/release/bin/rhino gpt
  zoo_train.py build/release/bin/rhino all --whole --runs 1:auto,2:auto,3:tensor,4:data
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

from train_matrix import SOURCE, last_line, mpi_environment

# deck -> largest mean loss of the last ten steps, and the steps by which it is passed with some room; the entropy of the
# text's bytes is about 2.9, of ten classes 2.3. RoBERTa's steps are those of BERT.
BOUNDS = {
    "vgg": (1.3, 95), "resnet": (1.2, 108), "wide_resnet": (1.1, 105),
    "bert": (3.3, 40), "roberta": (3.3, 0), "albert": (3.3, 50),
    "t5": (2.4, 100), "switch": (2.4, 100), "gshard": (2.4, 100),
    "gpt": (2.9, 80), "palm": (2.6, 60), "llama": (2.5, 60), "glam": (2.8, 70),
    "m6": (0.8, 60), "vit": (1.6, 125), "clip": (2.75, 70),
    "unet": (0.3, 40), "latent_diffusion": (0.5, 32),
    "dlrm": (0.45, 90), "forward_forward": (0.63, 160),
}  # fmt: skip
LAST = 10
EQUAL_STEPS = 3
TOLERANCE = 1e-9


def train(options, deck, ranks, folder, *settings):
    """The losses of a run."""
    metrics = folder / "metrics.jsonl"
    metrics.unlink(missing_ok=True)
    command = [options.mpiexec, "-n", str(ranks), options.rhino, "train", str(SOURCE / "inputs" / "zoo" / f"{deck}.toml"),
               f"train.metrics={metrics}", *settings]
    result = subprocess.run(command, env=mpi_environment(), capture_output=True, text=True, timeout=options.timeout)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(command[3:])}: exit code {result.returncode}: {last_line(result.stderr)}")
    return [json.loads(line)["loss"] for line in metrics.read_text().splitlines()]


def learns(options, deck, folder):
    bound, steps = BOUNDS[deck]
    if steps == 0 and not options.whole:
        return "learns as another deck"
    losses = train(options, deck, 2, folder, *([] if options.whole else [f"train.steps={steps}"]))
    end = sum(losses[-LAST:]) / LAST
    if options.whole and len(losses) < 100:
        raise RuntimeError(f"{len(losses)} steps only")
    if not end < bound < losses[0]:
        raise RuntimeError(f"loss {losses[0]:.3f} -> {end:.3f}, which should pass {bound}")
    return f"{losses[0]:.3f} -> {end:.3f} (below {bound})"


def equal_over_plans(options, deck, folder):
    exact = [f"train.steps={EQUAL_STEPS}", "model.promote=f64"]
    reference, worst = None, 0.0
    for ranks, strategy in options.runs:
        losses = train(options, deck, ranks, folder, *exact, f"plan.strategy={strategy}")
        reference = reference or losses
        off = max(abs(loss / wanted - 1) for loss, wanted in zip(losses, reference))
        worst = max(worst, off)
        if not off < TOLERANCE:
            raise RuntimeError(f"{strategy} on {ranks} ranks is {off:.1e} off: {losses} for {reference}")
    return f"equal over plans within {worst:.0e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rhino", help="the program")
    parser.add_argument("decks", nargs="+", choices=[*BOUNDS, "all"], metavar="deck", help=f"{', '.join(BOUNDS)}, all")
    parser.add_argument("--runs", default="1:data,3:tensor", help="RANKS:STRATEGY of the runs that must be equal")
    parser.add_argument("--whole", action="store_true", help="train as long as the decks say, at least 100 steps")
    parser.add_argument("--mpiexec", default="mpiexec")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one run")
    options = parser.parse_args()
    options.runs = [(int(run.split(":")[0]), run.split(":")[1]) for run in options.runs.split(",")]
    options.rhino = str(pathlib.Path(options.rhino).resolve())
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for deck in BOUNDS if "all" in options.decks else options.decks:
            start = time.monotonic()
            try:
                verdict = "; ".join(check(options, deck, pathlib.Path(folder)) for check in (learns, equal_over_plans))
                state = "ok"
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                verdict, state = str(error), "FAILED"
                failures += 1
            print(f"{state:<7}{deck:<17}{time.monotonic() - start:6.1f} s  {verdict}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
