"""Every operator as one of torch.library, torch.ops.ridge.NAME, with gradients and with what torch.compile needs.

    import ridge.torch      # or: import torch before ridge, or call any operator with a tensor

An operator that writes to an array of its caller has a second one, NAME_, that does; NAME then starts from zeros and returns a
new tensor. An operator whose arrays cannot be made has only NAME_.
"""
from __future__ import annotations

from typing import Any

import torch

from ridge import _call, _core, _descriptions, _errors, _gradients, _shapes

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64, "i32": torch.int32,
          "i64": torch.int64, "u32": torch.uint32, "u8": torch.uint8, "i8": torch.int8, "e4m3": torch.float8_e4m3fn,
          "e5m2": torch.float8_e5m2, "ue8m0": torch.float8_e8m0fnu}
NAMES = {dtype: name for name, dtype in DTYPES.items()} | {torch.bool: "u8"}
# As what else arrays hold them: an unsigned format by the signed one, two elements of 4 bits by one byte.
DTYPES |= {"ue4m3": torch.float8_e4m3fn, "e2m1": torch.uint8, "nf4": torch.uint8}
SCHEMA_TYPES = {"number": "float", "integer": "int", "flag": "bool", "choice": "int"}

_library = torch.library.Library("ridge", "DEF")


def _can_be_made(op: dict[str, Any], tensor: dict[str, Any]) -> bool:
    """Whether an array that is read and written may be left out, as its function has it."""
    if tensor.get("optional") or not ("like" in tensor or len(tensor["formats"]) == 1):
        return False
    inputs = [t for t in op["tensors"] if t["role"] == "in" and not t.get("optional")]
    known = {e.name for t in inputs for e in _shapes.parse(t["shape"])}
    if "like" in tensor and tensor["like"] not in [t["name"] for t in inputs]:
        return False
    return all(e.name in known for e in _shapes.parse(tensor["shape"]) if e.pack)


