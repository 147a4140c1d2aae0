# SPDX-License-Identifier: Apache-2.0
"""Widens a StableHLO program: every floating type becomes f64, nothing else changes.

This is what `rhino train --promote f64` does to a program, done with JAX's own MLIR library, so that
JAX's compiler can run the same widened program and give the losses to compare with. A lone f32 number
of at most six decimal digits (0.9, 1e-8) becomes that decimal in f64, as if the program had been written
in f64; all other constants keep the value that they have in their narrow type. Integers, random bits and comparisons of integers are
untouched. A bitcast between integers and a float keeps the narrow type, with a conversion beside it,
because it speaks about the bits of that type.
"""

import contextlib

import jax
import numpy as np
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir

NARROW = ("bf16", "f16", "f32")


def widen_name(name, target="f64"):
    return target if name in NARROW else name


def widen_array(value, target="f64"):
    if target != "f64":
        raise ValueError(f"cannot widen to '{target}': only f64 is supported")
    value = np.asarray(value)
    if value.dtype.name == "bfloat16" or value.dtype in (np.float16, np.float32):
        return value.astype(np.float64)
    return value


def _widen_type(kind):
    if isinstance(kind, ir.RankedTensorType) and str(kind.element_type) in NARROW:
        return ir.RankedTensorType.get(kind.shape, ir.F64Type.get(), kind.encoding)
    if isinstance(kind, ir.TupleType):
        return ir.TupleType.get_tuple([_widen_type(kind.get_type(i)) for i in range(kind.num_types)])
    if isinstance(kind, ir.FunctionType):
        return ir.FunctionType.get([_widen_type(t) for t in kind.inputs], [_widen_type(t) for t in kind.results])
    return kind


def _is_narrow(kind):
    return isinstance(kind, ir.RankedTensorType) and str(kind.element_type) in NARROW


def _widen_constant(attribute):
    kind = attribute.type
    if not _is_narrow(kind):
        return attribute
    element = str(kind.element_type)
    wide = _widen_type(kind)
    if attribute.is_splat:
        value = _scalar(attribute.get_splat_value())
        if element == "f32":
            value = restored_decimal(value)
        return ir.DenseElementsAttr.get_splat(wide, ir.FloatAttr.get(ir.F64Type.get(), value))
    if element == "bf16":
        values = _bf16_values(attribute, kind)
    else:
        values = np.asarray(attribute).astype(np.float64)
    return ir.DenseElementsAttr.get(np.ascontiguousarray(values.reshape(kind.shape)), type=wide)


def restored_decimal(value):
    """The f64 nearest to the shortest decimal that reads back as this f32, if that has at most six digits."""
    if not np.isfinite(value):
        return value
    text = np.format_float_scientific(np.float32(value), unique=True, trim="-")
    digits = sum(c.isdigit() for c in text.split("e")[0])
    return float(text) if digits <= 6 else value


def _bf16_values(attribute, kind):
    """The values of a bf16 constant; MLIR's Python buffers do not know this type, so read its elements."""
    count = int(np.prod(kind.shape)) if kind.shape else 1
    elements = ir.DenseFPElementsAttr(attribute)
    return np.array([elements[i] for i in range(count)], dtype=np.float64)


def _scalar(attribute):
    return ir.FloatAttr(attribute).value


def _convert(value, kind, location):
    return ir.Operation.create("stablehlo.convert", results=[kind], operands=[value], loc=location)


def _widen_bitcast(op):
    operand, result = op.operands[0], op.results[0]
    narrow_result = result.type
    if _is_narrow(narrow_result):
        # integer -> float: bitcast to the narrow type, then widen
        with ir.InsertionPoint(op):
            inner = ir.Operation.create("stablehlo.bitcast_convert", results=[narrow_result], operands=[operand], loc=op.location)
            wide = _convert(inner.results[0], _widen_type(narrow_result), op.location)
        result.replace_all_uses_with(wide.results[0])
        op.erase()


def _widen_bitcast_operand(op, narrow_operand):
    with ir.InsertionPoint(op):
        back = _convert(op.operands[0], narrow_operand, op.location)
    op.operands[0] = back.results[0]


