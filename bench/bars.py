#!/usr/bin/env python3
"""Times what the library does at the shapes that we hold it to, beside its rivals, and says where it falls short.

  bench/bars.py [GROUP…] [--build build/gpu] [--json FILE] [--seed N]     needs a GPU; no group: all of them

A climb times every rung of a ladder; this times the library alone, so that all shapes fit into a few minutes. Each line names the
rung that the library takes, its time, its share of the roof of the memory, and how many times faster it is than each rival. The rivals
are those of a climb: the libraries that a family's rivals_*.cpp know, and PyTorch in a process of its own. On the software GPU
(--build build/vm, with LD_LIBRARY_PATH=build/vm/lib) times are modelled, and there are no rivals.

Products of matrices are held to bars by classes (f32, 16 bits with few rows, batches …): the geometric mean and the least of each class
follow at the end. The group `gemm_drawn` has products whose sizes are drawn from --seed, so that nothing can have been tuned for them.
"""
import argparse
import json
import math
import pathlib
import random
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PRODUCTS = ("gemm", "gemm_drawn")  # some have no rival
NO_TORCH = ("quantise", "gemv_quantised", *PRODUCTS)

QUANTISED = ("int8_rows", "int8_cols", "int8_tensor", "fp8_tensor", "fp8_1x128", "fp8_128x128", "mxfp8", "mxfp4", "nvfp4", "nf4",
             "nf4_double")


def gemm(_):
    yield ["gemm", "gemm_fused", "gemm_swiglu"], None, None, {}, {"cublaslt": 0.92}  # all cases that a climb times


