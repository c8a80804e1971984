// The table of counters in docs/profile.md, made from src/vm/observe/counters.def.
//
//   counters_docs FILE            writes the table again
//   counters_docs --check FILE    fails where the file has another one
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "vm/observe/counters.h"

namespace {

constexpr char kBegin[] =
    "<!-- counters: made by counters_docs from src/vm/observe/counters.def -->\n";
constexpr char kEnd[] = "<!-- end of counters -->\n";

std::string table() {
  std::string text =
      "| counter | people read | column of the CSV | what it is |\n|---|---|---|---|\n";
  for (const ridge::vm::observe::Counter& counter : ridge::vm::observe::kCounters)
    text += std::string("| `") + counter.name + "` | " + counter.label + " | " +
            (counter.column ? "`" + std::string(counter.column) + "`" : "") + " | " +
            counter.meaning + " |\n";
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  const bool check = argc == 3 && !std::strcmp(argv[1], "--check");
  if (argc != 2 && !check) {
    std::fprintf(stderr, "usage: counters_docs [--check] docs/profile.md\n");
    return 2;
  }
  const char* const file = argv[argc - 1];
  std::ifstream in(file);
  const std::string before{std::istreambuf_iterator<char>(in), {}};
  const size_t begin = before.find(kBegin), end = before.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    std::fprintf(stderr, "%s has no place for the table: it needs the lines\n%s%s", file, kBegin,
                 kEnd);
    return 1;
  }
  const std::string after =
      before.substr(0, begin + std::strlen(kBegin)) + table() + before.substr(end);
  if (!check) return (std::ofstream(file) << after).flush() ? 0 : 1;
  if (after == before) return 0;
  std::fprintf(stderr, "the table in %s is not that of counters.def: run %s %s\n", file, argv[0],
               file);
  return 1;
}
