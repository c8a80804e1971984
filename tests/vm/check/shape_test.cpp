#include "vm/check/shape.h"

#include <gtest/gtest.h>

#include <string>

namespace ridge::vm::check {
namespace {

// A kernel with this body.
struct Parsed {
  explicit Parsed(const std::string& body) {
    auto parsed = parse_module(
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<9>;\n.reg .b32 %r<99>;\n"
        ".reg .f32 %f<99>;\n.reg .b64 %rd<99>;\n.shared .align 4 .b8 s[512];\n"
        "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n" +
            body + "ret;\n}\n",
        "test.ptx");
    if (!parsed) throw std::runtime_error(parsed.error().message);
    module = std::move(*parsed);
    if (const Status read = parse_body(*module, module->functions[0]); !read)
      throw std::runtime_error(read.message());
    find_rows(module->functions[0]);
    listing = std::make_unique<Listing>(module->functions[0]);
  }
  // The n-th instruction that begins so.
  uint32_t find(std::string_view mnemonic, int n = 0) const {
    for (uint32_t i = 0; i < listing->size(); ++i)
      if (listing->at(i).mnemonic.starts_with(mnemonic) && n-- == 0) return i;
    return Listing::kNone;
  }
  std::unique_ptr<Module> module;
  std::unique_ptr<Listing> listing;
};

TEST(Shape, AnUpdateNamesItsAtomic) {
  const struct {
    const char *change, *type, *atomic, *value;
  } cases[] = {
      {"add.s32 %r3, %r2, 1;", "u32", "atomicAdd", "1"},
      {"sub.s32 %r3, %r2, %r1;", "u32", "atomicSub", ""},
      {"max.s32 %r3, %r1, %r2;", "u32", "atomicMax", ""},
      {"or.b32 %r3, %r2, 4;", "u32", "atomicOr", "4"},
      {"shl.b32 %r3, %r2, 1;", "u32", "", ""},
      {"mov.u32 %r4, %r2;\nadd.s32 %r3, %r4, %r1;", "u32", "atomicAdd", ""},
  };
  for (const auto& c : cases) {
    const Parsed p(std::string("ld.global.u32 %r2, [%rd1];\n") + c.change + "\nst.global." +
                   c.type + " [%rd1], %r3;\n");
    const auto update = update_of(*p.listing, p.find("st.global"));
    ASSERT_TRUE(update) << c.change;
    EXPECT_EQ(update->atomic, c.atomic) << c.change;
    EXPECT_EQ(update->value, c.value) << c.change;
    EXPECT_EQ(update->load, p.find("ld.global"));
  }
}

TEST(Shape, AStoreElsewhereIsNoUpdate) {
  const Parsed p(
      "ld.global.u32 %r2, [%rd1+4];\nadd.s32 %r3, %r2, 1;\nst.global.u32 [%rd1], %r3;\n");
  EXPECT_FALSE(update_of(*p.listing, p.find("st.global")));
  EXPECT_TRUE(is_computed_from(*p.listing, p.find("st.global"), p.find("ld.global")));
}

TEST(Shape, AConditionMayBeTheWholeUpdate) {
  const Parsed p(
      "ld.global.u32 %r2, [%rd1];\nsetp.ge.s32 %p1, %r2, %r1;\n@%p1 bra END;\n"
      "st.global.u32 [%rd1], %r1;\nEND:\n");
  const auto update = update_of(*p.listing, p.find("st.global"));
  ASSERT_TRUE(update);
  EXPECT_EQ(update->atomic, "atomicMax");
}

TEST(Shape, AReadBeforeAnAtomicThatLooksAgain) {
  const std::string before = "ld.global.u32 %r2, [%rd1];\nsetp.le.s32 %p1, %r2, %r1;\n";
  const Parsed min(before + "@%p1 bra END;\natom.global.min.s32 %r3, [%rd1], %r1;\nEND:\n");
  EXPECT_TRUE(is_looked_at_again(*min.listing, min.find("ld.global"), min.find("atom")));
  const Parsed add(before + "@%p1 bra END;\natom.global.add.s32 %r3, [%rd1], %r1;\nEND:\n");
  EXPECT_FALSE(is_looked_at_again(*add.listing, add.find("ld.global"), add.find("atom")));
  const Parsed kept(before +
                    "st.global.u32 [%rd1+8], %r2;\natom.global.min.s32 %r3, [%rd1], %r1;\n");
  EXPECT_FALSE(is_looked_at_again(*kept.listing, kept.find("ld.global"), kept.find("atom")));
}

TEST(Listing, FindsTheWaysPastABarrier) {
  // A tile in a loop: store, barrier, load, and round again.
  const Parsed p(
      "mov.u32 %r9, 0;\nLOOP:\nst.shared.u32 [s], %r1;\nbar.sync 0;\nld.shared.u32 %r2, [s];\n"
      "add.s32 %r9, %r9, 1;\nsetp.lt.s32 %p1, %r9, 4;\n@%p1 bra LOOP;\n");
  const Listing& l = *p.listing;
  const auto barrier = [&](uint32_t i) { return l.root(i) == "bar"; };
  const uint32_t store = p.find("st.shared"), load = p.find("ld.shared");
  const auto there = l.paths(store, load, barrier), back = l.paths(load, store, barrier);
  EXPECT_FALSE(there.within_turn || there.by_turn);
  EXPECT_FALSE(back.within_turn);
  EXPECT_TRUE(back.by_turn);
}

TEST(Listing, KnowsEqualAddresses) {
  const Parsed p(
      "mul.wide.s32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r2, [%rd3+8];\n"
      "mul.wide.s32 %rd4, %r1, 4;\nadd.s64 %rd5, %rd1, %rd4;\nld.global.u32 %r3, [%rd5+8];\n"
      "ld.global.u32 %r4, [%rd5];\n");
  const Listing& l = *p.listing;
  EXPECT_EQ(l.address(p.find("ld.global")), l.address(p.find("ld.global", 1)));
  EXPECT_NE(l.address(p.find("ld.global")), l.address(p.find("ld.global", 2)));
}

}  // namespace
}  // namespace ridge::vm::check
