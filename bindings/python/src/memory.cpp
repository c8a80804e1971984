#include "memory.h"

#include <algorithm>

#include "arrays.h"

namespace ridge::python {
namespace {

struct Scratch {
  void* data = nullptr;
  std::size_t bytes = 0;
};
Scratch kept;

std::string without_end(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

}  // namespace

void Placed::add(RidgeTensor& tensor, bool read, bool written) {
  char* low = static_cast<char*>(tensor.data);
  char* high = low;
  std::int64_t elements = 1;
  const RidgeTensor bytes = in_bytes(tensor);
  const auto size = std::int64_t(bits_of(bytes.dtype) / 8);
  for (int d = 0; d < bytes.rank; ++d) {
    if (bytes.shape[d] == 0) return;  // no memory at all
    const std::int64_t last = (bytes.shape[d] - 1) * bytes.strides[d] * size;
    (last < 0 ? low : high) += last;
    elements *= bytes.shape[d];
  }
  if (!tensor.data) return;
  read |= elements * size < high + size - low;  // what lies in its gaps must survive
  ranges_.push_back({low, high + size, read, written});
  moved_.push_back({&tensor, static_cast<char*>(tensor.data)});
}

// Arrays that share memory are one range.
void Placed::merge() {
  std::sort(ranges_.begin(), ranges_.end(),
            [](const Range& a, const Range& b) { return a.from < b.from; });
  std::vector<Range> merged;
  for (const Range& range : ranges_) {
    if (!merged.empty() && range.from < merged.back().to) {
      // Both directions for all of it: bytes that one of them does not write must survive.
      merged.back().to = std::max(merged.back().to, range.to);
      merged.back().read = true;
      merged.back().written |= range.written;
    } else {
      merged.push_back(range);
    }
  }
  ranges_ = merged;
}

void Placed::place(const char* name) {
  merge();
  for (Range& range : ranges_) {
    const auto bytes = std::size_t(range.to - range.from);
    if (library_.software) {
      const cudaError_t e = library_.cudaHostRegister(range.from, bytes, cudaHostRegisterMapped);
      range.registered = e == cudaSuccess;
      range.device = range.from;
      if (e == cudaErrorHostMemoryAlreadyRegistered) library_.cudaGetLastError();
      else check(library_, e, std::string(name) + ": showing an array to the device");
      continue;
    }
    void* memory = nullptr;
    check(library_, library_.cudaMalloc(&memory, bytes),
          std::string(name) + ": getting " + std::to_string(bytes) + " bytes of device memory");
    range.device = static_cast<char*>(memory);
    if (range.read)
      check(library_, library_.cudaMemcpy(memory, range.from, bytes, cudaMemcpyDefault),
            std::string(name) + ": copying an array to the device");
  }
  for (const Moved& moved : moved_)
    for (const Range& range : ranges_)
      if (moved.first >= range.from && moved.first < range.to)
        moved.tensor->data = range.device + (moved.first - range.from);
}

void Placed::copy_back(const char* name) {
  if (library_.software) return;
  for (const Range& range : ranges_)
    if (range.written)
      check(library_,
            library_.cudaMemcpy(range.from, range.device, std::size_t(range.to - range.from),
                                cudaMemcpyDefault),
            std::string(name) + ": copying a result from the device");
}

Placed::~Placed() {
  for (const Range& range : ranges_) {
    if (!library_.software && range.device) library_.cudaFree(range.device);
    // After a fault the device was reset and knows nothing of it; that is nobody's last error.
    if (range.registered && library_.cudaHostUnregister(range.from)) library_.cudaGetLastError();
  }
  for (const Moved& moved : moved_) moved.tensor->data = moved.first;
}

void forget_scratch() { kept = {}; }

void* scratch(const Library& library, std::size_t bytes, const char* name) {
  if (bytes <= kept.bytes) return kept.data;
  if (kept.data) library.cudaFree(kept.data);
  kept = {};
  check(library, library.cudaMalloc(&kept.data, bytes),
        std::string(name) + ": getting a workspace of " + std::to_string(bytes) + " bytes");
  kept.bytes = bytes;
  return kept.data;
}

void* log_position(const Library& library) {
  void* position = nullptr;
  if (library.cudaLogsCurrent) library.cudaLogsCurrent(&position, 0);
  return position;
}

void throw_error(const Library& library, int error, const std::string& doing, void* log_begin) {
  const auto code = cudaError_t(error);
  std::string text =
      doing + ": " + library.cudaGetErrorString(code) + " (" + library.cudaGetErrorName(code) + ")";
  if (library.cudaLogsDumpToMemory) {
    std::string log(32 << 10, '\0');
    std::size_t size = log.size();
    if (!library.cudaLogsDumpToMemory(&log_begin, log.data(), &size, 0) && size)
      text += "\n" + without_end(log.substr(0, size));
  }
  library.cudaGetLastError();
  if (library.software) {
    library.cudaDeviceReset();
    forget_scratch();
  }
  throw Failure("KernelError", text);
}

void check(const Library& library, int error, const std::string& doing) {
  if (error == cudaSuccess) return;
  library.cudaGetLastError();
  const auto code = cudaError_t(error);
  throw Failure("Error", doing + ": " + library.cudaGetErrorString(code) + " (" +
                             library.cudaGetErrorName(code) + ")");
}

}  // namespace ridge::python
