#include <cstdio>
#include <string_view>

#include "commands.h"

using namespace ridge::ladders;

int main(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  const auto options = read_options(argc, argv);
  if (!options) return fail(options.error());
  if (command == "list") return list(*options);
  if (command == "verify") return verify(*options);
  if (command == "climb") return climb(*options);
  if (command == "explain") return explain(*options);
  if (command == "launch") return launch(*options);
  std::fprintf(stderr,
               "usage: ridge_ladders list|verify|climb|explain|launch [operator…] [options]\n");
  return 2;
}
