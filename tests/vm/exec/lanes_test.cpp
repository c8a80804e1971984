// Loads and stores of every width by every kind of set of lanes: all, many, few; neighbours,
// strangers, and several lanes at one place.
#include <cmath>

#include <fmt/format.h>

#include "machine.h"

namespace ridge::vm::testing {
namespace {

enum class Where { shared, global, local, generic };
struct Pattern {  // a lane's slot: ((lane * factor + start) >> shift) & mask
  const char* name;
  uint32_t factor, start, shift, mask;
  uint32_t slot(uint32_t lane) const { return ((lane * factor + start) >> shift) & mask; }
};
constexpr Pattern kPatterns[] = {
    {"in order", 1, 0, 0, 31}, {"reversed", 31, 31, 0, 31}, {"scattered", 5, 3, 0, 31},
    {"in pairs", 1, 0, 1, 31}, {"halves", 1, 0, 0, 15},     {"one place", 0, 3, 0, 31},
};
constexpr uint32_t kMasks[] = {0xffffffffu, 1u,          0x80000001u, 0xfu,       0xffffu,
                               0x55555555u, 0xfffffffeu, 0x00ff00f8u, 0x80010400u};
constexpr uint32_t kSlots = 32, kUntouched = 77;

struct Shape {
  uint32_t bytes, vector;  // of an element; how many
  uint32_t whole() const { return bytes * vector; }
  const char* type() const {
    return bytes == 1 ? "u8" : bytes == 2 ? "u16" : bytes == 4 ? "u32" : "u64";
  }
  const char* reg() const { return bytes <= 2 ? "%h" : bytes == 4 ? "%r" : "%rd"; }
  std::string suffix() const { return vector == 1 ? "" : fmt::format(".v{}", vector); }
  std::string list(uint32_t first) const {
    std::string text;
    for (uint32_t k = 0; k < vector; ++k)
      text += fmt::format("{}{}{}", k ? ", " : "", reg(), first + k);
    return vector == 1 ? text : "{" + text + "}";
  }
};

uint32_t value_of(uint32_t lane, uint32_t element) { return lane * 4 + element + 1; }

// Each active lane stores its values at its slot, and all of them read theirs back.
std::string kernel(Where where, Shape s, const Pattern& p, uint32_t mask) {
  const bool windowed = where == Where::shared;
  const std::string space = where == Where::shared   ? ".shared"
                            : where == Where::global ? ".global"
                            : where == Where::local  ? ".local"
                                                     : "";
  const std::string address = windowed ? "%r5" : "%rd5";
  std::string text = where == Where::local ? ".local .align 16 .b8 memory[512];\n" : "";
  text += fmt::format(R"(
  mov.u32 %r1, %tid.x;
  shr.u32 %r2, {:#x}, %r1; and.b32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0;
  mad.lo.u32 %r3, %r1, {}, {}; shr.u32 %r3, %r3, {}; and.b32 %r3, %r3, {};
  mov.u32 %r9, 0;
)",
                      mask, p.factor, p.start, p.shift, p.mask);
  if (where == Where::global) {
    text += "  add.u64 %rd5, %out, 1024;\n";
  } else if (where == Where::local) {
    text += "  mov.u64 %rd5, memory;\n";
    for (uint32_t k = 0; k < kSlots; ++k)
      text += fmt::format("  st.local.v4.u32 [%rd5+{}], {{%r9, %r9, %r9, %r9}};\n", 16 * k);
  } else {
    text += R"(
  mov.u32 %r5, memory; mad.lo.u32 %r6, %r1, 16, %r5;
  st.shared.v4.u32 [%r6], {%r9, %r9, %r9, %r9};
  bar.sync 0;
)";
    if (where == Where::generic) text += "  cvt.u64.u32 %rd5, %r5; cvta.shared.u64 %rd5, %rd5;\n";
  }
  if (windowed) text += fmt::format("  mad.lo.u32 %r5, %r3, {}, %r5;\n", s.whole());
  else text += fmt::format("  mad.wide.u32 %rd5, %r3, {}, %rd5;\n", s.whole());
  // Lanes that do not take part may have any address.
  text += fmt::format("  @!%p1 mov.{} {}, {};\n", windowed ? "u32" : "u64", address,
                      windowed ? "0xfffffff1" : "0xdead0001");
  for (uint32_t k = 0; k < s.vector; ++k) {
    text += fmt::format("  mad.lo.u32 %r7, %r1, 4, {}; cvt.{}.u32 {}{}, %r7; mov.b{} {}{}, {};\n",
                        k + 1,
                        s.bytes == 8   ? "u64"
                        : s.bytes == 4 ? "u32"
                                       : "u16",
                        s.reg(), 10 + k, std::max(s.bytes, 2u) * 8, s.reg(), 20 + k, kUntouched);
  }
  text += fmt::format("  @%p1 st{}{}.{} [{}], {};\n  bar.warp.sync 0xffffffff;\n", space,
                      s.suffix(), s.type(), address, s.list(10));
  text +=
      fmt::format("  @%p1 ld{}{}.{} {}, [{}];\n", space, s.suffix(), s.type(), s.list(20), address);
  text += "  mad.wide.u32 %rd7, %r1, 16, %out;\n";
  for (uint32_t k = 0; k < s.vector; ++k)
    text += fmt::format("  cvt.u32.{} %r8, {}{}; st.global.u32 [%rd7+{}], %r8;\n",
                        s.bytes == 8   ? "u64"
                        : s.bytes == 4 ? "u32"
                                       : "u16",
                        s.reg(), 20 + k, 4 * k);
  return text;
}

// Which lane's values are in a slot. Hardware stores 128 bytes after 128 bytes of them; of the
// lanes that do so together, the lowest comes last.
std::vector<int> winners(Where where, Shape s, const Pattern& p, uint32_t mask) {
  std::vector<int> winner(kSlots, -1);
  const uint32_t group = s.whole() <= 4 ? 32 : s.whole() == 8 ? 16 : 8;
  for (uint32_t first = 0; first < 32; first += group)
    for (uint32_t lane = first + group; lane-- > first;)
      if (mask >> lane & 1 && where != Where::local) winner[p.slot(lane)] = int(lane);
  return winner;
}

class Lanes : public ::testing::TestWithParam<Where> {};

TEST_P(Lanes, ReadWhatWasStored) {
  const Where where = GetParam();
  constexpr Shape kShapes[] = {{1, 1}, {1, 2}, {1, 4}, {2, 1}, {2, 2}, {2, 4},
                               {4, 1}, {4, 2}, {4, 4}, {8, 1}, {8, 2}};
  for (const Shape s : kShapes)
    for (const Pattern& p : kPatterns)
      for (const uint32_t mask : kMasks) {
        Machine m(1);
        const bool shared = where == Where::shared || where == Where::generic;
        m.load_body(kernel(where, s, p, mask), shared ? ".shared .align 16 .b8 memory[512];" : "");
        const uint64_t out = m.allocate(std::vector<uint32_t>(512));
        const Fault fault = m.run({1}, {32}, out);
        ASSERT_FALSE(fault) << text_of(fault);
        const auto got = m.read<uint32_t>(out, 128);
        const auto winner = winners(where, s, p, mask);
        for (uint32_t lane = 0; lane < 32; ++lane)
          for (uint32_t k = 0; k < s.vector; ++k) {
            const bool active = mask >> lane & 1;
            const auto from = where == Where::local ? lane : uint32_t(winner[p.slot(lane)]);
            ASSERT_EQ(got[lane * 4 + k], active ? value_of(from, k) : kUntouched)
                << s.type() << s.suffix() << " " << p.name << fmt::format(" {:#x}", mask)
                << ", lane " << lane << ", element " << k;
          }
      }
}
INSTANTIATE_TEST_SUITE_P(Spaces, Lanes,
                         ::testing::Values(Where::shared, Where::global, Where::local,
                                           Where::generic));

// A lane in the middle of half a warp that goes astray is the one to blame.
TEST(LanesFault, OneOfManyIsNamed) {
  for (const bool misaligned : {false, true}) {
    Machine m(1);
    m.load_body(fmt::format(R"(
  mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0;
  mov.u32 %r5, memory; mad.lo.u32 %r5, %r1, 16, %r5;
  setp.eq.u32 %p2, %r1, 12;
  @%p2 add.u32 %r5, %r5, {};
  @%p1 st.shared.v4.u32 [%r5], {{%r1, %r1, %r1, %r1}};
)",
                            misaligned ? 4 : 4096),
                ".shared .align 16 .b8 memory[512];");
    const Fault fault = m.run({1}, {32}, m.allocate(std::vector<uint32_t>(1)));
    EXPECT_EQ(fault.kind, misaligned ? FaultKind::misaligned_address : FaultKind::illegal_address);
    EXPECT_NE(text_of(fault).find("(12,0,0)"), std::string::npos) << text_of(fault);
  }
}

