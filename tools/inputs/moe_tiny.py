# SPDX-License-Identifier: Apache-2.0
"""A byte-level language model whose second block is a mixture of experts.

Each token goes to its two best experts. An expert takes at most `capacity` tokens: first choices come
before second choices, earlier tokens before later ones, and who finds no place is dropped. Tokens are
sent by a scatter into [expert, place] and fetched by a gather. A load-balancing loss is added. AdamW
behind a clip by the global norm.
"""

import jax
import jax.numpy as jnp
import optax

from inputs import common, gpt_tiny

SOURCE = gpt_tiny.SOURCE
ROLES = ()
DATA_OF = "gpt_tiny"


def mixture(x, p, capacity):
    """x f32[tokens, width] -> (y of the same shape, balancing loss, fraction of choices dropped)."""
    tokens, width = x.shape
    experts = p["router"].shape[1]
    probability = jax.nn.softmax(x @ p["router"], axis=-1)
    weight, choice = jax.lax.top_k(probability, 2)
    weight = weight / jnp.sum(weight, axis=-1, keepdims=True)

    ranked = choice.T.reshape(-1)  # all first choices, then all second ones
    chosen = jax.nn.one_hot(ranked, experts, dtype=jnp.int32)
    place = jnp.sum((jnp.cumsum(chosen, axis=0) - 1) * chosen, axis=-1)
    fits = place < capacity
    slot = jnp.where(fits, ranked * capacity + place, experts * capacity)  # one past the end: dropped

    sent = jnp.zeros((experts * capacity, width)).at[slot].set(jnp.concatenate([x, x]), mode="drop")
    hidden = jax.nn.gelu(jnp.einsum("ecd,edh->ech", sent.reshape(experts, capacity, width), p["up"]))
    done = jnp.einsum("ech,ehd->ecd", hidden, p["down"]).reshape(experts * capacity, width)
    fetched = done.at[slot].get(mode="fill", fill_value=0.0).reshape(2, tokens, width)
    y = jnp.einsum("ctd,tc->td", fetched, weight)

    first = jnp.mean(jax.nn.one_hot(choice[:, 0], experts), axis=0)
    balance = experts * jnp.sum(first * jnp.mean(probability, axis=0))
    return y, balance, jnp.mean((~fits).astype(jnp.float32))


def make(
    batch=12, width=64, heads=4, head_width=16, hidden=128, experts=4, length=gpt_tiny.LENGTH, vocabulary=256, rate=2e-3, capacity_factor=1.1
):
    capacity = int(capacity_factor * 2 * batch * length / experts)
    k = jax.random.split(jax.random.key(6), 6)
    params = gpt_tiny.init_ends(k[0], vocabulary, length, width)
    params["dense"] = gpt_tiny.init_block(k[1], width, heads, head_width, hidden)
    expert_block = gpt_tiny.init_block(k[2], width, heads, head_width, hidden)
    params["sparse"] = {name: expert_block[name] for name in ("ln1", "qkv", "proj", "ln2")} | {
        "router": common.normal(k[3], (width, experts), width**-0.5),
        "up": common.normal(k[4], (experts, width, hidden), width**-0.5),
        "down": common.normal(k[5], (experts, hidden, width), 0.5 * hidden**-0.5),
    }
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(rate))
    state = {"params": params, "opt": optimizer.init(params)}

    def loss_of(params, tokens):
        inputs, targets = gpt_tiny.split_tokens(tokens)
        x = gpt_tiny.block(params["embed"][inputs] + params["position"], params["dense"], heads)
        p = params["sparse"]
        x = x + gpt_tiny.attention(common.layer_norm(x, p["ln1"]), p, heads)
        y, balance, dropped = mixture(common.layer_norm(x, p["ln2"]).reshape(-1, width), p, capacity)
        x = x + y.reshape(x.shape)
        loss = common.cross_entropy(common.layer_norm(x, params["ln_f"]) @ params["head"], targets)
        return loss + 0.01 * balance, {"balance": balance, "dropped": dropped}

    def step(state, batch):
        (loss, metrics), grads = jax.value_and_grad(loss_of, has_aux=True)(state["params"], batch["tokens"])
        updates, opt = optimizer.update(grads, state["opt"], state["params"])
        return {"params": optax.apply_updates(state["params"], updates), "opt": opt}, {"loss": loss, **metrics}

    return step, state, {"tokens": jnp.zeros((batch, length + 1), jnp.uint8)}
