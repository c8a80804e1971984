// Starting the driver, its version, its errors, and its functions by name.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "core/closed_libraries.h"
#include "vm/cudart/origin.h"
#include "vm/cudart/report.h"
#include "vm/driver/result.h"

using namespace ridge::vm::driver;
namespace cudart = ridge::vm::cudart;

namespace ridge::vm::driver {

int refuse_function(const char* name, const char* group) { return refuse_call(name, group); }

}  // namespace ridge::vm::driver

namespace {

// The table that the toolkit's static runtime asks for when it starts.
constexpr unsigned char kStaticRuntime[16] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                              0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};

constexpr int kVersion = CUDA_VERSION / 1000 * 1000;  // the driver this library stands in for

enum class NullStream : uint8_t { legacy, per_thread };

struct Row {
  std::string_view name;
  int version;
  NullStream null_stream;
  void* function;
};

constexpr auto legacy = NullStream::legacy, per_thread = NullStream::per_thread;

const Row kRows[] = {
#define RIDGE_FUNCTION(exported, name, version, null_stream) \
  {#name, version, null_stream, reinterpret_cast<void*>(&exported)},
#include "vm/driver/functions.def"
#undef RIDGE_FUNCTION
};

struct Found {
  void* function = nullptr;
  bool known = false;  // there is a function of that name, in whatever version
};

// The newest that is not newer than `version`; of two alike the one with the wanted null stream.
Found find(std::string_view name, int version, NullStream wanted) {
  const auto rank = [](const Row& row) { return std::pair(row.null_stream, row.version); };
  Found found;
  const Row* best = nullptr;
  for (const Row& row : kRows) {
    if (row.name != name || row.null_stream > wanted) continue;
    found.known = true;
    if (row.version <= version && (!best || rank(row) > rank(*best))) best = &row;
  }
  if (best) found.function = best->function;
  return found;
}

// Closed libraries ask, too: most have the static runtime linked in.
void tell_who_cannot_run(const void* caller, bool static_runtime) {
  const std::string file = cudart::library_at(caller);
  // PyTorch brings a runtime of its own to Python. Its tensors stay on the CPU (../python).
  if (std::getenv("RIDGE_PYTHON") && file.find("libcudart.so") != std::string::npos) return;
  if (const ridge::ClosedLibrary* library = ridge::find_closed_library(file))
    cudart::report_once(file, describe(*library, file) +
                                  " holds machine code, which only a GPU can run: calls of it fail "
                                  "on the software GPU");
  else if (static_runtime)
    cudart::report_once("static runtime " + file,
                        cudart::owner_at(caller) +
                            " is linked with the static CUDA runtime, which only a GPU can serve. "
                            "Rebuild it with the shared one: nvcc -cudart shared");
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned flags) {
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  initialise();
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) { return result_of(answer(version, kVersion)); }

CUresult cuGetErrorName(CUresult error, const char** name) {
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  *name = result_name(error);
  return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  *text = result_name(error) ? ridge::vm::cudart::error_text(cudaError_t(error)) : nullptr;
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  constexpr cuuint64_t kKnown =
      CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (!symbol || !function || (flags & ~kKnown) || flags == kKnown || version > kVersion)
    return CUDA_ERROR_INVALID_VALUE;
  const bool own = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  const Found found = find(symbol, version, own ? per_thread : legacy);
  *function = found.function;
  if (status)
    *status = found.function ? CU_GET_PROC_ADDRESS_SUCCESS
              : found.known  ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                             : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return CUDA_SUCCESS;
}

// Tables of functions that are not documented: none. NVRTC asks and goes on without; the static
// runtime, which asks for this one, cannot.
CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  if (!table || !id) return CUDA_ERROR_INVALID_VALUE;
  *table = nullptr;
  const bool static_runtime = std::memcmp(id->bytes, kStaticRuntime, sizeof kStaticRuntime) == 0;
  tell_who_cannot_run(__builtin_return_address(0), static_runtime);
  return CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags) {
  const CUresult result = cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
  if (result != CUDA_SUCCESS) return result;
  return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

}  // extern "C"
