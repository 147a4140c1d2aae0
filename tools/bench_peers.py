#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times one training step in JAX and in `rhino train`: same step, same data, same machine, alternating runs.

One rank runs against JAX on one core, two ranks against JAX on two (both bound with taskset to the same cores). Each round
runs every contender once; the first steps of each run are dropped, and the medians over all rounds are compared. The losses
of both are compared too: a fast wrong step is no result. Without --rhino only JAX is timed.
"""

import argparse
import importlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

TOOLS = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(TOOLS))

from rhino_jax import environment  # noqa: E402

# Sizes at which a step takes 0.1 to 1 s on one core of a present-day server.
MODELS = {
    "mlp": ("mlp_digits", {"batch": 512, "hidden": 2048, "inputs": 1024, "classes": 100, "rate": 0.02}),
    "gpt": ("gpt_tiny", {"batch": 8, "blocks": 4, "width": 256, "heads": 8, "head_width": 32, "hidden": 1024, "length": 128}),
    "resnet": ("resnet_tiny", {"batch": 32, "size": 32, "channels": 3, "widths": (32, 64, 128)}),
}
EXAMPLES = """examples:
  tools/bench_peers.py --rhino build/release/apps/rhino
  tools/bench_peers.py --rhino build/release/apps/rhino gpt --ranks 1 --rounds 5 --json gpt.json
  tools/bench_peers.py mlp gpt resnet            # JAX only
"""


def make(name):
    module, sizes = MODELS[name]
    return importlib.import_module(f"inputs.{module}").make(**sizes)


def example_data(step, batches, seed=0):
    """Random examples of the batch's types: time does not depend on what they say."""
    import numpy as np

    random = np.random.default_rng(seed)
    data = {}
    for leaf in step.batch_leaves:
        shape = (leaf.shape[0] * batches, *leaf.shape[1:])
        if leaf.dtype.kind == "f":
            data[leaf.path] = random.uniform(0, 1, shape).astype(leaf.dtype)
        else:
            data[leaf.path] = random.integers(0, 10, shape).astype(leaf.dtype)
    return data


def run_jax_child(name, steps, data_file):
    """In a process of its own, bound to its cores by the caller: prints {"seconds": [...], "loss": [...]}."""
    import jax

    jax.config.update("jax_platforms", "cpu")
    import make_inputs
    from rhino_jax import contract

    step = contract.check_step(make(name))
    data = make_inputs.read_data(data_file)
    jitted = jax.jit(step.function, donate_argnums=0)
    tree = jax.tree_util.tree_structure(step.batch)
    size = step.batch_leaves[0].shape[0]
    state, seconds, losses = step.state, [], []
    for batch in make_inputs.batches(data, size, steps):
        batch = jax.tree_util.tree_unflatten(tree, [batch[leaf.path] for leaf in step.batch_leaves])
        start = time.perf_counter()
        state, metrics = jitted(state, batch)
        jax.block_until_ready((state, metrics))
        seconds.append(time.perf_counter() - start)
        losses.append(float(metrics["loss"]))
    print(json.dumps({"seconds": seconds, "loss": losses}))


def bound(cores, command):
    return ["taskset", "-c", ",".join(map(str, cores)), *command]


def run(command, extra):
    done = subprocess.run(command, env=os.environ | extra, capture_output=True, text=True)
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-8:])
        sys.exit(f"bench_peers.py: exit code {done.returncode} from: {' '.join(map(str, command))}\n{tail}")
    return done.stdout


