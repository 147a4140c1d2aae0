# SPDX-License-Identifier: Apache-2.0
"""gpt_tiny with dropout; the random key (threefry) is part of the state and moves on every step.

A mask compares 32 random bits with an integer threshold, so it does not depend on the floating type.
"""

import jax
import jax.numpy as jnp
import optax

from inputs import common, gpt_tiny

SOURCE = gpt_tiny.SOURCE
ROLES = ()
DATA_OF = "gpt_tiny"


def dropout(key, x, rate):
    drop_below = jnp.uint32(round(rate * 2**32))
    keep = jax.random.bits(key, x.shape, jnp.uint32) >= drop_below
    return jnp.where(keep, x / (1.0 - rate), 0.0)


def make(batch=12, blocks=2, width=64, heads=4, head_width=16, hidden=256, length=gpt_tiny.LENGTH, vocabulary=256, rate=2e-3, drop=0.1):
    keys = jax.random.split(jax.random.key(3), blocks + 2)
    params = gpt_tiny.init_ends(keys[0], vocabulary, length, width)
    params["blocks"] = [gpt_tiny.init_block(k, width, heads, head_width, hidden) for k in keys[1:-1]]
    optimizer = optax.adamw(rate, weight_decay=0.01)
    state = {"params": params, "opt": optimizer.init(params), "key": keys[-1]}

    def loss_of(params, tokens, key):
        inputs, targets = gpt_tiny.split_tokens(tokens)
        embed_key, *block_keys = jax.random.split(key, blocks + 1)
        x = dropout(embed_key, params["embed"][inputs] + params["position"], drop)
        for p, block_key in zip(params["blocks"], block_keys, strict=True):
            attention_key, mlp_key = jax.random.split(block_key)
            x = x + dropout(attention_key, gpt_tiny.attention(common.layer_norm(x, p["ln1"]), p, heads), drop)
            x = x + dropout(mlp_key, gpt_tiny.mlp(common.layer_norm(x, p["ln2"]), p), drop)
        return common.cross_entropy(common.layer_norm(x, params["ln_f"]) @ params["head"], targets)

    def step(state, batch):
        key, step_key = jax.random.split(state["key"])
        loss, grads = jax.value_and_grad(loss_of)(state["params"], batch["tokens"], step_key)
        updates, opt = optimizer.update(grads, state["opt"], state["params"])
        return {"params": optax.apply_updates(state["params"], updates), "opt": opt, "key": key}, {"loss": loss}

    return step, state, {"tokens": jnp.zeros((batch, length + 1), jnp.uint8)}
