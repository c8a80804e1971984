"""Gradients of the operators.

Where a description names the operator of its gradients, the names say what goes where (`from_description`): a tensor of that
operator is the forward tensor of the same name, `dNAME` is the gradient of the output NAME, and its output `dNAME` is the
gradient of the input NAME. The others whose gradient is an operator, or plain arithmetic, have a function here. All other
operators have none, and say so when one is asked for.
"""
from __future__ import annotations

from typing import Any, Callable

import torch

from ridge import _descriptions

# Of an operator's tensors and parameters by name, with its outputs, and the gradients of its outputs by name: the gradients
# of its inputs by name.
Formula = Callable[[dict[str, Any], dict[str, torch.Tensor]], dict[str, torch.Tensor]]


def run(name: str, *arguments: Any) -> Any:
    return getattr(torch.ops.ridge, name).default(*arguments)


# ---- from the descriptions ------------------------------------------------------------------------------------------

# Where the names of a backward operator's tensors are not those of the forward one.
ALSO_CALLED = {"softmax": {"y": "out"}, "log_softmax": {"y": "out"}, "embedding": {"y": "out"},
               # What was normalized is the sum, whose two terms have the same gradient.
               "add_layer_norm": {"x": "sum"}, "add_rms_norm": {"x": "sum"}}
SAME_GRADIENT = {"add_layer_norm": {"residual": "x"}, "add_rms_norm": {"residual": "x"}}


def from_description(forward: dict[str, Any]) -> Formula:
    backward = _descriptions.BY_NAME[forward["backward"]]
    renamed = ALSO_CALLED.get(forward["name"], {})
    outputs = {t["name"] for t in forward["tensors"] if t["role"] != "in"}
    like = {t["name"]: t for t in forward["tensors"]}

    def formula(values: dict[str, Any], gradients: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        arguments, added_to = [], {}
        for tensor in backward["tensors"]:
            name = renamed.get(tensor["name"], tensor["name"])
            if tensor["role"] == "inout":  # the gradient itself, which is added to
                added_to[name[1:]] = torch.zeros_like(values[name[1:]], dtype=torch.float32,
                                                      memory_format=torch.contiguous_format)
                arguments.append(added_to[name[1:]])
            elif tensor["role"] == "in":
                of = renamed.get(name[1:], name[1:])  # if it is a gradient
                arguments.append(gradients.get(of) if name[0] == "d" and of in outputs else values.get(name))
        arguments += [values[p["name"]] for p in backward["parameters"]]
        if added_to:
            run(backward["name"] + "_", *arguments)
            made = added_to
        else:
            results = run(backward["name"], *arguments)
            results = results if isinstance(results, tuple) else (results,)
            names = [t["name"] for t in backward["tensors"] if t["role"] == "out"]
            made = {name[1:]: result for name, result in zip(names, results)}
        for name, other in SAME_GRADIENT.get(forward["name"], {}).items():
            made[name] = made[other]
        return {name: made[name] for name in made if name in like and values[name] is not None}

    return formula


# ---- the others -----------------------------------------------------------------------------------------------------

def _add(v, g):
    return {"a": g["out"], "b": g["out"]}


def _same_on_gradient(name: str) -> Formula:
    return lambda v, g: {"in": run(name, g["out"])}


def _scan(name: str) -> Formula:
    """The same scan from the other end."""
    return lambda v, g: {"in": run("reverse", run(name, run("reverse", g["out"])))}


def _interleave(v, g):
    return {"a": g["out"][..., 0::2], "b": g["out"][..., 1::2]}


def _sum(v, g):
    return {"x": g["out"].expand(v["x"].shape)}


def _mean(v, g):
    return {"x": (g["out"] / max(v["x"].numel(), 1)).expand(v["x"].shape)}


def _dot(v, g):
    return {"x": g["out"] * v["y"], "y": g["out"] * v["x"]}


def _sum_axis(v, g):
    return {"x": g["out"].unsqueeze(v["axis"]).expand(v["x"].shape)}


def _mean_axis(v, g):
    return {"x": (g["out"] / max(v["x"].shape[v["axis"]], 1)).unsqueeze(v["axis"]).expand(v["x"].shape)}


def _gemm(v, g):
    d = g["d"].to(v["a"].dtype)
    gradients = {"a": run("gemm", d, v["b"].mT, None, v["alpha"], 0.0), "b": run("gemm", v["a"].mT, d, None, v["alpha"], 0.0)}
    if v["c"] is not None:
        gradients["c"] = g["d"] * v["beta"]
    return gradients


def _outer(a: torch.Tensor, b: torch.Tensor, alpha: float) -> torch.Tensor:
    return run("gemm", a.unsqueeze(1), b.unsqueeze(0), None, alpha, 0.0)


def _gemv(v, g):
    return {"a": _outer(g["y"], v["x"], v["alpha"]), "x": run("gemv_t", v["a"], g["y"], v["alpha"], 0.0)}


def _gemv_t(v, g):
    return {"a": _outer(v["x"], g["y"], v["alpha"]), "x": run("gemv", v["a"], g["y"], v["alpha"], 0.0)}


FORMULAS: dict[str, tuple[str, Formula]] = {
    "add": ("the gradient itself, twice", _add),
    "copy": ("copy", _same_on_gradient("copy")),
    "transpose": ("transpose", _same_on_gradient("transpose")),
    "reverse": ("reverse", _same_on_gradient("reverse")),
    "inclusive_scan": ("inclusive_scan from the other end", _scan("inclusive_scan")),
    "exclusive_scan": ("exclusive_scan from the other end", _scan("exclusive_scan")),
    "interleave": ("every second element", _interleave),
    "sum": ("the gradient for every element", _sum),
    "mean": ("the gradient, divided by the number of elements, for every element", _mean),
    "dot": ("the gradient times the other vector", _dot),
    "sum_axis": ("the gradient along the axis", _sum_axis),
    "mean_axis": ("the gradient, divided by the length, along the axis", _mean_axis),
    "gemm": ("gemm", _gemm),
    "gemv": ("gemm and gemv_t", _gemv),
    "gemv_t": ("gemm and gemv", _gemv_t),
}


def formula_of(op: dict[str, Any]) -> Formula | None:
    if op.get("backward"):
        return from_description(op)
    return FORMULAS[op["name"]][1] if op["name"] in FORMULAS else None
