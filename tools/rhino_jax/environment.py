# SPDX-License-Identifier: Apache-2.0
"""Finds an interpreter that has JAX, so that `tools/export_jax.py` works from any shell."""

import importlib.util
import os
import pathlib
import sys

TOOLS = pathlib.Path(__file__).resolve().parent.parent


def venv_python():
    """The python of Rhino's own virtual environment (which need not exist yet)."""
    root = os.environ.get("RHINO_VENV") or str(TOOLS.parent / ".venv")
    return pathlib.Path(root) / "bin" / "python"


def require(*modules):
    """Returns if all `modules` can be imported; else restarts the script in Rhino's environment.

    Ends the program with a message that names the remedy when there is no such environment.
    """
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if not missing:
        return
    python = venv_python()
    if python.exists() and os.environ.get("RHINO_VENV_ENTERED") != "1":
        os.environ["RHINO_VENV_ENTERED"] = "1"
        os.execv(str(python), [str(python), *sys.argv])
    sys.exit(
        f"{pathlib.Path(sys.argv[0]).name}: this Python ({sys.executable}) lacks {', '.join(missing)}; "
        f"run {os.path.relpath(TOOLS / 'setup_python')} once, or use a Python that has them"
    )