def gemm_drawn(seed):
    draw = random.Random(seed)
    for dtype in ("f32", "bf16", "f16", "bf16", "tf32") * 4:
        batch = draw.choice((1, 1, 1, round(2 ** draw.uniform(1, 6))))
        m, n, k = (round(2 ** draw.uniform(6, 13 - math.log2(batch) / 3)) for _ in range(3))
        if draw.random() < 0.7:
            m, n, k = ((x + 7) // 8 * 8 for x in (m, n, k))
        settings = {"transposed": draw.choice(("", "a", "b", "ab"))}
        if dtype == "tf32":
            settings["precision"] = "tf32"
        yield "gemm", "f32" if dtype == "tf32" else dtype, f"{batch}x{m}x{n}x{k}", settings, {"cublaslt": 0.9}


def norms(_):
    for op in ("layer_norm", "rms_norm", "add_rms_norm", "add_layer_norm"):
        for shape in ("65536x4096", "262144x1024", "32768x8192"):
            yield op, "bf16", shape, {}, {"torch.compile": 1.0, "roof": 0.92}
    for op in ("layer_norm_backward", "rms_norm_backward"):
        for shape in ("65536x4096", "32768x8192"):
            yield op, "bf16", shape, {}, {"torch": 1.5}
    for op in ("batch_norm", "batch_norm_infer", "batch_norm_backward"):
        for dtype in ("bf16", "f32"):
            yield op, dtype, "256x64x56x56", {"axis": 1}, {"torch": 1.0}
    for op in ("group_norm", "group_norm_backward"):
        for dtype in ("bf16", "f32"):
            yield op, dtype, "32x32x8x56x56", {}, {"torch": 1.0}


def losses(_):
    yield "cross_entropy_with_gradient", "bf16", "8192x128256", {}, {"torch": 3.0}
    yield "cross_entropy", "bf16", "8192x128256", {}, {"torch": 1.0}
    yield "cross_entropy_with_gradient", "bf16", "8192x50257", {}, {"torch": 3.0}
    yield "mse_loss", "bf16", "268435456", {}, {"torch": 1.0}
    yield "kl_div", "bf16", "268435456", {}, {"torch": 1.0}


def sorting(_):
    yield "histogram", "u8", "268435456x256", {}, {"cub": 1.0}
    yield "histogram", "u8", "268435456x256", {"distribution": "equal"}, {}
    yield "sort_keys", "u32", "67108864", {}, {"cub": 0.95}
    yield "sort_pairs", "u32", "67108864", {}, {"cub": 0.95}
    yield "sort_keys", "u32", "5000011", {}, {"cub": 0.95}
    yield "compact", "i32", "268435456", {}, {"cub": 1.0}
    yield "topk", "bf16", "64x128256x64", {}, {"torch": 5.0}
    yield "topk", "bf16", "1024x128256x64", {}, {"torch": 5.0}


def convolution(_):
    same = {"padding": 1}
    for dtype in ("f32", "bf16"):
        yield "conv2d", dtype, "32x128x56x56x128x3x3", {"groups": 128, "padding": 1}, {"torch": 1.0}
        yield "conv2d", dtype, "16x8x256x256x8x3x3", same, {"torch": 1.0}
        yield "conv2d", dtype, "32x3x224x224x64x7x7", {"stride": 2, "padding": 3}, {"torch": 1.0}
        yield "conv2d", dtype, "32x64x56x56x64x3x3", same, {}
        yield "conv2d", dtype, "32x256x14x14x256x3x3", same, {}
        yield "causal_conv1d", dtype, "8x4096x2048x4", {"silu": 1}, {"torch": 1.0}


def quantise(_):
    for back in ("quantise_", "dequantise_"):
        yield [back + name for name in QUANTISED], "bf16", "8192x8192", {}, {"roof": 0.95}


def gemv_quantised(_):
    yield ["gemv_" + name for name in QUANTISED], "bf16", "16384x16384", {}, {"roof": 0.85}


def leftovers(_):
    yield "argmax_axis", "bf16", "1x65536x4096", {}, {"torch": 1.0}
    for n in (1000000, 3000000):
        yield "inclusive_scan", "f32", str(n), {}, {"cub": 1.0}
    yield "gemv", "f32", "333x77777", {}, {"cublas": 1.0}
    yield "embedding", "bf16", "10000x50257x768", {}, {"torch": 1.0}


GROUPS = {"gemm": gemm, "gemm_drawn": gemm_drawn, "norms": norms, "losses": losses, "sorting": sorting, "convolution": convolution, "quantise": quantise,
          "gemv_quantised": gemv_quantised, "leftovers": leftovers}


def flags_of(settings):
    words = []
    for name, value in settings.items():
        if name == "distribution":
            words += ["--distribution", value]
        elif name == "transposed":
            words += [word for tensor in value for word in ("--transposed", tensor)]
        else:
            words += ["--set", f"{name}={value}"]
    return words


def measure(build, operators, dtype, shape, settings):
    """What ridge_ladders says of the library and its rivals, case by case: {"case", "us", "roof_us", "rivals": {name: us}}."""
    words = [str(build / "programs" / "ridge_ladders"), "measure", *operators, "--rung", "library", "--known-roofs", "--fast",
             *(["--dtype", dtype] if dtype else []), *(["--shape", shape] if shape else []), *flags_of(settings)]
    program = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    now = None
    for line in program.stdout:
        answer = json.loads(line)
        event = answer["event"]
        if event == "case":
            if now:
                yield now
            now = {"rivals": {}, "case": answer}
        elif answer.get("stage") == "verified" and (answer.get("wrong") or answer.get("unsupported")):
            now.setdefault("notes", []).append(f"{answer['name']}: {answer.get('wrong') or answer['unsupported']}")
        elif answer.get("stage") == "timed" and answer.get("us"):
            us = statistics.median(answer["us"])
            if answer.get("rival"):
                now["rivals"][answer["name"]] = us
            else:
                now["us"], now["rung"] = us, answer["name"]
        elif answer.get("stage") == "modelled" and not answer.get("rival"):
            now["us"], now["rung"] = answer["modelled_us"], answer["name"]
        elif event == "memory":
            now["roof_us"] = statistics.median(answer["us"])
        elif event == "failure":
            now = now or {"rivals": {}, "case": {"operator": operators[0], "dtype": dtype, "shape": shape}}
            now.setdefault("notes", []).append(line.strip())
    if now:
        yield now
    program.wait()


class Torch:
    """bench/rivals/torch_rivals.py: one case per line in, one answer per line out."""

    def __init__(self, build):
        words = [sys.executable, str(ROOT / "bench/rivals/torch_rivals.py"), "--build", str(build), "--pairs", "20"]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def ask(self, operator, dtype, shape, settings):
        case = {"operator": operator, "dtype": dtype, "shape": shape, "seed": 1,
                "parameters": {k: v for k, v in settings.items() if k != "distribution"}}
        if "distribution" in settings:
            case["distribution"] = settings["distribution"]
        self.process.stdin.write(json.dumps(case) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline() or '{"skipped": "PyTorch ended"}')


def verdict(row, bars):
    short = []
    for rival, least in bars.items():
        reached = row.get("of_roof") if rival == "roof" else next(
            (x for name, x in row["times"].items() if name.lower().startswith(rival)
             and (rival != "torch" or name == "torch")), None)
        if reached is None:
            short.append(f"no {rival}")
        elif not reached >= least:
            short.append(f"{rival} {reached:.2f} < {least}")
    return "; ".join(short)


def class_of(row):
    """Which bar holds a product, or "" where the bar is the row's own."""
    if row["operator"] in ("gemm_fused", "gemm_swiglu"):
        return row["operator"]
    sizes = [int(x) for x in row["shape"].split("x")]
    batch, m = (1, sizes[0]) if len(sizes) == 3 else (sizes[0], sizes[1])
    form = "tf32" if "tf32" in row["text"] else row["dtype"]
    if row["group"] == "gemm_drawn":
        return "drawn"
    return f"{form}, batches" if batch > 1 else f"{form}, at most 64 rows" if m <= 64 else form


def tell_classes(rows):
    """Geometric means beside the best library, and what an epilogue adds to the bare product."""
    beside, bare, added = {}, {}, {}
    for row in rows:
        if row["group"] not in PRODUCTS or not row["us"]:
            continue
        if row["times"]:
            beside.setdefault(class_of(row), []).append((min(row["times"].values()), row["shape"]))
        columns = [int(x) for x in row["shape"].split("x")]
        if row["operator"] == "gemm" and row["dtype"] == "bf16" and not row["text"]:
            bare[tuple(columns)] = row["us"]
        elif row["operator"] != "gemm":
            columns[1] *= 2 if row["operator"] == "gemm_swiglu" else 1
            added[(row["operator"], tuple(columns), row["text"], row["dtype"])] = row["us"]
    for name, found in beside.items():
        mean = math.exp(statistics.fmean(math.log(x) for x, _ in found))
        print(f"{name:28s} {len(found):3d} cases: {mean:.3f} x the library in the geometric mean, least {min(found)[0]:.3f} at {min(found)[1]}")
    for (operator, shape, text, dtype), us in added.items():
        if dtype == "bf16" and shape in bare:
            print(f"{operator} {'x'.join(map(str, shape))} {text}: {us / bare[shape]:.3f} x the time of the bare product")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/gpu")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if unknown := [g for g in arguments.groups if g not in GROUPS]:
        parser.error(f"there is no group {', '.join(unknown)}; there are {', '.join(GROUPS)}")
    torch, rows = None, []
    for group in arguments.groups or GROUPS:
        for operators, dtype, shape, settings, bars in GROUPS[group](arguments.seed):
            operators = [operators] if isinstance(operators, str) else operators
            for found in measure(arguments.build, operators, dtype, shape, settings):
                case = found["case"]
                text = case.get("settings", "")
                row = {"group": group, "operator": case["operator"], "dtype": case["dtype"], "shape": case["shape"], "text": text,
                       "rung": found.get("rung", ""), "us": found.get("us"), "times": {}, "notes": found.get("notes", [])}
                if found.get("us"):
                    row["times"] = {name: us / found["us"] for name, us in found["rivals"].items()}
                    if "roof_us" in found:
                        row["of_roof"] = found["roof_us"] / found["us"]
                if group not in NO_TORCH:
                    torch = torch or Torch(arguments.build)
                    answer = torch.ask(row["operator"], dtype, shape, settings)
                    for name in ("torch", "torch.compile"):
                        if f"{name}_us" in answer:
                            row["times"][name] = statistics.median(answer[f"{name}_us"]) / statistics.median(answer["ridge_us"])
                        if f"{name}_wrong" in answer:
                            row["notes"].append(f"{name} is wrong: {answer[f'{name}_wrong']}")
                    if "skipped" in answer:
                        row["notes"].append("PyTorch: " + answer["skipped"])
                row["short"] = verdict(row, bars if row["times"] or group not in PRODUCTS else {})
                rows.append(row)
                us = f"{row['us']:10.1f} µs" if row["us"] else "      no time"
                roof = f"{row['of_roof'] * 100:4.0f} %" if "of_roof" in row else "      "
                beside = "  ".join(f"{name} {x:.2f}" for name, x in row["times"].items())
                print(f"{row['operator']:28s} {row['dtype']:5s} {row['shape']:22s} {text:22s} {row['rung']:18s} {us} {roof}  {beside:44s}"
                      f"{'SHORT: ' + row['short'] if row['short'] else ''} {'; '.join(row['notes'])[:200]}", flush=True)
                if arguments.json:
                    arguments.json.write_text(json.dumps(rows, indent=0) + "\n")
    tell_classes(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
