"""Arrays of the host as arguments of kernels: NumPy's, and PyTorch's tensors on the CPU. Their memory is shared."""
import sys
import weakref

from ridge_gpu import device


class View:
    """A NumPy array as Triton wants its arguments: with data_ptr()."""
    is_cuda = False

    def __init__(self, array):
        self.array, self.dtype, self.shape = array, array.dtype.name, array.shape

    def data_ptr(self):  # without elements there is no memory, whatever NumPy's address is
        return self.array.__array_interface__["data"][0] if self.array.size else 0

    def stride(self, axis=None):
        strides = tuple(s // self.array.itemsize for s in self.array.strides)
        return strides if axis is None else strides[axis]

    def element_size(self):
        return self.array.itemsize

    def numel(self):
        return self.array.size


def is_numpy(x):
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(x, numpy.ndarray)


# The kinds of NumPy's numbers that Triton has: bool, integers, floating point; V is what ml_dtypes has.
KINDS = "biufV"


def as_argument(x):
    """What Triton can take in place of `x`."""
    if is_numpy(x):
        if x.dtype.kind not in KINDS or x.dtype.fields:
            raise TypeError(f"a NumPy array of {x.dtype} is no argument for a kernel: Triton has no such numbers")
        open_storage(x)
        return View(x)
    if isinstance(x, tuple) and any(is_numpy(y) for y in x):
        return type(x)(as_argument(y) for y in x) if type(x) is tuple else x
    return x


# What kernels may touch: the address, and who says whether the memory is still the same.
opened = {}


def owner_of(x):
    """Where the memory begins that `x` is a part of, its bytes, and a function that says whether it is gone."""
    if is_numpy(x):
        while is_numpy(x.base):
            x = x.base
        low, high = x.__array_interface__["data"][0], 0
        for size, stride in zip(x.shape, x.strides):
            low += min((size - 1) * stride, 0)
            high += abs((size - 1) * stride)
        alive = weakref.ref(x)
        return low, high + x.itemsize if x.size else 0, lambda: alive() is None
    from torch.multiprocessing.reductions import StorageWeakRef
    storage = x.untyped_storage()
    return storage.data_ptr(), storage.nbytes(), StorageWeakRef(storage).expired


def open_storage(x, name=None, unwritten=False):
    """Kernels may use the memory of `x` from now on."""
    base, size, is_gone = owner_of(x)
    if not base or not size:
        return
    known = opened.get(base)
    if known and known[0] == size and not known[1]():
        if name and known[2] != name:
            opened[base] = (*known[:2], name)
            device.cuda.ridge_vm_open_array(base, size, name.encode(), 0)
        return
    close_gone()
    device.make_ready()
    if not device.cuda.ridge_vm_open_array(base, size, (name or "").encode(), unwritten):
        raise RuntimeError(f"{size} bytes at {base:#x} are no memory that kernels can share: they overlap memory of the device")
    opened[base] = (size, is_gone, name)


def close_gone():
    for base in [base for base, (_, is_gone, _) in opened.items() if is_gone()]:
        device.cuda.ridge_vm_close_array(base)
        del opened[base]


def extent(x):
    """Where the elements of a tensor lie: the first address and the number of bytes."""
    size = x.element_size()
    low = high = 0
    if not x.numel():
        return x.data_ptr(), 0
    for length, stride in zip(x.shape, x.stride()):
        step = (length - 1) * stride
        low, high = low + min(step, 0), high + max(step, 0)
    return x.data_ptr() + low * size, (high - low + 1) * size


def described(x):
    """`float32[128, 64]`"""
    dtype = str(x.dtype).split(".")[-1]
    return f"{dtype}[{', '.join(str(n) for n in x.shape)}]"
