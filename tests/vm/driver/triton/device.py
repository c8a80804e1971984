"""Device memory for Triton without PyTorch."""
import ctypes
import struct


def bits_of_bf16(x):
    return struct.unpack("<I", struct.pack("<f", x))[0] >> 16  # of numbers that bf16 has


def bits_of_e4m3(x):  # of numbers that e4m3 has, but for subnormal ones
    sign, exponent, fraction = bits_of_bf16(x) >> 15, (bits_of_bf16(x) >> 7 & 255) - 127 + 7, bits_of_bf16(x) & 127
    return sign << 7 | exponent << 3 | fraction >> 4 if x else 0


# How many bytes, and how a number becomes an integer of that size.
FORMATS = {
    "fp32": (4, lambda x: struct.unpack("<I", struct.pack("<f", x))[0]),
    "bf16": (2, bits_of_bf16),
    "fp16": (2, lambda x: struct.unpack("<H", struct.pack("<e", x))[0]),
    "fp8e4nv": (1, bits_of_e4m3),
}


class Dtype(str):
    """Triton's name of a format."""
    @property
    def itemsize(self):
        return FORMATS[self][0]


class Buffer:
    """What Triton takes as a tensor: it has data_ptr() and a dtype."""
    libcuda = None

    def __init__(self, values, dtype="fp32"):
        Buffer.libcuda = Buffer.libcuda or ctypes.CDLL("libcuda.so.1")
        self.dtype = Dtype(dtype)
        size, bits = FORMATS[dtype]
        data = b"".join(bits(x).to_bytes(size, "little") for x in values)
        self.bytes = ctypes.c_size_t(len(data))
        self.address = ctypes.c_uint64()
        self.check(self.libcuda.cuMemAlloc_v2(ctypes.byref(self.address), self.bytes))
        self.check(self.libcuda.cuMemcpyHtoD_v2(self.address, data, self.bytes))

    def __del__(self):
        self.libcuda.cuMemFree_v2(self.address)

    def check(self, result):
        if result:
            raise RuntimeError(f"CUresult {result}")

    def data_ptr(self):
        return self.address.value

    def values(self):
        """Of fp32."""
        host = (ctypes.c_float * (self.bytes.value // 4))()
        self.check(self.libcuda.cuMemcpyDtoH_v2(host, self.address, self.bytes))
        return list(host)