// What inactive lanes hold must not count: neither a NaN nor a subnormal, nor a division by zero.
TEST(LanesFloat, OnlyActiveLanesCompute) {
  for (const uint32_t mask : kMasks) {
    Machine m(1);
    m.load_body(fmt::format(R"(
  mov.u32 %r1, %tid.x;
  shr.u32 %r2, {:#x}, %r1; and.b32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0;
  cvt.rn.f32.u32 %f1, %r1; add.f32 %f1, %f1, 0f3F800000;
  @!%p1 mov.b32 %f1, 0x7fc12345;
  mov.b32 %f2, %f1; mov.b32 %f3, %f1; mov.b32 %f4, %f1;
  @%p1 fma.rn.f32 %f2, %f1, %f1, %f1;
  @%p1 div.rn.f32 %f3, %f2, %f1;
  @%p1 sqrt.rn.f32 %f4, %f2;
  mad.wide.u32 %rd7, %r1, 16, %out;
  st.global.f32 [%rd7], %f2; st.global.f32 [%rd7+4], %f3; st.global.f32 [%rd7+8], %f4;
)",
                            mask));
    const auto got = m.output<uint32_t>({1}, {32}, 128);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const float x = float(lane + 1), product = x * x + x;
      const float expected[] = {product, product / x, std::sqrt(product)};
      for (uint32_t k = 0; k < 3; ++k) {
        uint32_t bits = 0x7fc12345;
        if (mask >> lane & 1) std::memcpy(&bits, &expected[k], 4);
        EXPECT_EQ(got[lane * 4 + k], bits) << fmt::format("{:#x}", mask) << " lane " << lane;
      }
    }
  }
}

}  // namespace
}  // namespace ridge::vm::testing
