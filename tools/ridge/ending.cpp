#include "ending.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
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

void listen(sigset_t signals) {
  State& s = state();
  while (true) {
    siginfo_t info = {};
    const int signal = sigwaitinfo(&signals, &info);
    if (signal < 0) continue;
    std::unique_lock lock(s.mutex);
    const bool from_keyboard = info.si_code == SI_KERNEL && (signal == SIGINT || signal == SIGQUIT);
    if (from_keyboard && !s.programs.empty()) {
      s.interrupted = true;
      continue;
    }
    s.ending = true;
    end_programs(lock, signal);
    remove_folders();
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
    raise(signal);  // with the default action, so that whoever started us sees why we ended
  }
}

}  // namespace

void listen_for_signals() {
  State& s = state();
  const sigset_t signals = obeyed_signals();
  pthread_sigmask(SIG_BLOCK, &signals, &s.before);  // in all threads: only listen() takes them
  s.listens = true;
  std::thread(listen, signals).detach();
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
