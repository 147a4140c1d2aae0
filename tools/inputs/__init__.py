# SPDX-License-Identifier: Apache-2.0
"""The shipped example models as a JAX user would write them; one file for each deck in inputs/.

Each module has
    make(**sizes) -> (step, state, example_batch)   the contract of tools/export_jax.py
    data() -> {batch path: array}                   all examples, already in the order in which they are used
    SOURCE                                          where the data come from, and their licence
    ROLES                                           role overrides for the exporter (often none)
"""
