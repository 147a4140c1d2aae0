# SPDX-License-Identifier: Apache-2.0
"""Layers and data that several of the example models use."""

import functools
import shutil
import subprocess

import jax
import jax.numpy as jnp
import numpy as np

TEXT_SOURCE = (
    "King James Version of the Bible, 1611, from Debian's package bible-kjv-text (whose copyright file says that the copyright "
    "of this text has expired); verse numbers removed, one verse a line, ASCII bytes"
)
DIGITS_SOURCE = (
    "Optical Recognition of Handwritten Digits, E. Alpaydin and C. Kaynak, UCI Machine Learning Repository, CC BY 4.0; "
    "the 1797 images of 8x8 pixels (0..16) that scikit-learn ships as load_digits"
)


def normal(key, shape, scale):
    return scale * jax.random.normal(key, shape, jnp.float32)


def layer_norm(x, p):
    mean = jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.mean(jnp.square(x - mean), axis=-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * p["scale"] + p["bias"]


def layer_norm_params(width):
    return {"scale": jnp.ones((width,)), "bias": jnp.zeros((width,))}


def cross_entropy(logits, labels):
    """Mean over all positions of -log softmax(logits)[label]."""
    log_probability = jax.nn.log_softmax(logits, axis=-1)
    return -jnp.mean(jnp.take_along_axis(log_probability, labels[..., None], axis=-1))


@functools.cache
def kjv_text():
    """The whole text as bytes; needs the Debian packages bible-kjv and bible-kjv-text."""
    program = shutil.which("bible")
    if program is None:
        raise SystemExit(
            "make_inputs.py: the text comes from the program 'bible'; on Debian: apt-get install bible-kjv bible-kjv-text "
            "(or give --keep-data to reuse the shipped data files)"
        )
    printed = subprocess.run([program, "-f", "gen1:1-rev22:21"], check=True, capture_output=True).stdout
    verses = [line.partition(b" ")[2].strip() for line in printed.splitlines()]
    return b"\n".join(verse for verse in verses if verse) + b"\n"


def text_examples(count, length, seed):
    """`count` consecutive windows of `length` bytes of the text, shuffled: u8[count, length]."""
    text = np.frombuffer(kjv_text()[: count * length], np.uint8)
    if text.size != count * length:
        raise SystemExit(f"make_inputs.py: the text has only {text.size} bytes")
    windows = text.reshape(count, length)
    return windows[np.random.default_rng(seed).permutation(count)]


def digits(seed):
    """(images f32[1797, 8, 8] in 0..1, labels i32[1797]), shuffled."""
    from sklearn.datasets import load_digits

    raw = load_digits()
    order = np.random.default_rng(seed).permutation(len(raw.target))
    return (raw.images[order] / 16.0).astype(np.float32), raw.target[order].astype(np.int32)
