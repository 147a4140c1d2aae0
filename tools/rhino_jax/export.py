# SPDX-License-Identifier: Apache-2.0
"""Lowers a checked step and writes step.mlir, state.npz, manifest.json and batch.npz."""

import json
import os
import pathlib
import re

import jax
import numpy as np

from rhino_jax import contract, widen

MANIFEST_FORMAT = "rhino-manifest"
MANIFEST_VERSION = 1
KNOWN_CUSTOM_CALLS = {"Sharding", "annotate_device_placement"}


def lower(step):
    """The step's StableHLO module (an MLIR module object), lowered for CPU, all arguments kept.

    Locations carry names (argument paths, op names), never the files of the machine that exported.
    """
    limit = jax.config.jax_traceback_in_locations_limit
    jax.config.update("jax_traceback_in_locations_limit", 0)
    try:
        jitted = jax.jit(step.function, donate_argnums=0, keep_unused=True)
        lowered = jitted.trace(step.state, step.batch).lower(lowering_platforms=("cpu",))
        return lowered, lowered.compiler_ir("stablehlo")
    finally:
        jax.config.update("jax_traceback_in_locations_limit", limit)


def program_text(module):
    return module.operation.get_asm(enable_debug_info=True, large_elements_limit=None)


def custom_calls(text):
    return sorted(set(re.findall(r"stablehlo\.custom_call @([\w.$]+)", text)) - KNOWN_CUSTOM_CALLS)


def build_manifest(step, roles, target=None):
    """The manifest of a step as a dict; arguments and results are in the program's order."""
    leaves = step.state_leaves + step.batch_leaves
    arguments = []
    for index, (leaf, (role, kind)) in enumerate(zip(leaves, roles, strict=True)):
        entry = {"index": index, "path": leaf.path, "role": role}
        if kind is not None:
            entry["kind"] = kind
        entry |= {
            "shape": list(leaf.shape),
            "dtype": contract.type_name(leaf.dtype),
            "donated": role == "state",
            "jax_path": ("state" if role == "state" else "batch") + leaf.jax_path,
        }
        arguments.append(entry)
    _link_optimizer(arguments)
    results = [
        {"index": k, "path": leaf.path, "role": "state", "argument": k, "shape": list(leaf.shape), "dtype": contract.type_name(leaf.dtype)}
        for k, leaf in enumerate(step.state_leaves)
    ]
    for path, shape in zip(step.metric_paths, step.metric_shapes, strict=True):
        results.append(
            {
                "index": len(results),
                "path": path,
                "role": "loss" if path == "loss" else "metric",
                "shape": list(shape.shape),
                "dtype": contract.type_name(shape.dtype),
            }
        )
    manifest = {"format": MANIFEST_FORMAT, "version": MANIFEST_VERSION, "exporter": f"jax {jax.__version__}"}
    if target is not None:
        manifest["function"] = target
    return manifest | {"program": "step.mlir", "state": "state.npz", "arguments": arguments, "results": results}


def _link_optimizer(arguments):
    """Names, for each optimizer array shaped like a parameter whose path ends its own, that parameter."""
    params = {}
    for argument in arguments:
        if argument.get("kind") == "param":
            parts = argument["path"].split("/")
            for start in range(len(parts)):
                params.setdefault("/".join(parts[start:]), []).append(argument)
    for argument in arguments:
        if argument.get("kind") != "optimizer":
            continue
        parts = argument["path"].split("/")
        for start in range(len(parts)):
            found = [p for p in params.get("/".join(parts[start:]), []) if p["shape"] == argument["shape"]]
            if found:
                if len(found) == 1:
                    argument["param"] = found[0]["index"]
                break


def check_signature(module, manifest):
    """The lowered program must have exactly the manifest's arguments and results."""
    mains = [op for op in module.body.operations if op.operation.name == "func.func" and op.sym_name.value == "main"]
    if len(mains) != 1:
        raise contract.ContractError("the lowered program has no function 'main'")
    kind = mains[0].type
    for what, types in (("arguments", kind.inputs), ("results", kind.results)):
        wanted = [mlir_type(entry) for entry in manifest[what]]
        got = [str(t) for t in types]
        if got != wanted:
            raise contract.ContractError(
                f"JAX lowered the step to {len(got)} {what} where {len(wanted)} were expected, or to other types: {got[:8]} / {wanted[:8]}"
            )


def mlir_type(entry):
    name = entry["dtype"]
    element = "ui" + name[1:] if name.startswith("u") else name
    return f"tensor<{''.join(f'{d}x' for d in entry['shape'])}{element}>"


