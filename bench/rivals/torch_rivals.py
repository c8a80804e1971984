#!/usr/bin/env python3
"""Times PyTorch beside Ridge in one process, launch by launch.

Each line of the file of cases is one, as records of climbs have them: {"operator": …, "dtype": …, "shape": …} and, where
it needs them, "parameters", "distribution", "formats" and "seed". Each gets one line of JSON on stdout: the samples of
PyTorch's eager operator, of torch.compile where eager takes several launches, and of the rung that our library takes,
taken in turn with a cold L2. `ridge climb` runs this where a Python with a CUDA-enabled PyTorch is found.

PyTorch is verified before it is timed, like everybody: against the truth that `ridge_ladders export` writes, at the case
itself or, where that is too large, at a small one. It may round intermediate results to the tensors' format where ours
stay in f32, so it is allowed TOLERANCES times what ours are. What is wrong is said ("torch_wrong") and has no time.
A case that PyTorch has no counterpart for gets {"skipped": …}.

  torch_rivals.py --build build/gpu --cases cases.jsonl [--pairs 50]
  torch_rivals.py --build build/vm --check [operator…]      formulas against the truth, on the CPU
  torch_rivals.py --build build/vm --self-test              what can be told without PyTorch; a test runs it

What PyTorch does for an operator is in its family's folder, src/kernels/FAMILY/torch_rival.py:
  OPERATORS   name → make(tensors, parameters); returns a function of no arguments that does it once, and returns the
              results in the order of the operator's outputs. Outputs are written in place where PyTorch can, so that
              neither side pays for an allocation.
  FUSED       the same with a third argument, which make applies to its pure function: it is torch.compile, or nothing
  CHECKS      name → check(tensors, parameters, results), in place of the comparison with the truth; says what is wrong
  ROUNDS      name → errors(tensors, parameters), one per output: how far off PyTorch's formula is because of what it
              rounds on the way; it is allowed TOLERANCES times that beside the tolerance
`tensors` and `parameters` are dictionaries by name. `make` raises NotImplementedError for what PyTorch lacks.
"""
import argparse
import contextlib
import importlib.util
import json
import pathlib
import sys
import tempfile

from ridge_c import Call, Ridge, Workspace

KERNELS = pathlib.Path(__file__).resolve().parents[2] / "src" / "kernels"
TOLERANCES = 4
SHORTEST_BY_EVENTS = 15.0  # µs; shorter ones are replayed as a graph
LAUNCHES_PER_GRAPH = 32


class Check:
    """How results are checked, where it is not by the truth and its tolerance alone."""

    def __init__(self, instead=None, rounds=None):
        self.instead, self.rounds = instead, rounds


