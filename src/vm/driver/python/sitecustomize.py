"""Python imports this by itself when it starts: `ridge run FILE.py` puts the folder in PYTHONPATH .

The program runs as it would without Ridge. Nothing happens here until it imports Triton, PyTorch or NumPy,
or fails.
"""
import importlib.machinery
import importlib.util
import os
import sys


def run_the_next():
    """There may be another sitecustomize, of the system or the environment, which ours hides."""
    here = os.path.dirname(os.path.abspath(__file__))
    elsewhere = [path for path in sys.path if os.path.abspath(path or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", elsewhere)
    if spec and spec.loader:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)


run_the_next()
if "RIDGE_PYTHON" in os.environ:
    import ridge_gpu

    ridge_gpu.start()
