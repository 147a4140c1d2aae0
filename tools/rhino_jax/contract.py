# SPDX-License-Identifier: Apache-2.0
"""The contract between a user's training step and Rhino: loading it, checking it, naming its parts.

    FUNCTION() -> (step, state, example_batch)
    step(state, batch) -> (new_state, metrics)

`state` and `batch` are pytrees of arrays; `new_state` has the tree, shapes and types of `state`;
`metrics` is a scalar loss, or a dict of which the entry 'loss' is a scalar floating-point value.
"""

import dataclasses
import fnmatch
import importlib
import importlib.util
import pathlib
import re
import sys

import jax
import jax.numpy as jnp
import numpy as np

STATE_KINDS = ("param", "optimizer", "statistics", "step", "key")


class ContractError(Exception):
    """The user's function does not keep the contract; the message says where and what to do."""


@dataclasses.dataclass
class Leaf:
    """One array of the exported signature.

    path: its name in files, e.g. 'params/block0/w'; jax_path: as JAX prints it, "['params']['block0']['w']".
    value: the array in the exported form (a typed key as its raw words); key_impl: the key's kind, or None.
    """

    path: str
    jax_path: str
    value: object
    key_impl: object = None

    @property
    def shape(self):
        return tuple(int(d) for d in self.value.shape)

    @property
    def dtype(self):
        return np.dtype(self.value.dtype)


@dataclasses.dataclass
class Step:
    """A checked step in exported form: plain arrays in and out, keys as raw words."""

    function: object  # (state, batch) -> (new_state, metrics), pytrees with plain arrays only
    state: object
    batch: object
    state_leaves: list
    batch_leaves: list
    metric_paths: list  # paths of the results behind the state, in result order
    metric_shapes: list  # jax.ShapeDtypeStruct for each of them


def type_name(dtype):
    """Rhino's name of an element type: i1, i8..i64, u8..u64, bf16, f16, f32, f64."""
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return "i1"
    if dtype.name == "bfloat16":
        return "bf16"
    if dtype.kind in "iuf":
        return f"{dtype.kind}{dtype.itemsize * 8}"
    raise ContractError(f"element type {dtype.name} is not supported by Rhino (no complex, fp8, 4-bit or object arrays)")


def describe(shape, dtype):
    return f"{np.dtype(dtype).name}[{','.join(str(d) for d in shape)}]"


def load_function(target):
    """The function that 'MODULE:FUNCTION' names; MODULE is a dotted module name or the path of a .py file."""
    module_name, colon, function_name = target.rpartition(":")
    if not colon or not module_name or not function_name:
        raise ContractError(f"'{target}' does not have the form MODULE:FUNCTION, e.g. mymodel:make or path/to/mymodel.py:make")
    if "" not in sys.path and "." not in sys.path:
        sys.path.insert(0, "")
    if module_name.endswith(".py"):
        file = pathlib.Path(module_name)
        if not file.is_file():
            raise ContractError(f"no file '{file}'")
        sys.path.insert(0, str(file.resolve().parent))
        spec = importlib.util.spec_from_file_location(file.stem, file)
        module = importlib.util.module_from_spec(spec)
        sys.modules[file.stem] = module
        spec.loader.exec_module(module)
    else:
        try:
            module = importlib.import_module(module_name)
        except ModuleNotFoundError as error:
            if error.name is None or not (module_name == error.name or module_name.startswith(error.name + ".")):
                raise ContractError(f"module '{module_name}' was found, but it imports '{error.name}', which is not installed") from error
            raise ContractError(
                f"no module '{module_name}' on the Python path; run from the folder that holds it, or give the path of the .py file"
            ) from error
    function = getattr(module, function_name, None)
    if function is None:
        names = sorted(n for n, v in vars(module).items() if callable(v) and not n.startswith("_"))
        raise ContractError(f"module '{module_name}' has no '{function_name}'; it has: {', '.join(names) or 'no functions'}")
    if not callable(function):
        raise ContractError(f"'{target}' is a {type(function).__name__}, not a function")
    return function


def _is_key(value):
    return isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key)


def _file_path(key_path, root):
    parts = []
    for entry in key_path:
        name = jax.tree_util.keystr((entry,), simple=True)
        if not name or name in (".", "..") or "\0" in name:
            raise ContractError(f"{root}{jax.tree_util.keystr(key_path)}: '{name}' cannot name a data set; rename the dict key")
        parts.append(name)
    return "/".join(parts) if parts else root


