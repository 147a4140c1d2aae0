# SPDX-License-Identifier: Apache-2.0
"""A small ResNet: strided convolutions, batch norm with running statistics in the state, max-pool, SGD with momentum.

Its images are the 8x8 digits, each pixel doubled to 16x16, so that three halvings of the size have something to halve.
"""

import jax
import jax.numpy as jnp
import numpy as np
import optax

from inputs import common

SOURCE = common.DIGITS_SOURCE + "; each pixel repeated 2x2"
ROLES = ()


def conv(x, w, stride=1):
    return jax.lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def max_pool(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")


def batch_norm(x, p, running, momentum=0.9):
    """Normalises by this batch's statistics; returns also the running ones after this batch."""
    mean = jnp.mean(x, axis=(0, 1, 2))
    variance = jnp.mean(jnp.square(x - mean), axis=(0, 1, 2))
    moved = {
        "mean": momentum * running["mean"] + (1 - momentum) * mean,
        "var": momentum * running["var"] + (1 - momentum) * variance,
    }
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * p["scale"] + p["bias"], moved


def make(batch=16, size=16, channels=1, widths=(8, 16, 32), classes=10, rate=0.05):
    keys = iter(jax.random.split(jax.random.key(5), 3 * len(widths) + 2))
    params, stats = {}, {}

    def add_conv(name, kernel, n, m):
        params[name] = {"w": common.normal(next(keys), (kernel, kernel, n, m), (2.0 / (kernel * kernel * n)) ** 0.5)}

    def add_norm(name, m):
        params[name] = {"scale": jnp.ones((m,)), "bias": jnp.zeros((m,))}
        stats[name] = {"mean": jnp.zeros((m,)), "var": jnp.ones((m,))}

    add_conv("stem", 3, channels, widths[0])
    add_norm("stem_bn", widths[0])
    previous = widths[0]
    for i, width in enumerate(widths):
        add_conv(f"block{i}_conv1", 3, previous, width)
        add_norm(f"block{i}_bn1", width)
        add_conv(f"block{i}_conv2", 3, width, width)
        add_norm(f"block{i}_bn2", width)
        if i > 0:
            add_conv(f"block{i}_skip", 1, previous, width)
        previous = width
    params["head"] = {"w": common.normal(next(keys), (previous, classes), previous**-0.5), "b": jnp.zeros((classes,))}
    optimizer = optax.sgd(rate, momentum=0.9)
    state = {"params": params, "batch_stats": stats, "opt": optimizer.init(params)}

    def forward(params, stats, images):
        moved = {}

        def norm(name, x):
            y, moved[name] = batch_norm(x, params[name], stats[name])
            return y

        x = images.astype(jnp.float32) / 16.0
        x = max_pool(jax.nn.relu(norm("stem_bn", conv(x, params["stem"]["w"]))))
        for i in range(len(widths)):
            stride = 1 if i == 0 else 2
            y = jax.nn.relu(norm(f"block{i}_bn1", conv(x, params[f"block{i}_conv1"]["w"], stride)))
            y = norm(f"block{i}_bn2", conv(y, params[f"block{i}_conv2"]["w"]))
            skip = x if i == 0 else conv(x, params[f"block{i}_skip"]["w"], stride)
            x = jax.nn.relu(skip + y)
        return jnp.mean(x, axis=(1, 2)) @ params["head"]["w"] + params["head"]["b"], moved

    def step(state, batch):
        def loss_of(params):
            logits, moved = forward(params, state["batch_stats"], batch["image"])
            accuracy = jnp.mean(jnp.argmax(logits, axis=-1) == batch["label"])
            return common.cross_entropy(logits, batch["label"]), (moved, accuracy)

        (loss, (moved, accuracy)), grads = jax.value_and_grad(loss_of, has_aux=True)(state["params"])
        updates, opt = optimizer.update(grads, state["opt"])
        new_state = {"params": optax.apply_updates(state["params"], updates), "batch_stats": moved, "opt": opt}
        return new_state, {"loss": loss, "accuracy": accuracy}

    example = {"image": jnp.zeros((batch, size, size, channels), jnp.uint8), "label": jnp.zeros((batch,), jnp.int32)}
    return step, state, example


def data():
    images, labels = common.digits(seed=5)
    pixels = np.rint(images * 16).astype(np.uint8).repeat(2, axis=1).repeat(2, axis=2)
    return {"image": pixels[..., None], "label": labels}
