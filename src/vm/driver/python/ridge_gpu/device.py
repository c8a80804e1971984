"""The software GPU's own functions, through libcuda.so.1 (src/vm/cudart/abi/host_arrays.cpp, include/ridge/vm_counters.h)."""
import atexit
import ctypes
import os
import threading

from ridge_gpu import refuse_after_fork

checking = bool(os.environ.get("RIDGE_CHECK"))
UNWRITTEN = 0xFFA5C3D2  # what memory holds that nobody has written: a NaN, and an unlikely number


class Argument(ctypes.Structure):
    _fields_ = [("param", ctypes.c_uint32), ("address", ctypes.c_uint64), ("bytes", ctypes.c_uint64),
                ("name", ctypes.c_char_p)]


class Modelled(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in ("us", "low_us", "high_us", "graph_us")] + [
        ("bound", ctypes.c_char * 16), ("why", ctypes.c_char * 240)]


cuda = ctypes.CDLL("libcuda.so.1")
cuda.ridge_vm_open_array.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_char_p, ctypes.c_uint32]
cuda.ridge_vm_close_array.argtypes = [ctypes.c_uint64]
cuda.ridge_vm_next_launch.argtypes = [ctypes.c_char_p, ctypes.POINTER(Argument), ctypes.c_uint32]
cuda.ridge_vm_next_launch.restype = None

ready = threading.local()


def check(result, what):
    if result:
        name = ctypes.c_char_p()
        cuda.cuGetErrorString(result, ctypes.byref(name))
        raise RuntimeError(f"{what}: {(name.value or b'unknown error').decode()}")


def make_ready():
    """The primary context is this thread's."""
    if getattr(ready, "context", None):
        return
    refuse_after_fork()
    check(cuda.cuInit(0), "the software GPU does not start")
    context = ctypes.c_void_p()
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), "the software GPU has no context")
    check(cuda.cuCtxSetCurrent(context), "the software GPU has no context")
    ready.context = context
    if threading.current_thread() is threading.main_thread():
        atexit.register(cuda.cuCtxSynchronize)  # a program that reads its arrays has waited for them


def attribute(number):
    make_ready()
    value = ctypes.c_int()
    check(cuda.cuDeviceGetAttribute(ctypes.byref(value), number, 0), "cuDeviceGetAttribute")
    return value.value


def capability():
    return attribute(75), attribute(76)


def name():
    make_ready()
    text = ctypes.create_string_buffer(256)
    cuda.cuDeviceGetName(text, 255, 0)
    return text.value.decode()


def memory():
    make_ready()
    size = ctypes.c_size_t()
    cuda.cuDeviceTotalMem_v2(ctypes.byref(size), 0)
    return size.value


def drain():
    """Waits until the device is idle. For `ridge check` the program has not waited by that."""
    check(cuda.ridge_vm_drain(), "a kernel on the software GPU failed")


class Modelling:
    interrupted = False


under_way = []


def modelled(work):
    """How long `work()` takes by the model of time, and why. None: it launches nothing."""
    while True:
        one = Modelling()
        result = try_modelling(work, one)
        if not one.interrupted:
            return result
        # It has asked for the time of something itself, as an autotuner does. It will not do so again.


def try_modelling(work, one):
    make_ready()
    drain()
    for outer in under_way:
        outer.interrupted = True
    under_way.append(one)
    if not cuda.ridge_vm_model_begin_alone():
        cuda.ridge_vm_model_begin()
    result = Modelled()
    try:
        work()
        drain()
    finally:
        under_way.remove(one)
        launches = cuda.ridge_vm_model_end(ctypes.byref(result))
    return result if launches else None
