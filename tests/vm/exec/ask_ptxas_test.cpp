// The text that ptxas gets for one kernel of a module, and what becomes of its answer.
#include "vm/exec/ask_ptxas.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace ridge::vm {
namespace {

namespace fs = std::filesystem;

const std::string kHeader = ".version 8.7\n.target sm_90\n.address_size 64\n\n";

std::string entry(const std::string& name, const std::string& body = "ret;") {
  return ".visible .entry " + name + "(\n\t.param .u64 " + name + "_param_0\n)\n{\n\t" + body +
         "\n}\n";
}
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(WithOneKernel, OthersGoAndWhatTheyShareStays) {
  const std::string shared = R"(.global .align 4 .b8 table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
.extern .func (.param .b32 result) vprintf(.param .b64 a, .param .b64 b);
.func (.param .b32 out) twice(.param .b32 in)
{
	{ .reg .b32 %r<3>; }
	ret;
}
)";
  // Wherever the kernel is.
  const std::string a = entry("a", "{ bar.sync 0; }\n\tret;"), b = entry("b"), c = entry("c");
  EXPECT_EQ(with_one_kernel(kHeader + shared + a + b + c, "a"), kHeader + shared + a + "\n\n");
  EXPECT_EQ(with_one_kernel(kHeader + a + shared + b, "b"), kHeader + "\n" + shared + b);
  const std::string last = with_one_kernel(kHeader + a + b + shared + c, "c");
  EXPECT_TRUE(last.starts_with(kHeader)) << last;
  EXPECT_TRUE(last.ends_with(shared + c)) << last;
  EXPECT_FALSE(has(last, ".entry a") || has(last, ".entry b")) << last;
}

TEST(WithOneKernel, BoundsOfAKernelStayWithIt) {
  const std::string mine =
      ".visible .entry k()\n.maxntid 128, 1, 1\n.minnctapersm 2\n{\n\tret;\n}\n";
  const std::string other = ".visible .entry other()\n.maxntid 64, 1, 1\n{\n\tret;\n}\n";
  EXPECT_EQ(with_one_kernel(kHeader + mine, "k"), kHeader + mine);
  const std::string text = with_one_kernel(kHeader + other + mine, "k");
  EXPECT_TRUE(has(text, mine));
  EXPECT_FALSE(has(text, ".maxntid 64"));
}

// One name may be a part of another: its beginning, its end, of a parameter, of ".entry" itself.
TEST(WithOneKernel, OnlyTheWholeNameCounts) {
  const std::string names[] = {"add", "add_all", "vector_add", "add_", "y", "try", "entry", "all"};
  std::string ptx = kHeader;
  for (const std::string& name : names) ptx += entry(name);
  for (const std::string& name : names)
    for (const std::string& other : names)
      EXPECT_EQ(has(with_one_kernel(ptx, name), ".entry " + other + "("), name == other)
          << name << " " << other;
}

TEST(WithOneKernel, ANameMayStandByItself) {
  const std::string mine = ".entry\tk\n{\n\tret;\n}";
  EXPECT_EQ(with_one_kernel(kHeader + mine, "k"), kHeader + mine);
  EXPECT_EQ(with_one_kernel(kHeader + mine, "other"), kHeader);
}

TEST(WithOneKernel, LinesAndSectionsGo) {
  const std::string ptx = kHeader + entry("k", ".loc 1 5 3\n\tadd.s32 %r1, %r1, 1;\n\tret;") +
                          "\t.file\t1 \"/tmp/a//b{.cu\"\n\t.section\t.debug_str\n\t{\n$L:\n.b8 "
                          "97,0\n\t}\n\t.section\t.debug_line { }\n";
  const std::string text = with_one_kernel(ptx, "k");
  EXPECT_TRUE(has(text, "add.s32")) << text;
  for (const char* word : {".loc", ".file", ".section", ".b8", "debug"})
    EXPECT_FALSE(has(text, word)) << word << " in " << text;
}

