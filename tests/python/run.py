#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs one of the Python tests in the environment of tools/setup_python: `run.py NAME_test.py [unittest arguments]`.

Exits 77 (which ctest shows as skipped) and says what is missing where there is no Python with JAX.
"""

import importlib.util
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools"))

from rhino_jax import environment  # noqa: E402


def main():
    test = HERE / sys.argv[1]
    if not test.is_file():
        sys.exit(f"no test '{test}'")
    needed = ("jax", "optax", "h5py", "numpy", "safetensors")
    if all(importlib.util.find_spec(name) for name in needed):
        python = sys.executable
    elif environment.venv_python().exists():
        python = str(environment.venv_python())
    else:
        print("SKIPPED: no Python with JAX; tools/setup_python makes one")
        sys.exit(77)
    os.execv(python, [python, "-B", str(test), *sys.argv[2:]])


if __name__ == "__main__":
    main()
