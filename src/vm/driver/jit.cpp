#include "vm/driver/jit.h"

#include <algorithm>
#include <cstring>

namespace ridge::vm::driver {

cudaError_t JitOptions::read(unsigned count, CUjit_option* options, void** values) {
  start_ = std::chrono::steady_clock::now();
  if (count && (!options || !values)) return cudaErrorInvalidValue;
  for (unsigned i = 0; i < count; ++i) {
    void*& value = values[i];
    const auto number = reinterpret_cast<uintptr_t>(value);
    switch (options[i]) {
      case CU_JIT_INFO_LOG_BUFFER: info_.buffer = static_cast<char*>(value); break;
      case CU_JIT_ERROR_LOG_BUFFER: errors_.buffer = static_cast<char*>(value); break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        info_.capacity = uint32_t(number);
        info_.size_out = &value;
        break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        errors_.capacity = uint32_t(number);
        errors_.size_out = &value;
        break;
      case CU_JIT_WALL_TIME: wall_time_ = &value; break;
      case CU_JIT_OPTIMIZATION_LEVEL: optimises_ = number != 0; break;
      case CU_JIT_LOG_VERBOSE: verbose_ = number != 0; break;
      case CU_JIT_GLOBAL_SYMBOL_NAMES:
      case CU_JIT_GLOBAL_SYMBOL_ADDRESSES:
      case CU_JIT_GLOBAL_SYMBOL_COUNT:
        return refuse_call("linking a module with host addresses (CU_JIT_GLOBAL_SYMBOL_NAMES)",
                           "linking");
      default:
        if (options[i] < 0 || options[i] >= CU_JIT_NUM_OPTIONS) return cudaErrorInvalidValue;
    }
  }
  return cudaSuccess;
}

void JitOptions::Log::write(const std::string& text) const {
  if (!buffer || !capacity) return;
  const size_t length = std::min(text.size(), capacity - 1);
  text.copy(buffer, length);
  buffer[length] = '\0';
  if (size_out) *size_out = reinterpret_cast<void*>(uintptr_t(length));
}

void JitOptions::finish(const std::string& errors, const std::string& info) {
  errors_.write(errors);
  info_.write(info);
  if (!wall_time_) return;
  const auto passed = std::chrono::steady_clock::now() - start_;
  const float milliseconds = std::chrono::duration<float, std::milli>(passed).count();
  *wall_time_ = nullptr;
  std::memcpy(wall_time_, &milliseconds, sizeof milliseconds);
}

}  // namespace ridge::vm::driver
