// Which loops only wait, and what is said of a kernel that the model does not know all of.
#include "vm/timing/spins.h"

#include <gtest/gtest.h>

#include "../observe/loaded.h"
#include "vm/timing/notes.h"

namespace ridge::vm::timing {
namespace {

struct Found {
  Spins spins;
  model::Work work;
  bool has_loop = false, asks = false;
};
Found find(const std::string& body) {
  const observe::Loaded loaded(R"(.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a_param)
{
 .reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<9>;
 .shared .align 8 .b8 s[64];
 ld.param.u64 %rd1, [a_param];
 mov.u32 %r1, s;
)" + body + "\n ret;\n}\n");
  EXPECT_EQ(loaded.error, "");
  Found found;
  found.spins = spins_of(*loaded.code, observe::plan_of(*loaded.code));
  add_notes(found.work, *loaded.code, found.spins);
  for (const Spins::At& at : found.spins.at) {
    found.has_loop |= at.loop != Spins::kNone;
    found.asks |= at.asks;
  }
  return found;
}

TEST(Spins, AWaitForAnMbarrierIsNoNews) {
  const Found found = find(R"(
wait:
 mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;
 @!%p1 bra wait;)");
  EXPECT_TRUE(found.has_loop && found.asks);
  EXPECT_TRUE(found.work.notes.empty());
}

TEST(Spins, AWaitForOtherBlocksIsNoted) {
  const Found found = find(R"(
wait:
 ld.acquire.gpu.global.u32 %r2, [%rd1];
 setp.eq.u32 %p1, %r2, 0;
 @%p1 bra wait;)");
  EXPECT_TRUE(found.has_loop && found.asks);
  ASSERT_EQ(found.work.notes.size(), 1u);
  EXPECT_NE(found.work.notes[0].find("waits for other blocks"), std::string::npos);
  EXPECT_GT(found.work.band, 1);
}

TEST(Spins, ALockIsAskedForToo) {
  EXPECT_TRUE(find(R"(
wait:
 atom.global.cas.b32 %r2, [%rd1], 0, 1;
 setp.ne.u32 %p1, %r2, 0;
 @%p1 bra wait;)")
                  .asks);
}

// Loops that work: the address moves, or something is written.
TEST(Spins, LoopsThatWorkAreNone) {
  EXPECT_FALSE(find(R"(
next:
 ld.volatile.global.u32 %r2, [%rd1];
 add.s64 %rd1, %rd1, 4;
 setp.eq.u32 %p1, %r2, 0;
 @%p1 bra next;)")
                   .has_loop);
  EXPECT_FALSE(find(R"(
next:
 ld.volatile.global.u32 %r2, [%rd1];
 st.global.u32 [%rd1+8], %r2;
 setp.eq.u32 %p1, %r2, 0;
 @%p1 bra next;)")
                   .has_loop);
}

TEST(Notes, WhatIsNotModelled) {
  const Found found = find(" suld.b.2d.b32.trap {%r2}, [%rd1, {%r1, %r1}];");
  ASSERT_EQ(found.work.notes.size(), 1u);
  EXPECT_NE(found.work.notes[0].find("surfaces"), std::string::npos);
  EXPECT_GT(found.work.band, 1);
}

}  // namespace
}  // namespace ridge::vm::timing
