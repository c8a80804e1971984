// Linking PTX units into one text.
#include "vm/cudart/ptx_link.h"

#include <gtest/gtest.h>

namespace ridge::vm::cudart {
namespace {

size_t count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++n;
  return n;
}

const char* const kFirst = R"(
.version 9.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) twice (.param .b32 x);
.weak .func (.param .b32 r) shared(.param .b32 x) { { ret; } }
.global .u32 counter = 1;
.visible .entry k() { .loc 1 5 0 ret; /* } */ // }
  .loc 1 7 3, function_name $L0, inlined_at 1 2 3
}
.file 1 "first.cu"
)";
const char* const kSecond = R"(
.version 9.0
.target sm_90
.address_size 64
.file 1 "early.cuh"
.weak .func (.param .b32 r) shared(.param .b32 x) { { ret; } }
.visible .func (.param .b32 r) twice (.param .b32 x)
{
  .local .align 8 .b8 depot[16];
  .loc 2 9 0
  ret;
}
.visible .entry shared_name() { ret; }
.file 2 "second.cu"
)";

TEST(PtxLink, OneHeaderAndOneCopyOfAWeakFunction) {
  const std::string linked = link_ptx({kFirst, kSecond});
  EXPECT_EQ(count(linked, ".version"), 1u);
  EXPECT_EQ(count(linked, ".target sm_80"), 1u);
  EXPECT_EQ(count(linked, ".target sm_90"), 0u);
  EXPECT_EQ(count(linked, ".weak .func"), 1u);
  EXPECT_EQ(count(linked, "twice"), 2u);  // the declaration and the definition
  EXPECT_EQ(count(linked, ".visible .entry shared_name()"), 1u);
  EXPECT_EQ(count(linked, ".visible .entry k()"), 1u);
  EXPECT_EQ(count(linked, "counter = 1"), 1u);
}

// nvcc calls every unit's strings $str, $str$1 …
TEST(PtxLink, NamesThatUnitsKeepToThemselvesStayApart) {
  const std::string a =
      ".version 9.0\n.global .align 1 .b8 $str[2] = {97};\n"
      ".global .align 1 .b8 $str$1[2] = {97};\n"
      ".visible .global .align 8 .u64 seen = generic($str);\n"
      ".func (.param .b32 r) own(.param .b32 x)\n{ mov.u64 %rd1, $str; ret; }\n";
  const std::string b =
      ".version 9.0\n.extern .global .align 8 .u64 seen;\n"
      ".global .align 1 .b8 $str[2] = {98};\n"
      ".const .attribute(.managed) .u32 seen_not = 1;\n"
      ".func (.param .b32 r) own(.param .b32 x)\n{ mov.u64 %rd1, $str; ret; }\n";
  const std::string linked = link_ptx({a, b});
  EXPECT_EQ(count(linked, "$str[2]"), 1u);
  EXPECT_EQ(count(linked, "$str$1[2]"), 1u);
  EXPECT_EQ(count(linked, "generic($str)"), 1u);
  EXPECT_EQ(count(linked, "$str$unit1[2]"), 1u);
  EXPECT_EQ(count(linked, "mov.u64 %rd1, $str;"), 1u);
  EXPECT_EQ(count(linked, "mov.u64 %rd1, $str$unit1;"), 1u);
  EXPECT_EQ(count(linked, " own("), 1u);
  EXPECT_EQ(count(linked, " own$unit1("), 1u);
  EXPECT_EQ(count(linked, " seen;"), 1u);
  EXPECT_EQ(count(linked, "seen_not = 1"), 1u);
}

TEST(PtxLink, FileNumbersStayApart) {
  const std::string linked = link_ptx({kFirst, kSecond});
  EXPECT_EQ(count(linked, ".file 1 \"first.cu\""), 1u);
  // Though it stood before a function that was dropped.
  EXPECT_EQ(count(linked, ".file 2 \"early.cuh\""), 1u);
  EXPECT_EQ(count(linked, ".file 3 \"second.cu\""), 1u);
  EXPECT_EQ(count(linked, ".loc 3 9 0"), 1u);
  EXPECT_EQ(count(linked, ".local .align 8 "), 1u);
  EXPECT_EQ(count(linked, "inlined_at 1 2 3"), 1u);
}

// A line that grows moves in memory. (Fuzzing found a read of where it was; the sanitizers see it.)
TEST(PtxLink, ALineMayGrow) {
  const std::string first = ".file 9 \"a.cu\"\n";
  for (size_t length = 0; length < 64; ++length) {
    const std::string name(length, 'x');
    EXPECT_EQ(link_ptx({first, ".file 1 \"" + name + "\"\n.loc 1 2 3" + name + "\n"}),
              first + ".file 10 \"" + name + "\"\n.loc 10 2 3" + name + "\n");
  }
}

TEST(PtxLink, OneUnitIsItself) {
  EXPECT_EQ(link_ptx({kSecond}), kSecond);
  EXPECT_EQ(link_ptx({}), "");
  EXPECT_EQ(link_ptx({"\"unclosed"}), "\"unclosed\n");
}

}  // namespace
}  // namespace ridge::vm::cudart
