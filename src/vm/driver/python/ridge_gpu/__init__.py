"""Leads Python programs to the software GPU: what Triton, PyTorch and NumPy have to be told, when they are imported."""
import importlib.abc
import importlib.machinery
import os
import sys

# What is imported, and our module that prepares it.
PREPARED = {"triton": "for_triton", "torch": "for_torch", "numpy": "for_numpy", "numba.cuda.codegen": "for_numba"}


class Prepared(importlib.abc.Loader):
    """Loads a module as its own loader does, and prepares it."""

    def __init__(self, loader, prepare):
        self.loader, self.prepare = loader, prepare

    def __getattr__(self, name):  # get_source, get_data and the like
        return getattr(self.loader, name)

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        importlib.import_module("ridge_gpu." + self.prepare).prepare(module)


class Finder(importlib.abc.MetaPathFinder):
    def __init__(self):
        self.busy = set()

    def find_spec(self, name, path=None, target=None):
        if name not in PREPARED or name in self.busy:
            return None
        self.busy.add(name)
        try:
            found = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not self)
            spec = next((one for one in found if one is not None), None)
        finally:
            self.busy.discard(name)
        if spec is not None and spec.loader is not None:
            spec.loader = Prepared(spec.loader, PREPARED[name])
        return spec


def say(text):
    print(f"ridge: {text}", file=sys.stderr, flush=True)


def explain(kind, error, trace):
    """A hint behind the traceback of a program that lacks Triton, or gives a real GPU an array of the host."""
    usual_hook(kind, error, trace)
    text = str(error)
    if isinstance(error, ModuleNotFoundError) and (error.name or "").split(".")[0] == "triton":
        say(f"{sys.executable} has no Triton.\n  Take another Python (ridge run --python PATH {sys.argv[0]}), install it "
            f"there\n  ({sys.executable} -m pip install triton), or let Ridge make a Python that has it: "
            "ridge python --install")
    elif "RIDGE_GPU" not in os.environ and ("cpu tensor" in text or "numpy.ndarray" in text):
        say("a GPU does not read the memory of this array: copy it first, tensor.cuda() or torch.from_numpy(array).cuda().\n"
            "  The software GPU takes it as it is: ridge run --device vm …")


def start():
    global usual_hook
    usual_hook = sys.excepthook
    sys.excepthook = explain
    if "RIDGE_GPU" in os.environ:
        watch_imports()


def watch_imports():
    os.register_at_fork(after_in_child=note_fork)
    sys.meta_path.insert(0, Finder())


forked = False


def note_fork():
    global forked
    forked = "ridge_gpu.device" in sys.modules


def refuse_after_fork():
    if forked:
        raise RuntimeError(
            "this process was forked after the GPU had been used, and has no GPU, as with CUDA: start the processes "
            'before the first kernel, or by multiprocessing.get_context("spawn")')