TEST(WithOneKernel, TheHeaderStaysBeforeASection) {
  const std::string section = ".section .debug_str { .b8 0 }\n", mine = entry("k");
  EXPECT_EQ(with_one_kernel(kHeader + section + mine, "k"), kHeader + "\n" + mine);
}

TEST(WithOneKernel, CommentsAndStringsHaveNoBraces) {
  const std::string other =
      "// { .entry k( ;\n.visible .entry other()\n{ // }\n\t/* } { */ /*/ } */\n\tret;\n}\n";
  const std::string mine =
      "/* .section { */\n.visible .entry k()\n{ // it's }\n\t.pragma \"} nounroll\";\n\tret;\n}\n";
  for (const std::string& ptx : {other + mine, mine + other}) {
    const std::string text = with_one_kernel(kHeader + ptx, "k");
    EXPECT_TRUE(has(text, mine)) << text;
    EXPECT_FALSE(has(text, "other")) << text;
  }
}

TEST(WithOneKernel, TextThatBreaksOffEndsThere) {
  for (const char* text : {"", "\n", "/* ", "// ", "\"", ".entry", ".entry k(", ".entry k() { {"})
    EXPECT_EQ(with_one_kernel(text, std::string(text) == ".entry" ? "" : "k"), text);
}

TEST(AskPtxas, TheArchitectureIsTheGpusUnlessThePtxHasItsOwn) {
  const GpuSpec gpu = *find_gpu("h200");
  Module module;
  EXPECT_EQ(ptxas_architecture(module, gpu), "sm_90");
  module.target = "sm_75";
  EXPECT_EQ(ptxas_architecture(module, gpu), "sm_90");
  module.target = "sm_90a";
  EXPECT_EQ(ptxas_architecture(module, gpu), "sm_90a");
}

// The variables are read once, so one test has them.
TEST(AskPtxas, ItsAnswerIsKept) {
  const fs::path ptxas = fs::path(RIDGE_TEST_CUDA_ROOT) / "bin" / "ptxas";
  if (!fs::exists(ptxas)) GTEST_SKIP() << "there is no " << ptxas;
  std::string folder = (fs::temp_directory_path() / "ridge-test-XXXXXX").string();
  ASSERT_TRUE(mkdtemp(folder.data()));
  setenv("RIDGE_PTXAS", ptxas.c_str(), 1);
  setenv("RIDGE_PTXAS_CACHE", folder.c_str(), 1);
  // 64 sums that are all needed at the end.
  std::string body = ".reg .b64 %rd<3>; .reg .f32 %f<65>;\n\tld.param.u64 %rd1, [k_param_0];\n";
  const auto each = [&](const std::string& before, const std::string& after) {
    for (int i = 0; i < 64; ++i) body += before + std::to_string(i) + after;
  };
  each("\tld.volatile.global.f32 %f", ", [%rd1];\n");
  each("\tst.volatile.global.f32 [%rd1], %f", ";\n");
  const auto module =
      parse_module(kHeader + entry("other") + entry("k", body + "\tret;"), "test.ptx");
  ASSERT_TRUE(module) << module.error().message;
  const GpuSpec gpu = *find_gpu("h200");
  const Function& k = *(*module)->function_by_name.at("k");
  const auto first = ask_ptxas(**module, k, gpu);
  ASSERT_TRUE(first);
  EXPECT_GE(first->registers, 64u);
  EXPECT_LE(first->registers, 80u);
  EXPECT_EQ(first->spilled, 0u);
  const auto small = ask_ptxas(**module, *(*module)->function_by_name.at("other"), gpu);
  ASSERT_TRUE(small);
  EXPECT_LT(small->registers, 32u);

  // One file for each; what is in it is believed.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 2);
  for (const auto& file : fs::directory_iterator(folder)) std::ofstream(file.path()) << "77 12\n";
  const auto again = ask_ptxas(**module, k, gpu);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->registers, 77u);
  EXPECT_EQ(again->spilled, 12u);

  // No answer, nothing to keep.
  (*module)->text = kHeader + entry("k", "no such instruction;");
  EXPECT_FALSE(ask_ptxas(**module, k, gpu));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 2);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace ridge::vm
