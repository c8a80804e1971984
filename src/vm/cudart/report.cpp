#include "vm/cudart/report.h"

#include <cstdio>
#include <mutex>
#include <set>
#include <string>

#include "vm/cudart/logs.h"

namespace ridge::vm::cudart {

void report_verbatim(std::string_view text) {
  flockfile(stderr);  // one line among those of other threads, with nothing allocated
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fputc('\n', stderr);
  std::fflush(stderr);
  funlockfile(stderr);
  log_message(text);
}

void report(std::string_view text) { report_verbatim("ridge: " + std::string(text)); }

void report_once(std::string_view key, std::string_view text) {
  static std::mutex& mutex = *new std::mutex;
  static std::set<std::string, std::less<>>& seen = *new std::set<std::string, std::less<>>;
  {
    const std::lock_guard lock(mutex);
    if (!seen.emplace(key).second) return;
  }
  report(text);
}

}  // namespace ridge::vm::cudart
