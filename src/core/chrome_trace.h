// A timeline of a device's work, as chrome://tracing and Perfetto read it: one row per stream.
//
// The file is a JSON array with one event per line. Every event is one append of a whole line, so
// several threads and several processes may write to one file, and a process that dies loses
// nothing that was finished. Whoever made the file writes its brackets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ridge {

class ChromeTrace {
 public:
  struct Time {
    uint64_t start, end;  // nanoseconds of the monotonic clock
  };
  enum class Memory : uint8_t { pageable, pinned, device, managed };

  explicit ChromeTrace(const std::string& path);  // which exists
  ~ChromeTrace();
  ChromeTrace(const ChromeTrace&) = delete;
  ChromeTrace& operator=(const ChromeTrace&) = delete;

  void name_process(std::string_view device) const;
  void name_row(uint64_t row, std::string_view name) const;

  void kernel(uint64_t row, Time time, const std::string& symbol, const uint32_t (&grid)[3],
              const uint32_t (&block)[3], uint32_t dynamic_shared) const;
  void copy(uint64_t row, Time time, Memory from, Memory to, uint64_t bytes) const;
  void fill(uint64_t row, Time time, uint64_t bytes) const;
  void host_function(uint64_t row, Time time, const std::string& symbol) const;

 private:
  void append(const std::string& line) const;
  void span(uint64_t row, Time time, std::string_view name, std::string_view category,
            const std::string& arguments) const;
  int file_;
};

}  // namespace ridge
