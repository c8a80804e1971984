"""Builds the programs of this folder with nvcc for the GPU at hand, and asks that GPU who it is."""
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def card():
    """What nvidia-smi says of the first GPU."""
    fields = {"name": "name", "driver": "driver_version", "compute_capability": "compute_cap",
              "power_limit_w": "power.limit", "max_sm_clock_mhz": "clocks.max.sm", "max_memory_clock_mhz": "clocks.max.mem"}
    try:
        answer = subprocess.run(["nvidia-smi", "-i", "0", "--format=csv,noheader,nounits",
                                 "--query-gpu=" + ",".join(fields.values())], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"there is no GPU to measure: nvidia-smi failed ({error})")
    said = dict(zip(fields, answer.stdout.strip().split(", ")))
    for key in ("power_limit_w", "max_sm_clock_mhz", "max_memory_clock_mhz"): said[key] = float(said[key])
    return said | toolkit()


def toolkit():
    """nvcc's release, where there is an nvcc."""
    try:
        release = re.search(r"release ([\d.]+)", subprocess.run(["nvcc", "--version"], capture_output=True, text=True).stdout)
    except OSError:
        release = None
    return {"toolkit": release[1]} if release else {}


def build(folder, capability):
    """Compiles FOLDER/*.cu in parallel; returns the program."""
    arch = capability.replace(".", "") + ("a" if int(capability.split(".")[0]) >= 9 else "")  # wgmma needs the a
    out = ROOT / "build" / "model" / folder
    out.mkdir(parents=True, exist_ok=True)
    nvcc = ["nvcc", "-std=c++20", "-O3", "-lineinfo", f"-gencode=arch=compute_{arch},code=sm_{arch}", f"-I{ROOT / 'src'}",
            f"-I{ROOT / 'include'}"]
    sources = sorted((HERE / folder).glob("*.cu"))
    objects = [out / (source.stem + ".o") for source in sources]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda pair: subprocess.run([*nvcc, "-c", pair[0], "-o", pair[1]], check=True), zip(sources, objects)))
    subprocess.run([*nvcc, *objects, "-o", out / folder], check=True)
    return out / folder
