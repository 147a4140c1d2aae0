# SPDX-License-Identifier: Apache-2.0
"""Gradients of programs that are in no model of ours, against JAX's own.

JAX exports the forward pass; `differentiate` adds the gradients; `rhino eval` compares them with those that JAX made. All
in f64.
"""

import os
import pathlib
import subprocess
import tempfile
import unittest

os.environ["XLA_FLAGS"] = "--xla_backend_optimization_level=0 " + os.environ.get("XLA_FLAGS", "")  # compiles faster

import jax  # noqa: E402

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402

RHINO = os.environ.get("RHINO_PROGRAM", "rhino")
DIFFERENTIATE = os.environ.get("RHINO_DIFFERENTIATE", "differentiate")

PROGRAMS = {}


def program(*shapes, low=-2.0, high=2.0):
    """A function of random arrays to a scalar."""

    def keep(function):
        random = np.random.default_rng(len(PROGRAMS))
        PROGRAMS[function.__name__] = (function, [random.uniform(low, high, shape) for shape in shapes])
        return function

    return keep


@program((3, 4), (4, 5), (5,))
def newton_steps_of_a_layer(x, w, b):
    y = jnp.tanh(x @ w + b)
    return jnp.sum(y - (y**3 - y) / (3 * y**2 + 1))


@program((6,), (6,))
def rosenbrock(x, y):
    return jnp.sum(100 * (y - x**2) ** 2 + (1 - x) ** 2) + jnp.sum(jnp.arctan2(x, y + 3))


@program((4, 4))
def determinant_by_elimination(a):
    a = a + 5 * jnp.eye(4)
    product = 1.0
    for _ in range(4):
        product, pivot = product * a[0, 0], a[0]
        a = (a - jnp.outer(a[:, 0], pivot) / pivot[0])[1:, 1:]
    return jnp.log(product)


@program((5, 3))
def power_iteration(a):
    def body(_, v):
        v = a.T @ (a @ v)
        return v / jnp.linalg.norm(v)

    v = lax.fori_loop(0, 7, body, jnp.ones(3))
    return v @ (a.T @ (a @ v))


@program((8,), (3,))
def scan_of_an_oscillator(force, start):
    def step(state, f):
        position, speed = state
        speed = speed + 0.1 * (f - jnp.sin(position))
        return (position + 0.1 * speed, speed), position**2

    (end, _), track = lax.scan(step, (start[0], start[1]), force)
    return jnp.sum(track) + start[2] * end


@program((2, 7), (7,))
def log_sum_exp_and_cumulative(x, w):
    return jnp.sum(jax.nn.logsumexp(jnp.cumsum(x * w, axis=1), axis=0)) + jnp.sum(jnp.cumprod(w) * jnp.arange(7))


@program((3, 6))
def cumulative_extrema(x):
    largest, smallest = lax.cummax(x, 1) * jnp.arange(6.0), lax.cummin(x, 0)
    return jnp.sum(largest) + jnp.sum(smallest) + jnp.sum(lax.cumlogsumexp(x, 1, reverse=True) ** 2)


@program((2, 9, 8, 3), (3, 2, 3, 4))
def dilated_convolution_and_pooling(x, k):
    y = lax.conv_general_dilated(x, k, (2, 1), ((1, 2), (0, 3)), (1, 2), (2, 1), ("NHWC", "HWIO", "NHWC"))
    y = lax.reduce_window(y, -jnp.inf, lax.max, (1, 3, 2, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (0, 1), (0, 0)))
    return jnp.sum(jnp.where(jnp.isfinite(y), y, 0) ** 2)


@program((4, 4, 6), (4, 4, 3))
def convolution_by_groups(x, k):
    names = ("NCH", "OIH", "NCH")
    y = lax.conv_general_dilated(x, k[:, :2], (1,), "SAME", dimension_numbers=names, feature_group_count=2)
    z = lax.conv_general_dilated(x, k, (1,), "SAME", dimension_numbers=names, batch_group_count=2)
    return jnp.sum(jnp.sin(y)) + jnp.sum(jnp.cos(z))


@program((5, 6))
def sorted_and_ranked(x):
    order = jnp.argsort(x, axis=1)
    top, place = lax.top_k(x, 2)
    first = jnp.take_along_axis(x**2, order, 1)[:, :3]
    return jnp.sum(jnp.sort(x, axis=0) * jnp.arange(6.0)) + jnp.sum(first) + jnp.sum(top * place)


@program((7, 3), (4, 3))
def gathered_and_scattered(table, rows):
    index = jnp.array([1, 5, 1, 6])
    picked = table[index] * rows
    table = table.at[index[::2]].add(picked[:2] ** 2)
    table = table.at[jnp.array([0, 3])].set(rows[:2])
    return jnp.sum(jnp.tanh(table)) + jnp.sum(lax.dynamic_slice(table, (2, 1), (3, 2)) ** 3)


@program((3, 5), (5, 3), (3,))
def implicit_attention(q, k, scale):
    scores = jnp.einsum("ij,jk->ik", q, k) * scale
    weights = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((3, 3), bool)), scores, -1e30))
    return jnp.einsum("ij,jk,ki->", weights, q, k)


@program((4,), (4,))
def branches(x, y):
    z = lax.cond(True, jnp.sin, jnp.cos, x)
    z = lax.switch(2, [lambda a, b: a, lambda a, b: b, lambda a, b: a * b], z, y)
    return jnp.sum(lax.select(x > y, z, x * y)) + jnp.sum(jnp.clip(x, -0.5, 1.0) * y)