class Variant:
    """One operator of torch.library: `mutates` writes to its caller's arrays, the other makes them."""

    def __init__(self, number: int, op: dict[str, Any], mutates: bool):
        self.number, self.op, self.mutates = number, op, mutates
        self.name = op["name"] + ("_" if mutates else "")
        self.tensors, self.parameters = op["tensors"], op["parameters"]
        self.given = [t for t in self.tensors if t["role"] == "in" or (mutates and t["role"] == "inout")]
        # An optional array that is written to is left out where nothing of the caller's is.
        self.made = [t for t in self.tensors if t not in self.given and not (t["role"] == "inout" and t.get("optional"))]
        self.axis = next((i for i, p in enumerate(self.parameters) if p["name"] == "axis"), None)
        known = {e.name for t in self.given if not t.get("optional") for e in _shapes.parse(t["shape"])}
        known |= set(_shapes.following(op, known))
        wanted = {e.name for t in self.made if not t.get("optional") for e in _shapes.parse(t["shape"]) if e.name}
        self.sizes = [d["name"] for d in op["dimensions"] if d["name"] in wanted - known]
        _gradients.SIZES[self.name] = self.sizes
        self.define()
        self.function = getattr(torch.ops.ridge, self.name).default

    # ---- registration

    def define(self) -> None:
        arguments = []
        for i, tensor in enumerate(self.given):
            kind = f"Tensor({chr(97 + i)}!)" if tensor["role"] == "inout" else "Tensor"
            arguments.append(kind + ("? " if tensor.get("optional") else " ") + _python_name(tensor["name"]))
        arguments += [f"{SCHEMA_TYPES[p['type']]} {_python_name(p['name'])}" for p in self.parameters]
        arguments += [f"SymInt {name}" for name in self.sizes]
        results = "Tensor" if len(self.made) == 1 else "(" + ", ".join(["Tensor"] * len(self.made)) + ")"
        _library.define(f"{self.name}({', '.join(arguments)}) -> {results}", tags=(torch.Tag.pt2_compliant_tag,))
        if self.given:
            for key in ("CPU", "CUDA"):
                _library.impl(self.name, self.kernel, key)
        else:  # nothing to choose the device by
            _library.impl(self.name, self.kernel, "CompositeExplicitAutograd")
        torch.library.register_fake(f"ridge::{self.name}", self.fake, lib=_library)
        if not self.mutates and self.given:
            self.formula = _gradients.formula_of(self.op)
            torch.library.register_autograd(f"ridge::{self.name}", self.backward, setup_context=self.setup_context, lib=_library)

    def split(self, arguments: tuple) -> tuple[dict[str, Any], tuple, dict[str, Any]]:
        """Tensors by name, parameters, sizes by name."""
        n, p = len(self.given), len(self.parameters)
        return ({t["name"]: a for t, a in zip(self.given, arguments)}, tuple(arguments[n:n + p]),
                dict(zip(self.sizes, arguments[n + p:])))

    def learned(self, tensors: dict[str, Any], parameters: tuple, sizes: dict[str, Any]) -> dict[str, Any]:
        axis = 0 if self.axis is None else int(parameters[self.axis])
        sizes = dict(sizes)
        for tensor in self.given:
            if tensors[tensor["name"]] is not None:
                _shapes.learn_from(tensor, tuple(tensors[tensor["name"]].shape), axis, sizes)
        _shapes.follow(self.op, sizes, {p["name"]: value for p, value in zip(self.parameters, parameters)})
        return sizes

    # ---- what runs

    def kernel(self, *arguments: Any) -> Any:
        tensors, parameters, sizes = self.split(arguments)
        optional = any(t.get("optional") for t in self.made)
        known = self.learned(tensors, parameters, sizes) if optional else {}
        everything: list[Any] = []
        for tensor in self.tensors:
            if tensor in self.given:
                everything.append(tensors[tensor["name"]])
            elif not self.given:  # no tensor says what the results should be
                everything.append(torch.zeros(_shapes.array_shape(tensor, sizes), dtype=DTYPES[tensor["formats"][0]],
                                              device=_own_device()))
            elif tensor not in self.made:
                everything.append(None)
            elif tensor.get("optional"):
                everything.append(True if self.is_made(tensor, tensors, parameters, known) else None)
            else:
                everything.append(None)
        all_sizes = tuple(sizes.get(d["name"]) for d in self.op["dimensions"]) if sizes else None
        results = _core.run_kernel(self.number, tuple(everything), parameters, all_sizes)
        if not isinstance(results, tuple):
            results = (results,)
        written = [t for t, a in zip(self.tensors, everything)
                   if t["role"] != "in" and (a is not None or t in self.made and not t.get("optional"))]
        by_name = {t["name"]: r for t, r in zip(written, results)}
        made = [by_name.get(t["name"]) for t in self.made]
        made = [self.nothing(tensors) if m is None else m for m in made]
        return made[0] if len(made) == 1 else tuple(made) if made else None

    def nothing(self, tensors: dict[str, Any]) -> torch.Tensor:
        """What stands for an output that is left out."""
        return next(t for t in tensors.values() if t is not None).new_empty(0)

    def is_made(self, tensor: dict[str, Any], tensors: dict[str, Any], parameters: tuple, sizes: dict[str, Any]) -> bool:
        """Whether an output has elements: if what is given says its shape, and it is not the gradient of what is left out."""
        if not tensor.get("optional"):
            return True
        if self.op["family"] == "cross_entropy" and tensor["name"] == "loss":
            return self.op["parameters"][0]["choices"][int(parameters[0])] != "none"
        is_left_out = tensor["name"][0] == "d" and tensors.get(tensor["name"][1:], tensor) is None
        return not is_left_out and _shapes.is_known(tensor["shape"], sizes)

    def fake(self, *arguments: Any) -> Any:
        tensors, parameters, sizes = self.split(arguments)
        known = self.learned(tensors, parameters, sizes)
        given = [t for t in tensors.values() if t is not None]
        made = []
        for tensor in self.made:
            if not self.is_made(tensor, tensors, parameters, known):
                made.append(given[0].new_empty(0))
                continue
            shape = _shapes.array_shape(tensor, known)
            dtype = self.dtype_of(tensor, tensors)
            device = given[0].device if given else _own_device()
            strides_of = tensors.get(tensor.get("strides_of", ""))
            if strides_of is not None and len(shape) == strides_of.dim():
                made.append(torch.empty_strided(shape, strides_of.stride(), dtype=dtype, device=device))
            else:
                made.append(torch.empty(shape, dtype=dtype, device=device))
        return made[0] if len(made) == 1 else tuple(made) if made else None

    def dtype_of(self, tensor: dict[str, Any], tensors: dict[str, Any]) -> torch.dtype:
        like = tensor.get("like")
        if like is not None and tensors.get(like) is not None:
            dtype = tensors[like].dtype
            return DTYPES[tensor["derived_formats"][NAMES[dtype]]] if "derived" in tensor else dtype
        if like is not None:
            return self.dtype_of(next(t for t in self.tensors if t["name"] == like), tensors)
        usual = tensors.get(tensor.get("usually_like", ""))
        return usual.dtype if usual is not None else DTYPES[tensor["formats"][0]]

    # ---- gradients

    def setup_context(self, ctx: Any, inputs: tuple, output: Any) -> None:
        tensors, parameters, _ = self.split(inputs)
        outputs = output if isinstance(output, tuple) else (output,)
        ctx.values = {p["name"]: value for p, value in zip(self.parameters, parameters)}
        ctx.save_for_backward(*tensors.values(), *outputs)
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*(o for t, o in zip(self.made, outputs) if not o.is_floating_point() or
                                      not _gradients.is_differentiable(self.op, t)))

    def backward(self, ctx: Any, *gradients: Any) -> tuple:
        made = self.gradients(ctx, ctx.needs_input_grad, gradients)
        return (*made, *[None] * (len(self.parameters) + len(self.sizes)))

    def gradients(self, ctx: Any, needs: tuple, gradients: tuple) -> list[Any]:
        """Of the tensors that are given, from those of the outputs."""
        name = self.op["name"]
        if self.formula is None:
            raise _errors.Error(f"ridge.{name} has no gradient; detach its inputs, or call it under torch.no_grad()")
        saved = ctx.saved_tensors
        values = dict(ctx.values)
        values |= {t["name"]: s for t, s in zip(self.given, saved)}
        values |= {t["name"]: s for t, s in zip(self.made, saved[len(self.given):])}
        wanted = frozenset(t["name"] for t, needed in zip(self.given, needs) if needed)
        values["needs"] = wanted
        by_name = {t["name"]: g.contiguous() for t, g in zip(self.made, gradients) if g is not None and g.numel()}
        for tensor in self.made:  # outputs that nobody has used
            if tensor["name"] not in by_name and not tensor.get("optional"):
                by_name[tensor["name"]] = torch.zeros_like(values[tensor["name"]], memory_format=torch.contiguous_format)
        made = self.formula(values, by_name)
        for missing in wanted - set(made):
            raise _errors.Error(f"ridge.{name} has no gradient for {_python_name(missing)}; detach it")
        return [made[t["name"]].to(s.dtype) if t["name"] in wanted else None for t, s in zip(self.given, saved)]


