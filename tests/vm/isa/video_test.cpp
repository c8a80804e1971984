// Video instructions: known results, and the packed forms against per-part arithmetic.
#include "vm/isa/video.h"

#include "lane_harness.h"

namespace ridge::vm::test {
namespace {

struct Selectors {
  const char *d = "", *a = "", *b = "";
};
uint32_t run(const std::string& spelling, uint32_t a, uint32_t b, uint32_t c, Selectors s = {}) {
  LaneHarness h;
  Lanes<uint32_t> la, lb, lc;
  la.fill(a), lb.fill(b), lc.fill(c);
  h.put(1, la), h.put(2, lb), h.put(3, lc);
  h.selectors[0] = pack_selector(s.d), h.selectors[1] = pack_selector(s.a),
  h.selectors[2] = pack_selector(s.b);
  h.run(spelling, 0, {h.offset(1), h.offset(2), h.offset(3)}, 0x00010000);
  const auto d = h.get<uint32_t>(0);
  EXPECT_EQ(d[0], 0u) << "an inactive lane was written";
  return d[16];
}

TEST(Video, Scalar) {
  EXPECT_EQ(run("vadd.s32.s32.s32", 5, uint32_t(-7), 0), uint32_t(-2));
  EXPECT_EQ(run("vadd.s32.s32.s32.sat", 0x7fffffff, 2, 0), 0x7fffffffu);
  EXPECT_EQ(run("vadd.u32.s32.s32.sat", uint32_t(-3), 2, 0), 0u);
  EXPECT_EQ(run("vadd.u32.u32.u32", 0xffffffff, 2, 0), 1u);
  EXPECT_EQ(run("vsub.u32.u32.u32.sat", 1, 2, 0), 0u);
  EXPECT_EQ(run("vsub.s32.u32.u32", 1, 2, 0), uint32_t(-1));
  EXPECT_EQ(run("vabsdiff.u32.s32.s32", uint32_t(-3), 4, 0), 7u);
  EXPECT_EQ(run("vabsdiff.u32.s32.s32.add", uint32_t(-3), 4, 100), 107u);
  EXPECT_EQ(run("vmin.s32.s32.s32.max", uint32_t(-3), 4, uint32_t(-1)), uint32_t(-1));
  EXPECT_EQ(run("vmax.s32.s32.s32.min", uint32_t(-3), 4, uint32_t(-1)), uint32_t(-1));
  EXPECT_EQ(run("vset.s32.s32.lt", uint32_t(-3), 4, 0), 1u);
  EXPECT_EQ(run("vset.u32.u32.lt.add", uint32_t(-3), 4, 9), 9u);
  EXPECT_EQ(run("vshl.u32.u32.u32.clamp", 1, 40, 0), 0u);
  EXPECT_EQ(run("vshl.u32.u32.u32.wrap", 1, 40, 0), 256u);
  EXPECT_EQ(run("vshr.s32.s32.u32.clamp", 0x80000000, 40, 0), 0xffffffffu);
  EXPECT_EQ(run("vmad.s32.s32.s32", uint32_t(-3), 4, 5), uint32_t(-7));
  EXPECT_EQ(run("vmad.s32.s32.s32.po.shr7", 128, 2, 0), 2u);
  EXPECT_EQ(run("vmad.u32.u32.u32.sat", 0x10000, 0x10000, 0), 0xffffffffu);
}

TEST(Video, Selected) {
  EXPECT_EQ(run("vadd.s32.s32.u32", 0x0000ff00, 0x12345678, 0, {"", "b1", "h1"}), 0x1233u);
  EXPECT_EQ(run("vadd.u32.u32.u32.sat", 200, 100, 0xaabbccdd, {"b2", "b0", "b0"}), 0xaaffccddu);
  EXPECT_EQ(run("vadd.u32.u32.u32", 200, 100, 0xaabbccdd, {"h0", "b0", "b0"}), 0xaabb012cu);
  EXPECT_EQ(pack_selector("x1"), 0u);
  EXPECT_EQ(pack_selector("h4"), 0u);
  EXPECT_EQ(pack_selector("h210"), 0u);
  EXPECT_NE(pack_selector("b7654"), 0u);
}

// One part's result by the definition.
int64_t part_result(const std::string& op, int64_t a, int64_t b) {
  if (op == "vadd") return a + b;
  if (op == "vsub") return a - b;
  if (op == "vabsdiff") return std::abs(a - b);
  if (op == "vmin") return std::min(a, b);
  if (op == "vmax") return std::max(a, b);
  return (a + b + (a + b >= 0)) >> 1;
}

TEST(Video, Packed) {
  using U = uint32_t;
  for (const std::string op : {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"})
    for (int parts : {2, 4})
      for (int signs = 0; signs < 8; ++signs)
        for (const std::string tail : {"", ".sat", ".add"}) {
          const int width = 32 / parts;
          const auto type = [&](int bit) { return signs >> bit & 1 ? ".s32" : ".u32"; };
          const auto part = [&](U x, int i, bool is_signed) {
            const int64_t v = int64_t(x >> (width * i) & ((1u << width) - 1));
            return is_signed && v >> (width - 1) ? v - (int64_t(1) << width) : v;
          };
          const std::string spelling =
              op + std::to_string(parts) + type(0) + type(1) + type(2) + tail;
          expect_lanes<U, U, U, U>(
              spelling,
              [&](U a, U b, U c) {
                U packed = 0, sum = c;
                for (int i = 0; i < parts; ++i) {
                  int64_t t = part_result(op, part(a, i, signs & 2), part(b, i, signs & 4));
                  const int64_t most =
                      signs & 1 ? (int64_t(1) << (width - 1)) - 1 : (int64_t(1) << width) - 1;
                  if (tail == ".sat") t = std::clamp<int64_t>(t, signs & 1 ? -most - 1 : 0, most);
                  packed |= (U(t) & ((1u << width) - 1)) << (width * i);
                  sum += U(t);
                }
                return tail == ".add" ? sum : packed;
              },
              6);
        }
}

TEST(Video, PackedSelections) {
  EXPECT_EQ(run("vadd4.u32.u32.u32", 0x01020304, 0x10203040, 0xaabbccdd, {"b20", "", ""}),
            0xaa22cc44u);
  EXPECT_EQ(run("vadd4.u32.u32.u32", 0x01020304, 0x10203040, 0, {"", "b0123", "b4567"}),
            0x44332211u);
  EXPECT_EQ(run("vadd2.u32.u32.u32", 0x00010002, 0x00100020, 0x11112222, {"h1", "", ""}),
            0x00112222u);
  EXPECT_EQ(run("vset4.u32.u32.lt", 0x01020304, 0x02020202, 0), 0x01000000u);
  EXPECT_EQ(run("vset4.u32.u32.ge.add", 0x01020304, 0x02020202, 10), 13u);
  EXPECT_EQ(run("vset2.s32.s32.lt", 0xffff0001, 0x00000000, 0), 0x00010000u);
}

}  // namespace
}  // namespace ridge::vm::test
