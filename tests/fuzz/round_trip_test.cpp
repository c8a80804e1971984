// Every PTX that nvcc made of our programs and kernels: read, printed and read again it is the
// same.
#include <gtest/gtest.h>

#include <cstdio>

#include "corpus.h"
#include "same_module.h"

namespace ridge::fuzz {
namespace {

TEST(RoundTrip, EveryProgram) {
  size_t texts = 0, bytes = 0;
  for (const char* folder : {"examples", "tests/programs", "programs", "src/kernels"})
    for (const std::string& ptx : corpus_of(std::string(RIDGE_FUZZ_PROGRAMS) + "/" + folder).ptx) {
      auto module = vm::parse_module(ptx, "program.ptx");
      ASSERT_TRUE(module) << module.error().message;
      EXPECT_EQ(vm::round_trip(**module), "") << "in " << folder;
      for (const vm::Function& f : (*module)->functions) EXPECT_EQ(f.parsed, f.defined) << f.name;
      ++texts;
      bytes += ptx.size();
    }
  std::printf("%zu texts, %zu KiB\n", texts, bytes >> 10);
  EXPECT_GT(texts, 10u) << "no programs in " RIDGE_FUZZ_PROGRAMS;
}

}  // namespace
}  // namespace ridge::fuzz