class _Updating(torch.autograd.Function):
    """An operator that also writes to optional arrays, such as running statistics, with the gradient that it has without them.
    torch.library registers none for an operator that writes to its arguments."""

    @staticmethod
    def forward(ctx: Any, op: int, *arguments: Any) -> Any:
        variant, plain = MUTATING[op], PLAIN[op]
        result = variant.function(*arguments)
        inputs = [a for t, a in zip(variant.given, arguments) if t in plain.given]
        plain.setup_context(ctx, (*inputs, *arguments[len(variant.given):]), result)
        ctx.op, ctx.further = op, len(arguments) - len(variant.given)
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple:
        variant, plain = MUTATING[ctx.op], PLAIN[ctx.op]
        needs = tuple(n for t, n in zip(variant.given, ctx.needs_input_grad[1:]) if t in plain.given)
        made = iter(plain.gradients(ctx, needs, gradients))
        return (None, *(next(made) if t in plain.given else None for t in variant.given), *[None] * ctx.further)

    @staticmethod
    def can(op: int, given: list[Any]) -> bool:
        return (PLAIN[op] is not None and PLAIN[op].formula is not None and torch.is_grad_enabled() and
                all(t.get("optional") for t in MUTATING[op].given if t["role"] == "inout") and
                any(isinstance(a, torch.Tensor) and a.requires_grad for a in given))


def _own_device() -> torch.device:
    return torch.device("cpu" if _core.is_software() else "cuda")


def _python_name(name: str) -> str:
    return "input" if name == "in" else name


