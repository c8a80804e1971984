// Whatever the text, the parser answers with a module or an error: it does not crash, hang, or read
// out of bounds (the asan preset sees the last).
#include <random>

#include "parse_test.h"
#include "sample_ptx.h"

namespace ridge::vm {
namespace {

// Reads all of it; an error must be a diagnostic with a caret.
void read(std::string text) {
  auto module = parse_module(std::move(text), "x.ptx");
  const auto check = [](const std::string& message) {
    ASSERT_TRUE(message.starts_with("x.ptx:") && message.ends_with("^")) << message;
  };
  if (!module) return check(module.error().message);
  for (Function& f : (*module)->functions)
    if (const Status status = parse_body(**module, f); !status) check(status.message());
}

class Robustness : public testing::TestWithParam<std::string_view> {};

TEST_P(Robustness, TextCutAtEveryByte) {
  for (size_t size = 0; size <= GetParam().size(); size++)
    read(std::string(GetParam().substr(0, size)));
}

// Cut inside, so that the braces still match and the body parsers see the damage.
TEST_P(Robustness, EveryByteMissing) {
  for (size_t i = 0; i < GetParam().size(); i++) {
    std::string text(GetParam());
    read(text.erase(i, 1));
  }
}

TEST_P(Robustness, EveryByteReplaced) {
  constexpr std::string_view kOthers("{}()[];,.:\"/*@%$|-+0x\n\0\xFF", 25);
  std::mt19937 random(1);
  for (size_t i = 0; i < GetParam().size(); i++) {
    std::string text(GetParam());
    text[i] = kOthers[random() % kOthers.size()];
    read(std::move(text));
  }
}

TEST_P(Robustness, EveryByteWithOneBitFlipped) {
  std::mt19937 random(1);
  for (size_t i = 0; i < GetParam().size(); i++) {
    std::string text(GetParam());
    text[i] = char(text[i] ^ (1 << random() % 8));
    read(std::move(text));
  }
}

TEST_P(Robustness, PiecesMovedAround) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; round++) {
    std::string text(GetParam());
    for (int i = 0; i < 4; i++) {
      const size_t from = random() % text.size(), size = random() % 60, to = random() % text.size();
      text.insert(to, text.substr(from, size));
    }
    read(std::move(text));
  }
}

INSTANTIATE_TEST_SUITE_P(Samples, Robustness, testing::Values(kCompiledPtx, kEverythingPtx),
                         [](const auto& info) {
                           return info.index == 0 ? "Compiled" : "Everything";
                         });

TEST(Robustness, DeepNesting) {
  for (const char* open : {"(", "{", "[", "-", "generic(", "1?", "/*"}) {
    std::string deep;
    for (int i = 0; i < 100000; i++) deep += open;
    read(std::string(kHeader) + ".global .u64 x = " + deep);
    read(std::string(kHeader) + ".global .u64 x[2][2] = " + deep);
    read(std::string(kHeader) + ".entry k { mov.b32 x, " + deep + ";}");
    read(std::string(kHeader) + ".entry k { ld.b32 [" + deep + "];}");
    read(std::string(kHeader) + ".entry k { call " + deep + ";}");
    read(std::string(kHeader) + ".entry " + deep);
  }
  read(std::string(kHeader) + ".entry k " + std::string(100000, '{') + std::string(100000, '}'));
}

TEST(Robustness, RandomBytes) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; round++) {
    std::string bytes;
    for (int i = 0; i < 200; i++) bytes += char(random());
    read(bytes);
    read(kHeader + bytes);
    read(std::string(kHeader) + ".entry k { " + bytes + "}");
  }
}

}  // namespace
}  // namespace ridge::vm
