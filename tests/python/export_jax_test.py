# SPDX-License-Identifier: Apache-2.0
"""The exporter on a user's step: what it writes means the same as what the user wrote; what it refuses, it explains."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = HERE.parent.parent / "tools"
sys.path[:0] = [str(TOOLS), str(HERE)]

import jax  # noqa: E402
import numpy as np  # noqa: E402

jax.config.update("jax_platforms", "cpu")

import user_step  # noqa: E402
from rhino_jax import contract, export, widen  # noqa: E402


def run_exported(folder, state, batch, steps):
    """The losses and last state of running step.mlir by what manifest.json says, and by nothing else."""
    manifest = json.loads((folder / "manifest.json").read_text())
    runner = widen.Runner((folder / "step.mlir").read_text())
    values = [state[a["path"]] if a["role"] != "batch" else batch[a["path"]] for a in manifest["arguments"]]
    losses = []
    for _ in range(steps):
        results = runner(values)
        for entry in manifest["results"]:
            if entry["role"] == "state":
                values[entry["argument"]] = results[entry["index"]]
            elif entry["role"] == "loss":
                losses.append(float(results[entry["index"]]))
    return losses, {a["path"]: v for a, v in zip(manifest["arguments"], values) if a["role"] == "state"}


class Export(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name) / "made" / "deeper"

    def export(self, made, **options):
        step, manifest, warnings = export.export_step(made, self.folder, **options)
        return manifest, dict(np.load(self.folder / "state.npz")), dict(np.load(self.folder / "batch.npz")), warnings

    def check_same_as_user(self, made):
        manifest, state, batch, warnings = self.export(made)
        self.assertEqual(warnings, [])
        losses, last = run_exported(self.folder, state, batch, 4)
        user, current, example = made
        jitted = jax.jit(user)
        want = []
        for _ in range(4):
            current, metrics = jitted(current, example)
            want.append(float(metrics["loss"] if isinstance(metrics, dict) else metrics))
        np.testing.assert_allclose(losses, want, rtol=1e-6)
        self.assertNotEqual(want[0], want[-1])
        leaves = [
            jax.random.key_data(x) if jax.numpy.issubdtype(x.dtype, jax.dtypes.prng_key) else x for x in jax.tree_util.tree_leaves(current)
        ]
        self.assertEqual(len(leaves), len(last))
        for (path, got), leaf in zip(last.items(), leaves):
            np.testing.assert_allclose(got, np.asarray(leaf), rtol=1e-5, atol=1e-7, err_msg=path)
        return manifest

    def test_step_with_new_style_key_runs_as_the_user_wrote_it(self):
        manifest = self.check_same_as_user(user_step.make())
        by_path = {a["path"]: a for a in manifest["arguments"]}
        self.assertEqual(by_path["rng"] | {"index": 0}, by_path["rng"] | {"index": 0, "kind": "key", "dtype": "u32", "shape": [2]})
        kinds = {path: a.get("kind") for path, a in by_path.items()}
        self.assertEqual(kinds["step"], "step")
        self.assertEqual(kinds["params/encoder/dense/kernel"], "param")
        self.assertEqual(kinds["params/head/1"], "param")
        self.assertEqual(kinds["seen"], "statistics")
        self.assertEqual(kinds["opt_state/1/0/count"], "step")
        self.assertEqual(kinds["opt_state/1/0/mu/layers/w"], "optimizer")
        self.assertEqual(by_path["opt_state/1/0/mu/layers/w"]["param"], by_path["params/layers/w"]["index"])
        self.assertEqual([by_path["x"]["role"], by_path["label"]["role"]], ["batch", "batch"])
        self.assertEqual([r["role"] for r in manifest["results"][-2:]], ["loss", "metric"])
        self.assertEqual(manifest["results"][-1]["path"], "norm/grads")
        stored = np.load(self.folder / "state.npz")
        for path, argument in by_path.items():
            if argument["role"] == "state":
                self.assertEqual(list(stored[path].shape), argument["shape"], path)

    def test_step_with_old_style_key(self):
        manifest = self.check_same_as_user(user_step.make_old_key())
        self.assertEqual(next(a for a in manifest["arguments"] if a["path"] == "rng")["kind"], "key")

    def test_scalar_loss_and_bare_arrays(self):
        manifest = self.check_same_as_user(user_step.make_scalar_loss())
        self.assertEqual([a["path"] for a in manifest["arguments"]], ["state", "batch"])

    def test_text_has_paths_donation_and_no_file_names(self):
        self.export(user_step.make())
        text = (self.folder / "step.mlir").read_text()
        self.assertIn("state.params['encoder']['dense']['kernel']", text)
        self.assertIn("batch['label']", text)
        self.assertIn("tf.aliasing_output", text)
        self.assertNotIn(".py", text)
        self.assertNotIn(str(HERE), text)

    def test_large_constants_are_written_in_full(self):
        self.export(user_step.make_with_big_constant())
        text = (self.folder / "step.mlir").read_text()
        self.assertNotIn("__elided__", text)
        self.assertIn('dense<"0x', text)
        self.assertGreater(len(text), 64 * 64 * 8)

    def test_export_is_reproducible(self):
        self.export(user_step.make())
        first = {p.name: p.read_bytes() for p in self.folder.iterdir()}
        self.export(user_step.make())
        self.assertEqual(first, {p.name: p.read_bytes() for p in self.folder.iterdir()})
        self.assertEqual(set(first), {"step.mlir", "state.npz", "batch.npz", "manifest.json"})

    def test_bf16_state_keeps_its_bits(self):
        manifest, state, _, _ = self.export(user_step.make_bf16())
        self.assertEqual(manifest["arguments"][0]["dtype"], "bf16")
        self.assertEqual(state["w"].view(np.uint16)[0, 0], 0x3F8D)  # 1.1 in bf16

    def test_safetensors(self):
        from safetensors.numpy import load_file

        export.export_step(user_step.make(), self.folder, safetensors=True)
        state = load_file(self.folder / "state.safetensors")
        self.assertEqual(state["params/layers/w"].shape, (user_step.LAYERS, 8, 8))
        self.assertEqual(state["step"].shape, ())

    def test_role_overrides(self):
        manifest, state, batch, _ = self.export(user_step.make(), overrides=["seen=optimizer", "params/head/*=statistics", "label=const"])
        kinds = {a["path"]: a.get("kind", a["role"]) for a in manifest["arguments"]}
        self.assertEqual([kinds["seen"], kinds["params/head/0"], kinds["params/layers/w"]], ["optimizer", "statistics", "param"])
        self.assertEqual(kinds["label"], "const")
        self.assertIn("label", state)
        self.assertNotIn("label", batch)
        for wrong in ("nothing/*=param", "seen=weight", "seen"):
            with self.assertRaises(contract.ContractError):
                self.export(user_step.make(), overrides=[wrong])

    def test_unlike_leading_dimensions_warn(self):
        step = lambda s, b: (s, s["w"].sum() + b["x"].sum() + b["rate"])  # noqa: E731
        _, _, _, warnings = self.export((step, {"w": np.ones(2, np.float32)}, {"x": np.ones((4, 2), np.float32), "rate": 0.5}))
        self.assertTrue(any("rate" in w and "const" in w for w in warnings), warnings)


class Refusals(unittest.TestCase):
    CASES = {
        "broken_returns_two": "(step, state, example_batch)",
        "broken_step_result": "(new_state, metrics)",
        "broken_no_loss": "it has: cost",
        "broken_vector_loss": "float32[2]",
        "broken_tree": "only in the new state: state['v']['extra']",
        "broken_container": "other containers",
        "broken_dtype": "state['opt']['count'] goes in as int32[] and comes out as float32[]",
        "broken_shape": "state['w'] goes in as float32[2] and comes out as float32[1,2]",
        "broken_leaf": "state['name'] is a str",
        "broken_same_path": "'a/b'",
        "broken_complex": "complex64",
    }

    def test_each_broken_step_is_refused_with_its_reason(self):
        for name, message in self.CASES.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                with self.assertRaises(contract.ContractError) as caught:
                    export.export_step(getattr(user_step, name)(), folder)
                self.assertIn(message, str(caught.exception))
                self.assertEqual(list(pathlib.Path(folder).iterdir()), [])

    def test_targets(self):
        for target, message in {
            "user_step": "MODULE:FUNCTION",
            "no_such_module:make": "no module 'no_such_module'",
            "no/such/file.py:make": "no file",
            "user_step:absent": "has no 'absent'; it has:",
            "user_step:not_a_function": "not a function",
        }.items():
            with self.subTest(target), self.assertRaises(contract.ContractError) as caught:
                contract.load_function(target)
            self.assertIn(message, str(caught.exception))


class CommandLine(unittest.TestCase):
    def run_tool(self, *arguments):
        return subprocess.run([sys.executable, str(TOOLS / "export_jax.py"), *arguments], capture_output=True, text=True, cwd=HERE)

    def test_exports_prints_the_signature_and_exits_zero(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_tool("user_step.py:make", "-o", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("params/encoder/dense/kernel", done.stdout)
            self.assertEqual(json.loads((pathlib.Path(folder) / "manifest.json").read_text())["function"], "user_step.py:make")

    def test_error_is_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_tool("user_step:broken_dtype", "-o", folder)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)

    def test_help(self):
        done = self.run_tool("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("examples:", done.stdout)


class Widening(unittest.TestCase):
    def widened(self, made):
        step = contract.check_step(made)
        _, module = export.lower(step)
        return step, module, widen.widen_module(module)

    def test_every_float_is_f64_and_the_program_still_trains(self):
        step, narrow, wide = self.widened(user_step.make())
        text = export.program_text(wide)
        self.assertNotIn("xf32>", text)
        self.assertNotIn("<f32>", text)
        leaves = [np.asarray(leaf.value) for leaf in step.state_leaves + step.batch_leaves]
        a = widen.Runner(narrow)(leaves)
        b = widen.Runner(wide)([widen.widen_array(x) for x in leaves])
        for leaf, x, y in zip(step.state_leaves, a, b):
            if x.dtype.kind == "f":
                self.assertEqual(y.dtype, np.float64)
                np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-6, err_msg=leaf.path)
            else:
                np.testing.assert_array_equal(x, y)

    def widened_loss(self, factor):
        """Loss of a step, widened to f64, that is `factor` at the values given here."""

        def step(s, b):
            return s, {"loss": (s["w"] + b["x"]).sum() * factor}

        made = (step, {"w": np.zeros(1, np.float32)}, {"x": np.ones(1, np.float32)})
        _, _, wide = self.widened(made)
        return widen.Runner(wide)([np.zeros(1), np.ones(1)])[-1]

    def test_short_decimals_are_those_of_a_program_in_f64(self):
        self.assertEqual(self.widened_loss(0.1), 0.1)

    def test_other_constants_keep_their_narrow_value(self):
        self.assertEqual(self.widened_loss(0.123456789), np.float64(np.float32(0.123456789)))

    def test_infinities_and_blobs(self):
        table = np.array([[1.5, -np.inf, 3e38], [1e-40, np.inf, -0.0]], np.float32)

        def step(s, b):
            return s, {"loss": (s["w"] * b["x"]).sum(), "table": jax.numpy.maximum(table, -np.inf) + s["w"]}

        _, _, wide = self.widened((step, {"w": np.zeros((), np.float32)}, {"x": np.ones(1, np.float32)}))
        out = widen.Runner(wide)([np.float64(0), np.ones(1)])
        np.testing.assert_array_equal(out[2], table.astype(np.float64))

    def test_random_floats_keep_their_bits(self):
        step, narrow, wide = self.widened(user_step.make_uniform_noise())
        leaves = [np.asarray(leaf.value) for leaf in step.state_leaves + step.batch_leaves]
        a = widen.Runner(narrow)(leaves)
        b = widen.Runner(wide)([widen.widen_array(x) for x in leaves])
        np.testing.assert_array_equal(a[0], b[0])
        self.assertEqual(b[2].dtype, np.float64)
        np.testing.assert_allclose(a[2], b[2], rtol=1e-6)

    def test_bf16_constants(self):
        step, narrow, wide = self.widened(user_step.make_bf16())
        b = widen.Runner(wide)([np.full((6, 2), 2.0), np.ones((4, 6))])
        self.assertEqual(b[0][0, 0], 2.0 * 0.98828125)  # 0.99 in bf16

    def test_promoted_export(self):
        with tempfile.TemporaryDirectory() as folder:
            _, manifest, _ = export.export_step(user_step.make(), folder, promote="f64")
            state = dict(np.load(pathlib.Path(folder) / "state.npz"))
            self.assertEqual(state["params/layers/w"].dtype, np.float64)
            self.assertEqual({a["dtype"] for a in manifest["arguments"]}, {"f64", "i32", "u32"})


if __name__ == "__main__":
    unittest.main()