PLAIN: list[Variant | None] = []  # by the operators' numbers
MUTATING: list[Variant | None] = []
for _number, _op in enumerate(_descriptions.ALL):
    _inouts = [t for t in _op["tensors"] if t["role"] == "inout"]
    _needed = [t for t in _inouts if not t.get("optional")]
    PLAIN.append(Variant(_number, _op, False) if all(_can_be_made(_op, t) for t in _needed) else None)
    MUTATING.append(Variant(_number, _op, True) if _inouts else None)


def traced(op: int, tensors: tuple, parameters: tuple, sizes: tuple | None) -> Any:
    """A call through PyTorch's dispatcher."""
    described = _descriptions.ALL[op]["tensors"]
    mutates = any(t["role"] == "inout" and a is not None for t, a in zip(described, tensors))
    variant = MUTATING[op] if mutates or PLAIN[op] is None else PLAIN[op]
    given = []
    for tensor, argument in zip(described, tensors):
        if tensor in variant.given:
            if argument is None and not tensor.get("optional"):
                argument = _zeros_for(variant, tensor, tensors)
            given.append(argument)
    names = [d["name"] for d in _descriptions.ALL[op]["dimensions"]]
    by_name = dict(zip(names, sizes)) if sizes is not None else {}
    wanted = [by_name.get(name) for name in variant.sizes]
    if None in wanted:  # an output that the caller gives says it
        _learn_from_outputs(variant, tensors, by_name, parameters)
        wanted = [by_name.get(name) for name in variant.sizes]
    for name, size in zip(variant.sizes, wanted):
        if size is None:
            raise _errors.ArgumentError(f"{variant.op['name']}: no input says the size {name}; give {name}")
    if variant.mutates and _Updating.can(op, given):
        results = _Updating.apply(op, *given, *parameters, *wanted)
    else:
        results = variant.function(*given, *parameters, *wanted)
    if len(variant.made) == 1:
        results = (results,)
    written = []
    at = 0
    for tensor, argument in zip(described, tensors):
        if tensor["role"] == "in":
            continue
        if tensor in variant.given:
            if given[variant.given.index(tensor)] is not None:
                written.append(given[variant.given.index(tensor)])
            continue
        result, at = results[at], at + 1
        if isinstance(argument, torch.Tensor):
            if argument.dtype != result.dtype:  # which the operator of torch.library would have to be told
                raise _errors.ArgumentError(f"{variant.op['name']}: {tensor['name']} is {argument.dtype}, but {result.dtype} is what "
                                            "it is made as under torch.compile and where gradients are wanted")
            written.append(argument.copy_(result))
        elif not tensor.get("optional") or argument is True:
            written.append(result)
    return written[0] if len(written) == 1 else tuple(written)


def _zeros_for(variant: Variant, tensor: dict[str, Any], tensors: tuple) -> torch.Tensor:
    by_name = {t["name"]: a for t, a in zip(variant.tensors, tensors)}
    sizes: dict[str, Any] = {}
    for other in variant.given:
        if isinstance(by_name[other["name"]], torch.Tensor):
            _shapes.learn_from(other, tuple(by_name[other["name"]].shape), 0, sizes)
    if not _shapes.is_known(tensor["shape"], sizes) or not _can_be_made(variant.op, tensor):
        raise _errors.ArgumentError(f"{variant.op['name']}: {tensor['name']} is missing")
    device = next(a.device for a in tensors if isinstance(a, torch.Tensor))
    return torch.zeros(_shapes.array_shape(tensor, sizes), dtype=variant.dtype_of(tensor, by_name), device=device)


def _learn_from_outputs(variant: Variant, tensors: tuple, sizes: dict[str, Any], parameters: tuple) -> None:
    axis = 0 if variant.axis is None else int(parameters[variant.axis])
    known = {name: size for name, size in sizes.items() if size is not None}
    for tensor, argument in zip(variant.tensors, tensors):
        if isinstance(argument, torch.Tensor):
            _shapes.learn_from(tensor, tuple(argument.shape), axis, known)
    _shapes.follow(variant.op, known, {p["name"]: value for p, value in zip(variant.parameters, parameters)})
    sizes.update(known)


_core.set_torch(torch.Tensor, torch.nn.Parameter, torch.is_grad_enabled, torch._C._len_torch_dispatch_stack,
                torch._C._len_torch_function_stack, torch._C._functorch.peek_interpreter_stack)
_core.set_torch_path(traced)
_call.traced = traced
_call.is_compiling = torch.compiler.is_dynamo_compiling
