// ridge test: known here for help and completion; the script ./ridge does the work.
#include "flags.h"
#include "terminal.h"
#include "verb.h"

namespace ridge::tools {
namespace {

int test_main(const Arguments& arguments) {
  CommandLine line("test", "Builds everything and runs every test. Call it as ./ridge test.");
  line.add_footer(
      "All arguments go to ctest: ./ridge test -R cudart runs the tests whose name contains "
      "cudart.");
  if (const auto done = line.describe(arguments)) return *done;
  complain("`test` builds first, so it belongs to the script: ./ridge test");
  return kUsage;
}

}  // namespace

extern const Verb test_verb = {
    .position = 90,
    .name = "test",
    .summary = "build and run every test (./ridge test)",
    .main = test_main,
};

}  // namespace ridge::tools
