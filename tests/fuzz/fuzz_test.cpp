// The bounded run: every target over the programs at hand, over what fuzzing has found before, and
// over seeded changes of both. A crash leaves its input in the working folder.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "corpus.h"
#include "mutate.h"
#include "targets.h"

namespace ridge::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMutations = 15000;                   // a target
constexpr std::chrono::milliseconds kBudget{2500};  // a target: a slow machine does fewer
constexpr size_t kLargest = 16 << 10;               // bytes: what is larger is only slower to read

std::string current;  // what runs now, for the handler
char crash_name[64];

extern "C" void keep_input(int signal) {
  const int file = open(crash_name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (file >= 0 && write(file, current.data(), current.size()) >= 0) {
    constexpr char kSay[] = "\nthe input is in ";
    (void)!write(STDERR_FILENO, kSay, sizeof kSay - 1);
    (void)!write(STDERR_FILENO, crash_name, std::string_view(crash_name).size());
    (void)!write(STDERR_FILENO, "\n", 1);
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

class Bounded : public ::testing::TestWithParam<Target> {
 protected:
  void SetUp() override {
    std::snprintf(crash_name, sizeof crash_name, "fuzz-crash-%s", GetParam().name.data());
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
      std::signal(signal, keep_input);
  }
  void TearDown() override {
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
      std::signal(signal, SIG_DFL);
  }
  void feed(std::string input) {
    current = std::move(input);
    run(GetParam(), current);
  }

  // Programs: the smaller ones, of which there are plenty.
  static std::vector<std::string> programs() {
    const bool containers = GetParam().name == "fatbin";
    std::vector<std::string> all;
    for (const char* folder :
         {RIDGE_FUZZ_PROGRAMS "/examples", RIDGE_FUZZ_PROGRAMS "/tests/programs"}) {
      const Corpus corpus = corpus_of(folder);
      for (const std::string& text : containers ? corpus.containers : corpus.ptx)
        if (text.size() <= kLargest) all.push_back(text);
    }
    return all;
  }
  static std::vector<std::string> found_before() {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(RIDGE_FUZZ_FOUND)) {
      std::ifstream in(entry.path(), std::ios::binary);
      all.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
    std::ranges::sort(all);  // the folder's order is anyone's
    return all;
  }
};

TEST_P(Bounded, ComesBackFromAnything) {
  std::vector<std::string> corpus = programs();
  ASSERT_FALSE(corpus.empty()) << "no programs in " RIDGE_FUZZ_PROGRAMS;
  const std::vector<std::string> found = found_before();
  ASSERT_FALSE(found.empty());
  corpus.insert(corpus.end(), found.begin(), found.end());
  if (GetParam().name == "link")  // units with a zero byte between them
    for (size_t i = 0; i + 1 < corpus.size(); i += 2) corpus[i] += '\0' + corpus[i + 1];
  for (const std::string& input : corpus) feed(input);

  Mutator mutator(1, read_dictionary(RIDGE_FUZZ_DICTIONARY));
  const auto end = Clock::now() + kBudget;
  int done = 0;
  for (; done < kMutations && Clock::now() < end; ++done)
    feed(
        mutator.change(corpus[mutator.below(corpus.size())], corpus[mutator.below(corpus.size())]));
  std::printf("%zu programs and %d changes of them\n", corpus.size(), done);
  EXPECT_GT(done, 0);
}

std::string name_of(const ::testing::TestParamInfo<Target>& info) {
  return std::string(info.param.name);
}
INSTANTIATE_TEST_SUITE_P(Fuzz, Bounded, ::testing::ValuesIn(targets().begin(), targets().end()),
                         name_of);

}  // namespace
}  // namespace ridge::fuzz
