// The log: what the software GPU reports, as messages of errors.
#include "vm/cudart/logs.h"

#include <cstdio>
#include <cstring>

#include "vm/cudart/errors.h"

using namespace ridge::vm::cudart;

namespace {

constexpr size_t kMost = 25600;  // bytes, as documented
constexpr const char* kTruncated = "(messages left out)\n";

// From the iterator on, which moves to the end; all there is without one.
std::string take(cudaLogIterator* iterator, size_t most) {
  bool truncated = false;
  const unsigned end = log_end();
  std::string text = log_since(iterator ? *iterator : 0, most, &truncated);
  if (truncated && text.size() + std::strlen(kTruncated) <= most) text.insert(0, kTruncated);
  if (iterator) *iterator = end;
  return text;
}

}  // namespace

extern "C" {

cudaError_t cudaLogsCurrent(cudaLogIterator* iterator, unsigned flags) {
  if (!iterator || flags) return remember(cudaErrorInvalidValue);
  *iterator = log_end();
  return cudaSuccess;
}

cudaError_t cudaLogsDumpToFile(cudaLogIterator* iterator, const char* path, unsigned flags) {
  FILE* file = path && !flags ? std::fopen(path, "we") : nullptr;
  if (!file) return remember(cudaErrorInvalidValue);
  const std::string text = take(iterator, kMost);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && written ? cudaSuccess : remember(cudaErrorOperatingSystem);
}

cudaError_t cudaLogsDumpToMemory(cudaLogIterator* iterator, char* buffer, size_t* size,
                                 unsigned flags) {
  if (!buffer || !size || !*size || flags) return remember(cudaErrorInvalidValue);
  const bool anything = log_end() > (iterator ? *iterator : 0);
  const std::string text = take(iterator, *size - 1);
  std::memcpy(buffer, text.c_str(), text.size() + 1);
  *size = text.size();
  return anything && text.empty() ? remember(cudaErrorInvalidValue) : cudaSuccess;
}

cudaError_t cudaLogsRegisterCallback(cudaLogsCallback_t function, void* data,
                                     cudaLogsCallbackHandle* handle) {
  if (!function || !handle) return remember(cudaErrorInvalidValue);
  *handle = static_cast<cudaLogsCallbackHandle>(
      const_cast<void*>(add_log_callback([function, data](std::string& message) {
        function(data, cudaLogLevelError, message.data(), message.size());
      })));
  return cudaSuccess;
}

cudaError_t cudaLogsUnregisterCallback(cudaLogsCallbackHandle handle) {
  return remove_log_callback(handle) ? cudaSuccess : remember(cudaErrorInvalidValue);
}

}  // extern "C"
