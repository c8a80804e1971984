"""The operators in PyTorch: torch.library.opcheck of every one of them, gradcheck of all that have a gradient, torch.compile.

    torch_test.py [-v] [TEST…]    RIDGE_BUILD is the build folder
"""
import importlib.util
import os
import pathlib
import sys
import unittest
import warnings

BUILD = pathlib.Path(os.environ["RIDGE_BUILD"])
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(BUILD / "python"))
NO_MODULE = 77  # what ctest knows as "skipped"
for module, how in (("torch", "pip install torch"), ("nanobind", "pip install nanobind, and build again")):
    if not importlib.util.find_spec(module):
        print(f"skipped: {module} is not installed; {how}")
        sys.exit(NO_MODULE)

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import ridge  # noqa: E402
import ridge.torch as operators  # noqa: E402
import samples  # noqa: E402

torch.set_num_threads(1)  # tensors are small; threads that wait for each other are slow on a busy machine
DEVICE = "cpu" if ridge._core.is_software() else "cuda"
VARIANTS = {v.name: v for v in operators.PLAIN + operators.MUTATING if v}


def moved(arguments):
    return tuple(a.to(DEVICE) if isinstance(a, torch.Tensor) else a for a in arguments)


def on_host(variant):
    return any(t.get("on_host") for t in variant.tensors)


class Opcheck(unittest.TestCase):
    """The schema, the fake function, the registration of the gradient, and AOTAutograd with symbolic sizes."""

    def check(self, name):
        variant = VARIANTS[name]
        formats = variant.op["formats"] if variant.op["formats"] else [None]
        for dtype in formats[:3]:
            for with_optional in (True, False):
                if not with_optional and not any(t.get("optional") for t in variant.given):
                    continue
                arguments = samples.arguments(variant, dtype, with_optional)
                if not on_host(variant):
                    arguments = moved(arguments)
                torch.library.opcheck(variant.function, arguments)
                if not variant.mutates and variant.given and variant.formula:
                    arguments = tuple(a.clone().requires_grad_() if isinstance(a, torch.Tensor) and a.is_floating_point() else a
                                      for a in arguments)
                    torch.library.opcheck(variant.function, arguments)


for _name in VARIANTS:
    setattr(Opcheck, f"test_{_name}", lambda self, name=_name: self.check(name))


# ---- gradients ------------------------------------------------------------------------------------------------------

def rivals():
    """PyTorch's formula of each operator, from the families' folders: name → make(tensors, parameters)."""
    found = {}
    for file in sorted(ROOT.glob("src/kernels/*/torch_rival.py")):
        spec = importlib.util.spec_from_file_location(f"rival_{file.parent.name}", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found |= getattr(module, "OPERATORS", {})
    return found


def rope(t, p):
    positions = torch.arange(t["q"].shape[1], dtype=torch.float64, device=t["q"].device) + p["first_position"]
    half = t["q"].shape[-1] // 2
    if t.get("cos") is not None:
        cos, sin = (t[n].double()[p["first_position"]:][:t["q"].shape[1]] for n in ("cos", "sin"))
    else:
        angles = positions[:, None] * p["base"] ** (-torch.arange(half, dtype=torch.float64, device=t["q"].device) / half)
        cos, sin = angles.cos(), angles.sin()
    cos, sin = cos[:, None, :], sin[:, None, :]

    def turned(x):
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)
    return tuple(turned(t[n]) for n in ("q", "k") if t[n] is not None)


def layer_norm(x, gamma, beta, epsilon):
    y = (x - x.mean(-1, keepdim=True)) * (x.var(-1, unbiased=False, keepdim=True) + epsilon).rsqrt()
    return y * (1 if gamma is None else gamma) + (0 if beta is None else beta)


def rms_norm(x, gamma, epsilon):
    return x * (x.square().mean(-1, keepdim=True) + epsilon).rsqrt() * (1 if gamma is None else gamma)


def with_sum(norm):
    def formula(t, p):
        total = t["x"] + t["residual"]
        return total, norm(total, t, p)
    return formula


def dropout(t, p):  # of which elements stay, our own operator decides
    ones = torch.ones(t["x"].shape, dtype=torch.float32, device=t["x"].device)
    return t["x"] * ridge.dropout(ones, probability=p["probability"], seed=p["seed"], offset=p["offset"]).double()


