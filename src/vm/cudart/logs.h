// The log of the device: what is reported on stderr, kept for a program to read.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace ridge::vm::cudart {

void log_message(std::string_view text);

// Positions count messages. The oldest are forgotten when the log gets long.
unsigned log_end();
// Messages from `position` on, one per line, at most `most` bytes: the newest that fit.
// `truncated`: some did not fit.
std::string log_since(unsigned position, size_t most, bool* truncated);

using LogCallback = std::function<void(std::string& message)>;
const void* add_log_callback(LogCallback callback);
bool remove_log_callback(const void* handle);  // false: no such callback

}  // namespace ridge::vm::cudart
