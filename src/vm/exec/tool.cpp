#include "vm/exec/tool.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

extern char** environ;

namespace ridge::vm {
namespace {

constexpr auto kPatience = std::chrono::seconds(60);  // for one kernel

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string name_of_program(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::string run_tool(const std::vector<std::string>& command, const std::string& out,
                     const std::string& err) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out.c_str(), kWrite, 0600);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err.c_str(), kWrite, 0600);
  pid_t child = 0;
  const int failed =
      posix_spawn(&child, command[0].c_str(), &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  const std::string name = name_of_program(command[0]);
  if (failed) return name + " does not start: " + std::strerror(failed);
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) {
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
      const std::string words = contents(err);
      return name +
             " failed: " + (words.empty() ? "without a word" : words.substr(0, words.find('\n')));
    }
    // A program that ignores its children: how this one ended is seen by what it left.
    if (ended < 0 && errno != EINTR) return {};
    if (std::chrono::steady_clock::now() - start > kPatience) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return name + " took too long";
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace ridge::vm
