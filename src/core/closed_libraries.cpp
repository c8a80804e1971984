#include "core/closed_libraries.h"

namespace ridge {
namespace {

std::string_view file_name(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);  // npos + 1 is 0
}

}  // namespace

const std::vector<ClosedLibrary>& closed_libraries() {
  static const std::vector<ClosedLibrary> all = {
      {"libcublas", "cuBLAS", "cublasCreate_v2", "libcublas.so.13"},
      {"libcublasLt", "cuBLASLt", "cublasLtCreate", "libcublasLt.so.13"},
      {"libnvblas", "NVBLAS", ""},
      {"libcudnn", "cuDNN", "cudnnCreate"},
      {"libcufft", "cuFFT", "cufftCreate"},
      {"libcufftw", "cuFFT", ""},
      {"libcurand", "the host side of cuRAND", "curandCreateGenerator"},
      {"libcusolver", "cuSOLVER", "cusolverDnCreate"},
      {"libcusolverMg", "cuSOLVER", "cusolverMgCreate"},
      {"libcusparse", "cuSPARSE", "cusparseCreate"},
      {"libcusparseLt", "cuSPARSELt", "cusparseLtInit"},
      {"libcutensor", "cuTENSOR", "cutensorCreate"},
      {"libcutensorMg", "cuTENSOR", "cutensorMgCreate"},
      {"libcudss", "cuDSS", "cudssCreate"},
      {"libnccl", "NCCL", "ncclCommInitRank"},
      {"libnvshmem_host", "NVSHMEM", ""},
      {"libnppc", "NPP", "nppGetLibVersion"},
      {"libnvjpeg", "nvJPEG", "nvjpegCreate"},
      {"libnvjpeg2k", "nvJPEG2000", "nvjpeg2kCreate"},
      {"libnvtiff", "nvTIFF", "nvtiffDecoderCreate"},
      {"libnvcomp", "nvCOMP", ""},
      {"libnvinfer", "TensorRT", ""},
  };
  return all;
}

const ClosedLibrary* find_closed_library(std::string_view file) {
  const std::string_view name = file_name(file);
  const std::string_view stem = name.substr(0, name.find(".so"));
  if (stem.size() == name.size()) return nullptr;  // not a shared library
  const ClosedLibrary* family = nullptr;
  for (const ClosedLibrary& library : closed_libraries()) {
    if (stem == library.file) return &library;
    // cuDNN, NPP and TensorRT come in parts: libcudnn_ops, libnppig, libnvinfer_plugin.
    const bool part = stem.starts_with(std::string(library.file) + "_") ||
                      (library.name == "NPP" && stem.starts_with("libnpp"));
    if (part) family = &library;
  }
  return family;
}

bool has_standin(std::string_view file) {
  const ClosedLibrary* const library = find_closed_library(file);
  return library && !library->standin.empty() && library->standin == file_name(file);
}

std::string describe(const ClosedLibrary& library, std::string_view file) {
  return std::string(library.name) + " (" + std::string(file_name(file)) + ")";
}

}  // namespace ridge
