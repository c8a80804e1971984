#include "core/chrome_trace.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "core/text.h"

namespace ridge {
namespace {

std::string microseconds(uint64_t nanoseconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%llu.%03u", static_cast<unsigned long long>(nanoseconds / 1000),
                unsigned(nanoseconds % 1000));
  return text;
}

std::string triple(const uint32_t (&n)[3]) {
  return "[" + std::to_string(n[0]) + "," + std::to_string(n[1]) + "," + std::to_string(n[2]) + "]";
}

bool on_host(ChromeTrace::Memory memory) {
  return memory == ChromeTrace::Memory::pageable || memory == ChromeTrace::Memory::pinned;
}

std::string_view name_of(ChromeTrace::Memory memory) {
  switch (memory) {
    case ChromeTrace::Memory::pageable: return "pageable";
    case ChromeTrace::Memory::pinned: return "pinned";
    case ChromeTrace::Memory::device: return "device";
    case ChromeTrace::Memory::managed: return "managed";
  }
  return "";
}

std::string place() { return "\"pid\":" + std::to_string(getpid()); }

}  // namespace

ChromeTrace::ChromeTrace(const std::string& path)
    : file_(open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC)) {}

ChromeTrace::~ChromeTrace() {
  if (file_ >= 0) close(file_);
}

void ChromeTrace::append(const std::string& line) const {
  const std::string whole = line + ",\n";
  // A disk that is full ends the trace; the program goes on.
  if (file_ >= 0) [[maybe_unused]]
    const ssize_t written = write(file_, whole.data(), whole.size());
}

void ChromeTrace::name_process(std::string_view device) const {
  append(R"({"ph":"M","name":"process_name",)" + place() + R"(,"args":{"name":)" +
         in_quotes(device) + "}}");
}

void ChromeTrace::name_row(uint64_t row, std::string_view name) const {
  const std::string where = place() + ",\"tid\":" + std::to_string(row);
  append(R"({"ph":"M","name":"thread_name",)" + where + R"(,"args":{"name":)" + in_quotes(name) +
         "}}");
  append(R"({"ph":"M","name":"thread_sort_index",)" + where + R"(,"args":{"sort_index":)" +
         std::to_string(row) + "}}");
}

void ChromeTrace::span(uint64_t row, Time time, std::string_view name, std::string_view category,
                       const std::string& arguments) const {
  append(R"({"ph":"X","name":)" + in_quotes(name) + ",\"cat\":" + in_quotes(category) + "," +
         place() + ",\"tid\":" + std::to_string(row) + ",\"ts\":" + microseconds(time.start) +
         ",\"dur\":" + microseconds(time.end - time.start) + ",\"args\":{" + arguments + "}}");
}

void ChromeTrace::kernel(uint64_t row, Time time, const std::string& symbol,
                         const uint32_t (&grid)[3], const uint32_t (&block)[3],
                         uint32_t dynamic_shared) const {
  span(row, time, demangled(symbol), "kernel",
       "\"grid\":" + triple(grid) + ",\"block\":" + triple(block) +
           ",\"dynamic shared bytes\":" + std::to_string(dynamic_shared));
}

void ChromeTrace::copy(uint64_t row, Time time, Memory from, Memory to, uint64_t bytes) const {
  const std::string name = std::string("copy ") + (on_host(from) ? "host" : "device") + " to " +
                           (on_host(to) ? "host" : "device");
  span(row, time, name, "copy",
       "\"bytes\":" + std::to_string(bytes) + ",\"from\":" + in_quotes(name_of(from)) +
           ",\"to\":" + in_quotes(name_of(to)));
}

void ChromeTrace::fill(uint64_t row, Time time, uint64_t bytes) const {
  span(row, time, "memset", "memset", "\"bytes\":" + std::to_string(bytes));
}

void ChromeTrace::host_function(uint64_t row, Time time, const std::string& symbol) const {
  span(row, time, symbol.empty() ? "host function" : demangled(symbol), "host function", "");
}

}  // namespace ridge
