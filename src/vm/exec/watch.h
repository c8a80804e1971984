// Watches running launches from a thread of its own: the time limit, and the progress line of long
// kernels.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace ridge::vm {

struct GridRun;

class Watch {
 public:
  Watch(double timeout_seconds, bool progress) : timeout_(timeout_seconds), progress_(progress) {}
  ~Watch();
  void begin(GridRun* grid);
  void end(GridRun* grid);

 private:
  void loop();
  void show(const GridRun& grid, double seconds);
  void clear_line();

  double timeout_;
  bool progress_;
  bool closing_ = false, line_shown_ = false;
  double last_shown_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<GridRun*> grids_;
  std::thread thread_;
};

// Between begin and end.
class Watched {
 public:
  Watched(Watch& watch, GridRun& grid) : watch_(watch), grid_(grid) { watch_.begin(&grid_); }
  ~Watched() { watch_.end(&grid_); }
  Watched(const Watched&) = delete;

 private:
  Watch& watch_;
  GridRun& grid_;
};

}  // namespace ridge::vm