def load_rivals():
    """What all families have: {operator: make}, eager and fused, and {operator: Check}."""
    eager, fused, checks = {}, {}, {}
    for path in sorted(KERNELS.glob("*/torch_rival.py")):
        spec = importlib.util.spec_from_file_location(f"torch_rival_{path.parent.name}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        eager.update(getattr(module, "OPERATORS", {}))
        fused.update(getattr(module, "FUSED", {}))
        checks.update({name: Check(instead=f) for name, f in getattr(module, "CHECKS", {}).items()})
        checks.update({name: Check(rounds=f) for name, f in getattr(module, "ROUNDS", {}).items()})
    return eager, fused, checks


def makers_of(name, eager, fused, torch):
    """What is to be timed: [(name, make)]."""
    if name in eager:
        return [("torch", eager[name])]
    if name not in fused:
        return []
    make = fused[name]
    return [("torch", lambda t, p: make(t, p, lambda f: f)), ("torch.compile", lambda t, p: make(t, p, torch.compile))]


def parameters_of(case):
    return {p["name"]: p["value"] for p in case["arguments"]["parameters"]}


class Torch:
    """The tensors of exported cases in PyTorch."""

    def __init__(self, device):
        import torch
        self.torch, self.device = torch, device
        self.dtypes = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64,
                       "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8, "u32": torch.uint32}

    def read(self, file, dtype):
        data = bytearray(file.read_bytes())
        return self.torch.frombuffer(data, dtype=dtype) if data else self.torch.empty(0, dtype=dtype)

    def make_set(self, case, folder):
        tensors = {}
        for a in filter(None, case["arguments"]["tensors"]):
            if a["on_host"] or "same_as" in a:
                raise NotImplementedError("PyTorch has no counterpart for tensors that lie so")
            dtype = self.dtypes[a["dtype"]]
            tensor = self.torch.empty(a["shape"], dtype=dtype, device=self.device)
            if a["read"] and tensor.numel():
                flat, part = tensor.view(-1), self.read(folder / (a["name"] + ".in"), dtype).to(self.device)
                for start in range(0, flat.numel(), part.numel()):
                    flat[start:start + part.numel()] = part[:flat.numel() - start]
            tensors[a["name"]] = tensor
        return tensors

    def wrong(self, case, folder, results, tolerances, more=None):
        """What is wrong with the results, in words; "" where nothing is. `more` is allowed beside the tolerance."""
        torch = self.torch
        outputs = [a for a in filter(None, case["arguments"]["tensors"]) if a["written"]]
        if len(results) != len(outputs):
            return f"{len(results)} results for {len(outputs)} outputs"
        for i, (a, result) in enumerate(zip(outputs, results)):
            truth, tolerance = (self.read(folder / (a["name"] + end), torch.float64) for end in (".truth", ".tolerance"))
            result = result.detach().reshape(-1).cpu()
            if result.shape != truth.shape:
                return f"{a['name']} has {result.numel()} elements, not {truth.numel()}"
            if more:
                tolerance = tolerance + more[i].reshape(-1).to("cpu", torch.float64)
            tolerance = tolerances * tolerance
            right = self.is_right(result, truth, tolerance)
            if not bool(right.all()):
                at = int((~right).nonzero()[0])
                return (f"{a['name']}[{at}] is {result[at].item():.9g}, should be {truth[at].item():.9g} ± "
                        f"{tolerance[at].item():.3g} ({int((~right).sum())} of {len(right)} wrong)")
        return ""

    def is_right(self, result, truth, tolerance):
        """As src/harness/verify.cpp has it: near the truth, or the truth as rounded, or as infinite as that may be."""
        torch = self.torch
        got = result.to(torch.float64)
        rounded = lambda x: x.to(result.dtype).to(torch.float64)
        return (((got - truth).abs() <= tolerance) | (got == rounded(truth)) | (got.isnan() & truth.isnan()) |
                (got.isinf() & (got == rounded(truth + truth.sign() * tolerance))))

    def verify(self, make, check, case, folder):
        tensors, parameters = self.make_set(case, folder), parameters_of(case)
        more = check.rounds(tensors, parameters) if check and check.rounds else None
        results = make(tensors, parameters)()
        results = results if isinstance(results, (tuple, list)) else (results,)
        if check and check.instead:
            return check.instead(tensors, parameters, results)
        return self.wrong(case, folder, results, TOLERANCES, more)

    def verdict(self, make, check, case, folder):
        """As verify; one that fails, as torch.compile may, leaves the others in."""
        try:
            return self.verify(make, check, case, folder)
        except NotImplementedError:
            raise
        except RuntimeError as error:
            return f"it fails: {str(error).splitlines()[0] if str(error) else type(error).__name__}"

    def ours(self, ridge, case, tensors):
        """Our call on these tensors, and the memory that it works in."""
        call = Call(ridge.library, case, {name: t.data_ptr() for name, t in tensors.items()})
        size = call.workspace_bytes()
        memory = self.torch.empty(max(size, 1), dtype=self.torch.uint8, device=self.device)
        call.workspace = Workspace(memory.data_ptr(), size, None)
        call.memory = memory
        return call

    def verify_ours(self, ridge, case, folder):
        tensors = self.make_set(case, folder)
        self.ours(ridge, case, tensors).launch(self.torch.cuda.current_stream().cuda_stream)
        self.torch.cuda.synchronize()
        outputs = [a["name"] for a in filter(None, case["arguments"]["tensors"]) if a["written"]]
        return self.wrong(case, folder, [tensors[name] for name in outputs], 1)


class Contestant:
    """Something to launch, over several sets of inputs."""

    def __init__(self, name, launches):
        self.name, self.launches, self.samples, self.graph = name, launches, [], None

    def capture(self, torch):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for i in range(LAUNCHES_PER_GRAPH):
                self.launches[i % len(self.launches)]()
        self.graph = graph

    def run(self, turn):
        if self.graph:
            self.graph.replay()
        else:
            self.launches[turn % len(self.launches)]()


def time_once(torch, contestant, turn, flush):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    flush.fill_(turn & 127)
    begin.record()
    contestant.run(turn)
    end.record()
    end.synchronize()
    us = begin.elapsed_time(end) * 1e3
    return us / LAUNCHES_PER_GRAPH if contestant.graph else us


def time_in_turn(torch, contestants, pairs, l2):
    flush = torch.empty(2 * l2, dtype=torch.uint8, device="cuda")
    for contestant in contestants:
        for turn in range(3):
            contestant.first = time_once(torch, contestant, turn, flush)
    if min(c.first for c in contestants) < SHORTEST_BY_EVENTS:
        for contestant in contestants:
            try:
                contestant.capture(torch)
            except RuntimeError as error:
                print(f"{contestant.name} cannot be captured: {error}", file=sys.stderr)
                torch.cuda.synchronize()
    for turn in range(pairs):
        for contestant in contestants if turn % 2 else reversed(contestants):
            contestant.samples.append(time_once(torch, contestant, turn, flush))


@contextlib.contextmanager
def exported(ridge, case, shape):
    with tempfile.TemporaryDirectory(prefix="ridge-case-") as folder:
        yield ridge.export(case, folder, shape), pathlib.Path(folder)


def verify_all(ridge, library, case, makers, check):
    """Where everybody was verified, and what is wrong with whom. That ours are right is a condition of going on."""
    for shape in (case["shape"], None):
        with exported(ridge, case, shape) as (small, folder):
            if not small["truth"]:
                continue
            if library.device == "cuda":
                if why := library.verify_ours(ridge, small, folder):
                    raise RuntimeError(f"ours is wrong through the C functions: {why}")
            return small["shape"], {name: library.verdict(make, check, small, folder) for name, make in makers}
    raise NotImplementedError("no case of this operator is small enough for a truth")


def run_case(ridge, library, rivals, case, pairs, eager_only):
    torch = library.torch
    eager, fused, checks = rivals
    makers = makers_of(case["operator"], eager, fused, torch)
    if eager_only:
        makers = [(name, make) for name, make in makers if name == "torch"]
    if not makers or "same" in case:
        raise NotImplementedError("PyTorch has no counterpart here")
    verified_at, wrong = verify_all(ridge, library, case, makers, checks.get(case["operator"]))
    torch._dynamo.reset()  # else the second shape is compiled for any
    result = {"verified_at": verified_at} | {f"{name}_wrong": why for name, why in wrong.items() if why}
    if all(wrong.values()):
        return result
    l2 = getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 60 << 20)
    with exported(ridge, case, case["shape"]) as (large, folder):
        if large["calls"] > 1:
            raise NotImplementedError("many tensors at once: the C functions take one call at a time")
        moved = large["read"] + large["written"]
        sets = max(1, min(LAUNCHES_PER_GRAPH, int(-(-2 * l2 // max(moved, 1)))))
        inputs = [library.make_set(large, folder) for _ in range(sets)]
    calls = [library.ours(ridge, large, tensors) for tensors in inputs]
    stream = torch.cuda.current_stream
    contestants = [Contestant("ridge", [lambda c=c: c.launch(stream().cuda_stream) for c in calls])]
    for name, make in makers:
        if not wrong[name]:
            contestants.append(Contestant(name, [make(tensors, parameters_of(large)) for tensors in inputs]))
    time_in_turn(torch, contestants, pairs, l2)
    result |= {"rung": large["rung"], "by_graph": contestants[0].graph is not None}
    return result | {f"{c.name}_us": c.samples for c in contestants}


def time_all(ridge, cases, pairs, eager_only):
    library = Torch("cuda")
    rivals = load_rivals()
    for line in cases:
        case = json.loads(line)
        with library.torch.no_grad():
            try:
                result = run_case(ridge, library, rivals, case, pairs, eager_only)
            except (NotImplementedError, RuntimeError, KeyError, TypeError) as error:
                result = {"skipped": (str(error) or type(error).__name__).splitlines()[0]}
        print(json.dumps({"operator": case["operator"], "shape": case["shape"], **result}), flush=True)
        library.torch.cuda.empty_cache()


def check_all(ridge, names):
    """Every formula, eager, on the CPU, in every format. Returns how many are wrong; some are so only on the CPU, as
    PyTorch multiplies 16-bit numbers there in 16 bits."""
    library = Torch("cpu")
    eager, fused, checks = load_rivals()
    formats = {op["name"]: op["formats"] for family in ridge.ask("list") for op in family["operators"]}
    bad = 0
    for name in names or sorted(eager | fused):
        for dtype in formats.get(name, []):
            case = {"operator": name, "dtype": dtype, "shape": None}
            with library.torch.no_grad():
                try:
                    at, wrong = verify_all(ridge, library, case, makers_of(name, eager, fused, library.torch)[:1],
                                           checks.get(name))
                    text = f"{at}: {wrong['torch'] or 'right'}"
                    bad += bool(wrong["torch"])
                except NotImplementedError as error:
                    text = f"not here: {error}"
            print(f"{name} {dtype} {text}", flush=True)
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operators", nargs="*", help="of --check; none: all")
    parser.add_argument("--build", required=True, help="the folder of a build, as build/gpu")
    parser.add_argument("--cases", type=argparse.FileType(), default=sys.stdin)
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--eager", action="store_true", help="nothing that torch.compile would have to compile")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        import self_test
        return self_test.run(arguments.build)
    if not arguments.check:
        import torch  # first: where its CUDA runtime has our version, both are to use that one
        del torch
    ridge = Ridge(arguments.build)
    if arguments.check:
        return 1 if check_all(ridge, arguments.operators) else 0
    time_all(ridge, arguments.cases, arguments.pairs, arguments.eager)
    return 0


if __name__ == "__main__":
    sys.exit(main())
