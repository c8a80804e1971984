"""PyTorch beside the software GPU: its tensors stay on the CPU, and torch.cuda says what the device is."""
import functools
import types

from ridge_gpu import device

NO_CUDA = ("PyTorch's own kernels are machine code and cannot run on the software GPU. Put the tensors on the CPU: "
           'device="cpu", or triton.runtime.driver.active.get_active_torch_device(). Triton kernels take them from there.')


def refuse(*_, **__):
    raise RuntimeError(NO_CUDA)


class Stream:
    """A stream of the device, for kernels that are launched inside `with torch.cuda.stream(stream)`."""

    def __init__(self, device=None, priority=0, handle=None):
        import ctypes
        import ridge_gpu.device as gpu
        if handle is None:
            gpu.make_ready()
            made = ctypes.c_void_p()
            gpu.check(gpu.cuda.cuStreamCreate(ctypes.byref(made), 1), "no stream")
            handle = made.value
        self.cuda_stream = handle

    def synchronize(self):
        import ctypes
        device.check(device.cuda.cuStreamSynchronize(ctypes.c_void_p(self.cuda_stream)), "the stream has failed")

    def wait_event(self, event):
        import ctypes
        device.cuda.cuStreamWaitEvent(ctypes.c_void_p(self.cuda_stream), event.handle, 0)

    def wait_stream(self, other):
        self.wait_event(other.record_event())

    def record_event(self, event=None):
        event = event or Event()
        event.record(self)
        return event

    def __enter__(self):
        self.before = getattr(current, "handle", 0)
        current.handle = self.cuda_stream
        return self

    def __exit__(self, *_):
        current.handle = self.before


class Event:
    def __init__(self, enable_timing=False, blocking=False, interprocess=False):
        import ctypes
        device.make_ready()
        self.handle = ctypes.c_void_p()
        device.check(device.cuda.cuEventCreate(ctypes.byref(self.handle), 0), "no event")

    def record(self, stream=None):
        import ctypes
        handle = stream.cuda_stream if stream else getattr(current, "handle", 0)
        device.check(device.cuda.cuEventRecord(self.handle, ctypes.c_void_p(handle)), "the event cannot be recorded")

    def wait(self, stream=None):
        (stream or current_stream()).wait_event(self)

    def synchronize(self):
        device.check(device.cuda.cuEventSynchronize(self.handle), "the event has failed")

    def query(self):
        return device.cuda.cuEventQuery(self.handle) == 0

    def elapsed_time(self, end):
        import ctypes
        ms = ctypes.c_float()
        device.check(device.cuda.cuEventElapsedTime(ctypes.byref(ms), self.handle, end.handle), "no time")
        return ms.value


class Current(__import__("threading").local):
    handle = 0


current = Current()  # the stream of this thread


def current_stream(_=None):
    return Stream(handle=getattr(current, "handle", 0))


def set_stream(wanted):
    current.handle = wanted.cuda_stream


def stream(wanted):
    import contextlib
    return wanted if wanted is not None else contextlib.nullcontext()


def synchronize(_=None):
    device.make_ready()
    device.check(device.cuda.cuCtxSynchronize(), "a kernel on the software GPU failed")


def properties(_=None):
    major, minor = device.capability()
    return types.SimpleNamespace(
        name=device.name(), major=major, minor=minor, multi_processor_count=device.attribute(16),
        total_memory=device.memory(), warp_size=32, regs_per_multiprocessor=device.attribute(82),
        shared_memory_per_block_optin=device.attribute(97), shared_memory_per_multiprocessor=device.attribute(81),
        max_threads_per_multi_processor=device.attribute(39), L2_cache_size=device.attribute(38))


def prepare(torch):
    import warnings
    warnings.filterwarnings("ignore", message=".*CUDA initialization")  # its CUDA finds nothing that it can use
    cuda = torch.cuda
    cuda.is_available = lambda: False  # for tensors: there is no PyTorch for this device
    cuda.device_count = lambda: 1
    cuda.current_device = lambda: 0
    cuda.set_device = lambda _: None
    cuda._lazy_init = refuse
    cuda.synchronize = synchronize
    cuda.get_device_capability = lambda _=None: device.capability()
    cuda.get_device_name = lambda _=None: device.name()
    cuda.get_device_properties = properties
    cuda.Stream, cuda.Event, cuda.stream = Stream, Event, stream
    cuda.current_stream = cuda.default_stream = current_stream
    cuda.set_stream = torch.cpu.set_stream = set_stream
    torch.cpu.Stream = Stream  # programs ask for the streams of get_active_torch_device()
    cuda.empty_cache = cuda.reset_peak_memory_stats = lambda *_: None
    remember_pointers(torch)
    if device.checking:
        for owner, name in ((torch, "empty"), (torch, "empty_like"), (torch, "empty_strided"), (torch.Tensor, "new_empty")):
            setattr(owner, name, marked(torch, getattr(owner, name)))


def is_shared(torch, x):
    return x.device.type == "cpu" and x.layout == torch.strided and not isinstance(x, torch._subclasses.FakeTensor)


def remember_pointers(torch):
    """Who asks for a tensor's address may hand it to a kernel, also inside other memory."""
    plain = torch.Tensor.data_ptr

    def data_ptr(self):
        from ridge_gpu import arrays
        if is_shared(torch, self):
            arrays.open_storage(self)
        return plain(self)

    torch.Tensor.data_ptr = data_ptr


def marked(torch, make):
    @functools.wraps(make)
    def empty(*arguments, **options):
        from ridge_gpu import arrays
        tensor = make(*arguments, **options)
        if isinstance(tensor, torch.Tensor) and tensor.numel() and is_shared(torch, tensor):
            words = torch.tensor([], dtype=torch.uint8).set_(tensor.untyped_storage())
            if words.numel() >= 4:
                words[:words.numel() // 4 * 4].view(torch.int32).fill_(device.UNWRITTEN - (1 << 32))
                arrays.open_storage(tensor, unwritten=True)
        return tensor

    return empty
