"""Where the libraries lie: in an installed package, or in the tree that Ridge was built in."""
from __future__ import annotations

import importlib.util
import pathlib
import sys

PACKAGE = pathlib.Path(__file__).absolute().parent


def folders() -> tuple[pathlib.Path, pathlib.Path]:
    """The folder of libridge.so and that of the software GPU."""
    installed = PACKAGE / "tree" / "lib"
    if installed.is_dir():
        return installed, installed / "ridge" / "vm"
    build = PACKAGE.parents[1]  # build/vm/python/ridge
    return build / "library", build / "lib"


def headers() -> list[pathlib.Path]:
    installed = PACKAGE / "tree" / "include"
    if installed.is_dir():
        return [installed]
    build = PACKAGE.parents[1]
    return [build / "headers", build / "include"]


def nvidia_packages() -> list[pathlib.Path]:
    """The folders of NVIDIA's packages from PyPI: PyTorch brings them."""
    spec = importlib.util.find_spec("nvidia") if "nvidia" not in sys.modules else sys.modules["nvidia"].__spec__
    places = spec.submodule_search_locations if spec else None
    return [pathlib.Path(place) / "cu13" for place in places or []]


def libridge() -> str:
    folder, _ = folders()
    return str(folder / ("libridge.so.0" if (folder / "libridge.so.0").exists() else "libridge.so"))
