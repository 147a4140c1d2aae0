# SPDX-License-Identifier: Apache-2.0
"""A training step as a JAX user might write it, without a thought of Rhino. Exported by export_jax_test.py."""

import typing

import jax
import jax.numpy as jnp
import numpy as np
import optax


class TrainState(typing.NamedTuple):
    step: int
    params: dict
    opt_state: object
    rng: jax.Array
    seen: jax.Array  # how often each class was met


CLASSES = 5
LAYERS = 3


def make(key_of=jax.random.key):
    keys = jax.random.split(jax.random.key(0), 3)
    params = {
        "encoder": {"dense": {"kernel": jax.random.normal(keys[0], (6, 8)) / 3, "bias": np.zeros(8, np.float32)}},
        "layers": {"w": jax.random.normal(keys[1], (LAYERS, 8, 8)) / 4},
        "head": [jax.random.normal(keys[2], (8, CLASSES)) / 3, jnp.zeros(CLASSES)],
    }
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-2))
    state = TrainState(0, params, optimizer.init(params), key_of(7), jnp.zeros(CLASSES, jnp.int32))

    def loss_of(params, x, label, key):
        h = x @ params["encoder"]["dense"]["kernel"] + params["encoder"]["dense"]["bias"]
        keep = jax.random.bits(key, h.shape, jnp.uint32) > jnp.uint32(2**30)
        h = jnp.where(keep, h / 0.75, 0)
        h, _ = jax.lax.scan(lambda h, w: (h + jnp.tanh(h @ w), None), h, params["layers"]["w"])
        logits = h @ params["head"][0] + params["head"][1]
        return optax.softmax_cross_entropy_with_integer_labels(logits, label).mean()

    def step(state, batch):
        rng, key = jax.random.split(state.rng)
        loss, grads = jax.value_and_grad(loss_of)(state.params, batch["x"], batch["label"], key)
        updates, opt_state = optimizer.update(grads, state.opt_state, state.params)
        seen = state.seen.at[batch["label"]].add(1)
        new = TrainState(state.step + 1, optax.apply_updates(state.params, updates), opt_state, rng, seen)
        return new, {"loss": loss, "norm": {"grads": optax.global_norm(grads)}}

    return step, state, {"x": jnp.ones((4, 6)), "label": jnp.arange(4) % CLASSES}


def make_old_key():
    return make(jax.random.PRNGKey)


def make_scalar_loss():
    return lambda w, x: (w - 0.1 * x.mean(), jnp.sum(w * w)), jnp.ones(3), jnp.ones((4, 3))


def make_with_big_constant():
    table = jnp.asarray(np.random.default_rng(0).normal(size=(64, 64)).astype(np.float32))
    return lambda s, b: ({"w": s["w"] - b["x"].mean(0) @ table}, {"loss": jnp.sum(s["w"])}), {"w": jnp.ones(64)}, {"x": jnp.ones((4, 64))}


def make_bf16():
    half = jnp.bfloat16

    def step(s, b):
        return {"w": (s["w"] * half(0.99)).astype(half)}, {"loss": jnp.sum(b["x"].astype(half) @ s["w"]).astype(jnp.float32)}

    return step, {"w": jnp.full((6, 2), 1.1, half)}, {"x": jnp.ones((4, 6))}


def make_uniform_noise():
    """Draws floats, whose bits become a number by a bitcast."""

    def step(s, b):
        key, sub = jax.random.split(s["key"])
        return {"key": key, "w": s["w"] + 0}, {"loss": jnp.sum(s["w"] * b["x"] * jax.random.uniform(sub, (4,)))}

    return step, {"key": jax.random.key(3), "w": jnp.ones(())}, {"x": jnp.arange(4.0)}


# Steps that break the contract, each in one way.


def broken_returns_two():
    return (lambda s, b: (s, {"loss": 0.0})), {"w": jnp.ones(2)}


def broken_step_result():
    return (lambda s, b: s), {"w": jnp.ones(2)}, {"x": jnp.ones(2)}


def broken_no_loss():
    return (lambda s, b: (s, {"cost": s["w"].sum()})), {"w": jnp.ones(2)}, {"x": jnp.ones(2)}


def broken_vector_loss():
    return (lambda s, b: (s, {"loss": s["w"]})), {"w": jnp.ones(2)}, {"x": jnp.ones(2)}


def broken_tree():
    return (lambda s, b: ({"v": {"w": s["v"]["w"], "extra": s["v"]["w"]}}, s["v"]["w"].sum())), {"v": {"w": jnp.ones(2)}}, {"x": jnp.ones(2)}


def broken_container():
    return (lambda s, b: ((s[0], s[1]), s[0].sum())), [jnp.ones(2), jnp.ones(2)], {"x": jnp.ones(2)}


def broken_dtype():
    def step(s, b):
        return {"w": s["w"], "opt": {"count": s["opt"]["count"] + 1.0}}, s["w"].sum()

    return step, {"w": jnp.ones(2), "opt": {"count": jnp.int32(0)}}, {"x": jnp.ones(2)}


def broken_shape():
    return (lambda s, b: ({"w": s["w"][None]}, s["w"].sum())), {"w": jnp.ones(2)}, {"x": jnp.ones(2)}


def broken_leaf():
    return (lambda s, b: (s, s["w"].sum())), {"w": jnp.ones(2), "name": "resnet"}, {"x": jnp.ones(2)}


def broken_same_path():
    return (lambda s, b: (s, s["a"]["b"].sum())), {"a": {"b": jnp.ones(2)}, "a/b": jnp.ones(2)}, {"x": jnp.ones(2)}


def broken_complex():
    return (lambda s, b: (s, s["w"].real.sum())), {"w": jnp.ones(2, jnp.complex64)}, {"x": jnp.ones(2)}


not_a_function = 3
