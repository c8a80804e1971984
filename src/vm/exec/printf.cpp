// Device printf. Output collects in order and is written at the runtime's synchronisation points,
// as on hardware.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <mutex>

#include "vm/exec/grid.h"
#include "vm/isa/memory.h"

namespace ridge::vm {
namespace {

constexpr size_t kFlushBytes = 1 << 20;
std::mutex mutex;
std::string& pending() {
  static auto* text = new std::string;  // outlives static destructors of the program
  return *text;
}

void flush_locked() {
  std::string& text = pending();
  if (text.empty()) return;
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
  text.clear();
}

// Reads the argument buffer: a generic address, nearly always of local memory.
uint64_t read_argument(const Warp& w, uint32_t lane, uint64_t address, int bytes) {
  uint64_t value = 0;
  if (address - kLocalWindow < kWindowSize) {
    const uint32_t offset = uint32_t(address - kLocalWindow);
    if (offset + uint32_t(bytes) <= w.local_size)
      for (int k = 0; k < bytes; ++k)
        value |= uint64_t(*local_byte(w, offset + uint32_t(k), int(lane))) << (8 * k);
  } else if (const auto a = w.worker->memory->find(address);
             a && address + uint64_t(bytes) <= a->end()) {
    std::memcpy(&value, w.worker->memory->place(address), size_t(bytes));
  }
  return value;
}

std::string read_string(const Warp& w, uint32_t lane, uint64_t address) {
  std::string text;
  if (address == 0) return "(null)";
  while (text.size() < 65536) {
    const char c = char(read_argument(w, lane, address + text.size(), 1));
    if (!c) break;
    text.push_back(c);
  }
  return text;
}

}  // namespace

void device_printf(Warp& w, uint32_t lane, uint64_t format_address, uint64_t arguments) {
  const std::string format = read_string(w, lane, format_address);
  std::string out;
  uint64_t at = arguments;
  const auto next = [&](int bytes) {
    at = (at + uint64_t(bytes) - 1) / uint64_t(bytes) * uint64_t(bytes);
    const uint64_t value = read_argument(w, lane, at, bytes);
    at += uint64_t(bytes);
    return value;
  };
  char text[512];
  for (size_t i = 0; i < format.size();) {
    if (format[i] != '%') {
      out.push_back(format[i++]);
      continue;
    }
    if (i + 1 < format.size() && format[i + 1] == '%') {
      out.push_back('%');
      i += 2;
      continue;
    }
    // One conversion: flags, width, precision, length, letter. Stars take their values from the
    // arguments.
    std::string spec = "%";
    bool is_long = false;
    size_t k = i + 1;
    for (; k < format.size() && !std::strchr("diouxXeEfFgGaAcsp", format[k]); ++k) {
      if (format[k] == '*') {
        spec += std::to_string(int32_t(next(4)));
      } else if (format[k] == 'l' || format[k] == 'j' || format[k] == 'z' || format[k] == 't') {
        is_long = true;
      } else if (format[k] != 'h') {
        spec.push_back(format[k]);
      }
    }
    if (k >= format.size()) {
      out += format.substr(i);
      break;
    }
    const char letter = format[k];
    i = k + 1;
    int length = 0;
    switch (letter) {
      case 'd':
      case 'i':
        spec += is_long ? "lld" : "d";
        length = is_long ? std::snprintf(text, sizeof text, spec.c_str(), (long long)next(8))
                         : std::snprintf(text, sizeof text, spec.c_str(), int32_t(next(4)));
        break;
      case 'o':
      case 'u':
      case 'x':
      case 'X':
        spec += is_long ? "ll" : "";
        spec.push_back(letter);
        length = is_long
                     ? std::snprintf(text, sizeof text, spec.c_str(), (unsigned long long)next(8))
                     : std::snprintf(text, sizeof text, spec.c_str(), uint32_t(next(4)));
        break;
      case 'c':
        spec.push_back('c');
        length = std::snprintf(text, sizeof text, spec.c_str(), int(next(4)));
        break;
      case 'p':
        spec.push_back('p');
        length = std::snprintf(text, sizeof text, spec.c_str(), reinterpret_cast<void*>(next(8)));
        break;
      case 's': {
        spec.push_back('s');
        const std::string value = read_string(w, lane, next(8));
        const int needed = std::snprintf(nullptr, 0, spec.c_str(), value.c_str());
        std::string whole(size_t(std::max(needed, 0)) + 1, '\0');
        std::snprintf(whole.data(), whole.size(), spec.c_str(), value.c_str());
        whole.pop_back();
        out += whole;
        continue;
      }
      default: {
        spec.push_back(letter);
        const uint64_t bits = next(8);
        double value;
        std::memcpy(&value, &bits, sizeof value);
        length = std::snprintf(text, sizeof text, spec.c_str(), value);
      }
    }
    out.append(text, size_t(std::min<int>(std::max(length, 0), sizeof text - 1)));
  }
  const std::lock_guard lock(mutex);
  pending() += out;
  if (pending().size() > kFlushBytes) flush_locked();
}

void flush_device_printf() {
  const std::lock_guard lock(mutex);
  flush_locked();
}

}  // namespace ridge::vm
