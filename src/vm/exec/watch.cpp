#include "vm/exec/watch.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "vm/exec/grid.h"

namespace ridge::vm {
namespace {
constexpr auto kPeriod = std::chrono::milliseconds(100);
constexpr double kQuietSeconds = 2;     // no progress line before this
constexpr double kPlainLineEvery = 10;  // seconds between lines where none can be replaced

// Whether a line on stderr can be replaced by the next one.
bool can_replace_lines() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) && terminal && *terminal && std::string_view(terminal) != "dumb";
}
}  // namespace

Watch::~Watch() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Watch::begin(GridRun* grid) {
  if (timeout_ <= 0 && !progress_) return;
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { loop(); });
  grids_.push_back(grid);
  if (grids_.size() == 1) changed_.notify_all();
}

void Watch::end(GridRun* grid) {
  if (timeout_ <= 0 && !progress_) return;
  const std::lock_guard lock(mutex_);
  std::erase(grids_, grid);
  if (line_shown_) clear_line();
}

void Watch::loop() {
  std::unique_lock lock(mutex_);
  while (!closing_) {
    if (grids_.empty()) changed_.wait(lock, [&] { return closing_ || !grids_.empty(); });
    changed_.wait_for(lock, kPeriod, [&] { return closing_; });
    const auto now = std::chrono::steady_clock::now();
    for (GridRun* grid : grids_) {
      const double seconds = std::chrono::duration<double>(now - grid->start).count();
      if (timeout_ > 0 && seconds > timeout_ && !grid->timed_out.exchange(true))
        grid->stop.store(true);
      if (progress_ && seconds > kQuietSeconds && grid == grids_.front()) show(*grid, seconds);
    }
  }
}

void Watch::show(const GridRun& grid, double seconds) {
  const uint64_t done = grid.done.load();
  const bool terminal = can_replace_lines();
  if (!terminal && line_shown_ && seconds - last_shown_ < kPlainLineEvery) return;
  last_shown_ = seconds;
  line_shown_ = true;
  std::fprintf(stderr, "%sridge: %s: %llu of %llu blocks, %.0f s%s", terminal ? "\r\033[K" : "",
               kernel_name(grid).c_str(), static_cast<unsigned long long>(done),
               static_cast<unsigned long long>(grid.blocks), seconds, terminal ? "" : "\n");
  std::fflush(stderr);
}

void Watch::clear_line() {
  if (can_replace_lines()) std::fputs("\r\033[K", stderr);
  line_shown_ = false;
}

}  // namespace ridge::vm
