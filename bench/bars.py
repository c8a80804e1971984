#!/usr/bin/env python3
"""Times what the library does at the shapes that we hold it to, beside its rivals, and says where it falls short.

  bench/bars.py [GROUP…] [--build build/gpu] [--json FILE]     needs a GPU; no group: all of them

A climb times every rung of a ladder; this times the library alone, so that all shapes fit into a few minutes. Each line names the
rung that the library takes, its time, its share of the roof of the memory, and how many times faster it is than each rival. The rivals
are those of a climb: the libraries that a family's rivals_*.cpp know, and PyTorch in a process of its own.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NO_RIVAL = ("quantise", "gemv_quantised", "recurrences")

QUANTISED = ("int8_rows", "int8_cols", "int8_tensor", "fp8_tensor", "fp8_1x128", "fp8_128x128", "mxfp8", "mxfp4", "nvfp4", "nf4",
             "nf4_double")


def norms():
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


def losses():
    yield "cross_entropy_with_gradient", "bf16", "8192x128256", {}, {"torch": 3.0}
    yield "cross_entropy", "bf16", "8192x128256", {}, {"torch": 1.0}
    yield "cross_entropy_with_gradient", "bf16", "8192x50257", {}, {"torch": 3.0}
    yield "mse_loss", "bf16", "268435456", {}, {"torch": 1.0}
    yield "kl_div", "bf16", "268435456", {}, {"torch": 1.0}


def sorting():
    yield "histogram", "u8", "268435456x256", {}, {"cub": 1.0}
    yield "histogram", "u8", "268435456x256", {"distribution": "equal"}, {}
    yield "sort_keys", "u32", "67108864", {}, {"cub": 0.95}
    yield "sort_pairs", "u32", "67108864", {}, {"cub": 0.95}
    yield "sort_keys", "u32", "5000011", {}, {"cub": 0.95}
    yield "compact", "i32", "268435456", {}, {"cub": 1.0}
    yield "topk", "bf16", "64x128256x64", {}, {"torch": 5.0}
    yield "topk", "bf16", "1024x128256x64", {}, {"torch": 5.0}


def convolution():
    same = {"padding": 1}
    for dtype in ("f32", "bf16"):
        yield "conv2d", dtype, "32x128x56x56x128x3x3", {"groups": 128, "padding": 1}, {"torch": 1.0}
        yield "conv2d", dtype, "16x8x256x256x8x3x3", same, {"torch": 1.0}
        yield "conv2d", dtype, "32x3x224x224x64x7x7", {"stride": 2, "padding": 3}, {"torch": 1.0}
        yield "conv2d", dtype, "32x64x56x56x64x3x3", same, {}
        yield "conv2d", dtype, "32x256x14x14x256x3x3", same, {}
        yield "causal_conv1d", dtype, "8x4096x2048x4", {"silu": 1}, {"torch": 1.0}


def quantise():
    for back in ("quantise_", "dequantise_"):
        yield [back + name for name in QUANTISED], "bf16", "8192x8192", {}, {"roof": 0.95}


def gemv_quantised():
    yield ["gemv_" + name for name in QUANTISED], "bf16", "16384x16384", {}, {"roof": 0.85}


def leftovers():
    yield "argmax_axis", "bf16", "1x65536x4096", {}, {"torch": 1.0}
    for n in (1000000, 3000000):
        yield "inclusive_scan", "f32", str(n), {}, {"cub": 1.0}
    yield "gemv", "f32", "333x77777", {}, {"cublas": 1.0}
    yield "embedding", "bf16", "10000x50257x768", {}, {"torch": 1.0}


GROUPS = {"norms": norms, "losses": losses, "sorting": sorting, "convolution": convolution, "quantise": quantise,
          "gemv_quantised": gemv_quantised, "leftovers": leftovers}


def flags_of(settings):
    words = []
    for name, value in settings.items():
        words += ["--distribution", value] if name == "distribution" else ["--set", f"{name}={value}"]
    return words


def measure(build, operators, dtype, shape, settings):
    """What ridge_ladders says of the library and its rivals: {operator: {"us", "roof_us", "rivals": {name: times}}}."""
    words = [str(build / "programs" / "ridge_ladders"), "measure", *operators, "--rung", "library", "--known-roofs", "--fast",
             "--dtype", dtype, "--shape", shape, *flags_of(settings)]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
    found, case, now = {}, None, None
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        event = answer["event"]
        if event == "case":
            case = answer
            now = found.setdefault(answer["operator"], {"rivals": {}, "case": case})
        elif answer.get("stage") == "verified" and (answer.get("wrong") or answer.get("unsupported")):
            now.setdefault("notes", []).append(f"{answer['name']}: {answer.get('wrong') or answer['unsupported']}")
        elif answer.get("stage") == "timed" and answer.get("us"):
            us = statistics.median(answer["us"])
            if answer.get("rival"):
                now["rivals"][answer["name"]] = us
            else:
                now["us"], now["rung"] = us, answer["name"]
        elif event == "memory":
            now["roof_us"] = statistics.median(answer["us"])
        elif event == "failure":
            found.setdefault(operators[0] if now is None else now["case"]["operator"], {"rivals": {}}).setdefault(
                "notes", []).append(line)
    return found


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/gpu")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    if unknown := [g for g in arguments.groups if g not in GROUPS]:
        parser.error(f"there is no group {', '.join(unknown)}; there are {', '.join(GROUPS)}")
    torch, rows = None, []
    for group in arguments.groups or GROUPS:
        for operators, dtype, shape, settings, bars in GROUPS[group]():
            operators = [operators] if isinstance(operators, str) else operators
            for operator, found in measure(arguments.build, operators, dtype, shape, settings).items():
                row = {"group": group, "operator": operator, "dtype": dtype, "shape": shape, "settings": settings,
                       "rung": found.get("rung", ""), "us": found.get("us"), "times": {}, "notes": found.get("notes", [])}
                if found.get("us"):
                    row["times"] = {name: us / found["us"] for name, us in found["rivals"].items()}
                    if "roof_us" in found:
                        row["of_roof"] = found["roof_us"] / found["us"]
                if group not in NO_RIVAL:
                    torch = torch or Torch(arguments.build)
                    answer = torch.ask(operator, dtype, shape, settings)
                    for name in ("torch", "torch.compile"):
                        if f"{name}_us" in answer:
                            row["times"][name] = statistics.median(answer[f"{name}_us"]) / statistics.median(answer["ridge_us"])
                        if f"{name}_wrong" in answer:
                            row["notes"].append(f"{name} is wrong: {answer[f'{name}_wrong']}")
                    if "skipped" in answer:
                        row["notes"].append("PyTorch: " + answer["skipped"])
                row["short"] = verdict(row, bars)
                rows.append(row)
                us = f"{row['us']:10.1f} µs" if row["us"] else "      no time"
                roof = f"{row['of_roof'] * 100:4.0f} %" if "of_roof" in row else "      "
                beside = "  ".join(f"{name} {x:.2f}" for name, x in row["times"].items())
                text = " ".join(f"{k}={v}" for k, v in settings.items())
                print(f"{operator:28s} {dtype:5s} {shape:22s} {text:22s} {row['rung']:18s} {us} {roof}  {beside:44s}"
                      f"{'SHORT: ' + row['short'] if row['short'] else ''} {'; '.join(row['notes'])[:200]}", flush=True)
                if arguments.json:
                    arguments.json.write_text(json.dumps(rows, indent=0) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
