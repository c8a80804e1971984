#include "vm/check/source.h"

#include <gtest/gtest.h>

namespace ridge::vm::check {
namespace {

TEST(Source, WritesUpdatesAsAtomics) {
  const struct {
    const char *line, *atomic, *from, *to;
  } cases[] = {
      {"  if (i < n) h[in[i]]++;", "atomicAdd", "h[in[i]]++", "atomicAdd(&h[in[i]], 1)"},
      {"  ++bins[k];", "atomicAdd", "++bins[k]", "atomicAdd(&bins[k], 1)"},
      {"  (*c)--;", "atomicAdd", "(*c)--", "atomicAdd(&(*c), -1)"},
      {"  *c += 1.5f * x;  // sum", "atomicAdd", "*c += 1.5f * x", "atomicAdd(c, 1.5f * x)"},
      {"  a.sum[t] -= f(x, y);", "atomicSub", "a.sum[t] -= f(x, y)",
       "atomicSub(&a.sum[t], f(x, y))"},
      {"  a[0] -= b;", "atomicAdd", "a[0] -= b", "atomicAdd(&a[0], -(b))"},
      {"  d[0] = d[0] + t;", "atomicAdd", "d[0] = d[0] + t", "atomicAdd(&d[0], t)"},
      {"  p->x = v + p->x;", "atomicAdd", "p->x = v + p->x", "atomicAdd(&p->x, v)"},
      {"  m[k] |= 1u << b;", "atomicOr", "m[k] |= 1u << b", "atomicOr(&m[k], 1u << b)"},
      {"  *p = max(*p, v[i]);", "atomicMax", "*p = max(*p, v[i])", "atomicMax(p, v[i])"},
      {"  if (*p > v) *p = v;", "atomicMin", "if (*p > v) *p = v", "atomicMin(p, v)"},
  };
  for (const auto& c : cases) {
    const auto rewrite = Source({c.line}).as_atomic(1, c.atomic);
    ASSERT_TRUE(rewrite) << c.line;
    EXPECT_EQ(rewrite->from, c.from);
    EXPECT_EQ(rewrite->to, c.to);
  }
  EXPECT_FALSE(Source({"  x = y;"}).as_atomic(1, "atomicAdd"));
  EXPECT_FALSE(Source({"  d[0] = d[1] + t;"}).as_atomic(1, "atomicAdd"));
  EXPECT_FALSE(Source({"  *p += 1;"}).as_atomic(2, "atomicAdd"));
}

TEST(Source, KnowsWhereAStatementFits) {
  const Source source({
      "void f() {",                     // 1
      "  if (t == 0) {",                // 2
      "    s[t] = 1;",                  // 3
      "  }",                            // 4
      "#ifdef X",                       // 5
      "#endif",                         // 6
      "  for (int k = 0;",              // 7
      "       k < 3; ++k)",             // 8
      "    x += s[k];  // { not this",  // 9
      "}",                              // 10
  });
  EXPECT_EQ(source.places_between(3, 9), (std::vector<uint32_t>{7}));
  EXPECT_EQ(source.places_between(3, 4), (std::vector<uint32_t>{4}));
  EXPECT_TRUE(source.places_between(9, 3).empty());
  EXPECT_TRUE(source.places_between(9, 99).empty());
}

TEST(Source, KnowsWhereALoopEnds) {
  const Source source({
      "for (int a = 0; a < 3; ++a) {",  // 1
      "  s[t] = a;",                    // 2
      "  while (more) {",               // 3
      "    x += s[0];",                 // 4
      "  }",                            // 5
      "  if (x) {",                     // 6
      "    y += s[1];",                 // 7
      "  }",                            // 8
      "}",                              // 9
      "z = 1;",                         // 10
  });
  EXPECT_EQ(source.end_of_loop(2, 4), 9u);
  EXPECT_EQ(source.end_of_loop(4, 4), 5u);
  EXPECT_EQ(source.end_of_loop(7, 2), 9u);
  EXPECT_EQ(source.end_of_loop(2, 10), 0u);
}

TEST(Source, ReadsBeforeItWrites) {
  const auto rewrite = Source({"  s[t] = s[t + 1];"}).read_then_write(1, "__syncthreads()");
  ASSERT_TRUE(rewrite);
  EXPECT_EQ(rewrite->to, "const auto value = s[t + 1]; __syncthreads(); s[t] = value;");
  EXPECT_FALSE(Source({"  if (t < n) s[t] = s[t + 1];"}).read_then_write(1, "__syncthreads()"));
}

}  // namespace
}  // namespace ridge::vm::check
