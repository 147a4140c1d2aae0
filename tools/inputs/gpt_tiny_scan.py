# SPDX-License-Identifier: Apache-2.0
"""gpt_tiny with its blocks stacked along a leading dimension and run by lax.scan (a while loop, forward and backward)."""

import jax
import jax.numpy as jnp
import optax

from inputs import common, gpt_tiny

SOURCE = gpt_tiny.SOURCE
ROLES = ()
DATA_OF = "gpt_tiny"


def make(batch=12, blocks=3, width=64, heads=4, head_width=16, hidden=128, length=gpt_tiny.LENGTH, vocabulary=256, rate=2e-3):
    keys = jax.random.split(jax.random.key(4), blocks + 1)
    params = gpt_tiny.init_ends(keys[0], vocabulary, length, width)
    params["blocks"] = jax.vmap(lambda k: gpt_tiny.init_block(k, width, heads, head_width, hidden))(keys[1:])
    optimizer = optax.adam(rate)
    state = {"params": params, "opt": optimizer.init(params)}

    def loss_of(params, tokens):
        inputs, targets = gpt_tiny.split_tokens(tokens)
        x = params["embed"][inputs] + params["position"]
        x, _ = jax.lax.scan(lambda x, p: (gpt_tiny.block(x, p, heads), None), x, params["blocks"])
        return common.cross_entropy(common.layer_norm(x, params["ln_f"]) @ params["head"], targets)

    def step(state, batch):
        loss, grads = jax.value_and_grad(loss_of)(state["params"], batch["tokens"])
        updates, opt = optimizer.update(grads, state["opt"], state["params"])
        return {"params": optax.apply_updates(state["params"], updates), "opt": opt}, {"loss": loss}

    return step, state, {"tokens": jnp.zeros((batch, length + 1), jnp.uint8)}
