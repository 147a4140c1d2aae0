#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the example models in inputs/: step, state, manifest, data, and JAX's own losses.

For each NAME (default: all) it writes into inputs/NAME/

  step.mlir, state.npz, manifest.json   as tools/export_jax.py does for tools/inputs/NAME.py
  data.h5                               one data set for each batch path, leading dimension = example
                                        (models on the same text share the one of gpt_tiny)
  evaluation/step.mlir, manifest.json   the evaluation step, where tools/inputs/NAME.py has one
  evaluation/data.h5                    its examples
  losses.json                           {"f32": [...], "f64": [...]}: the losses of the first 20 steps,
                                        step s on the examples s*B .. s*B + B - 1 in file order

Both sequences come from the exported step.mlir, compiled by JAX's own compiler: f32 as it is, f64 with
all floating types widened (see rhino_jax/widen.py) from the same initial state. So both start from equal
numbers, and random bits, integers and routing by integers are the same in both. The f32 losses
are also compared with the jitted Python function's.
"""

import argparse
import importlib
import json
import pathlib
import sys
import time

TOOLS = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(TOOLS))

from rhino_jax import environment  # noqa: E402

NAMES = ("mlp_digits", "gpt_tiny", "gpt_tiny_dropout", "gpt_tiny_scan", "resnet_tiny", "moe_tiny", "unet_tiny")
STEPS = 20


def batches(data, size, count):
    """The batches of a deck with shuffle = false: in file order, the short last batch of an epoch dropped."""
    examples = len(next(iter(data.values())))
    whole = examples // size
    for step in range(count):
        start = (step % whole) * size
        yield {path: value[start : start + size] for path, value in data.items()}


def run_program(module, manifest, state, data, size, count, widen_to=None):
    """Losses of `count` steps of the program, its state fed back by the manifest."""
    from rhino_jax import widen

    runner = widen.Runner(module)
    values = [state[a["path"]] if a["role"] != "batch" else None for a in manifest["arguments"]]
    loss_index = next(r["index"] for r in manifest["results"] if r["role"] == "loss")
    if widen_to is not None:
        values = [None if v is None else widen.widen_array(v, widen_to) for v in values]
    losses = []
    for batch in batches(data, size, count):
        if widen_to is not None:
            batch = {path: widen.widen_array(value, widen_to) for path, value in batch.items()}
        arguments = [batch[a["path"]] if a["role"] == "batch" else v for a, v in zip(manifest["arguments"], values)]
        results = runner(arguments)
        losses.append(float(results[loss_index]))
        for result in manifest["results"]:
            if result["role"] == "state":
                values[result["argument"]] = results[result["index"]]
    return losses


def run_python(step, data, size, count):
    """Losses and seconds per step of the user's function under jax.jit."""
    import jax

    jitted = jax.jit(step.function)
    state, losses, seconds = step.state, [], []
    tree = jax.tree_util.tree_structure(step.batch)
    for batch in batches(data, size, count):
        leaves = [batch[leaf.path] for leaf in step.batch_leaves]
        start = time.perf_counter()
        state, metrics = jitted(state, jax.tree_util.tree_unflatten(tree, leaves))
        losses.append(float(metrics["loss"] if isinstance(metrics, dict) else metrics))
        seconds.append(time.perf_counter() - start)
    return losses, seconds


def write_data(path, data, source):
    import h5py

    from rhino_jax import export

    def write(temporary):
        with h5py.File(temporary, "w") as file:
            file.attrs["source"] = source
            for name, value in data.items():
                chunk = (min(len(value), 512), *value.shape[1:])
                file.create_dataset(name, data=value, chunks=chunk, compression="gzip", compression_opts=9, shuffle=value.itemsize > 1)

    export.write_atomically(path, write)