@program((3, 4), low=0.2, high=0.9)
def special_functions(x):
    y = lax.lgamma(x) + lax.digamma(x + 1) + lax.erf(x) * lax.erfc(x) + lax.erf_inv(x)
    y = y + jnp.arcsin(x) * jnp.arccosh(1 + x) + jnp.expm1(x) * jnp.log1p(x)
    return jnp.sum(y + jnp.cbrt(x) + lax.rsqrt(x) + x**x + jnp.logaddexp(x, 1 - x))


@program((3, 4), (3, 4))
def norms_with_ties(x, y):
    rows = jnp.max(jnp.maximum(x, y), axis=1)
    return jnp.max(jnp.concatenate([x, x])) + jnp.sum(rows) + jnp.sum(jnp.abs(x - y)) + jnp.prod(x[0]) + jnp.sum(x % 0.7)


@program((4, 3))
def gradient_of_a_gradient(x):
    def inner(v):
        return jnp.sum(jnp.exp(-v**2) * jnp.cumsum(v, 0)) + jnp.max(v)

    return jnp.sum(jax.grad(inner)(x) ** 2)


@program((1, 8, 8, 2))
def gradient_of_a_pooling(x):
    def inner(v):
        return jnp.sum(lax.reduce_window(v**2, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") ** 2)

    return jnp.sum(jax.grad(inner)(x) ** 2)


@program((2, 3, 4), (5,))
def movement(x, y):
    z = jnp.concatenate([x[:, ::-1, 1:], jnp.broadcast_to(y[:3, None], (2, 3, 1))], axis=2)
    z = jnp.pad(z, ((0, 1), (2, 0), (0, 0)), constant_values=0.5).transpose(2, 0, 1).reshape(4, -1)
    return jnp.sum(jnp.roll(z, 2, axis=1) * jnp.flip(z)) + jnp.sum(jnp.tile(y, 3)[::2] ** 2)


@program((6, 6))
def reductions_of_several(x):
    def larger(a, b):
        first = a[0] >= b[0]
        return lax.select(first, a[0], b[0]), lax.select(first, a[1], b[1])

    value, along = lax.reduce((x, jnp.sin(x.T)), (-jnp.inf, 0.0), larger, (1,))
    return jnp.sum(value) + jnp.sum(along**2)


@program((3, 5), (5, 2))
def checkpointed(x, w):
    layer = jax.checkpoint(lambda v: jnp.tanh(v @ w @ w.T))
    return jnp.sum(layer(layer(x)) ** 2)


def type_of(array):
    return "tensor<" + "".join(f"{size}x" for size in array.shape) + "f64>"


def constant(array):
    array = np.asarray(array, np.float64, order="C")
    return f'stablehlo.constant dense<"0x{array.tobytes().hex().upper()}"> : {type_of(array)}'


class Gradients(unittest.TestCase):
    def test_programs(self):
        with tempfile.TemporaryDirectory() as folder:
            forward, checks = pathlib.Path(folder) / "forward.mlir", pathlib.Path(folder) / "checks.mlir"
            names, pairs = list(PROGRAMS), list(PROGRAMS.values())
            texts = [jax.jit(function, keep_unused=True).lower(*arguments).as_text() for function, arguments in pairs]

            def all_gradients(lists):
                """One program for all of them: compiling is what takes time."""
                results = []
                for (function, _), arguments in zip(pairs, lists):
                    loss, gradients = jax.value_and_grad(function, tuple(range(len(arguments))))(*arguments)
                    results.append([loss, *gradients])
                return results

            wanted = jax.jit(all_gradients)([arguments for _, arguments in pairs])
            forward.write_text("// -----\n".join(texts))
            result = subprocess.run([DIFFERENTIATE, forward], capture_output=True, text=True, timeout=120)
            self.assertEqual(result.returncode, 0, result.stderr)
            modules = [text for text in result.stdout.split("// -----\n") if text.strip()]
            self.assertEqual(len(modules), len(names))
            checks.write_text("// -----\n".join(
                self.check(name, text, arguments, [np.asarray(value) for value in values])
                for name, text, (_, arguments), values in zip(names, modules, pairs, wanted)))
            environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
            result = subprocess.run([RHINO, "eval", "--quiet", "--summary", checks], env=environment,
                                    capture_output=True, text=True, timeout=120)
            self.assertEqual(result.returncode, 0, (result.stdout + result.stderr)[:4000])
            self.assertIn(f"{len(names)} passed", result.stdout + result.stderr)

    @staticmethod
    def check(name, text, arguments, wanted):
        """The module with an entry that calls its function on the arguments and compares within 1e-9 of the largest."""
        lines = [f"%a{i} = {constant(value)}" for i, value in enumerate(arguments)]
        operands, types = (", ".join(f"%a{i}" for i in range(len(arguments))), ", ".join(map(type_of, arguments)))
        lines.append(f"%r:{len(wanted)} = func.call @{name}({operands}) : ({types}) -> "
                     f"({', '.join(map(type_of, wanted))})")
        for i, want in enumerate(wanted):
            scale = np.full(want.shape, 1e-3 / (1e-9 * max(1, np.abs(want).max())))
            tensor = type_of(want)
            lines += [f"%s{i} = {constant(scale)}", f"%g{i} = stablehlo.multiply %r#{i}, %s{i} : {tensor}",
                      f"%w{i} = {constant(want * scale)}",
                      f"stablehlo.custom_call @check.expect_almost_eq(%g{i}, %w{i}) {{has_side_effect = true}} : "
                      f"({tensor}, {tensor}) -> ()"]
        body = "\n".join(f"    {line}" for line in [*lines, "return"])
        text = text.replace("func.func public @main(", f"func.func private @{name}(")
        return f"// {name}\n{text[:text.rindex('}')]}  func.func public @main() {{\n{body}\n  }}\n}}\n"


if __name__ == "__main__":
    unittest.main()
