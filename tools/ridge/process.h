// Runs another program and waits for it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ridge::tools {

using Environment = std::vector<std::pair<std::string, std::string>>;

struct Command {
  std::string program = {};  // a path, or a name to look up on PATH
  std::vector<std::string> arguments = {};
  Environment environment = {};       // over ours
  std::filesystem::path folder = {};  // where it runs; empty: here
  bool capture = false;               // its stdout and stderr, in order, into Outcome::output
  std::function<void(const std::string& line)> line = {};  // of its stdout, as they come
  double kill_after = 0;                                   // seconds; 0: never
  std::function<void(double seconds)> tick = {};           // about ten times a second while it runs
};

struct Outcome {
  int start_error = 0;  // errno, if it never ran
  int exit_code = 0;
  int signal = 0;       // that ended it
  bool killed = false;  // by kill_after
  double seconds = 0;
  std::string output;

  bool ok() const { return start_error == 0 && exit_code == 0 && signal == 0; }
};

Outcome run(const Command& command);

}  // namespace ridge::tools