def read_data(path):
    import h5py

    data = {}
    with h5py.File(path, "r") as file:
        file.visititems(lambda name, item: data.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    return data


def make_evaluation(module, name, target):
    """The evaluation step; it has no state file, since it reads the state that is being trained."""
    from rhino_jax import export

    _, _, warnings = export.export_step(module.make_evaluation(), target, module.ROLES, target=f"inputs.{name}:make_evaluation")
    (target / "state.npz").unlink()
    (target / "batch.npz").unlink()
    write_data(target / "data.h5", module.evaluation_data(), module.SOURCE)
    return warnings


def make_one(name, folder, keep_data, long_run):
    import jax
    import numpy as np

    from rhino_jax import export, widen

    module = importlib.import_module(f"inputs.{name}")
    target = folder / name
    shared = getattr(module, "DATA_OF", name)
    data_file = folder / shared / "data.h5"
    if keep_data or shared != name:
        if not data_file.exists():
            sys.exit(f"make_inputs.py: '{data_file}' is missing; make {shared} first")
        data = read_data(data_file)
    else:
        data = module.data()
        target.mkdir(parents=True, exist_ok=True)
        write_data(data_file, data, module.SOURCE)
    step, manifest, warnings = export.export_step(module.make(), target, module.ROLES, target=f"inputs.{name}:make")
    (target / "batch.npz").unlink()  # data.h5 has the examples
    for leaf in step.batch_leaves:
        if data[leaf.path].dtype != leaf.dtype or data[leaf.path].shape[1:] != leaf.shape[1:]:
            sys.exit(f"make_inputs.py: {name}: data set '{leaf.path}' does not fit the batch")
    size = step.batch_leaves[0].shape[0]

    text = (target / "step.mlir").read_text()
    state = dict(np.load(target / "state.npz"))
    _, lowered = export.lower(step)
    narrow = run_program(text, manifest, state, data, size, STEPS)
    wide = run_program(widen.widen_module(lowered), manifest, state, data, size, STEPS, "f64")
    python, seconds = run_python(step, data, size, STEPS if long_run is None else max(STEPS, long_run))
    against_python = max(abs(a - b) / abs(b) for a, b in zip(narrow, python))
    against_wide = max(abs(a - b) / abs(b) for a, b in zip(narrow, wide))
    if not against_python < 1e-5 or not against_wide < 5e-5:
        sys.exit(f"make_inputs.py: {name}: f32 losses differ by {against_python:.1e} from jax.jit's and by {against_wide:.1e} from f64's")
    falls = np.mean(narrow[-4:]) < np.mean(narrow[:4])
    if not falls:
        sys.exit(f"make_inputs.py: {name}: the loss does not fall: {narrow}")
    losses = {"model": name, "batch": size, "f32": narrow, "f64": wide}
    export.write_atomically(target / "losses.json", lambda p: p.write_text(json.dumps(losses, indent=1) + "\n"))
    if hasattr(module, "make_evaluation"):
        warnings += make_evaluation(module, name, target / "evaluation")
    parameters = sum(int(np.prod(a["shape"])) for a in manifest["arguments"] if a.get("kind") == "param")
    later = f", {np.mean(python[-10:]):.3f} after {len(python)} steps" if long_run else ""
    print(
        f"{name}: {parameters} parameters, {text.count(' = ')} ops, step.mlir {len(text) / 1e3:.0f} kB, loss {narrow[0]:.4f} -> {narrow[-1]:.4f}"
        f"{later}, f32 vs f64 {against_wide:.1e}, {1e3 * float(np.median(seconds[1:])):.1f} ms a step in JAX {jax.__version__}"
    )
    for warning in warnings:
        print(f"{name}: warning: {warning}")


def main():
    parser = argparse.ArgumentParser(prog="make_inputs.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", metavar="NAME", nargs="*", help=f"which to make (default: all of {', '.join(NAMES)})")
    parser.add_argument("-o", "--output", metavar="DIR", type=pathlib.Path, default=TOOLS.parent / "inputs", help="default: the inputs folder")
    parser.add_argument("--keep-data", action="store_true", help="use the data.h5 that are there instead of making them again")
    parser.add_argument("--long", metavar="N", type=int, help="also train N steps in JAX and print where the loss ends")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in NAMES]
    if unknown:
        parser.error(f"unknown input '{unknown[0]}'; known: {', '.join(NAMES)}")
    environment.require("jax", "optax", "h5py", "sklearn")
    import jax

    jax.config.update("jax_platforms", "cpu")
    for name in options.names or NAMES:
        make_one(name, options.output, options.keep_data, options.long)


if __name__ == "__main__":
    main()
