#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the losses of a `rhino train --metrics FILE` run with JAX's (inputs/NAME/losses.json) or with another run's.

Prints a table; exits 0 if every compared step agrees, 1 if one does not, 2 if the files cannot be compared.
"""

import argparse
import json
import math
import sys

EXAMPLES = """examples:
  tools/compare_losses.py run.jsonl inputs/gpt_tiny/losses.json --precision f32 --rtol 1e-4
  tools/compare_losses.py run64.jsonl inputs/gpt_tiny/losses.json --precision f64 --rtol 1e-7
  tools/compare_losses.py ranks1.jsonl ranks4.jsonl --rtol 1e-9
"""


class Unusable(Exception):
    pass


def read_metrics(text, name):
    """{step: loss} of a JSON-lines file; a step that occurs twice (a restart) keeps its last value."""
    losses = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            losses[int(entry["step"])] = float(entry["loss"])
        except (ValueError, KeyError, TypeError) as error:
            raise Unusable(f"{name}:{number}: not a line with 'step' and 'loss' ({error})") from error
    return losses


def read_losses(path, precision):
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise Unusable(f"cannot read '{path}': {error}") from error
    try:
        whole = json.loads(text)
    except ValueError:
        whole = None
    if isinstance(whole, dict) and "loss" not in whole:
        if precision not in whole:
            raise Unusable(f"'{path}' has no losses for {precision}")
        return dict(enumerate(map(float, whole[precision])))
    losses = read_metrics(text, path)
    if not losses:
        raise Unusable(f"'{path}' holds no losses")
    return losses


def aligned(losses, first):
    return {step - first: loss for step, loss in losses.items()}


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="compare_losses.py", description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("metrics", metavar="METRICS.jsonl", help="what rhino wrote")
    parser.add_argument("reference", metavar="LOSSES.json", help="losses.json, or the metrics of another run")
    parser.add_argument("--precision", choices=["f32", "f64"], default="f32", help="which list of losses.json (default f32)")
    parser.add_argument("--rtol", type=float, help="allowed relative difference (default 1e-4 for f32, 1e-7 for f64)")
    parser.add_argument("--steps", type=int, default=20, help="compare this many steps; fewer present is an error (default 20)")
    parser.add_argument("--first", type=int, help="number of the first step in metrics files (default: the smallest, which must be 0 or 1)")
    parser.add_argument("-q", "--quiet", action="store_true", help="print the verdict only")
    options = parser.parse_args(arguments)
    rtol = options.rtol if options.rtol is not None else {"f32": 1e-4, "f64": 1e-7}[options.precision]
    if not rtol > 0 or options.steps < 1:
        parser.error("--rtol and --steps must be positive")
    try:
        sequences = []
        for path in (options.metrics, options.reference):
            losses = read_losses(path, options.precision)
            first = options.first if options.first is not None and not path.endswith(".json") else min(losses)
            if first not in (0, 1) and options.first is None:
                raise Unusable(f"'{path}' starts at step {first}, not at the beginning of a run")
            sequences.append(aligned(losses, first))
        missing = [s for s in range(options.steps) if any(s not in sequence for sequence in sequences)]
        if missing:
            raise Unusable(f"step {missing[0] + 1} of {options.steps} is missing from one of the files (is train.log_every thinning the metrics?)")
    except Unusable as error:
        print(f"compare_losses.py: {error}", file=sys.stderr)
        return 2

    worst, bad = 0.0, []
    if not options.quiet:
        print(f"{'step':>5}  {'got':>22}  {'want':>22}  {'relative':>9}")
    for step in range(options.steps):
        got, want = sequences[0][step], sequences[1][step]
        difference = abs(got - want) / max(abs(want), 1e-300) if math.isfinite(got) and math.isfinite(want) else math.inf
        worst = max(worst, difference)
        if not difference <= rtol:
            bad.append(step)
        if not options.quiet:
            print(f"{step + 1:>5}  {got:>22.16g}  {want:>22.16g}  {difference:>9.1e}{'' if difference <= rtol else '  <-- differs'}")
    if bad:
        print(f"DIFFERENT: {len(bad)} of {options.steps} steps beyond {rtol:.1e}, first at step {bad[0] + 1}, largest {worst:.1e}")
        return 1
    print(f"equal: {options.steps} steps within {rtol:.1e}, largest difference {worst:.1e}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