def _walk(op, visit):
    """Calls visit(op) for every operation, outermost first; a list, so that visit may erase the op."""
    pending = [op]
    while pending:
        current = pending.pop()
        children = [child.operation for region in current.regions for block in region for child in block]
        visit(current)
        pending.extend(reversed(children))


def widen_module(module, target="f64"):
    """A new module with all floating types widened; the argument is left as it was."""
    if target != "f64":
        raise ValueError(f"cannot widen to '{target}': only f64 is supported")
    with jax_mlir.make_ir_context(), ir.Location.unknown():
        wide = ir.Module.parse(module.operation.get_asm(enable_debug_info=True))
        bitcasts = []

        def collect(op):
            if op.name == "stablehlo.bitcast_convert":
                bitcasts.append((op, op.operands[0].type, op.results[0].type))

        _walk(wide.operation, collect)
        for op, operand_type, result_type in bitcasts:
            if _is_narrow(operand_type) and _is_narrow(result_type):
                raise ValueError(f"a bitcast from {operand_type} to {result_type} has no f64 form")
        narrow_operands = {}
        for op, operand_type, result_type in bitcasts:
            if _is_narrow(operand_type):
                narrow_operands[op] = operand_type
        keep = set()

        def visit(op):
            for region in op.regions:
                for block in region:
                    for argument in block.arguments:
                        argument.set_type(_widen_type(argument.type))
            if op.name == "stablehlo.bitcast_convert":
                return
            for result in op.results:
                if result not in keep:
                    result.set_type(_widen_type(result.type))
            if op.name == "stablehlo.constant":
                op.attributes["value"] = _widen_constant(op.attributes["value"])
            elif op.name == "func.func":
                kind = _widen_type(op.attributes["function_type"].value)
                op.attributes["function_type"] = ir.TypeAttr.get(kind)

        _walk(wide.operation, visit)
        for op, operand_type, result_type in bitcasts:
            if _is_narrow(operand_type):
                _widen_bitcast_operand(op, operand_type)
            elif _is_narrow(result_type):
                _widen_bitcast(op)
        if not wide.operation.verify():
            raise ValueError("the widened program is not valid StableHLO")
        return wide


@contextlib.contextmanager
def _wide_types():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        yield
    finally:
        jax.config.update("jax_enable_x64", before)


class Runner:
    """Runs `@main` of a StableHLO module with JAX's own CPU compiler."""

    def __init__(self, module):
        from jax._src import compiler, xla_bridge
        from jax._src.lib import xla_client

        self._backend = xla_bridge.get_backend("cpu")
        self._device = self._backend.local_devices()[0]
        options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
        devices = xla_client.DeviceList((self._device,))
        text = module if isinstance(module, str) else module.operation.get_asm(enable_debug_info=False)
        with jax_mlir.make_ir_context():
            # A donated input would be unusable afterwards; the caller keeps its arrays.
            plain = ir.Module.parse(text)
            _drop_donation(plain)
            self._executable = compiler.backend_compile_and_load(self._backend, plain, devices, options, [])

    def __call__(self, arrays):
        """Takes and returns numpy arrays in the program's order."""
        with _wide_types():
            buffers = [jax.device_put(np.asarray(a), self._device) for a in arrays]
            outputs = self._executable.execute_sharded(buffers).disassemble_into_single_device_arrays()
            return [np.asarray(shards[0]) for shards in outputs]


def _drop_donation(module):
    for op in module.body.operations:
        if op.operation.name != "func.func" or "arg_attrs" not in op.attributes:
            continue
        kept = []
        for attributes in ir.ArrayAttr(op.attributes["arg_attrs"]):
            entries = {a.name: a.attr for a in ir.DictAttr(attributes)}
            entries.pop("tf.aliasing_output", None)
            entries.pop("jax.buffer_donor", None)
            kept.append(ir.DictAttr.get(entries))
        op.attributes["arg_attrs"] = ir.ArrayAttr.get(kept)
