# SPDX-License-Identifier: Apache-2.0
"""A three-layer perceptron on 8x8 images of handwritten digits, with plain SGD written by hand."""

import jax
import jax.numpy as jnp

from inputs import common

SOURCE = common.DIGITS_SOURCE
ROLES = ()


TRAINED_ON = 1500  # of the 1797 images; the deck evaluates on the others


def forward(params, x):
    for i in range(3):
        x = x @ params[f"layer{i}"]["w"] + params[f"layer{i}"]["b"]
        if i < 2:
            x = jax.nn.relu(x)
    return x


def loss_of(params, batch):
    logits = forward(params, batch["image"])
    accuracy = jnp.mean(jnp.argmax(logits, axis=-1) == batch["label"])
    return common.cross_entropy(logits, batch["label"]), accuracy


def make(batch=20, hidden=96, inputs=64, classes=10, rate=0.1):
    keys = jax.random.split(jax.random.key(1), 3)
    widths = [inputs, hidden, hidden, classes]
    params = {
        f"layer{i}": {"w": common.normal(keys[i], (n, m), (2.0 / n) ** 0.5), "b": jnp.zeros((m,))}
        for i, (n, m) in enumerate(zip(widths[:-1], widths[1:]))
    }
    state = {"params": params, "step": jnp.int32(0)}

    def step(state, batch):
        (loss, accuracy), grads = jax.value_and_grad(loss_of, has_aux=True)(state["params"], batch)
        params = jax.tree.map(lambda p, g: p - rate * g, state["params"], grads)
        return {"params": params, "step": state["step"] + 1}, {"loss": loss, "accuracy": accuracy}

    example = {"image": jnp.zeros((batch, inputs)), "label": jnp.zeros((batch,), jnp.int32)}
    return step, state, example


def make_evaluation(batch=99):
    """Loss and accuracy of the parameters; the state is given back as it came."""
    _, state, example = make(batch)

    def evaluate(state, batch):
        loss, accuracy = loss_of(state["params"], batch)
        return state, {"loss": loss, "accuracy": accuracy}

    return evaluate, {"params": state["params"]}, example


def data():
    images, labels = common.digits(seed=1)
    return {"image": images[:TRAINED_ON].reshape(-1, 64), "label": labels[:TRAINED_ON]}


def evaluation_data():
    images, labels = common.digits(seed=1)
    return {"image": images[TRAINED_ON:].reshape(-1, 64), "label": labels[TRAINED_ON:]}
