#include "ending.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>

namespace ridge::tools {
namespace {

namespace fs = std::filesystem;

constexpr auto kTimeToDie =
    std::chrono::seconds(2);  // between asking a program to end and ending it

struct State {
  std::mutex mutex;
  std::condition_variable program_ended;
  std::set<pid_t> programs;
  std::set<fs::path> folders;
  bool ending = false;
  std::atomic<bool> interrupted = false;
  sigset_t before;  // the blocked signals that we were started with
  sigset_t obeyed;
  bool listens = false;
};
State& state() {
  static State& instance = *new State;  // a thread uses it until the very end
  return instance;
}

// Those that we would obey: nohup and background jobs have some of them ignored.
sigset_t obeyed_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
      sigaddset(&signals, signal);
  }
  return signals;
}

void end_programs(std::unique_lock<std::mutex>& lock, int signal) {
  State& s = state();
  const auto none_left = [&] { return s.programs.empty(); };
  for (const pid_t program : s.programs) kill(program, signal);
  if (s.program_ended.wait_for(lock, kTimeToDie, none_left)) return;
  for (const pid_t program : s.programs) kill(program, SIGKILL);
  s.program_ended.wait_for(lock, kTimeToDie, none_left);
}

// What an ended program started in turn may live a moment longer, and write another file.
void remove_folders() {
  for (const fs::path& folder : state().folders) {
    std::error_code error;
    fs::remove_all(folder, error);
    for (int again = 0; again < 20 && fs::exists(folder, error); ++again) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      fs::remove_all(folder, error);
    }
  }
}

[[noreturn]] void end_of(int signal, std::unique_lock<std::mutex>& lock) {
  state().ending = true;
  end_programs(lock, signal);
  remove_folders();
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  raise(signal);  // with the default action, so that whoever started us sees why we ended
  std::_Exit(128 + signal);
}

// Takes what has been sent to us, with the lock held: a Ctrl-C belongs to the program that was
// running when it came, and that program may end before anyone here has looked.
void take_signals(std::unique_lock<std::mutex>& lock, bool program_runs) {
  const timespec at_once = {};
  siginfo_t info = {};
  for (int signal; (signal = sigtimedwait(&state().obeyed, &info, &at_once)) > 0;) {
    const bool from_keyboard = info.si_code == SI_KERNEL && (signal == SIGINT || signal == SIGQUIT);
    if (!from_keyboard || !program_runs) end_of(signal, lock);
    state().interrupted = true;
  }
}

void listen(int signals) {
  while (true) {
    pollfd event = {signals, POLLIN, 0};
    poll(&event, 1, -1);
    std::unique_lock lock(state().mutex);
    if (!state().ending) take_signals(lock, !state().programs.empty());
  }
}

}  // namespace

void listen_for_signals() {
  State& s = state();
  s.obeyed = obeyed_signals();
  pthread_sigmask(SIG_BLOCK, &s.obeyed, &s.before);  // in all threads
  s.listens = true;
  std::thread(listen, signalfd(-1, &s.obeyed, SFD_CLOEXEC)).detach();
}

void restore_signals() {
  if (state().listens) pthread_sigmask(SIG_SETMASK, &state().before, nullptr);
}

bool was_interrupted() { return state().interrupted; }

RunningProgram::RunningProgram(pid_t id) : id_(id) {
  const std::lock_guard lock(state().mutex);
  state().programs.insert(id_);
}

RunningProgram::~RunningProgram() {
  std::unique_lock lock(state().mutex);
  state().programs.erase(id_);
  state().program_ended.notify_all();
  if (state().listens && !state().ending) take_signals(lock, /*program_runs=*/true);
  const bool ending = state().ending;
  lock.unlock();
  while (ending) pause();  // there is nothing left to report
}

void remove_at_the_end(const fs::path& folder) {
  const std::lock_guard lock(state().mutex);
  state().folders.insert(folder);
}

void already_removed(const fs::path& folder) {
  const std::lock_guard lock(state().mutex);
  state().folders.erase(folder);
}

}  // namespace ridge::tools
