# SPDX-License-Identifier: Apache-2.0
"""compare_losses.py: agreement, disagreement, and files that cannot be compared."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tools"))

import compare_losses  # noqa: E402

LOSSES = [3.0 - 0.1 * k for k in range(20)]


class CompareLosses(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.reference = self.file("losses.json", json.dumps({"f32": LOSSES, "f64": [x * (1 + 1e-6) for x in LOSSES]}))

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def metrics(self, losses, first=1, name="run.jsonl"):
        return self.file(name, "".join(json.dumps({"step": k + first, "loss": x, "seconds": 0.1}) + "\n" for k, x in enumerate(losses)))

    def run_tool(self, *arguments):
        self.output = io.StringIO()
        with contextlib.redirect_stdout(self.output), contextlib.redirect_stderr(self.output):
            return compare_losses.main([str(a) for a in arguments])

    def test_equal_whether_steps_count_from_zero_or_one(self):
        for first in (0, 1):
            self.assertEqual(self.run_tool(self.metrics(LOSSES, first), self.reference), 0)

    def test_extra_steps_do_not_matter(self):
        self.assertEqual(self.run_tool(self.metrics(LOSSES + [0.5]), self.reference), 0)

    def test_one_differing_step_is_found_and_named(self):
        losses = list(LOSSES)
        losses[6] *= 1 + 2e-4
        self.assertEqual(self.run_tool(self.metrics(losses), self.reference), 1)
        self.assertIn("first at step 7", self.output.getvalue())
        self.assertEqual(self.run_tool(self.metrics(losses), self.reference, "--rtol", 1e-3), 0)

    def test_precision_chooses_list_and_tolerance(self):
        self.assertEqual(self.run_tool(self.metrics(LOSSES), self.reference, "--precision", "f64"), 1)
        self.assertEqual(self.run_tool(self.metrics([x * (1 + 1e-6) for x in LOSSES]), self.reference, "--precision", "f64"), 0)

    def test_not_a_number_never_agrees(self):
        self.assertEqual(self.run_tool(self.metrics([float("nan")] * 20), self.reference, "--rtol", 1e9), 1)

    def test_two_runs(self):
        self.assertEqual(self.run_tool(self.metrics(LOSSES), self.metrics(LOSSES, name="other.jsonl"), "--rtol", 1e-12), 0)

    def test_unusable_files(self):
        for path in (
            self.metrics(LOSSES[:10], name="short.jsonl"),
            self.metrics(LOSSES, first=7, name="middle.jsonl"),
            self.file("empty.jsonl", ""),
            self.file("words.jsonl", "hello\n"),
            self.folder / "absent.jsonl",
        ):
            self.assertEqual(self.run_tool(path, self.reference), 2, path)


if __name__ == "__main__":
    unittest.main()
