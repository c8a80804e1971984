// Memory in ways of its own: atomics on vectors, the stack, the heap.
#include "machine.h"

namespace ridge::vm::testing {
namespace {

// One thread, the words of `memory` at %out; what they are afterwards.
std::vector<uint32_t> run_on(const std::string& body, std::vector<uint32_t> memory,
                             uint32_t threads = 1) {
  Machine m;
  m.load_body(body);
  const uint64_t out = m.allocate(memory);
  const Fault fault = m.run({1}, {threads}, out);
  EXPECT_FALSE(fault) << text_of(fault);
  return m.read<uint32_t>(out, memory.size());
}
using Words = std::vector<uint32_t>;

TEST(VectorAtomic, AddsEachElement) {
  // 1.0 + 2.0 = 3.0, -1.0 + 0.5 = -0.5; the old values go behind.
  EXPECT_EQ(run_on(R"(
  mov.f32 %f1, 0f40000000; mov.f32 %f2, 0f3f000000;
  atom.global.add.v2.f32 {%f3, %f4}, [%out], {%f1, %f2};
  st.global.v2.f32 [%out+8], {%f3, %f4};
)",
                   {0x3f800000, 0xbf800000, 0, 0}),
            (Words{0x40400000, 0xbf000000, 0x3f800000, 0xbf800000}));
  // Every thread adds 1.0 to eight halves.
  EXPECT_EQ(run_on(R"(
  mov.b16 %h1, 0x3c00;
  red.relaxed.gpu.global.add.noftz.v8.f16 [%out], {%h1, %h1, %h1, %h1, %h1, %h1, %h1, %h1};
)",
                   {0, 0, 0, 0x3c000000}, 64),
            (Words{0x54005400, 0x54005400, 0x54005400, 0x54105400}));
}

TEST(VectorAtomic, LeastAndGreatest) {
  // f16x2: {1, -2} and {-1, NaN} against {0, 0}; +0 is above -0.
  EXPECT_EQ(run_on(R"(
  mov.b32 %r1, 0; mov.b32 %r2, 0x80000000;
  red.global.max.noftz.v2.f16x2 [%out], {%r1, %r2};
)",
                   {0xc0003c00, 0x7fffbc00}),
            (Words{0x00003c00, 0x80000000}));
  EXPECT_EQ(run_on(R"(
  mov.b16 %h1, 0x3f80; mov.b16 %h2, 0x8000;
  atom.global.min.noftz.v4.bf16 {%h3, %h4, %h5, %h6}, [%out], {%h1, %h1, %h2, %h2};
  mov.b32 %r1, {%h5, %h6};
  st.global.u32 [%out+8], %r1;
)",
                   {0x3f004000, 0x0000c000, 0}),
            (Words{0x3f003f80, 0x8000c000, 0x0000c000}));
}

// Results may go where later operands come from.
TEST(VectorAtomic, OperandsAreReadFirst) {
  EXPECT_EQ(run_on(R"(
  mov.f32 %f1, 0f3f800000; mov.f32 %f2, 0f40000000;
  atom.global.add.v2.f32 {%f2, %f1}, [%out], {%f1, %f2};
)",
                   {0, 0}),
            (Words{0x3f800000, 0x40000000}));
}

TEST(VectorAtomic, NeedsTheVectorsAlignment) {
  Machine m;
  m.load_body("mov.f32 %f1, 0f00000000; red.global.add.v2.f32 [%out+4], {%f1, %f1};");
  const Fault fault = m.run({1}, {1}, m.allocate(std::vector<uint32_t>(4)));
  EXPECT_EQ(fault.kind, FaultKind::misaligned_address);
  EXPECT_NE(text_of(fault).find("multiple of 8"), std::string::npos) << text_of(fault);
}

