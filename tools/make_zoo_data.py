#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the data of the decks in inputs/zoo that no other input has: inputs/zoo/{captions,spans,clicks}.h5.

  captions.h5   image u8[1797, 16, 16, 1], text u8[1797, 8]: the digits of resnet_tiny, each with its name in letters; text
                starts with token 1 and ends with 31, its largest
  spans.h5      source u8[4000, 32], target u8[4000, 16]: windows of gpt_tiny's text from which two spans were cut; the
                target lists them (spans as in Raffel et al. 2020, with the bytes 1, 2, 3 as marks)
  clicks.h5     dense f32[8192, 4], categories i32[8192, 4], click f32[8192]: generated; whether a click follows depends on
                the numbers, on the categories and on pairs of them

needs the environment of tools/setup_python; the same numbers every time
"""

import pathlib
import sys

TOOLS = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(TOOLS))

INPUTS = TOOLS.parent / "inputs"
NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
FIRST, LAST = 1, 31
TABLES = (50, 20, 10, 5)


def captions(np, h5py):
    with h5py.File(INPUTS / "resnet_tiny" / "data.h5") as file:
        images, labels = file["image"][:], file["label"][:]
    text = np.zeros((10, 8), np.uint8)
    for digit, name in enumerate(NAMES):
        tokens = [FIRST, *(ord(letter) - ord("a") + 2 for letter in name), LAST]
        text[digit, : len(tokens)] = tokens
    return {"image": images, "text": text[labels]}


def spans(np, h5py, length=32, target_length=16, examples=4000):
    with h5py.File(INPUTS / "gpt_tiny" / "data.h5") as file:
        windows = file["tokens"][:examples, :40]
    random = np.random.default_rng(1)
    sources, targets = np.zeros((examples, length), np.uint8), np.zeros((examples, target_length), np.uint8)
    for row, window in enumerate(windows):
        first, second = sorted(random.integers(0, 15, 2) + np.array([1, 18]))
        sizes = random.integers(4, 7, 2)
        cut = [*window[first : first + sizes[0]]], [*window[second : second + sizes[1]]]
        source = [*window[:first], 1, *window[first + sizes[0] : second], 2, *window[second + sizes[1] :]]
        target = [1, *cut[0], 2, *cut[1], 3]
        sources[row] = (source + [0] * length)[:length]
        targets[row] = (target + [0] * target_length)[:target_length]
    return {"source": sources, "target": targets}


def clicks(np, h5py, examples=8192):
    random = np.random.default_rng(2)
    dense = random.normal(size=(examples, 4)).astype(np.float32)
    categories = np.stack([random.integers(0, size, examples) for size in TABLES], axis=1).astype(np.int32)
    taste = [random.normal(size=(size, 3)) for size in TABLES]
    rows = [table[categories[:, i]] for i, table in enumerate(taste)]
    score = dense @ np.array([1.0, -0.5, 0.3, 0.0]) + sum(row[:, 0] for row in rows)
    score += np.sum(rows[0] * rows[1], axis=1) + np.sum(rows[2] * rows[3], axis=1)
    click = (random.random(examples) < 1 / (1 + np.exp(-2 * score))).astype(np.float32)
    return {"dense": dense, "categories": categories, "click": click}


def main():
    from rhino_jax import environment

    environment.require("h5py", "numpy")
    import h5py
    import numpy as np

    (INPUTS / "zoo").mkdir(exist_ok=True)
    for make in (captions, spans, clicks):
        with h5py.File(INPUTS / "zoo" / f"{make.__name__}.h5", "w") as file:
            for path, values in make(np, h5py).items():
                file.create_dataset(path, data=values, compression="gzip", compression_opts=9, shuffle=True, track_times=False)


if __name__ == "__main__":
    main()
