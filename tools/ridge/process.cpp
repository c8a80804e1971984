#include "process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "ending.h"

namespace ridge::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSecondsToDie = 1;  // between asking a program to end and ending it

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Pipe {
  int ends[2] = {-1, -1};
  bool open() { return pipe2(ends, O_CLOEXEC) == 0; }
  void close(int end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
  ~Pipe() { close(0), close(1); }
};

[[noreturn]] void become(const Command& command, int output, int error_pipe) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody would wait for it without us
  restore_signals();
  if (output >= 0) dup2(output, STDOUT_FILENO);
  if (command.capture) dup2(output, STDERR_FILENO);
  for (const auto& [name, value] : command.environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> argv = {const_cast<char*>(command.program.c_str())};
  for (const std::string& argument : command.arguments)
    argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  if (command.folder.empty() || chdir(command.folder.c_str()) == 0)
    execvp(command.program.c_str(), argv.data());
  const int error = errno;
  const ssize_t written = write(error_pipe, &error, sizeof error);
  _exit(written == sizeof error ? 127 : 126);
}

void drain(int from, std::string& into) {
  char buffer[65536];
  while (true) {
    const ssize_t count = read(from, buffer, sizeof buffer);
    if (count > 0) into.append(buffer, size_t(count));
    if (count == 0 || (count < 0 && errno != EINTR)) return;
  }
}

// Hands on the whole lines, and leaves what has no end yet. What is printed of them appears at once:
// somebody may be waiting for it at the other end of a pipe.
void hand_on_lines(const Command& command, std::string& output) {
  if (!command.line) return;
  size_t begin = 0;
  for (size_t end; (end = output.find('\n', begin)) != std::string::npos; begin = end + 1)
    command.line(output.substr(begin, end - begin));
  output.erase(0, begin);
  if (begin > 0 && std::fflush(stdout) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot write to stdout");
}

}  // namespace

Outcome run(const Command& command) {
  Outcome outcome;
  Pipe output, errors;
  const bool reading = command.capture || command.line;
  if (!errors.open() || (reading && !output.open())) {
    outcome.start_error = errno;
    return outcome;
  }
  const auto start = Clock::now();
  const pid_t child = fork();
  if (child < 0) {
    outcome.start_error = errno;
    return outcome;
  }
  if (child == 0) become(command, output.ends[1], errors.ends[1]);
  const RunningProgram running(child);  // a signal that ends us ends it first
  output.close(1);
  errors.close(1);
  if (output.ends[0] >= 0) fcntl(output.ends[0], F_SETFL, O_NONBLOCK);

  // Sleep until it ends, writes, or a tenth of a second has passed.
  const int ended = int(syscall(SYS_pidfd_open, child, 0));
  int status = 0;
  double asked_to_end = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    pollfd events[] = {{output.ends[0], POLLIN, 0}, {ended, POLLIN, 0}};
    poll(events, 2, ended >= 0 ? 100 : 5);
    if (reading) {
      drain(output.ends[0], outcome.output);
      hand_on_lines(command, outcome.output);
      if (events[0].revents & POLLHUP)
        output.close(0);  // closed early; poll() skips it from now on
    }
    const double now = seconds_since(start);
    if (command.tick) command.tick(now);
    if (command.kill_after > 0 && now > command.kill_after) {
      if (!outcome.killed) {
        outcome.killed = true;
        asked_to_end = now;
        kill(child, SIGTERM);
      } else if (now > asked_to_end + kSecondsToDie) {
        kill(child, SIGKILL);
      }
    }
  }
  if (ended >= 0) close(ended);
  outcome.seconds = seconds_since(start);
  if (output.ends[0] >= 0) drain(output.ends[0], outcome.output);
  hand_on_lines(command, outcome.output);

  int error = 0;
  if (read(errors.ends[0], &error, sizeof error) == sizeof error) outcome.start_error = error;
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  return outcome;
}

}  // namespace ridge::tools