def write_atomically(path, write):
    """Calls write(temporary path), then renames it to `path`; leaves no half-written file."""
    path = pathlib.Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        write(temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def save_npz(path, arrays):
    """An .npz with fixed time stamps, so that equal arrays give an equal file (kept small by deflate)."""
    import io
    import zipfile

    def write(temporary):
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, value in arrays.items():
                buffer = io.BytesIO()
                np.lib.format.write_array(buffer, np.asarray(value, order="C"), allow_pickle=False)
                archive.writestr(zipfile.ZipInfo(name + ".npy", (1980, 1, 1, 0, 0, 0)), buffer.getvalue(), zipfile.ZIP_DEFLATED, 9)

    write_atomically(path, write)


def export_step(made, directory, overrides=(), promote=None, safetensors=False, target=None):
    """Writes the step that `made` = (step, state, example_batch) describes into `directory`.

    Returns (Step, manifest, list of warnings). promote='f64' widens all floating types of program and state.
    """
    step = contract.check_step(made)
    roles = contract.assign_roles(step, overrides)
    manifest = build_manifest(step, roles, target)
    _, module = lower(step)
    check_signature(module, manifest)
    state = {leaf.path: np.asarray(leaf.value) for leaf in step.state_leaves}
    batch = {}
    for leaf, (role, _) in zip(step.batch_leaves, roles[len(step.state_leaves) :], strict=True):
        if role == "const":
            if leaf.path in state:
                raise contract.ContractError(f"constant '{leaf.path}' has the name of a state array; rename one")
            state[leaf.path] = np.asarray(leaf.value)
        else:
            batch[leaf.path] = np.asarray(leaf.value)
    if promote is not None:
        module = widen.widen_module(module, promote)
        state = {k: widen.widen_array(v, promote) for k, v in state.items()}
        batch = {k: widen.widen_array(v, promote) for k, v in batch.items()}
        for entry in manifest["arguments"] + manifest["results"]:
            entry["dtype"] = widen.widen_name(entry["dtype"], promote)
    text = program_text(module)

    warnings = []
    for name in custom_calls(text):
        warnings.append(f"the program has the custom call '{name}', which Rhino may not know; write that part with plain jax.numpy")
    leading = {path: value.shape[0] if value.ndim else None for path, value in batch.items()}
    if any(size is None for size in leading.values()):
        scalars = [path for path, size in leading.items() if size is None]
        warnings.append(f"batch array {', '.join(scalars)} has no leading example dimension; if it never changes, give --role {scalars[0]}=const")
    if len(set(leading.values()) - {None}) > 1:
        warnings.append(f"batch arrays differ in their leading dimension: {leading}; Rhino reads the same number of examples for each")
    if safetensors and promote is None:
        manifest["state"] = "state.safetensors"

    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    write_atomically(directory / "step.mlir", lambda p: p.write_text(text))
    if manifest["state"] == "state.safetensors":
        from safetensors.numpy import save_file

        write_atomically(directory / "state.safetensors", lambda p: save_file({k: np.asarray(v, order="C") for k, v in state.items()}, p))
    else:
        save_npz(directory / "state.npz", state)
    save_npz(directory / "batch.npz", batch)
    write_atomically(directory / "manifest.json", lambda p: p.write_text(manifest_text(manifest)))
    return step, manifest, warnings


def manifest_text(manifest):
    """JSON with one line for each argument and result."""
    lines = ["{"]
    for key, value in manifest.items():
        if key in ("arguments", "results"):
            continue
        lines.append(f"  {json.dumps(key)}: {json.dumps(value)},")
    for key in ("arguments", "results"):
        lines.append(f"  {json.dumps(key)}: [")
        lines.append(",\n".join("    " + json.dumps(entry) for entry in manifest[key]))
        lines.append("  ]" + ("," if key == "arguments" else ""))
    lines.append("}")
    return "\n".join(lines) + "\n"


def summary(manifest):
    """A table of the signature for people."""
    rows = [("argument", "role", "kind", "type", "path")]
    for entry in manifest["arguments"]:
        rows.append((str(entry["index"]), entry["role"], entry.get("kind", ""), mlir_type(entry)[7:-1], entry["path"]))
    for entry in manifest["results"]:
        if entry["role"] != "state":
            rows.append((f"result {entry['index']}", entry["role"], "", mlir_type(entry)[7:-1], entry["path"]))
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)
