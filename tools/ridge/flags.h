// The command line of a verb: the flags and the manners that all verbs share. CLI11 stays behind
// it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/status.h"
#include "verb.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace ridge::tools {

struct DeviceFlags {
  std::string device = "auto";  // auto, gpu or vm
  std::string gpu;              // what the software GPU says it is
  unsigned threads = 0;         // CPU threads of the software GPU; 0: one per core
};

class CommandLine {
 public:
  CommandLine(const std::string& verb, const std::string& summary);
  ~CommandLine();

  // A verb's own.
  void add_argument(const char* name, std::string& value, const char* help);
  void add_argument(const char* name, std::string& value, const char* help,
                    const std::vector<std::string>& choices);
  void add_arguments(const char* name, std::vector<std::string>& values, const char* help);
  void add_option(const char* name, std::string& value, const char* kind, const char* help);
  // One that may be given several times.
  void add_option(const char* name, std::vector<std::string>& values, const char* kind,
                  const char* help);
  void add_flag(const char* name, bool& value, const char* help);
  void add_footer(const char* text);
  // Flags that the verb does not know, such as `--rows 4096` or `--alpha=2`, in their order: sizes
  // and parameters of an operator, which its description knows.
  using Settings = std::vector<std::pair<std::string, std::string>>;  // "rows", "4096"
  void add_settings(Settings& settings) { settings_ = &settings; }
  std::vector<std::string> flag_names() const;  // "--json"

  // Those that mean the same everywhere.
  void add_device(DeviceFlags& flags);
  void add_observed_device(DeviceFlags& flags);  // of verbs for which only the software GPU will do
  void add_threads(DeviceFlags& flags);
  void add_timeout(double& seconds);
  void add_json(std::string& file);
  void add_quiet(bool& quiet);
  void add_watch(bool& watch);

  // An exit code, if the verb has nothing left to do: help was printed, or the user was told what
  // is wrong. With `tail`, the arguments after a bare `--` are put there, unread.
  std::optional<int> parse(const Arguments& arguments, Arguments* tail = nullptr);

  // Answers --help and --describe-flags, and ignores all other arguments.
  std::optional<int> describe(const Arguments& arguments, bool has_tail = false) const;

 private:
  void add_device(DeviceFlags& flags, const char* help);
  void add_choice(const char* name, std::string& value, const char* kind, const std::string& help,
                  const std::string& what, const std::vector<std::string>& choices);
  std::string verb_;
  std::unique_ptr<CLI::App> app_;
  std::map<const CLI::Option*, std::vector<std::string>> choices_;
  Settings* settings_ = nullptr;
  void take_settings(Arguments& arguments) const;
  bool no_color_ = false;
};

// The number that `flag` was given, at least `least`.
Expected<uint64_t> whole_number(const std::string& text, const char* flag, uint64_t least = 0);

}  // namespace ridge::tools