def _flatten(tree, root):
    leaves = []
    for key_path, value in jax.tree_util.tree_flatten_with_path(tree)[0]:
        jax_path = jax.tree_util.keystr(key_path)
        impl = None
        if _is_key(value):
            impl = jax.random.key_impl(value)
            value = jax.random.key_data(value)
        else:
            try:
                value = jnp.asarray(value)
            except (TypeError, ValueError) as error:
                raise ContractError(
                    f"{root}{jax_path} is a {type(value).__name__}, not an array or number; keep what is not data out of the tree"
                ) from error
        try:
            type_name(value.dtype)
        except ContractError as error:
            raise ContractError(f"{root}{jax_path}: {error}") from error
        leaves.append(Leaf(_file_path(key_path, root), jax_path, value, impl))
    seen = {}
    for leaf in leaves:
        if leaf.path in seen:
            raise ContractError(f"{root}{seen[leaf.path]} and {root}{leaf.jax_path} would both be stored as '{leaf.path}'; rename one")
        seen[leaf.path] = leaf.jax_path
    groups = {path[:i] for path in seen for i, c in enumerate(path) if c == "/"}
    for path in seen:
        if path in groups:
            raise ContractError(f"{root}{seen[path]} is stored as '{path}', which is also a group of others; rename one")
    return leaves


def _compare_trees(before, after):
    paths_before = {jax.tree_util.keystr(p) for p, _ in jax.tree_util.tree_flatten_with_path(before)[0]}
    paths_after = {jax.tree_util.keystr(p) for p, _ in jax.tree_util.tree_flatten_with_path(after)[0]}
    missing = [f"state{p}" for p in sorted(paths_before - paths_after)]
    added = [f"state{p}" for p in sorted(paths_after - paths_before)]
    parts = []
    if missing:
        parts.append(f"missing from the new state: {', '.join(missing[:5])}")
    if added:
        parts.append(f"only in the new state: {', '.join(added[:5])}")
    if not parts:
        parts.append(
            f"same paths, but other containers: {jax.tree_util.tree_structure(before)} in, {jax.tree_util.tree_structure(after)} out"
        )
    return "; ".join(parts)


def check_step(made):
    """Checks what the user's function returned, and gives the step in exported form."""
    if not isinstance(made, tuple) or len(made) != 3:
        raise ContractError(f"the function must return (step, state, example_batch), but returned {_shape_of(made)}")
    user_step, user_state, user_batch = made
    if not callable(user_step):
        raise ContractError(f"the first thing returned must be the step function, but is a {type(user_step).__name__}")
    state_leaves = _flatten(user_state, "state")
    batch_leaves = _flatten(user_batch, "batch")
    if not state_leaves:
        raise ContractError("the state has no arrays: there is nothing to train")
    state_tree = jax.tree_util.tree_structure(user_state)
    batch_tree = jax.tree_util.tree_structure(user_batch)

    def wrap(leaves, tree, values):
        wrapped = [
            value if leaf.key_impl is None else jax.random.wrap_key_data(value, impl=leaf.key_impl)
            for leaf, value in zip(leaves, jax.tree_util.tree_leaves(values), strict=True)
        ]
        return jax.tree_util.tree_unflatten(tree, wrapped)

    def step(state, batch):
        returned = user_step(wrap(state_leaves, state_tree, state), wrap(batch_leaves, batch_tree, batch))
        if not isinstance(returned, tuple) or len(returned) != 2:
            raise ContractError(f"step(state, batch) must return (new_state, metrics), but returned {_shape_of(returned)}")
        new_state, metrics = returned
        if jax.tree_util.tree_structure(new_state) != state_tree:
            raise ContractError(f"the step changes the state's tree: {_compare_trees(user_state, new_state)}")
        plain = jax.tree.map(
            lambda x: jax.random.key_data(x) if jnp.issubdtype(jnp.result_type(x), jax.dtypes.prng_key) else jnp.asarray(x), new_state
        )
        return plain, metrics

    state = jax.tree_util.tree_unflatten(state_tree, [leaf.value for leaf in state_leaves])
    batch = jax.tree_util.tree_unflatten(batch_tree, [leaf.value for leaf in batch_leaves])
    new_state, metrics = jax.eval_shape(step, state, batch)

    drift = []
    for leaf, new in zip(state_leaves, jax.tree_util.tree_leaves(new_state), strict=True):
        if leaf.shape != tuple(new.shape) or leaf.dtype != new.dtype:
            drift.append(f"state{leaf.jax_path} goes in as {describe(leaf.shape, leaf.dtype)} and comes out as {describe(new.shape, new.dtype)}")
    if drift:
        more = f" (and {len(drift) - 5} more)" if len(drift) > 5 else ""
        raise ContractError("; ".join(drift[:5]) + more + ": a state must keep its shapes and types")

    metric_paths, metric_shapes = _check_metrics(metrics)
    return Step(step, state, batch, state_leaves, batch_leaves, metric_paths, metric_shapes)


