#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports a training step that you wrote in JAX, so that Rhino can import, plan and train it.

You give a function without arguments that returns three things:

    def make():
        def step(state, batch):            # pure, jit-able
            ...
            return new_state, {"loss": loss, "accuracy": accuracy}
        return step, state, example_batch

  state          a pytree of arrays (params, optimizer state, statistics, step counter, random key, ...)
                 with its initial values; new_state must have the same tree, shapes and types
  example_batch  a pytree of arrays with the shapes and types of one batch (leading dimension: examples)
  metrics        a dict with a floating-point scalar 'loss' (other entries are reported by name), or
                 the loss alone

Random keys of the new kind (jax.random.key) and of the old kind both work; a new one is exported as
its raw words. Numbers and arrays that the step closes over become constants of the program.

The folder then holds:

  step.mlir      StableHLO text, lowered for CPU; every argument kept, donation marked, constants in
                 full, argument and op names as locations
  state.npz      initial values; keys are the paths, e.g. params/block0/w (bf16 as raw 2-byte words)
  batch.npz      the example batch
  manifest.json  "arguments": [{index, path, role, kind, shape, dtype, donated, jax_path, param}]
                   role   state, batch, or const (in state.npz, the same for every step)
                   kind   of a state array: param, optimizer, statistics, step, key
                   param  of an optimizer array: the index of the parameter that it belongs to
                 "results":   [{index, path, role, argument, shape, dtype}]
                   role   state (with the index of the argument that it replaces), loss, metric
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from rhino_jax import environment  # noqa: E402

EXAMPLES = """examples:
  tools/export_jax.py mymodel:make -o exported
  tools/export_jax.py src/train.py:make_step -o exported --role 'ema/*=statistics' --role 'mask=const'
  tools/export_jax.py mymodel:make -o exported64 --promote f64
then:
  rhino import exported/step.mlir --state exported/state.npz --manifest exported/manifest.json -o model.h5
"""


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="export_jax.py", description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("target", metavar="MODULE:FUNCTION", help="dotted module name or .py file, and the function in it")
    parser.add_argument("-o", "--output", metavar="DIR", required=True, help="folder to write into (made if missing)")
    parser.add_argument(
        "--role",
        metavar="GLOB=KIND",
        action="append",
        default=[],
        help="override what the paths suggest: KIND is param, optimizer, statistics, step, key (state paths) or const, batch (batch paths)",
    )
    parser.add_argument("--promote", choices=["f64"], help="write program and values with all floating types widened")
    parser.add_argument("--safetensors", action="store_true", help="write state.safetensors instead of state.npz")
    parser.add_argument("-q", "--quiet", action="store_true", help="print warnings only")
    return parser.parse_args(arguments)


def main(arguments=None):
    options = parse(arguments)
    environment.require("jax", "numpy")
    import jax

    jax.config.update("jax_platforms", "cpu")
    from rhino_jax import contract, export

    if options.safetensors and options.promote:
        sys.exit("export_jax.py: --safetensors and --promote do not go together")
    if options.safetensors:
        environment.require("safetensors")
    try:
        function = contract.load_function(options.target)
        target = options.target if not options.target.rpartition(":")[0].endswith(".py") else (
            pathlib.Path(options.target.rpartition(":")[0]).name + ":" + options.target.rpartition(":")[2]
        )
        _, manifest, warnings = export.export_step(
            function(), options.output, options.role, options.promote, options.safetensors, target
        )
    except contract.ContractError as error:
        sys.exit(f"export_jax.py: {error}")
    except OSError as error:
        sys.exit(f"export_jax.py: cannot write '{options.output}': {error}")
    for warning in warnings:
        print(f"export_jax.py: warning: {warning}", file=sys.stderr)
    if not options.quiet:
        print(export.summary(manifest))
        print(f"written: {', '.join(str(pathlib.Path(options.output) / n) for n in (manifest['program'], manifest['state'], 'batch.npz', 'manifest.json'))}")


if __name__ == "__main__":
    main()
