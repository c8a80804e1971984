// fuzz_corpus TARGET BUILD OUT: writes what the target starts from, out of the programs in BUILD.
#include <cstdio>
#include <fstream>

#include "corpus.h"

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: fuzz_corpus TARGET BUILD OUT\n");
    return 2;
  }
  const std::string target = argv[1], out = argv[3];
  const ridge::fuzz::Corpus corpus = ridge::fuzz::corpus_of(argv[2]);
  const std::vector<std::string>& files = target == "fatbin" ? corpus.containers : corpus.ptx;
  for (size_t i = 0; i < files.size(); ++i)
    std::ofstream(out + "/program_" + std::to_string(i), std::ios::binary) << files[i];
  std::printf("%zu files for %s\n", files.size(), target.c_str());
  return files.empty();
}
