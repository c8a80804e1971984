// ridge install: known here for help and completion; the script ./ridge does the work.
#include "flags.h"
#include "terminal.h"
#include "verb.h"

namespace ridge::tools {
namespace {

int install_main(const Arguments& arguments) {
  std::string prefix;
  bool all = false;
  CommandLine line("install",
                   "Installs the command, the software GPU and the headers as a tree that can be "
                   "moved. Call it as ./ridge install.");
  line.add_option("--prefix", prefix, "DIR",
                  "install here (default: /usr/local for root, otherwise ~/.local)");
  line.add_flag("--all", all, "build all families of kernels first, which takes long");
  if (const auto done = line.describe(arguments)) return *done;
  complain("`install` builds first, so it belongs to the script: ./ridge install");
  return kUsage;
}

}  // namespace

extern const Verb install_verb = {
    .position = 100,
    .name = "install",
    .summary = "install the command and the software GPU (./ridge install)",
    .main = install_main,
};

}  // namespace ridge::tools