# In float64, of tensors and parameters by name. Differentiated by finite differences.
REFERENCES = {
    "softmax": lambda t, p: t["x"].softmax(-1),
    "log_softmax": lambda t, p: t["x"].log_softmax(-1),
    "layer_norm": lambda t, p: layer_norm(t["x"], t["gamma"], t["beta"], p["epsilon"]),
    "rms_norm": lambda t, p: rms_norm(t["x"], t["gamma"], p["epsilon"]),
    "add_layer_norm": with_sum(lambda x, t, p: layer_norm(x, t["gamma"], t["beta"], p["epsilon"])),
    "add_rms_norm": with_sum(lambda x, t, p: rms_norm(x, t["gamma"], p["epsilon"])),
    "swiglu": lambda t, p: F.silu(t["gate"]) * t["up"],
    "geglu": lambda t, p: F.gelu(t["gate"]) * t["up"],
    "swiglu_packed": lambda t, p: F.silu(t["x"].chunk(2, -1)[0]) * t["x"].chunk(2, -1)[1],
    "geglu_packed": lambda t, p: F.gelu(t["x"].chunk(2, -1)[0]) * t["x"].chunk(2, -1)[1],
    "dyt": lambda t, p: t["gamma"] * torch.tanh(t["alpha"] * t["x"]) + t["beta"],
    "rope": rope,
    "dropout": dropout,
    "embedding": lambda t, p: t["table"][t["tokens"].long()],
    "add": lambda t, p: t["a"] + t["b"],
    "copy": lambda t, p: t["in"].clone(),
    "transpose": lambda t, p: t["in"].mT.contiguous(),
    "reverse": lambda t, p: t["in"].flip(0),
    "inclusive_scan": lambda t, p: t["in"].cumsum(0),
    "exclusive_scan": lambda t, p: t["in"].cumsum(0) - t["in"],
    "interleave": lambda t, p: torch.stack([t["a"], t["b"]], -1).flatten(-2),
    "sum": lambda t, p: t["x"].sum(),
    "mean": lambda t, p: t["x"].mean(),
    "dot": lambda t, p: (t["x"] * t["y"]).sum(),
    "sum_axis": lambda t, p: t["x"].sum(p["axis"]),
    "mean_axis": lambda t, p: t["x"].mean(p["axis"]),
    "gemm": lambda t, p: p["alpha"] * t["a"] @ t["b"] + (0 if t["c"] is None else p["beta"] * t["c"]),
    "gemv": lambda t, p: p["alpha"] * t["a"] @ t["x"],
    "gemv_t": lambda t, p: p["alpha"] * t["a"].mT @ t["x"],
}
RIVALS = rivals()


def reference_of(name):
    if name in REFERENCES:
        return REFERENCES[name]
    return lambda t, p: RIVALS[name](t, p)()  # activations


class OursBackward(torch.autograd.Function):
    """Forwards the float64 reference, backwards our operator's gradient in f32."""

    @staticmethod
    def forward(ctx, variant, constants, *inputs):
        ctx.variant, ctx.constants = variant, constants
        ctx.save_for_backward(*inputs)
        tensors, parameters, _ = variant.split(merged(constants, inputs))
        results = reference_of(variant.name)(tensors, dict(zip((p["name"] for p in variant.parameters), parameters)))
        return results if isinstance(results, tuple) else (results,)

    @staticmethod
    def backward(ctx, *gradients):
        with torch.enable_grad():
            ours = [i.float().requires_grad_() for i in ctx.saved_tensors]
            results = ctx.variant.function(*merged(ctx.constants, ours))
            results = [r for r in (results if isinstance(results, tuple) else (results,)) if r.requires_grad and r.numel()]
            got = torch.autograd.grad(results, ours, [g.float() for g in gradients[:len(results)]], allow_unused=True)
        return (None, None, *(torch.zeros_like(i) if g is None else g.double() for g, i in zip(got, ctx.saved_tensors)))


def merged(constants, inputs):
    """The arguments: those that are differentiated fill the gaps."""
    rest = iter(inputs)
    return tuple(next(rest) if c is GAP else c for c in constants)


GAP = object()
NOT_DIFFERENTIATED = {"rope": ("cos", "sin")}
# f32 has 24 bits; sums here have at most a few dozen terms of about 1.
TOLERANCE = 2e-5


class Gradients(unittest.TestCase):
    def check(self, name, with_optional):
        variant = VARIANTS[name]
        arguments = list(moved(samples.arguments(variant, "f32", with_optional)))
        inputs, constants = [], []
        for i, a in enumerate(arguments):
            fixed = i < len(variant.given) and variant.given[i]["name"] in NOT_DIFFERENTIATED.get(name, ())
            if isinstance(a, torch.Tensor) and a.is_floating_point() and not fixed:
                # Away from the points at which activations have no derivative.
                a = torch.where((a.abs() % 1).lt(0.05) | (a.abs() % 1).gt(0.95), a + 0.2, a)
                inputs.append(a.double().requires_grad_())
                constants.append(GAP)
            else:
                constants.append(a)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that inputs are not in double precision: ours are not
            torch.autograd.gradcheck(lambda *x: OursBackward.apply(variant, tuple(constants), *x), inputs, eps=1e-6,
                                     atol=TOLERANCE, rtol=TOLERANCE, nondet_tol=0.0)
        # The forward results agree, too.
        tensors, parameters, _ = variant.split(merged(constants, [i.detach() for i in inputs]))
        truth = reference_of(name)(tensors, dict(zip((p["name"] for p in variant.parameters), parameters)))
        got = variant.function(*merged(constants, [i.detach().float() for i in inputs]))
        for t, g in zip(truth if isinstance(truth, tuple) else (truth,), got if isinstance(got, tuple) else (got,)):
            torch.testing.assert_close(g.double(), t, atol=TOLERANCE, rtol=TOLERANCE)


