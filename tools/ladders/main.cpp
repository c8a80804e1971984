#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "commands.h"

using namespace ridge::ladders;

int main(int argc, char** argv) {
  // What verifies kernels stops at the exact end of an array, on the software GPU.
  setenv("RIDGE_STRICT", "1", 1);
  const std::string_view command = argc > 1 ? argv[1] : "";
  const auto options = read_options(argc, argv);
  if (!options) return fail(options.error());
  const std::pair<const char*, int (*)(const Options&)> commands[] = {
      {"list", list},       {"verify", verify}, {"climb", climb},
      {"explain", explain}, {"launch", launch}, {"export", export_case}};
  for (const auto& [name, run] : commands)
    if (command == name) return run(*options);
  std::fprintf(
      stderr,
      "usage: ridge_ladders list|verify|climb|explain|launch|export [operator…] [options]\n");
  return 2;
}