def time_jax(name, cores, steps, folder):
    flags = f"--xla_cpu_multi_thread_eigen={'true' if len(cores) > 1 else 'false'} " + os.environ.get("XLA_FLAGS", "")
    child = [sys.executable, str(TOOLS / "bench_peers.py"), "--child", name, str(steps), str(folder / "data.h5")]
    # XLA sizes its thread pool by the cores that the process may use.
    out = run(bound(cores, child), {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu", "OMP_NUM_THREADS": str(len(cores))})
    result = json.loads(out.splitlines()[-1])
    return result["seconds"], result["loss"]


def time_rhino(options, cores, steps, folder):
    metrics = folder / f"rhino{len(cores)}.jsonl"
    metrics.unlink(missing_ok=True)
    command = [str(options.rhino), "train", str(folder / "deck.toml"), "--steps", str(steps), "--metrics", str(metrics)]
    command += options.rhino_args.split()
    extra = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    if len(cores) > 1:
        command = ["mpirun", "-n", str(len(cores)), "--bind-to", "none", *command]
        if os.geteuid() == 0:
            extra |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    run(bound(cores, command), extra)
    entries = [json.loads(line) for line in metrics.read_text().splitlines() if line.strip()]
    if len(entries) != steps:
        sys.exit(f"bench_peers.py: rhino wrote {len(entries)} of {steps} steps into its metrics")
    return [entry["seconds"] for entry in entries], [entry["loss"] for entry in entries]


def prepare(name, folder):
    """Writes the exported step, its data and a deck into `folder`."""
    import jax

    jax.config.update("jax_platforms", "cpu")
    import make_inputs
    from rhino_jax import export

    step, _, _ = export.export_step(make(name), folder / "model", target=f"bench:{name}")
    make_inputs.write_data(folder / "data.h5", example_data(step, batches=2), "random numbers")
    (folder / "deck.toml").write_text(
        f"# {name} at benchmark size\n"
        '[model]\nimport = "model/step.mlir"\nstate = "model/state.npz"\nmanifest = "model/manifest.json"\n\n'
        '[data]\nfile = "data.h5"\nshuffle = false\n\n[train]\nsteps = 10\nlog_every = 1\nseed = 1\n\n[plan]\nstrategy = "auto"\n'
    )


def compare_losses(name, ours, theirs, tolerance=1e-3):
    worst = max(abs(a - b) / max(abs(b), 1e-6) for a, b in zip(ours, theirs))
    if not worst < tolerance:
        sys.exit(f"bench_peers.py: {name}: rhino's losses differ from JAX's by {worst:.1e}; timing a wrong step is pointless")


def bench(name, options, folder):
    prepare(name, folder)
    available = sorted(os.sched_getaffinity(0))
    seconds, losses = {}, {}
    for _ in range(options.rounds):
        for ranks in options.ranks:
            cores = available[:ranks]
            runs = [(f"jax {ranks}", time_jax(name, cores, options.steps, folder))]
            if options.rhino:
                runs.append((f"rhino {ranks}", time_rhino(options, cores, options.steps, folder)))
            for label, (times, loss) in runs:
                seconds.setdefault(label, []).extend(times[options.warm_up :])
                losses[label] = loss
    reference = losses[f"jax {options.ranks[0]}"]
    for label, loss in losses.items():
        compare_losses(f"{name}, {label}", loss, reference)
    return {label: {"median": statistics.median(t), "best": min(t), "steps": len(t)} for label, t in seconds.items()}


def print_result(name, result, ranks):
    print(f"\n{name}: {MODELS[name][1]}")
    for label, row in result.items():
        print(f"  {label:<8}  median {1e3 * row['median']:8.1f} ms   best {1e3 * row['best']:8.1f} ms   ({row['steps']} steps)")
    ratios = {}
    for count in ranks:
        if f"rhino {count}" in result:
            ratios[f"rhino/jax on {count}"] = result[f"rhino {count}"]["median"] / result[f"jax {count}"]["median"]
    for peer in ("jax", "rhino"):
        if f"{peer} 1" in result and f"{peer} 2" in result:
            ratios[f"{peer} 1 -> 2 speed-up"] = result[f"{peer} 1"]["median"] / result[f"{peer} 2"]["median"]
    for label, value in ratios.items():
        print(f"  {label}: {value:.2f}x")
    sys.stdout.flush()
    return ratios


def parse():
    parser = argparse.ArgumentParser(
        prog="bench_peers.py", description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", metavar="MODEL", nargs="*", help=f"which (default: all of {', '.join(MODELS)})")
    parser.add_argument("--rhino", type=pathlib.Path, metavar="PATH", help="the rhino program")
    parser.add_argument("--rhino-args", default="", metavar="ARGS", help="more arguments for `rhino train`, in one string")
    parser.add_argument("--ranks", type=int, nargs="+", default=None, help="numbers of ranks (default: 1 2, as far as there are cores)")
    parser.add_argument("--steps", type=int, default=8, help="steps of a run (default 8)")
    parser.add_argument("--warm-up", type=int, default=2, help="first steps of a run that do not count (default 2)")
    parser.add_argument("--rounds", type=int, default=3, help="alternating rounds (default 3)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="also write the result here")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="keep models, data and decks here")
    options = parser.parse_args()
    unknown = [name for name in options.models if name not in MODELS]
    if unknown:
        parser.error(f"unknown model '{unknown[0]}'; known: {', '.join(MODELS)}")
    cores = len(os.sched_getaffinity(0))
    options.ranks = options.ranks or [n for n in (1, 2) if n <= cores]
    if max(options.ranks) > cores or min(options.ranks) < 1:
        parser.error(f"--ranks: this process may use {cores} cores; a rank per core is needed for a fair comparison")
    if options.steps <= options.warm_up or options.warm_up < 1 or options.rounds < 1:
        parser.error("--steps must exceed --warm-up, which must be at least 1 (the first step compiles); --rounds must be positive")
    if options.rhino:
        options.rhino = options.rhino.resolve()
        if not os.access(options.rhino, os.X_OK):
            parser.error(f"--rhino: '{options.rhino}' is not a program")
    if not shutil.which("taskset"):
        parser.error("needs taskset (Debian package util-linux)")
    return options


def main():
    environment.require("jax", "optax", "h5py")
    if sys.argv[1:2] == ["--child"]:
        run_jax_child(sys.argv[2], int(sys.argv[3]), sys.argv[4])
        return
    options = parse()
    results = {}
    with tempfile.TemporaryDirectory() as temporary:
        for name in options.models or MODELS:
            folder = (options.keep or pathlib.Path(temporary)).resolve() / name
            folder.mkdir(parents=True, exist_ok=True)
            result = bench(name, options, folder)
            results[name] = {"times": result, "ratios": print_result(name, result, options.ranks)}
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