for _name, _variant in VARIANTS.items():
    if _variant.mutates or not _variant.given or not _variant.formula:
        continue
    setattr(Gradients, f"test_{_name}", lambda self, name=_name: self.check(name, True))
    if any(t.get("optional") for t in _variant.given):
        setattr(Gradients, f"test_{_name}_without_optional_inputs", lambda self, name=_name: self.check(name, False))


class Behaviour(unittest.TestCase):
    def x(self, *shape, **options):
        return torch.randn(*shape, generator=torch.Generator().manual_seed(3)).to(DEVICE).requires_grad_(**options) if options \
            else torch.randn(*shape, generator=torch.Generator().manual_seed(3)).to(DEVICE)

    def test_no_gradient_says_so(self):
        x = self.x(3, 5, requires_grad=True)
        values, _ = ridge.topk(x, k=2)
        with self.assertRaisesRegex(ridge.Error, "ridge.topk has no gradient"):
            values.sum().backward()

    def test_results_are_those_of_the_function(self):
        x = self.x(3, 5)
        y = ridge.layer_norm(x)
        self.assertEqual((type(y), y.shape), (torch.Tensor, x.shape))
        y, mean = ridge.layer_norm(x.requires_grad_(), mean=True)
        self.assertEqual(mean.shape, (3,))
        self.assertTrue(y.requires_grad and not mean.requires_grad)

    def test_given_output(self):
        x, out = self.x(3, 5), torch.empty(3, 5, device=DEVICE)
        self.assertIs(ridge.softmax(x, out=out), out)
        torch.testing.assert_close(out, x.softmax(-1))

    def test_in_place(self):
        weight, grad = self.x(7), torch.ones(7, device=DEVICE)
        before = weight.clone()
        version = weight._version
        _, m, v = ridge.adamw(weight, grad, lr=0.1)
        self.assertFalse(torch.equal(weight, before))
        torch.testing.assert_close(m, 0.1 * grad)

    def test_formats(self):
        for dtype in (torch.float16, torch.bfloat16):
            x = self.x(3, 8).to(dtype)
            y = ridge.softmax(x)
            self.assertEqual(y.dtype, dtype)
            torch.testing.assert_close(y, x.softmax(-1), atol=1e-2, rtol=1e-2)

    def test_wrong_strides(self):
        with self.assertRaisesRegex(ridge.ArgumentError, "softmax: x has strides"):
            ridge.softmax(self.x(5, 3).T)

    def test_wrong_format(self):
        with self.assertRaisesRegex(ridge.ArgumentError, "softmax: x is i64; it can be f32, f16, bf16"):
            ridge.softmax(torch.arange(4, device=DEVICE))
        with self.assertRaisesRegex(ridge.ArgumentError, "has a format of numbers that Ridge does not have"):
            ridge.softmax(torch.zeros(4, dtype=torch.complex64, device=DEVICE))

    def test_wrong_device(self):
        if DEVICE == "cuda":
            with self.assertRaisesRegex(ridge.ArgumentError, "x is on the CPU, but the operators run on the GPU"):
                ridge.softmax(torch.zeros(4))
        self.assertTrue(ridge.softmax(torch.zeros(4, device="meta")).is_meta)

    def test_vmap(self):
        x = self.x(2, 3, 4)
        torch.testing.assert_close(torch.vmap(ridge.relu)(x), x.relu())

    def test_compile(self):
        function = torch.compile(lambda x, w: ridge.softmax(ridge.rms_norm(x * 2, w)) + 1, fullgraph=True, backend="aot_eager")
        x, w = self.x(3, 8, requires_grad=True), torch.ones(8, device=DEVICE, requires_grad=True)
        function(x, w).square().sum().backward()
        gradient, x.grad = x.grad, None
        (F.rms_norm(x * 2, (8,), w, 1e-5).softmax(-1) + 1).square().sum().backward()
        torch.testing.assert_close(gradient, x.grad, atol=1e-5, rtol=1e-5)

    def test_compile_in_place(self):
        def step(weight, grad, m, v):
            ridge.adamw(weight, grad, m, v, lr=0.1)
            return weight * 2
        states = [[self.x(7), torch.ones(7, device=DEVICE), torch.zeros(7, device=DEVICE), torch.zeros(7, device=DEVICE)]
                  for _ in range(2)]
        torch.testing.assert_close(torch.compile(step, fullgraph=True, backend="aot_eager")(*states[0]), step(*states[1]))
        torch.testing.assert_close(states[0], states[1])

    def test_threads(self):
        import threading
        x, wrong = self.x(16, 33, requires_grad=True), []

        def work():
            for _ in range(10):
                y = ridge.softmax(x)
                if not torch.allclose(y, x.softmax(-1)):
                    wrong.append(1)
                torch.autograd.grad(y.square().sum(), x)
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertFalse(wrong)


if __name__ == "__main__":
    unittest.main()
