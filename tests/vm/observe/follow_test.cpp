// What is made of machine code: nvdisasm's text read, and the model set right by it. recorded/ has
// what nvcc and ptxas 13.0 make of kernels.cu for sm_90, and what `nvdisasm -c -gp` shows of that,
// shortened.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "vm/decode/program.h"
#include "vm/exec/engine.h"
#include "vm/observe/plan.h"

namespace ridge::vm::observe {
namespace {

std::string recorded(const std::string& name) {
  std::ifstream file(std::string(RIDGE_RECORDED "/") + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

// By PTX line what is done there for loads and stores: "16@0" is an access of 16 bytes per lane
// that starts at the instruction's own address; "-> 58" lets line 58 do it; "none"; with a "?"
// where the machine code leaves it open.
std::map<uint32_t, std::string> accesses(const std::string& ptx, const Disassembly* machine,
                                         const std::string& kernel_name) {
  EngineOptions options;
  options.gpu = *find_gpu("h200");
  Engine engine(options);
  const auto program = engine.load(ptx, "test.ptx");
  EXPECT_TRUE(program) << program.error().message;
  std::map<uint32_t, std::string> out;
  for (Kernel* kernel : engine.kernels(*program)) {
    if (kernel->info.name.find(kernel_name) == std::string::npos) continue;
    EXPECT_TRUE(engine.usage(kernel));
    const Plan plan = plan_of(*kernel->code->code, machine);
    for (size_t k = 0; k < plan.entries.size(); ++k) {
      const Entry& entry = plan.entries[k];
      if (entry.as_written.reach == Reach::none) continue;
      std::string text;
      for (const Touch& touch : plan.touches)
        if (touch.entry == k)
          text += (text.empty() ? "" : " ") + std::to_string(touch.bytes) + '@' +
                  std::to_string(touch.offset) + (touch.action == Action::reduction ? " red" : "");
      if (entry.merged_into) text = "-> " + std::to_string(entry.merged_into->line);
      out[entry.source->line] = (text.empty() ? "none" : text) + (entry.unclear ? " ?" : "");
    }
  }
  return out;
}

std::map<uint32_t, std::string> recorded_accesses(const std::string& kernel) {
  const Disassembly machine = read_disassembly(recorded("kernels.sass"));
  return accesses(recorded("kernels.ptx"), &machine, kernel);
}

// A kernel with these instructions from line 10 on, and machine code for them: pairs of a line and
// an instruction.
std::map<uint32_t, std::string> accesses(const std::string& body, const std::string& machine) {
  const std::string ptx = R"(.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 o_param, .param .u32 n_param) {
 .reg .pred %p<9>; .reg .f32 %f<99>; .reg .b32 %r<99>; .reg .b64 %rd<99>; .reg .f64 %fd<9>;
 .shared .align 16 .b8 s[4096];
 ld.param.u64 %rd1, [o_param]; cvta.to.global.u64 %rd2, %rd1; ld.param.u32 %r9, [n_param];
 mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4; mov.u32 %r3, s; add.s32 %r4, %r3, %r2;
 setp.eq.s32 %p1, %r9, 0;
)" + body + R"(
 st.global.f32 [%rd2], %f1; st.global.f32 [%rd2+64], %f2; st.global.f32 [%rd2+128], %f3;
 st.global.f32 [%rd2+192], %f4;
 ret;
}
)";
  const Disassembly code = read_disassembly(machine);
  auto out = accesses(ptx, &code, "k");
  const auto last = 10 + std::count(body.begin(), body.end(), '\n');
  std::erase_if(out, [&](const auto& one) { return one.first > last; });
  return out;
}
std::string at(uint32_t line, const std::string& instruction) {
  return "\t//## File \".nv_debug_ptx_txt\", line " + std::to_string(line) +
         "\n        /*0010*/                   " + instruction + " ;\n";
}

using Lines = std::map<uint32_t, std::string>;

TEST(Disassembly, Instructions) {
  const struct {
    const char* text;
    Action action;
    Reach reach;
    int bytes;
  } cases[] = {
      {"LDS R9, [R22+0x4]", Action::load, Reach::shared, 4},
      {"@!P0 LDS.64 R9, [R22+0x4]", Action::load, Reach::shared, 8},
      {"@UP1 LDS.U.128 R8, [UR4]", Action::load, Reach::shared, 16},
      {"LDS.U8 R1, [R2]", Action::load, Reach::shared, 1},
      {"STS.U16 [R2], R1", Action::store, Reach::shared, 2},
      {"LDG.E.128.CONSTANT R4, desc[UR6][R14.64+-0x10]", Action::load, Reach::global, 16},
      {"LDG.E.LTC128B R4, desc[UR6][R14.64]", Action::load, Reach::global, 4},
      {"STG.E.S8 desc[UR6][R14.64], R4", Action::store, Reach::global, 1},
      {"LDL.64 R4, [R1]", Action::load, Reach::local, 8},
      {"ST.E.64 desc[UR6][R14.64], R4", Action::store, Reach::none, 8},
      {"ATOMS.ADD R4, [R1], R2", Action::atomic, Reach::shared, 4},
      {"ATOMG.E.ADD.64.STRONG.GPU PT, R4, desc[UR4][R2.64], R6", Action::atomic, Reach::global, 8},
      {"RED.E.ADD.STRONG.GPU desc[UR4][R2.64], R6", Action::reduction, Reach::global, 4},
      {"LDGSTS.E.BYPASS.128 [R5], desc[UR4][R2.64]", Action::copy, Reach::global, 16},
  };
  for (const auto& one : cases) {
    const Disassembly read = read_disassembly(at(7, one.text));
    ASSERT_EQ(read.count(7), 1u) << one.text;
    const MachineInstruction& got = read.at(7).at(0);
    EXPECT_EQ(got.action, one.action) << one.text;
    EXPECT_EQ(got.reach, one.reach) << one.text;
    EXPECT_EQ(int(got.bytes), one.bytes) << one.text;
  }
  EXPECT_TRUE(read_disassembly(at(7, "LDSM.16.M88.4 R4, [R2]")).at(7)[0].matrices);
  EXPECT_TRUE(read_disassembly(at(7, "ATOMS.CAST.SPIN R4, [R1], R2, R3")).at(7)[0].compares);
  for (const char* other : {"LDC.64 R2, c[0x0][0x210]", "ULDC R1, c[0x0][0x28]", "LDGDEPBAR",
                            "REDUX.SUM UR5, R2", "@!PT LDS RZ, [RZ]", "STRANGE.128 [R1]", ""})
    EXPECT_TRUE(read_disassembly(at(7, other)).empty()) << other;
}

TEST(Disassembly, LinesHoldUntilTheNext) {
  const Disassembly read = read_disassembly(
      "        /*0000*/     LDS R1, [R2] ;\n" + at(7, "LDS R1, [R2]") +
      "        /*0020*/     LDS.64 R4, [R2] ;\r\n.text._Z1k:\n        /*0000*/ LDS R1, [R2] ;\n"
      "\t//## File \".nv_debug_ptx_txt\"\n        /*0000*/ LDS R1, [R2] ;\n  /*0000");
  ASSERT_EQ(read.size(), 1u);
  ASSERT_EQ(read.at(7).size(), 2u);
  EXPECT_EQ(int(read.at(7)[1].bytes), 8);
}

TEST(Follow, TailsInBranchesBecomeOneLoad) {
  const Lines model = accesses(recorded("kernels.ptx"), nullptr, "tails");
  const Lines machine = recorded_accesses("tails");
  EXPECT_EQ(model.at(58), "4@0");
  EXPECT_EQ(machine.at(58), "16@0");
  EXPECT_EQ(machine.at(63), "-> 58");
  EXPECT_EQ(machine.at(68), "-> 58");
  EXPECT_EQ(machine.at(69), "4@0");  // and the stores stay apart
}

TEST(Follow, TurnsOfALoopThatMergeAreLeftOpen) {
  const Lines machine = recorded_accesses("turns");
  EXPECT_EQ(machine.at(100), "8@0");
  EXPECT_EQ(machine.at(111), "8@0 ?");  // 16 in the machine code, with one of the next turn
  EXPECT_EQ(machine.at(119), "16@0");   // with its neighbour
  EXPECT_EQ(machine.at(121), "-> 119");
}

TEST(Follow, WhatIsGoneIsNotCounted) {
  const Lines machine = recorded_accesses("forgotten");
  EXPECT_EQ(machine.at(152), "none");
  EXPECT_EQ(machine.at(158), "none");
  EXPECT_EQ(machine.at(165), "none");
  EXPECT_EQ(machine.at(168), "4@0");
  EXPECT_EQ(accesses(recorded("kernels.ptx"), nullptr, "forgotten").at(165), "4@0");
}

const char* const kFour =
    " ld.shared.f32 %f1, [%r4];\n ld.shared.f32 %f2, [%r4+4];\n ld.shared.f32 %f3, [%r4+8];\n"
    " ld.shared.f32 %f4, [%r4+12];";

TEST(Follow, WhereTheModelIsConfirmedItStays) {
  const Lines all = {{10, "16@0"}, {11, "-> 10"}, {12, "-> 10"}, {13, "-> 10"}};
  EXPECT_EQ(accesses(kFour, at(10, "LDS.128 R4, [R0]")), all);
  EXPECT_EQ(accesses(kFour, at(12, "LDS.128 R4, [R0]")), all);  // whichever line it is given
}

TEST(Follow, KeptApart) {  // offsets are from the first: the software GPU loads all four at once
  const Lines pairs = accesses(kFour, at(10, "LDS.64 R4, [R0]") + at(13, "LDS.64 R6, [R0+0x8]"));
  EXPECT_EQ(pairs, (Lines{{10, "8@0"}, {11, "-> 10"}, {12, "8@8"}, {13, "-> 12"}}));
  const Lines single = accesses(kFour, at(10, "LDS R4, [R0]") + at(11, "LDS R5, [R0+4]") +
                                           at(12, "LDS R6, [R0+8]") + at(13, "LDS R7, [R0+12]"));
  EXPECT_EQ(single, (Lines{{10, "4@0"}, {11, "4@4"}, {12, "4@8"}, {13, "4@12"}}));
}

TEST(Follow, CopiesThatDifferAreLeftOpen) {
  const Lines mixed = accesses(kFour, at(10, "LDS.128 R4, [R0]") + at(10, "LDS R4, [R0]"));
  EXPECT_EQ(mixed, (Lines{{10, "16@0 ?"}, {11, "-> 10 ?"}, {12, "-> 10 ?"}, {13, "-> 10 ?"}}));
}

TEST(Follow, DoubtIsShared) {  // by all that the model has in one access
  const Lines open = accesses(
      kFour, at(10, "LDS.128 R4, [R0]") + at(10, "LDS R4, [R0]") + at(11, "LDS R5, [R0+0x4]"));
  EXPECT_EQ(open, (Lines{{10, "16@0 ?"}, {11, "-> 10 ?"}, {12, "-> 10 ?"}, {13, "-> 10 ?"}}));
}

TEST(Follow, WiderThanItsNeighboursIsLeftOpen) {
  const std::string body = " ld.shared.f32 %f1, [%r4];\n ld.shared.f32 %f2, [%r4+64];";
  EXPECT_EQ(accesses(body, at(10, "LDS.64 R4, [R0]") + at(11, "LDS R4, [R0+0x40]")),
            (Lines{{10, "4@0 ?"}, {11, "4@0"}}));
}

TEST(Follow, OnTwoWaysToComeNoneStandsForTheOther) {
  const std::string body =
      " @%p1 bra $L1;\n ld.shared.f32 %f1, [%r4];\n bra $L2;\n$L1:\n"
      " ld.shared.f32 %f2, [%r4+4];\n$L2:";
  EXPECT_EQ(accesses(body, at(11, "LDS.64 R4, [R0]")), (Lines{{11, "4@0 ?"}, {14, "4@0 ?"}}));
}

TEST(Follow, CodeSharedWithAnotherLineIsLeftOpen) {
  const std::string body = " ld.shared.f32 %f1, [%r4];\n ld.shared.f32 %f2, [%r4+64];";
  EXPECT_EQ(accesses(body, at(10, "LDS R4, [R0]")), (Lines{{10, "4@0"}, {11, "4@0 ?"}}));
}

TEST(Follow, ASecondLoadOfThePlaceIsServedByTheFirst) {
  const std::string body = " ld.shared.f32 %f1, [%r4];\n bar.sync 0;\n ld.shared.f32 %f2, [%r4];";
  EXPECT_EQ(accesses(body, at(10, "LDS R4, [R0]")), (Lines{{10, "4@0"}, {12, "-> 10"}}));
}

TEST(Follow, Atomics) {
  const std::string body =
      " atom.global.add.u32 %r20, [%rd2], 1;\n atom.global.add.u32 %r21, [%rd2+4], %r20;\n"
      " atom.shared.add.f32 %f9, [%r4], %f1;";
  EXPECT_EQ(accesses(body, at(10, "ATOMG.E.ADD.STRONG.GPU PT, R4, desc[UR4][R2.64], R6") +
                               at(11, "RED.E.ADD.STRONG.GPU desc[UR4][R2.64+0x4], R4") +
                               at(12, "LDS R4, [R0]") + at(12, "ATOMS.CAST.SPIN R4, [R1], R2, R3")),
            (Lines{{10, "4@0"}, {11, "4@0 red"}, {12, "4@0"}}));
  // Not the loop that the model has.
  EXPECT_EQ(accesses(body, at(12, "ATOMS.ADD R4, [R1], R2")).at(12), "4@0 ?");
  EXPECT_EQ(accesses(body, at(11, "ATOMG.E.ADD.STRONG.GPU PT, R4, desc[UR4][R2.64], R6")).at(11),
            "4@0");
}

TEST(Follow, SeveralOnALineAreLeftOpen) {
  const std::string body = " ld.shared.f32 %f1, [%r4]; ld.shared.f32 %f2, [%r4+64];";
  for (const auto& [line, what] : accesses(body, at(10, "LDS R4, [R0]")))
    EXPECT_TRUE(what.ends_with("?")) << what;
}

}  // namespace
}  // namespace ridge::vm::observe
