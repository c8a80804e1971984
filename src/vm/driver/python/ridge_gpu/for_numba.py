"""Numba CUDA on the software GPU: its kernels stay PTX, where it would link machine code of them."""


def prepare(codegen):
    library = codegen.CUDACodeLibrary
    try:  # the package numba-cuda
        from cuda.core import ObjectCode
    except ImportError:  # what numba itself has
        return keep_text(library)
    link = library.get_cubin

    def get_cubin(self, cc=None):
        cc = self._ensure_cc(cc)
        texts = self.get_asm_strs(cc=cc)
        if len(texts) != 1 or self._linking_files or self.needs_cudadevrt:
            return link(self, cc)  # which says that machine code cannot run
        if cc not in self._cubin_cache:
            self._cubin_cache[cc] = ObjectCode.from_ptx(texts[0].encode())
            self._linkerinfo_cache[cc] = ""
        return self._cubin_cache[cc]

    library.get_cubin = get_cubin


def keep_text(library):
    link = library.get_cubin

    def get_cubin(self, cc=None):
        if self._linking_files or self.needs_cudadevrt:
            return link(self, cc)
        return self.get_asm_str(cc=cc).encode() + b"\0"

    library.get_cubin = get_cubin
