"""Gradients of the operators that name the operator of their gradients in their description.

The names say what goes where: a tensor of that operator is the forward tensor of the same name, `dNAME` is the gradient of the
output NAME, and its output `dNAME` is the gradient of the input NAME. _formulas.py has the other gradients. Operators with
neither have none, and say so when one is asked for; so does an input for which there is none.
"""
from __future__ import annotations

from typing import Any

import torch

from ridge import _descriptions, _formulas, _shapes
from ridge._formulas import Formula, Values, run

# Where the names of a backward operator's tensors are not those of the forward one.
ALSO_CALLED = {"softmax": {"y": "out"}, "log_softmax": {"y": "out"}, "embedding": {"y": "out"},
               # What was normalized is the sum, whose two terms have the same gradient.
               "add_layer_norm": {"x": "sum"}, "add_rms_norm": {"x": "sum"}}
SAME_GRADIENT = {"add_layer_norm": {"residual": "x"}, "add_rms_norm": {"residual": "x"}}
# Operators whose description leaves it to the caller: batch_norm's has other parameters.
BACKWARD = {"batch_norm": "batch_norm_backward"}

# What is made for the gradient itself, or is one: nothing flows back from there.
NOT_DIFFERENTIABLE = {"mean", "rstd", "indices", "lse", "last_state", "amax", "dlogp", "dvalues", "dchosen", "drejected", "dhidden",
                      "dweight", "dlogits", "linear_cross_entropy.losses"}


def is_differentiable(op: dict[str, Any], tensor: dict[str, Any]) -> bool:
    return not {tensor["name"], f"{op['name']}.{tensor['name']}"} & NOT_DIFFERENTIABLE


# The sizes that an operator of torch.ops.ridge is given, by its name; ridge.torch fills it in.
SIZES: dict[str, list[str]] = {}


def from_description(forward: dict[str, Any], name: str) -> Formula:
    backward = _descriptions.BY_NAME[name]
    renamed = ALSO_CALLED.get(forward["name"], {})
    outputs = {t["name"] for t in forward["tensors"] if t["role"] != "in"}
    like = {t["name"]: t for t in forward["tensors"]}

    def formula(values: Values, gradients: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
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
        called = backward["name"] + ("_" if added_to else "")
        if SIZES[called]:
            arguments += sizes_of(forward, values, SIZES[called])
        if added_to:
            run(called, *arguments)
            made = added_to
        else:
            results = run(called, *arguments)
            results = results if isinstance(results, tuple) else (results,)
            names = [t["name"] for t in backward["tensors"] if t["role"] == "out"]
            made = {name[1:]: result for name, result in zip(names, results)}
        for name, other in SAME_GRADIENT.get(forward["name"], {}).items():
            made[name] = made[other]
        return {name: made[name] for name in made if name in like and values[name] is not None}

    return formula


def sizes_of(op: dict[str, Any], values: Values, wanted: list[str]) -> list[Any]:
    sizes: dict[str, Any] = {}
    for tensor in op["tensors"]:
        if tensor["role"] == "in" and values[tensor["name"]] is not None:
            _shapes.learn_from(tensor, tuple(values[tensor["name"]].shape), values.get("axis", 0), sizes)
    return [sizes[name] for name in wanted]


def formula_of(op: dict[str, Any]) -> Formula | None:
    if op["name"] in _formulas.FORMULAS:
        return _formulas.FORMULAS[op["name"]]
    name = op.get("backward") or BACKWARD.get(op["name"])
    return from_description(op, name) if name else None