def _check_metrics(metrics):
    if isinstance(metrics, jax.ShapeDtypeStruct):
        metrics = {"loss": metrics}
        single = True
    else:
        single = False
    if not isinstance(metrics, dict):
        raise ContractError(f"metrics must be a dict with the entry 'loss', or the loss itself, but is a {type(metrics).__name__}")
    if "loss" not in metrics:
        raise ContractError(f"metrics has no entry 'loss'; it has: {', '.join(map(str, metrics)) or 'nothing'}")
    loss = metrics["loss"]
    if not isinstance(loss, jax.ShapeDtypeStruct) or loss.shape != () or not jnp.issubdtype(loss.dtype, jnp.floating):
        got = describe(loss.shape, loss.dtype) if isinstance(loss, jax.ShapeDtypeStruct) else type(loss).__name__
        raise ContractError(f"metrics['loss'] must be a floating-point scalar, but is {got}")
    if single:
        return ["loss"], [loss]
    flat = jax.tree_util.tree_flatten_with_path(metrics)[0]
    for key_path, leaf in flat:
        type_name(leaf.dtype)
    return [_file_path(key_path, "metrics") for key_path, _ in flat], [leaf for _, leaf in flat]


def _shape_of(value):
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)} things ({', '.join(type(v).__name__ for v in value)})"
    return f"a {type(value).__name__}"


_KEY = re.compile(r"(^|_)(rng|key|prng|seed)s?($|_|\d)")
_STEP = re.compile(r"^(step|count|t|epoch|iteration|iter|num_steps|global_step|mini_step|gradient_step)s?$")
_STATISTICS = re.compile(
    r"^(batch_stats|stats|statistics|running_?(mean|var|std|average|stats)?|moving_?(mean|var|average)?|ema|bn_state|model_state)$"
)
_OPTIMIZER = re.compile(
    r"^(opt|optim|optimizer|opt_state|optimizer_state|optstate|mu|nu|momentum|velocity|trace|adam|m|v|moments?|acc|accumulators?|slots?)$"
)
_PARAM = re.compile(r"^(params?|parameters?|weights?|theta|model)$")


def infer_kind(leaf):
    """The kind of a state leaf: from its type, then from the first telling part of its path."""
    parts = [part.lower() for part in leaf.path.split("/")]
    if leaf.key_impl is not None:
        return "key"
    if leaf.dtype == np.uint32 and any(_KEY.search(part) for part in parts):
        return "key"
    integer = leaf.dtype.kind in "iu"
    if integer and leaf.shape == () and _STEP.match(parts[-1]):
        return "step"
    for part in parts:
        if _STATISTICS.match(part):
            return "statistics"
        if _OPTIMIZER.match(part):
            return "optimizer"
        if _PARAM.match(part):
            return "param"
    if _STEP.match(parts[-1]) and leaf.shape == ():
        return "step"
    return "statistics" if integer or leaf.dtype == np.bool_ else "param"


def assign_roles(step, overrides=()):
    """Roles of all arguments, as [(role, kind)], state first, then batch; kind is None outside the state.

    overrides: ('GLOB=KIND', ...), tried in order on each path; the last match wins.
    """
    rules = []
    for text in overrides:
        pattern, equals, kind = text.rpartition("=")
        if not equals or not pattern or kind not in (*STATE_KINDS, "batch", "const"):
            raise ContractError(f"--role '{text}' does not have the form GLOB=KIND with KIND one of {', '.join(STATE_KINDS)}, batch, const")
        rules.append([pattern, kind, 0])
    roles = []
    for leaves, in_state in ((step.state_leaves, True), (step.batch_leaves, False)):
        for leaf in leaves:
            role, kind = ("state", infer_kind(leaf)) if in_state else ("batch", None)
            for rule in rules:
                if (rule[1] in STATE_KINDS) == in_state and fnmatch.fnmatchcase(leaf.path, rule[0]):
                    role, kind = ("state", rule[1]) if in_state else (rule[1], None)
                    rule[2] += 1
            roles.append((role, kind))
    for pattern, kind, hits in rules:
        if not hits:
            where = "state" if kind in STATE_KINDS else "batch"
            paths = [leaf.path for leaf in (step.state_leaves if where == "state" else step.batch_leaves)]
            raise ContractError(f"--role '{pattern}={kind}' matches no path of the {where}; its paths are: {', '.join(paths[:12])}")
    return roles
