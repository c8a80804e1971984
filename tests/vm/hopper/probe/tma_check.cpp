// Holds the model of TMA against recorded results.
//
//   tma_check FILE [RAW [ONLY]]   FILE as tma_record wrote it; prints cases that differ. With RAW
//                                 also which bytes; ONLY: names that contain it
#include <cstdio>
#include <fstream>
#include <map>

#include "tma_model.h"

using namespace ridge::hopper;

namespace {
// The text after `name` up to the next blank.
std::string field(const std::string& line, const std::string& name) {
  const size_t at = line.find(name);
  return at == std::string::npos
             ? ""
             : line.substr(at + name.size(), line.find(' ', at) - at - name.size());
}

void show_bytes(const std::vector<uint8_t>& seen, const std::vector<uint8_t>& mine) {
  size_t first = 0;
  while (first < mine.size() && seen[first] == mine[first]) ++first;
  std::printf("  from %zu on:", first);
  for (size_t i = first; i < std::min(first + 32, mine.size()); ++i)
    std::printf(" %02x/%02x", seen[i], mine[i]);
  std::printf("\n");
}
}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::ifstream file(argv[1]), raw(argc > 2 ? argv[2] : "", std::ios::binary);
  const std::string only = argc > 3 ? argv[3] : "";
  struct Count {
    int right = 0, wrong = 0, stopped = 0;
  };
  std::map<std::string, Count> groups;
  int wrong = 0;
  for (const TmaCase& c : tma_cases()) {
    std::string line;
    std::getline(file, line);
    const std::string name = c.name();
    if (line.substr(0, line.find('\t')) != name)
      return std::printf("not the same cases: %s\n", line.c_str()), 2;
    Count& count = groups[c.group];
    if (field(line, "error=") != "cudaSuccess") {
      ++count.stopped;
      continue;
    }
    std::vector<uint8_t> seen;
    uint32_t head[2];
    if (raw.read(reinterpret_cast<char*>(head), 8)) {
      seen.resize(head[1]);
      raw.read(reinterpret_cast<char*>(seen.data()), head[1]);
    }
    if (name.find(only) == std::string::npos) continue;
    const auto mine = tma_result(c);
    size_t end = mine.size();  // of a load only what was written counts
    if (c.op == TmaOp::load)
      while (end && mine[end - 1] == kPoison) --end;
    bool same =
        std::stoul(field(line, "hash="), nullptr, 16) == uint32_t(hash_bytes(mine.data(), end));
    // The mbarrier counts what is left, as a negative number in bits 21 … 41.
    const std::string words = field(line, "words=");
    const uint64_t before = std::stoull(words.substr(0, 16), nullptr, 16);
    const uint64_t after = std::stoull(words.substr(17), nullptr, 16);
    const uint32_t reported = c.op == TmaOp::load ? tma_bytes(c) : 0;
    if (after - before != uint64_t(reported) << 21) same = false;
    ++(same ? count.right : count.wrong);
    if (same) continue;
    ++wrong;
    std::printf("%s: differs; %u bytes reported, %u by the model\n", name.c_str(),
                uint32_t((after - before) >> 21), reported);
    if (seen.empty()) continue;
    seen.resize(mine.size(), kPoison);
    show_bytes(seen, mine);
  }
  for (const auto& [name, n] : groups)
    std::printf("%-12s %d right, %d wrong, %d ended with an error\n", name.c_str(), n.right,
                n.wrong, n.stopped);
  return wrong != 0;
}