// Registers of 128 bits: loads, stores, moves of halves, and atomics in global and shared memory.
TEST(Wide, MovesAllBits) {
  EXPECT_EQ(run_on(R"(
  .reg .b128 %q<3>;
  ld.relaxed.gpu.global.b128 %q0, [%out];
  mov.b128 {%rd1, %rd2}, %q0;
  mov.b128 %q1, {%rd2, %rd1};
  mov.b128 %q2, %q1;
  st.global.b128 [%out+16], %q2;
)",
                   {1, 2, 3, 4, 0, 0, 0, 0}),
            (Words{1, 2, 3, 4, 3, 4, 1, 2}));
}

TEST(Wide, AtomicsSeeAllBits) {
  // The first compare fails in the highest word alone, the second succeeds.
  EXPECT_EQ(run_on(R"(
  .reg .b128 %q<6>; .shared .align 16 .b8 place[16]; .reg .b32 %at;
  mov.b64 %rd1, 0x0000000200000001; mov.b64 %rd2, 0x0000000500000003; mov.b64 %rd3, 9;
  mov.b128 %q0, {%rd1, %rd2};
  mov.b128 %q1, {%rd3, %rd3};
  atom.global.cas.b128 %q2, [%out], %q0, %q1;
  atom.cas.b128 %q3, [%out], %q2, %q1;
  mov.u32 %at, place;
  st.shared.b128 [%at], %q2;
  atom.relaxed.cta.shared.exch.b128 %q4, [%at], %q0;
  atom.shared.exch.b128 _, [%at], %q1;
  ld.shared.b128 %q5, [%at];
  st.global.b128 [%out+16], %q4;
  st.global.b128 [%out+32], %q5;
)",
                   {1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0}),
            (Words{9, 0, 9, 0, 1, 2, 3, 4, 9, 0, 9, 0}));
}

// Each of 64 threads adds 1 to both halves; none is lost.
TEST(Wide, ThreadsTakeTurns) {
  EXPECT_EQ(run_on(R"(
  .reg .b128 %q<4>; .reg .pred %again;
  ld.global.b128 %q0, [%out];
TRY:
  mov.b128 {%rd1, %rd2}, %q0;
  add.u64 %rd3, %rd1, 1; add.u64 %rd4, %rd2, 1;
  mov.b128 %q1, {%rd3, %rd4};
  atom.global.cas.b128 %q2, [%out], %q0, %q1;
  mov.b128 {%rd3, %rd4}, %q2;
  setp.ne.u64 %again, %rd3, %rd1;
  mov.b128 %q0, %q2;
  @%again bra TRY;
)",
                   {0, 0, 0, 1}, 64),
            (Words{64, 0, 64, 1}));
}

TEST(Stack, EachLaneHasItsOwn) {
  Machine m;
  // The lane's own size, filled with its number; a function that uses stack, too, must not disturb
  // it.
  m.load_body(R"(
  mov.u32 %r2, %tid.x;
  stacksave.u64 %rd5;
  mad.lo.u32 %r3, %r2, 8, 8;
  cvt.u64.u32 %rd1, %r3;
  alloca.u64 %rd2, %rd1, 32;
  st.local.u32 [%rd2], %r2;
  and.b64 %rd4, %rd2, 31;
  cvt.u32.u64 %r9, %rd4;
  { .param .b32 a; .param .b32 r;
    st.param.b32 [a], %r2;
    call (r), deeper, (a);
    ld.param.b32 %r4, [r]; }
  alloca.u64 %rd3, 16;
  st.local.u32 [%rd3], 77;
  ld.local.u32 %r5, [%rd2];
  stackrestore.u64 %rd5;
  alloca.u64 %rd6, 4;
  setp.lt.u64 %p1, %rd3, %rd6;
  selp.u32 %r6, 1000000, 0, %p1;
  mad.lo.u32 %r1, %r4, 1000, %r5;
  add.u32 %r1, %r1, %r6;
  add.u32 %r1, %r1, %r9;
)" + kStoreR1,
              R"(
.func (.param .b32 r) deeper(.param .b32 a) {
  .reg .b32 %x<4>; .reg .b64 %y<2>;
  ld.param.b32 %x1, [a];
  alloca.u64 %y1, 256;
  st.local.u32 [%y1], %x1;
  st.local.u32 [%y1+252], 5;
  ld.local.u32 %x2, [%y1];
  add.u32 %x2, %x2, 1;
  st.param.b32 [r], %x2;
  ret;
}
)");
  const auto out = m.output<uint32_t>({1}, {32}, 32);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], (i + 1) * 1000 + i) << i;
}

