# SPDX-License-Identifier: Apache-2.0
"""`rhino import MODEL.onnx` against ONNX's own reference evaluator and its published test cases of single ops.

`rhino eval` runs what was imported, so that one process compares many models: each becomes a module that calls the imported
function on constants and checks what it gives.
"""

import importlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import warnings

try:
    import h5py
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from onnx.reference import ReferenceEvaluator
except ImportError as error:
    print(f"SKIPPED: {error}; tools/setup_python installs it")
    sys.exit(77)

RHINO = os.environ.get("RHINO_PROGRAM", "rhino")
TYPES = {"float16": "f16", "float32": "f32", "float64": "f64", "int8": "i8", "int16": "i16", "int32": "i32",
         "int64": "i64", "uint8": "ui8", "uint16": "ui16", "uint32": "ui32", "uint64": "ui64", "bool": "i1"}
# Largest difference, relative to the largest element.
TOLERANCE = {"float16": 4e-3, "float32": 2e-5, "float64": 1e-6}

# Modules of onnx.backend.test.case.node.
PUBLISHED = """and_ argmax argmin batch_normalization clip concat conv convtranspose cumsum depthtospace einsum
    expand flatten gather gatherelements gelu gemm globalaveragepool groupnormalization hardsigmoid instance_normalization
    layernormalization logsoftmax matmul maxpool mod onehot pow prelu reduce_log_sum_exp reducel2 reducemax reducemean
    reducesum reshape rmsnormalization shape slice softmax split squeeze tile transpose trilu unsqueeze where""".split()
# Not read: diagonals, indices of poolings, sizes that are data; and an infinite divisor.
EXCEPT = re.compile(r"_expanded|_argmax_2d|diagonal|inner_prod|output_shape|autopad_same|convtranspose_kernel_shape"
                    r"|mod_float_edge")
# Operands that are sizes, axes or bounds: known when a model is exported.
NUMBERS = {"Clip", "Pow", "OneHot"}


def type_of(array):
    return "tensor<" + "".join(f"{size}x" for size in array.shape) + TYPES[str(array.dtype)] + ">"


def constant(array):
    array = np.asarray(array, order="C")
    return f'stablehlo.constant dense<"0x{array.tobytes().hex().upper()}"> : {type_of(array)}'


def path_of(name):
    return "/".join(re.sub(r"[^A-Za-z0-9_-]", "_", part) for part in re.split(r"[./]", name) if part)


