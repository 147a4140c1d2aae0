# SPDX-License-Identifier: Apache-2.0
"""Models of the zoo against the same architectures written in JAX, with the same weights and examples: equal losses.

`rhino model` writes a model file; its first values are put in place by h5py, as a user would put in trained weights. Both
sides compute in f64.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

import jax  # noqa: E402

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_enable_x64", True)

import h5py  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

RHINO = os.environ.get("RHINO_PROGRAM", "rhino")
STEPS = 10


def c(value):
    """A constant as the program has it in f64: rounded to f32, or its decimal digits where those are at most six."""
    text = np.format_float_scientific(np.float32(value), unique=True)
    digits = sum(letter.isdigit() for letter in text.split("e")[0])
    return float(text) if digits <= 6 else float(np.float32(value))


def norm(x, p, epsilon=1e-5):
    x = x - x.mean(-1, keepdims=True)
    return x / jnp.sqrt((x * x).mean(-1, keepdims=True) + c(epsilon)) * p["scale"] + p["bias"]


def dense(x, p, dims=1):
    y = jnp.tensordot(x, p["w"], dims)
    return y + p["b"] if "b" in p else y


def gelu(x):
    return c(0.5) * x * (1 + jnp.tanh(c(np.sqrt(2 / np.pi)) * (x + c(0.044715) * x**3)))


def attention(x, p):
    q, k, v = (dense(x, p[name]) for name in "qkv")
    scores = jnp.einsum("bqhd,bkhd->bhqk", q * c(1 / np.sqrt(q.shape[-1])), k)
    length = x.shape[1]
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, c(-1e9))
    return dense(jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v), p["out"], 2)


def cross_entropy(scores, labels):
    picked = jnp.take_along_axis(jax.nn.log_softmax(scores), labels[..., None], -1)
    return -picked.mean()


def feed_forward(x, p):
    return dense(gelu(dense(x, p["up"])), p["down"])


def mixture(x, p, capacity_factor=1.25):
    """Two experts per token, token by token into one-hot tensors; each sequence is a group."""
    groups, tokens, _ = x.shape
    experts = p["router"]["w"].shape[1]
    capacity = min(tokens, int(np.ceil(capacity_factor * 2 * tokens / experts - 1e-9)))
    probability = jax.nn.softmax(x @ p["router"]["w"])
    weight, choice = jax.lax.top_k(probability, 2)
    weight = weight / weight.sum(-1, keepdims=True)
    y = jnp.zeros_like(x)
    taken = jnp.zeros((groups, 1, experts))
    hidden = gelu(jnp.einsum("gtm,emh->geth", x, p["up"]))
    every = jnp.einsum("geth,ehm->gtem", hidden, p["down"])  # what each expert would make of each token
    for rank in range(2):
        chosen = jax.nn.one_hot(choice[..., rank], experts, dtype=x.dtype)
        place = jnp.sum((taken + jnp.cumsum(chosen, 1) - 1) * chosen, -1)
        taken = taken + chosen.sum(1, keepdims=True)
        keep = (place < capacity) * weight[..., rank]
        y = y + jnp.einsum("gte,gtem->gtm", chosen * keep[..., None], every)
    first = jax.nn.one_hot(choice[..., 0], experts).mean((0, 1))
    return y, experts * jnp.sum(first * probability.mean((0, 1)))


def gpt(p, batch):
    tokens = batch["tokens"].astype(int)
    x = p["embedding"]["table"][tokens[:, :-1]] + p["positions"]
    balance = 0
    for name in sorted(key for key in p if key.startswith("block")):
        for block in [p[name]] if "attention" in p[name] else [p[name]["dense"], p[name]["sparse"]]:
            x = x + attention(norm(x, block["attention_norm"]), block["attention"])
            y = norm(x, block["feed_forward_norm"])
            if "mixture" in block:
                y, one = mixture(y, block["mixture"])
                balance = balance + one
            else:
                y = feed_forward(y, block["feed_forward"])
            x = x + y
    scores = norm(x, p["final_norm"]) @ p["embedding"]["table"].T
    return cross_entropy(scores, tokens[:, 1:]) + c(0.01) * balance


def resnet(p, batch):
    def convolution(x, q, stride=1):
        w = q["conv"]["w"]
        pad = [(w.shape[0] // 2,) * 2] * 2
        y = jax.lax.conv_general_dilated(x, w, (stride, stride), pad, dimension_numbers=("NHWC", "HWIO", "NHWC"))
        mean, variance = y.mean((0, 1, 2)), y.var((0, 1, 2))
        return (y - mean) / jnp.sqrt(variance + c(1e-5)) * q["norm"]["scale"] + q["norm"]["bias"]

    x = batch["image"].astype(float) * c(2 / 16) - 1
    x = jax.nn.relu(convolution(x, p["stem"]))
    for number, stage in enumerate(sorted(key for key in p if key.startswith("stage"))):
        for position, name in enumerate(sorted(p[stage])):
            q = p[stage][name]
            stride = 2 if number > 0 and position == 0 else 1
            y = convolution(jax.nn.relu(convolution(x, q["first"], stride)), q["second"])
            x = jax.nn.relu(y + (convolution(x, q["shortcut"], stride) if "shortcut" in q else x))
    return cross_entropy(dense(x.mean((1, 2)), p["head"]), batch["label"])


def tree_of(flat):
    tree = {}
    for path, value in flat.items():
        node = tree
        *folders, leaf = path.split("/")[1:]
        for folder in folders:
            node = node.setdefault(folder, {})
        node[leaf] = value
    return tree


class Zoo(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def run_rhino(self, *arguments):
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1"}
        result = subprocess.run([RHINO, *map(str, arguments)], env=environment, capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def put_values_in(self, model):
        """Numbers in place of the recipes of the trained parameters; returns them in f64."""
        random = np.random.default_rng(3)
        flat = {}
        shapes = self.shapes(model)
        with h5py.File(model, "r+") as file:
            for path, shape in shapes.items():
                fan_in = int(np.prod(shape[:-1])) if len(shape) > 1 else 1
                value = random.normal(size=shape) / np.sqrt(fan_in) * (0.1 if len(shape) == 1 else 1)
                if path.endswith("scale"):
                    value = value + 1
                value = value.astype(np.float32)
                del file["state"][path]
                file["state"][path] = value
                flat[path] = jnp.asarray(value, jnp.float64)
        return flat

    def shapes(self, model):
        """Shapes of the trained parameters, from the table that `rhino show` prints."""
        shapes = {}
        for line in self.run_rhino("show", model).splitlines():
            words = line.split()
            if words[:1] == ["parameter"] and words[2:4] == ["state", "param"]:
                shapes[words[5]] = tuple(int(size) for size in words[4].split("x")[:-1])
        return shapes

    def check(self, name, preset, loss_of, data, rate, tolerance):
        model, metrics = self.folder / f"{name}.h5", self.folder / f"{name}.jsonl"
        self.run_rhino("model", name, "--preset", preset, "optimizer=sgd", f"learning_rate={rate}", "-o", model)
        flat = self.put_values_in(model)
        self.run_rhino("train", model, "--data", ROOT / "inputs" / data, "data.shuffle=false", "--steps", STEPS,
                       "--promote", "f64", "--metrics", metrics)
        got = [json.loads(line)["loss"] for line in metrics.read_text().splitlines()]
        with h5py.File(ROOT / "inputs" / data) as file:
            examples = {key: item[:] for key, item in file.items()}
        size = 16 if "image" in examples else 8
        step = jax.jit(jax.value_and_grad(lambda p, batch: loss_of(tree_of(p), batch)))
        for number in range(STEPS):
            batch = {key: jnp.asarray(value[number * size : (number + 1) * size]) for key, value in examples.items()}
            loss, gradient = step(flat, batch)
            self.assertAlmostEqual(got[number] / float(loss), 1, delta=tolerance, msg=f"step {number + 1}: {got} {loss}")
            flat = {path: value - c(rate) * gradient[path] for path, value in flat.items()}
        self.assertNotAlmostEqual(got[0], got[-1], places=2)

    def test_gpt(self):
        self.check("gpt", "tiny", gpt, "gpt_tiny/data.h5", 0.1, 1e-9)

    def test_mixture_of_experts(self):
        self.check("gpt", "moe_tiny", gpt, "gpt_tiny/data.h5", 0.1, 1e-9)

    def test_resnet(self):
        self.check("resnet", "tiny", resnet, "resnet_tiny/data.h5", 0.1, 1e-9)


if __name__ == "__main__":
    unittest.main()
