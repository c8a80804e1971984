#include "vm/report/sink.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "vm/report/text.h"

namespace ridge::vm::report {
namespace {

using Key = std::tuple<std::string, std::string, std::string>;  // kind, kernel, place

struct Seen {
  uint64_t id = 0, count = 0;
};

// Never destroyed: threads of the program may tell something while it exits.
struct Sink {
  std::mutex mutex;
  std::FILE* file = nullptr;
  bool says = true;
  std::map<Key, Seen> seen;
  uint64_t last_id = 0;
  bool ended = false;
  std::atomic<void (*)(std::string_view)> listener{nullptr};

  void write_line(const std::string& line) {
    if (!file) return;
    std::fputs((line + "\n").c_str(), file);
    std::fflush(file);  // the program may end at any moment
  }
};

Sink& sink() {
  static Sink& instance = *new Sink;
  return instance;
}

Key key_of(const Finding& f) {
  const Place& p = f.place();
  std::string place = (p.line ? p.file + ":" + std::to_string(p.line)
                              : p.function + ":" + std::to_string(p.ptx_line)) +
                      " " + p.instruction;
  if (!p.known()) place = f.message;
  return {f.kind, f.kernel, place};
}

std::string id_member(uint64_t id) { return ", \"id\": " + std::to_string(id); }

void say(const Finding& f) {
  const bool terminal = isatty(STDERR_FILENO);
  // A failing call is one line, unless a person looks: the program may report it, too.
  const bool short_form = f.kind == "failed-call" && !terminal;
  const std::string text =
      short_form ? to_line(f) + "\n"
                 : to_text(f, {.colour = wants_colour(STDERR_FILENO), .excerpt = true});
  flockfile(stderr);  // one piece among those of other threads
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
  funlockfile(stderr);
  if (const auto listener = sink().listener.load()) listener(text);
}

}  // namespace

bool open_sink(const std::string& path, bool says) {
  Sink& s = sink();
  const std::lock_guard lock(s.mutex);
  s.says = says;
  if (path.empty()) return true;
  s.file = std::fopen(path.c_str(), "we");
  return s.file != nullptr;
}

bool tell(const Finding& f) {
  Sink& s = sink();
  {
    const std::lock_guard lock(s.mutex);
    Seen& seen = s.seen[key_of(f)];
    if (++seen.count > 1) {
      s.write_line("{\"of\": " + std::to_string(seen.id) +
                   ", \"count\": " + std::to_string(seen.count) + "}");
      return false;
    }
    seen.id = ++s.last_id;
    s.write_line(to_json(f, id_member(seen.id)));
    if (!s.says) return true;
  }
  say(f);
  return true;
}

uint64_t write(const Finding& f) {
  Sink& s = sink();
  const std::lock_guard lock(s.mutex);
  const uint64_t id = ++s.last_id;
  s.write_line(to_json(f, id_member(id)));
  return id;
}

void rewrite(uint64_t id, const Finding& f) {
  Sink& s = sink();
  const std::lock_guard lock(s.mutex);
  s.write_line(to_json(f, id_member(id)));
}

void withdraw(uint64_t id) {
  Sink& s = sink();
  const std::lock_guard lock(s.mutex);
  s.write_line("{\"withdrawn\": " + std::to_string(id) + "}");
}

void write_count(uint64_t id, uint64_t count) {
  Sink& s = sink();
  const std::lock_guard lock(s.mutex);
  s.write_line("{\"of\": " + std::to_string(id) + ", \"count\": " + std::to_string(count) + "}");
}

void write_end(uint64_t launches) {
  Sink& s = sink();
  const std::lock_guard lock(s.mutex);
  if (std::exchange(s.ended, true)) return;
  s.write_line("{\"finished\": true, \"launches\": " + std::to_string(launches) + "}");
}

void on_text(void (*listener)(std::string_view text)) { sink().listener = listener; }

}  // namespace ridge::vm::report
