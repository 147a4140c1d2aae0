# SPDX-License-Identifier: Apache-2.0
"""The shipped inputs are whole and agree with each other: deck, manifest, program, state, data, losses."""

import json
import pathlib
import re
import sys
import tomllib
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import h5py  # noqa: E402
import numpy as np  # noqa: E402

NAMES = ("mlp_digits", "gpt_tiny", "gpt_tiny_dropout", "gpt_tiny_scan", "resnet_tiny", "moe_tiny", "unet_tiny")
NUMPY = {"i1": "bool", "i32": "int32", "u8": "uint8", "u32": "uint32", "f32": "float32"}


class Inputs(unittest.TestCase):
    def each(self):
        for name in NAMES:
            folder = ROOT / "inputs" / name
            deck = tomllib.loads((ROOT / "inputs" / f"{name}.toml").read_text())
            yield name, folder, deck, json.loads((folder / "manifest.json").read_text())

    def test_deck_names_files_that_exist(self):
        for name, _, deck, _ in self.each():
            with self.subTest(name):
                evaluation = [path for path in deck.get("eval", {}).values() if isinstance(path, str)]
                for path in (*deck["model"].values(), deck["data"]["file"], *evaluation):
                    self.assertTrue((ROOT / "inputs" / path).is_file(), path)
                self.assertTrue((ROOT / "inputs" / f"{name}.toml").read_text().startswith("# "))
                self.assertIs(deck["data"]["shuffle"], False)

    def test_program_has_the_arguments_of_the_manifest(self):
        for name, folder, _, manifest in self.each():
            with self.subTest(name):
                head = re.search(r"func\.func public @main\((.*?)\) -> \((.*?)\) \{\n", (folder / "step.mlir").read_text(), re.S)
                types = re.findall(r"%arg\d+: tensor<([^>]*)>", head.group(1))
                wanted = ["".join(f"{d}x" for d in a["shape"]) + a["dtype"].replace("u", "ui") for a in manifest["arguments"]]
                self.assertEqual(types, wanted)
                self.assertEqual(len(re.findall(r"tensor<", head.group(2))), len(manifest["results"]))

    def test_state_has_exactly_the_state_of_the_manifest(self):
        for name, folder, _, manifest in self.each():
            with self.subTest(name):
                state = np.load(folder / "state.npz")
                entries = {a["path"]: a for a in manifest["arguments"] if a["role"] != "batch"}
                self.assertEqual(set(state.files), set(entries))
                for path, entry in entries.items():
                    self.assertEqual(list(state[path].shape), entry["shape"], path)
                    self.assertEqual(state[path].dtype.name, NUMPY[entry["dtype"]], path)

    def test_data_fit_the_batch(self):
        for name, _, deck, manifest in self.each():
            with self.subTest(name):
                with h5py.File(ROOT / "inputs" / deck["data"]["file"]) as file:
                    for entry in (a for a in manifest["arguments"] if a["role"] == "batch"):
                        data = file[entry["path"]]
                        self.assertEqual(list(data.shape[1:]), entry["shape"][1:])
                        self.assertEqual(data.dtype.name, NUMPY[entry["dtype"]])
                        self.assertGreaterEqual(len(data), 20 * entry["shape"][0])

    def test_text_is_large_and_real(self):
        with h5py.File(ROOT / "inputs" / "gpt_tiny" / "data.h5") as file:
            tokens = file["tokens"][()]
        self.assertGreaterEqual(tokens.size, 1_000_000)
        whole = tokens.tobytes()
        self.assertGreater(whole.count(b" the "), 5000)
        self.assertTrue(whole.isascii())

    def test_losses_fall_and_agree(self):
        for name, folder, _, manifest in self.each():
            with self.subTest(name):
                losses = json.loads((folder / "losses.json").read_text())
                narrow, wide = np.array(losses["f32"]), np.array(losses["f64"])
                self.assertEqual([len(narrow), len(wide)], [20, 20])
                np.testing.assert_allclose(narrow, wide, rtol=5e-5)
                self.assertTrue(np.any(narrow != wide))
                self.assertLess(narrow[-4:].mean(), 0.75 * narrow[:2].mean())
                self.assertTrue(np.all(narrow.astype(np.float32) == narrow))

    def test_no_machine_paths_and_small(self):
        total = 0
        for path in (ROOT / "inputs").rglob("*"):
            if path.suffix in (".mlir", ".json", ".toml", ".npz") or path.name == "data.h5":
                total += path.stat().st_size
            if path.suffix in (".mlir", ".json", ".toml", ".md"):
                self.assertNotRegex(path.read_text(), r"(/home/|/root/|/tmp/|\.pyc?\"\:)", path.name)
        self.assertLess(total, 12e6)


if __name__ == "__main__":
    unittest.main()
