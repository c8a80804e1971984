#include "vm/cudart/logs.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace ridge::vm::cudart {
namespace {

constexpr size_t kRemembered = 100;

struct Log {
  std::mutex mutex;
  std::deque<std::string> messages;
  unsigned end = 0;  // the next message's position
  std::vector<std::shared_ptr<LogCallback>> callbacks;
};
Log& log() {
  static auto& instance = *new Log;
  return instance;
}
using Lock = std::lock_guard<std::mutex>;

}  // namespace

// A message there is no memory for is not kept; it has been on stderr.
void log_message(std::string_view text) try {
  std::vector<std::shared_ptr<LogCallback>> callbacks;
  {
    const Lock lock(log().mutex);
    log().messages.emplace_back(text);
    ++log().end;
    if (log().messages.size() > kRemembered) log().messages.pop_front();
    callbacks = log().callbacks;
  }
  for (const auto& callback : callbacks) {  // which may read the log
    std::string message(text);
    (*callback)(message);
  }
} catch (const std::bad_alloc&) {
}

unsigned log_end() {
  const Lock lock(log().mutex);
  return log().end;
}

std::string log_since(unsigned position, size_t most, bool* truncated) {
  const Lock lock(log().mutex);
  const auto& all = log().messages;
  const unsigned oldest = log().end - unsigned(all.size());
  std::string text;
  *truncated = position < oldest;
  for (unsigned at = log().end; at > std::max(position, oldest); --at) {
    const std::string line = all[at - 1 - oldest] + "\n";
    if (text.size() + line.size() > most) {
      *truncated = true;
      break;
    }
    text.insert(0, line);
  }
  return text;
}

const void* add_log_callback(LogCallback callback) {
  const Lock lock(log().mutex);
  log().callbacks.push_back(std::make_shared<LogCallback>(std::move(callback)));
  return log().callbacks.back().get();
}

bool remove_log_callback(const void* handle) {
  const Lock lock(log().mutex);
  return std::erase_if(log().callbacks, [&](const auto& c) { return c.get() == handle; }) > 0;
}

}  // namespace ridge::vm::cudart
