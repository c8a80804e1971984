// How `ridge` ends when it is asked to (Ctrl-C, SIGTERM, SIGHUP): first the programs that it
// started end, then its temporary folders are removed, and then it dies of the same signal.
#pragma once

#include <sys/types.h>

#include <filesystem>

namespace ridge::tools {

// Called once by main, before there are other threads. Tests go without.
void listen_for_signals();

// For a forked child: the signals as they were before listen_for_signals().
void restore_signals();

// Whether Ctrl-C was pressed while a program was running. The terminal has sent it to that program
// as well; `ridge` stays alive, to report how the program ended.
bool was_interrupted();

// A program that we wait for, as long as this object lives.
class RunningProgram {
 public:
  explicit RunningProgram(pid_t id);
  ~RunningProgram();  // does not return when `ridge` is about to end
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

 private:
  pid_t id_;
};

// A folder that must not outlive us.
void remove_at_the_end(const std::filesystem::path& folder);
void already_removed(const std::filesystem::path& folder);

}  // namespace ridge::tools