class Onnx(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.modules = []

    def run_rhino(self, *arguments):
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                       "OMP_NUM_THREADS": "1"}
        return subprocess.run([RHINO, *map(str, arguments)], env=environment, capture_output=True, text=True, timeout=300)

    def save(self, model, name="model.onnx"):
        path = self.folder / name
        path.write_bytes(model.SerializeToString())
        return path

    def imported(self, path, *arguments):
        result = self.run_rhino("import", path, "-o", self.folder / "model.h5", *arguments)
        self.assertEqual(result.returncode, 0, f"{path.name}: {result.stderr}")
        return self.folder / "model.h5"

    def check_later(self, name, path, inputs, outputs, *arguments):
        """A module for `run_checks`: the model's function called on these inputs gives these outputs."""
        inputs = {path_of(key): value for key, value in inputs.items()}
        with h5py.File(self.imported(path, *arguments)) as file:
            text = bytes(file["program"][:]).decode()
            paths = [item.decode() for item in file["signature/params/path"][:]]
            values = [inputs[item] if item in inputs else file["state"][item][()] for item in paths]
        values = [np.asarray(value) for value in values]
        results = ", ".join(type_of(output) for output in outputs)
        results = f"({results})" if len(outputs) > 1 else results
        lines = [f"%a{i} = {constant(value)}" for i, value in enumerate(values)]
        lines.append(f"%r{f':{len(outputs)}' if len(outputs) > 1 else ''} = func.call @model("
                     + ", ".join(f"%a{i}" for i in range(len(values))) + ") : ("
                     + ", ".join(map(type_of, values)) + f") -> {results}")
        for i, want in enumerate(outputs):
            got, kind, tensor = f"%r#{i}" if len(outputs) > 1 else "%r", "eq", type_of(want)
            if want.dtype.kind == "f":
                # The check allows 1e-3: both sides are scaled such that this is the tolerance.
                largest = np.abs(want[np.isfinite(want)]).max(initial=1)
                scale = np.full(want.shape, 1e-3 / (TOLERANCE[str(want.dtype)] * largest), want.dtype)
                lines += [f"%s{i} = {constant(scale)}", f"%g{i} = stablehlo.multiply {got}, %s{i} : {tensor}"]
                got, want, kind = f"%g{i}", want * scale, "almost_eq"
            lines += [f"%w{i} = {constant(want)}", f"stablehlo.custom_call @check.expect_{kind}({got}, %w{i}) "
                      f"{{has_side_effect = true}} : ({tensor}, {tensor}) -> ()"]
        text = text.replace("func.func public @main(", "func.func private @model(")
        body = "\n".join(f"    {line}" for line in [*lines, "return"])
        self.modules.append(f"// {name}\n{text[:text.rindex('}')]}  func.func public @main() {{\n{body}\n  }}\n}}\n")

    def run_checks(self):
        self.assertTrue(self.modules)
        path = self.folder / "checks.mlir"
        path.write_text("// -----\n".join(self.modules))
        result = self.run_rhino("eval", "--quiet", "--summary", path)
        messages = result.stdout + result.stderr
        self.assertEqual(result.returncode, 0, messages[:4000])
        self.assertIn(f"{len(self.modules)} passed", messages)

    def published_cases(self):
        from onnx.backend.test.case import node

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name in PUBLISHED:
                importlib.import_module(f"onnx.backend.test.case.node.{name}")
        return [case for case in node._NodeTestCases if not EXCEPT.search(case.name)]

    def test_published_cases(self):
        for case in self.published_cases():
            inputs, outputs = case.data_sets[0]
            graph = case.model.graph
            arrays = dict(zip([value.name for value in graph.input], inputs))
            if any(not isinstance(a, np.ndarray) or str(a.dtype) not in TYPES or a.size == 0
                   for a in [*inputs, *outputs]):
                continue
            model = onnx.ModelProto.FromString(case.model.SerializeToString())
            for opset in model.opset_import:
                opset.version = min(opset.version, 23)  # what came later did not change these cases
            del model.graph.input[:]
            for place, value in enumerate(graph.input):
                number = place > 0 and (arrays[value.name].dtype == np.int64 or graph.node[0].op_type in NUMBERS)
                if number and graph.node[0].op_type not in ("GatherElements", "Mod", "Where"):
                    model.graph.initializer.append(numpy_helper.from_array(arrays.pop(value.name), value.name))
                else:
                    model.graph.input.append(value)
            with self.subTest(case.name):
                self.check_later(case.name, self.save(model), arrays, outputs)
        self.assertGreater(len(self.modules), 150)
        self.run_checks()

    def against_reference(self, name, nodes, inputs, weights, opset, outputs=("y",), *arguments, open_batch=False):
        """Compares with onnx.reference; `weights` are initializers, ints and scalars are constants to Rhino."""
        def value(key, array, shape):
            return helper.make_tensor_value_info(key, helper.np_dtype_to_tensor_dtype(array.dtype), shape)

        shapes = {key: [*array.shape] for key, array in inputs.items()}
        if open_batch:
            shapes = {key: ["n", *shape[1:]] for key, shape in shapes.items()}
        initializers = [numpy_helper.from_array(array, key) for key, array in weights.items()]
        graph = helper.make_graph(nodes, name, [value(key, array, shapes[key]) for key, array in inputs.items()],
                                  [onnx.ValueInfoProto(name=output) for output in outputs], initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
        expected = ReferenceEvaluator(model).run(None, inputs)
        self.check_later(name, self.save(model), inputs, expected, *arguments)

    def test_blocks(self):
        """Blocks as newer exporters write them: whole ops for norms and activations, axes as operands."""
        random = np.random.default_rng(5)

        def draw(*shape):
            return random.normal(size=shape).astype(np.float32)

        def ints(*values):
            return np.array(values, np.int64)

        node = helper.make_node
        for opset in (18, 20, 21):
            weights = {"w": draw(12, 36), "b": draw(36), "o": draw(12, 12), "g": draw(12), "h": draw(12),
                       "up": draw(48, 12), "down": draw(12, 48), "heads": ints(0, 0, 3, 4), "joined": ints(0, 0, -1), "scale": np.float32(0.5),
                       "mask": np.triu(np.full((5, 5), -np.inf, np.float32), 1), "last": ints(-1), "sizes": ints(12, 12, 12)}
            split = dict(num_outputs=3) if opset == 18 else {}
            attention = [
                node("LayerNormalization", ["x", "g", "h"], ["n"], axis=-1, epsilon=1e-6),
                node("MatMul", ["n", "w"], ["m"]), node("Add", ["m", "b"], ["qkv"]),
                node("Split", ["qkv"] if split else ["qkv", "sizes"], ["q", "k", "v"], axis=-1, **split),
                *[node("Reshape", [key, "heads"], [f"{key}h"]) for key in "qkv"],
                *[node("Transpose", [f"{key}h"], [f"{key}t"], perm=[0, 2, 3, 1] if key == "k" else [0, 2, 1, 3])
                  for key in "qkv"],
                node("MatMul", ["qt", "kt"], ["s"]), node("Mul", ["s", "scale"], ["t"]),
                node("Add", ["t", "mask"], ["u"]), node("Softmax", ["u"], ["p"], axis=-1), node("MatMul", ["p", "vt"], ["c"]),
                node("Transpose", ["c"], ["d"], perm=[0, 2, 1, 3]), node("Reshape", ["d", "joined"], ["e"]),
                node("MatMul", ["e", "o"], ["f"]), node("Add", ["x", "f"], ["r"]),
                node("ReduceMean", ["r", "last"], ["mean"], keepdims=1), node("Sub", ["r", "mean"], ["z"]),
                node("Gemm", ["flat", "up"], ["a"], transB=1), node("Mul", ["a", "a"], ["aa"]),
                node("Gemm", ["aa", "down"], ["y"], transB=1),
            ]
            attention.insert(-3, node("Reshape", ["z", "rows"], ["flat"]))
            if opset >= 20:
                attention.insert(-1, node("Gelu", ["aa"], ["ab"], approximate="tanh"))
                attention[-1].input[0] = "ab"
            weights["rows"] = ints(-1, 12)
            self.against_reference(f"attention {opset}", attention, {"x": draw(2, 5, 12)}, weights, opset,
                                   ("y",), "--dims", "n=2", open_batch=True)
        for opset in (11, 13, 17):
            def operand(name, old=opset < 13):
                return [] if old else [name]

            def attribute(axis, old=opset < 13):
                return dict(axes=[axis]) if old else {}

            nodes = [
                node("Shape", ["x"], ["shape"]), node("Gather", ["shape", "zero"], ["batch"], axis=0),
                node("Unsqueeze", ["batch", *operand("first")], ["one"], **attribute(0)),
                node("Concat", ["one", "minus"], ["target"], axis=0),
                node("Conv", ["x", "k", "kb"], ["c"], pads=[1, 0, 1, 2], strides=[2, 1], dilations=[1, 2], group=2),
                node("AveragePool", ["c"], ["p"], kernel_shape=[2, 3], pads=[1, 1, 0, 1], count_include_pad=1),
                node("Reshape", ["p", "target"], ["f"]), node("Softmax", ["f"], ["y"], axis=1),
                node("Unsqueeze", ["f", *operand("two")], ["g"], **attribute(2)),
                node("Slice", ["g", "from", "to", "axis", "step"], ["z"]),
            ]
            weights = {"zero": np.int64(0), "first": ints(0), "two": ints(2), "minus": ints(-1),
                       "k": draw(6, 2, 3, 2), "kb": draw(6), "from": ints(-1), "to": ints(-1000000), "axis": ints(1), "step": ints(-3)}
            self.against_reference(f"image {opset}", nodes, {"x": draw(3, 4, 9, 7)}, weights, opset, ("y", "z"),
                                   "--batch", 3, open_batch=True)
        self.run_checks()

    def mlp(self, random):
        weights = {"w1": random.normal(size=(6, 8)), "b1": random.normal(size=8), "w2": random.normal(size=(8, 3))}
        weights = {key: (value / 2).astype(np.float32) for key, value in weights.items()}
        nodes = [helper.make_node("Gemm", ["x", "w1", "b1"], ["h"]), helper.make_node("Tanh", ["h"], ["t"]),
                 helper.make_node("MatMul", ["t", "w2"], ["scores"])]
        graph = helper.make_graph(
            nodes, "mlp", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 6])],
            [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["n", 3])],
            [numpy_helper.from_array(value, key) for key, value in weights.items()])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), weights

    def test_external_data(self):
        random = np.random.default_rng(6)
        model, weights = self.mlp(random)
        x = random.normal(size=(4, 6)).astype(np.float32)
        want = np.tanh(x @ weights["w1"] + weights["b1"]) @ weights["w2"]
        (self.folder / "inner").mkdir()
        path = self.folder / "inner" / "model.onnx"
        onnx.save_model(model, path, save_as_external_data=True, location="weights.bin", size_threshold=0)
        self.check_later("external", path, {"x": x}, [want], "--batch", 4)
        self.run_checks()
        # Not outside of the folder of the model, and not behind the end.
        (self.folder / "weights.bin").write_bytes((self.folder / "inner" / "weights.bin").read_bytes())
        (self.folder / "inner" / "link.bin").symlink_to(self.folder / "weights.bin")
        stored = path.read_bytes()
        for location in ("../weights.bin", str(self.folder / "weights.bin"), "link.bin", "absent.bin", "."):
            other = onnx.ModelProto.FromString(stored)
            for tensor in other.graph.initializer:
                for entry in tensor.external_data:
                    entry.value = location if entry.key == "location" else entry.value
            path.write_bytes(other.SerializeToString())
            result = self.run_rhino("import", path, "--batch", 4)
            self.assertEqual(result.returncode, 3, location)
            self.assertRegex(result.stderr, r"^rhino: error [^\n]*external file[^\n]*\n$")
        path.write_bytes(stored)
        (self.folder / "inner" / "weights.bin").write_bytes(b"123")
        result = self.run_rhino("import", path, "--batch", 4)
        self.assertEqual(result.returncode, 3)
        self.assertIn("ends behind the end of its external file", result.stderr)

    def test_training(self):
        """Steps of gradient descent: the losses of a calculation by hand."""
        random = np.random.default_rng(7)
        model, weights = self.mlp(random)
        x, labels = random.normal(size=(40, 6)).astype(np.float32), random.integers(0, 3, 40).astype(np.int32)
        with h5py.File(self.folder / "data.h5", "w") as file:
            file["x"], file["labels"] = x, labels
        step = self.imported(self.save(model), "--batch", 8, "--loss", "cross_entropy", "--optimizer", "sgd",
                             "--set", "learning_rate=0.5")
        metrics = self.folder / "metrics.jsonl"
        result = self.run_rhino("train", step, "--data", self.folder / "data.h5", "data.shuffle=false", "--steps", 5,
                                "--promote", "f64", "--metrics", metrics)
        self.assertEqual(result.returncode, 0, result.stderr)
        got = [json.loads(line)["loss"] for line in metrics.read_text().splitlines()]
        w1, b1, w2 = (weights[key].astype(float) for key in ("w1", "b1", "w2"))
        for number in range(5):
            rows = slice(8 * number, 8 * number + 8)
            hidden = np.tanh(x[rows] @ w1 + b1)
            scores = np.exp(hidden @ w2)
            chance = scores / scores.sum(1, keepdims=True)
            self.assertAlmostEqual(got[number], -np.log(chance[np.arange(8), labels[rows]]).mean(), delta=1e-7)
            slope = (chance - np.eye(3)[labels[rows]]) / 8
            inner = slope @ w2.T * (1 - hidden**2)
            w1, b1, w2 = w1 - 0.5 * x[rows].T @ inner, b1 - 0.5 * inner.sum(0), w2 - 0.5 * hidden.T @ slope


if __name__ == "__main__":
    unittest.main()
