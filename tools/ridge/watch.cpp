// Files are checked ten times per second. That is cheap, and it works whether an editor writes into
// a file or replaces it.
#include "watch.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ending.h"
#include "terminal.h"

namespace ridge::tools {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto kPeriod = std::chrono::milliseconds(100);

// What changes when a file does. One that is not there has a stamp, too.
struct Stamp {
  ino_t file = 0;
  off_t size = 0;
  std::pair<time_t, long> changed = {};  // seconds and nanoseconds
  bool operator==(const Stamp&) const = default;
};
Stamp stamp_of(const fs::path& file) {
  struct stat facts = {};
  if (stat(file.c_str(), &facts) != 0) return {};
  return {facts.st_ino, facts.st_size, {facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec}};
}

using Stamps = std::map<fs::path, Stamp>;
Stamps stamps_of(const std::vector<fs::path>& files) {
  Stamps stamps;
  for (const fs::path& file : files) stamps[file] = stamp_of(file);
  return stamps;
}

// The user's own among the files that the compiler read.
std::vector<fs::path> own_files(const ProgramRequest& request,
                                const std::vector<fs::path>& inputs) {
  std::vector<fs::path> files = {fs::absolute(request.file)};
  for (const fs::path& input : inputs)
    if (!input.string().starts_with("/usr/") && !std::ranges::count(files, input))
      files.push_back(input);
  return files;
}

// Waits until one of the files has changed and none has changed for a while: some editors write
// twice, or remove or empty a file before they write the new one.
void wait_for_change(const ProgramRequest& request, const Stamps& before,
                     const std::vector<fs::path>& files) {
  Stamps last = before;
  bool changed = false;
  while (true) {
    std::this_thread::sleep_for(kPeriod);
    Stamps now = stamps_of(files);
    const bool at_rest = now == last;
    changed = changed || now != before;
    if (changed && at_rest && stamp_of(request.file).size > 0) return;
    last = std::move(now);
  }
}

std::string time_of_day() {
  const std::time_t now = std::time(nullptr);
  char text[16] = {};
  std::strftime(text, sizeof text, "%H:%M:%S", std::localtime(&now));
  return text;
}

std::string or_headers(size_t count) {
  if (count == 0) return "";
  return count == 1 ? " or its header" : fmt::format(" or one of its {} headers", count);
}

// What was on the screen belongs to the run before.
void clear_screen() {
  if (!understands_escapes(STDOUT_FILENO)) return;
  std::fputs("\033[H\033[2J\033[3J", stdout);
  std::fflush(stdout);
}

}  // namespace

Status check_watch(const ProgramRequest& request) {
  if (!request.watch || fs::is_regular_file(request.file)) return Status::ok();
  return Error{kUsage,
               fmt::format("--watch waits for changes of a file, and {} is none", request.file)};
}

int watch(ProgramRequest& request, const std::function<int()>& once) {
  std::vector<fs::path> inputs;
  request.inputs = &inputs;
  std::vector<fs::path> files = own_files(request, inputs);
  Stamps before = stamps_of(files);
  while (true) {
    const auto start = Clock::now();
    timespec wall = {};
    clock_gettime(CLOCK_REALTIME, &wall);
    const std::pair<time_t, long> began = {wall.tv_sec, wall.tv_nsec};
    const int code = once();
    if (was_interrupted()) return kInterrupted;
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    files = own_files(request, inputs);
    for (const fs::path& file : files) {
      const Stamp now = stamp_of(file);  // of a header that was not known before the run
      before.try_emplace(file, now.changed < began ? now : Stamp());
    }
    std::erase_if(before,
                  [&](const auto& entry) { return !std::ranges::count(files, entry.first); });
    std::fflush(stdout);
    complain(
        fmt::format("{}: exit code {} after {:.1f} s; waiting for a change of {}{} (Ctrl-C ends)",
                    time_of_day(), code, seconds, request.file, or_headers(files.size() - 1)));
    wait_for_change(request, before, files);
    before = stamps_of(files);
    clear_screen();
  }
}

}  // namespace ridge::tools
