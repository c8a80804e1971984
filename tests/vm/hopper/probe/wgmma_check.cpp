// Holds the model against recorded results.
//
//   wgmma_check FILE [RAW] [ONLY]   FILE and RAW as wgmma_record wrote them; prints the rounds that
//                                   differ, with RAW also how; ONLY: names that contain it
#include <cstdio>
#include <fstream>
#include <sstream>

#include "wgmma_model.h"

using namespace ridge::hopper;

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::ifstream file(argv[1]);
  std::ifstream raw(argc > 2 ? argv[2] : "/dev/null", std::ios::binary);
  const std::string only = argc > 3 ? argv[3] : "";
  size_t cases = 0, right = 0, rounds = 0;
  for (const WgmmaCase& c : wgmma_cases()) {
    std::string line;
    std::getline(file, line);
    const size_t tab = line.find('\t');
    if (line.substr(0, tab) != c.name())
      return std::printf("not the same cases: %s\n", line.c_str()), 2;
    std::vector<uint32_t> seen(c.n == 8 && raw ? c.output_words() * rounds_of(c) : 0);
    raw.read(reinterpret_cast<char*>(seen.data()), std::streamsize(seen.size() * 4));
    if (c.name().find(only) == std::string::npos) continue;
    ++cases;
    std::istringstream hashes(line.substr(tab + 1));
    std::string text;
    int wrong[kModes] = {}, shown = 0;
    bool fine = true;
    for (int r = 0; r < rounds_of(c); ++r) {
      hashes >> text;
      const auto input = make_input(c, r);
      const auto mine = wgmma_result(c, input);
      ++rounds;
      if (uint32_t(hash_bytes(mine.data(), mine.size() * 4)) == std::stoul(text, nullptr, 16))
        continue;
      fine = false;
      if (seen.empty() || !raw) {
        wrong[mode_of_round(r)] += 1;
        continue;
      }
      for (size_t i = 0; i < mine.size(); ++i) {
        const uint32_t theirs = seen[r * mine.size() + i];
        if (theirs == mine[i]) continue;
        wrong[mode_of_round(r)] += 1;
        if (only.size() && shown++ < 20)
          std::printf("    round %d register %zu thread %zu: %08x, model %08x\n", r, i / 128,
                      i % 128, theirs, mine[i]);
      }
    }
    right += fine;
    if (fine) continue;
    std::printf("%s:", c.name().c_str());
    for (int m = 0; m < kModes; ++m) std::printf(" %d", wrong[m]);
    std::printf("\n");
  }
  std::printf("%zu of %zu cases agree in every bit (%zu rounds)\n", right, cases, rounds);
  return right == cases ? 0 : 1;
}
