"""The descriptions of the operators, which the build writes beside this file."""
from __future__ import annotations

import json
import pathlib
from typing import Any

ALL: list[dict[str, Any]] = json.loads((pathlib.Path(__file__).absolute().parent / "operators.json").read_text("utf-8"))
BY_NAME: dict[str, dict[str, Any]] = {op["name"]: op for op in ALL}
