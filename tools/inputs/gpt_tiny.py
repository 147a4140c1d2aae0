# SPDX-License-Identifier: Apache-2.0
"""A byte-level GPT: two blocks, attention through one fused QKV weight, layer norm, Adam (optax)."""

import jax
import jax.numpy as jnp
import optax

from inputs import common

SOURCE = common.TEXT_SOURCE
ROLES = ()
EXAMPLES = 20000
LENGTH = 64


def init_block(key, width, heads, head_width, hidden):
    k = jax.random.split(key, 4)
    return {
        "ln1": common.layer_norm_params(width),
        "qkv": common.normal(k[0], (width, 3 * heads * head_width), width**-0.5),
        "proj": common.normal(k[1], (heads * head_width, width), 0.5 * (heads * head_width) ** -0.5),
        "ln2": common.layer_norm_params(width),
        "up": {"w": common.normal(k[2], (width, hidden), width**-0.5), "b": jnp.zeros((hidden,))},
        "down": {"w": common.normal(k[3], (hidden, width), 0.5 * hidden**-0.5), "b": jnp.zeros((width,))},
    }


def init_ends(key, vocabulary, length, width):
    k = jax.random.split(key, 3)
    return {
        "embed": common.normal(k[0], (vocabulary, width), 0.1),
        "position": common.normal(k[1], (length, width), 0.1),
        "ln_f": common.layer_norm_params(width),
        "head": common.normal(k[2], (width, vocabulary), width**-0.5),
    }


def attention(x, p, heads):
    batch, length, width = x.shape
    head_width = p["qkv"].shape[1] // (3 * heads)
    qkv = (x @ p["qkv"]).reshape(batch, length, 3, heads, head_width)
    q, k, v = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
    scores = jnp.einsum("bqhk,bthk->bhqt", q, k) / head_width**0.5
    causal = jnp.tril(jnp.ones((length, length), bool))
    weights = jax.nn.softmax(jnp.where(causal, scores, -1e30), axis=-1)
    mixed = jnp.einsum("bhqt,bthk->bqhk", weights, v)
    return mixed.reshape(batch, length, heads * head_width) @ p["proj"]


def mlp(x, p):
    return jax.nn.gelu(x @ p["up"]["w"] + p["up"]["b"]) @ p["down"]["w"] + p["down"]["b"]


def block(x, p, heads):
    x = x + attention(common.layer_norm(x, p["ln1"]), p, heads)
    return x + mlp(common.layer_norm(x, p["ln2"]), p)


def split_tokens(tokens):
    """u8[batch, length + 1] -> what goes in, what is to be predicted: i32[batch, length] each."""
    tokens = tokens.astype(jnp.int32)
    return tokens[:, :-1], tokens[:, 1:]


def make(batch=12, blocks=2, width=64, heads=4, head_width=16, hidden=256, length=LENGTH, vocabulary=256, rate=2e-3):
    keys = jax.random.split(jax.random.key(2), blocks + 1)
    params = init_ends(keys[0], vocabulary, length, width)
    params["blocks"] = [init_block(k, width, heads, head_width, hidden) for k in keys[1:]]
    optimizer = optax.adam(rate)
    state = {"params": params, "opt": optimizer.init(params)}

    def loss_of(params, tokens):
        inputs, targets = split_tokens(tokens)
        x = params["embed"][inputs] + params["position"]
        for p in params["blocks"]:
            x = block(x, p, heads)
        return common.cross_entropy(common.layer_norm(x, params["ln_f"]) @ params["head"], targets)

    def step(state, batch):
        loss, grads = jax.value_and_grad(loss_of)(state["params"], batch["tokens"])
        updates, opt = optimizer.update(grads, state["opt"], state["params"])
        return {"params": optax.apply_updates(state["params"], updates), "opt": opt}, {"loss": loss}

    return step, state, {"tokens": jnp.zeros((batch, length + 1), jnp.uint8)}


def data():
    return {"tokens": common.text_examples(EXAMPLES, LENGTH + 1, seed=2)}