TEST(Stack, OverflowIsReported) {
  Machine m;
  m.load_body("LOOP: alloca.u64 %rd1, 4096; bra LOOP;");
  const Fault fault = m.run({1}, {1}, m.allocate(std::vector<uint32_t>(1)));
  EXPECT_EQ(fault.kind, FaultKind::hardware_stack);
}

constexpr const char* kMalloc = R"(
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
)";

// Thread i asks for (i + 1) * 1000 bytes; out[i] says whether it got them.
TEST(Heap, HasALimit) {
  Machine m;
  m.load_body(R"(
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r2, 1000, 1000;
  cvt.u64.u32 %rd1, %r3;
  { .param .b64 n; .param .b64 r;
    st.param.b64 [n], %rd1;
    call (r), malloc, (n);
    ld.param.b64 %rd2, [r]; }
  setp.ne.u64 %p1, %rd2, 0;
  selp.u32 %r1, 1, 0, %p1;
  @%p1 st.u32 [%rd2+996], %r1;
  { .param .b64 p;
    st.param.b64 [p], %rd2;
    call free, (p); }
)" + kStoreR1,
              kMalloc);
  m.engine().set_heap_limit(100'000);
  for (int run = 0; run < 3; ++run) {  // what is freed may be had again
    const auto out = m.output<uint32_t>({1}, {32}, 32);
    for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i < 13 ? 1u : 0u) << i;  // 13 * 14 / 2 = 91
  }
  m.engine().set_heap_limit(1'000'000);
  for (uint32_t got : m.output<uint32_t>({1}, {32}, 32)) EXPECT_EQ(got, 1u);
}

TEST(Moves, BytesOfRegisters) {
  EXPECT_EQ(run_on(R"(
  .reg .b8 %c<5>;
  ld.global.u32 %r1, [%out];
  mov.b32 {%c1, %c2, %c3, %c4}, %r1;
  mov.b32 %r2, {%c4, %c3, %c2, %c1};
  mov.b16 %h1, {%c3, %c1};
  mov.b16 {%c1, %c2}, %h1;
  mov.b32 %r3, {%c2, %c1, %c2, %c1};
  st.global.v2.u32 [%out], {%r2, %r3};
)",
                   {0x81c2f384, 0}),
            (Words{0x84f3c281, 0xc284c284}));
}

// What changes no value: hints, policies, fences, counters that nobody has set up.
TEST(Memory, HintsAreAccepted) {
  EXPECT_EQ(run_on(R"(
  createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %rd1, 0.5;
  createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %rd2, [%out], 16, 16;
  createpolicy.cvt.L2.b64 %rd3, 0x10F0000000000000;
  ld.global.L1::no_allocate.L2::cache_hint.L2::128B.u32 %r1, [%out], %rd1;
  add.u32 %r1, %r1, 1;
  fence.proxy.async.shared::cta;
  fence.acquire.sync_restrict::shared::cluster.cluster;
  st.global.L2::cache_hint.u32 [%out], %r1, %rd2;
  mov.u32 %r2, %envreg31; mov.u32 %r3, %pm3; mov.u64 %rd4, %pm0_64;
  red.global.add.L2::cache_hint.u32 [%out], 1, %rd3;
  ld.mmio.relaxed.sys.global.u32 %r4, [%out];
  st.mmio.relaxed.sys.u32 [%out+4], %r4;
)",
                   {40, 0}),
            (Words{42, 42}));
}

}  // namespace
}  // namespace ridge::vm::testing
