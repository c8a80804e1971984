// Every description is well-formed: what it names exists, what it has is documented, and its
// family's cases are calls that the library takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "ladder/ladder.h"
#include "ladder/registry.h"
#include "nowhere.h"

namespace ridge {
namespace {

const Ladder* ladder_of(const std::string& family) {
  const auto loaded = load_family(family);
  EXPECT_TRUE(loaded) << loaded.error().message;
  return loaded ? *loaded : nullptr;
}

std::vector<const OperatorDef*> operators() {
  return {all_operators().begin(), all_operators().end()};
}

bool is_word_in(const std::string& text, const std::string& word) {
  const auto is_letter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  const auto same = [](char a, char b) { return std::tolower(a) == std::tolower(b); };
  for (auto at = text.begin();; ++at) {
    at = std::search(at, text.end(), word.begin(), word.end(), same);
    if (at == text.end()) return false;
    const auto end = at + int64_t(word.size());
    if ((at == text.begin() || !is_letter(at[-1])) && (end == text.end() || !is_letter(*end)))
      return true;
  }
}

TEST(Descriptions, NamesAndAliasesAreOfOneOperator) {
  std::map<std::string, std::string> owner;  // name or alias: the operator
  for (const OperatorDef* op : operators())
    EXPECT_TRUE(owner.emplace(op->name, op->name).second) << op->name << " is there twice";
  for (const OperatorDef* op : operators())
    for (const std::string& alias : op->aliases) {
      const auto [found, added] = owner.emplace(alias, op->name);
      EXPECT_TRUE(added) << alias << " is an alias of " << op->name << " and a name of "
                         << found->second;
      EXPECT_EQ(find_operator(alias), op) << alias;
    }
  // A family's name leads to its first operator; it must not hide another family's.
  for (const FamilyInfo& family : all_families()) {
    ASSERT_FALSE(family.operators.empty()) << family.name;
    const auto found = owner.find(family.name);
    if (found == owner.end()) continue;
    EXPECT_EQ(find_operator(found->second)->family, family.name)
        << family.name << " is a family, and an operator of another one";
  }
}

TEST(Descriptions, NamesInsideAnOperatorAreDistinct) {
  for (const OperatorDef* op : operators()) {
    std::set<std::string> dimensions, arguments;
    for (const DimensionDef& d : op->dimensions)
      EXPECT_TRUE(dimensions.insert(d.name).second) << op->name << " has two sizes " << d.name;
    for (const TensorDef& t : op->tensors)
      EXPECT_TRUE(arguments.insert(t.name).second) << op->name << " has two arguments " << t.name;
    for (const ParameterDef& p : op->parameters)
      EXPECT_TRUE(arguments.insert(p.name).second) << op->name << " has two arguments " << p.name;
  }
}

TEST(Descriptions, WhatTheyNameExists) {
  for (const OperatorDef* op : operators()) {
    if (!op->backward.empty()) {
      const OperatorDef* const backward = find_operator(op->backward);
      EXPECT_TRUE(backward && backward->name == op->backward)
          << op->name << ": there is no operator " << op->backward;
    }
    for (const TensorDef& t : op->tensors) {
      const std::string who = op->name + "'s " + t.name;
      EXPECT_TRUE(t.like.empty() || op->tensor(t.like)) << who << " is like " << t.like;
      EXPECT_TRUE(t.usually_like.empty() || (op->tensor(t.usually_like) && !t.formats.empty()))
          << who << " is usually like " << t.usually_like;
      EXPECT_TRUE(t.strides_of.empty() || op->tensor(t.strides_of)) << who << ": " << t.strides_of;
      EXPECT_TRUE(t.may_be.empty() || t.role == Role::out) << who << " is no output";
      for (const std::string& other : t.may_be)
        EXPECT_TRUE(op->tensor(other) && other != t.name) << who << " may be " << other;
    }
    for (const ParameterDef& p : op->parameters)
      EXPECT_TRUE(p.not_under.empty() || op->parameter_index(p.not_under) >= 0)
          << op->name << "'s " << p.name << " is not under " << p.not_under;
  }
}

TEST(Descriptions, HeadersDeclareTheirOperators) {
  for (const OperatorDef* op : operators()) {
    if (op->header.empty()) continue;
    const auto file = std::filesystem::path(RIDGE_PUBLIC_HEADERS) / op->header;
    std::ifstream in(file);
    ASSERT_TRUE(in) << op->name << ": there is no " << file;
    std::stringstream text;
    text << in.rdbuf();
    EXPECT_TRUE(is_word_in(text.str(), op->name)) << op->header << " does not mention " << op->name;
  }
}

// Sizes whose names say it all.
bool is_obvious(const std::string& dimension) {
  static const std::set<std::string> kObvious = {"n",      "rows",     "cols",     "batch",
                                                 "frames", "height",   "width",    "depth",
                                                 "length", "channels", "vertices", "edges"};
  return kObvious.contains(dimension);
}

TEST(Descriptions, EverythingIsDocumented) {
  for (const OperatorDef* op : operators()) {
    EXPECT_FALSE(op->formula.empty()) << op->name << " has no formula";
    EXPECT_EQ(op->formula.find('\n'), std::string::npos) << op->name << "'s formula is one line";
    for (const DimensionDef& d : op->dimensions)
      EXPECT_TRUE(!d.meaning.empty() || is_obvious(d.name))
          << op->name << " does not say what the size " << d.name << " is";
    for (const TensorDef& t : op->tensors)
      EXPECT_TRUE(!t.meaning.empty() || is_word_in(op->formula, t.name))
          << op->name << " says what the tensor " << t.name
          << " is neither in its formula nor by a meaning";
    for (const ParameterDef& p : op->parameters)
      EXPECT_FALSE(p.meaning.empty())
          << op->name << " does not say what the parameter " << p.name << " is";
  }
}

TEST(Descriptions, ParametersHaveDefaultsInTheirRange) {
  for (const OperatorDef* op : operators())
    for (const ParameterDef& p : op->parameters) {
      const std::string who = op->name + "'s " + p.name;
      EXPECT_EQ(p.type == ParameterType::choice, !p.choices.empty()) << who;
      if (p.type == ParameterType::choice) {
        EXPECT_TRUE(p.otherwise >= 0 && p.otherwise < double(p.choices.size())) << who;
      }
      if (p.required) continue;
      EXPECT_TRUE(p.above_least ? p.otherwise > p.least : p.otherwise >= p.least) << who;
      EXPECT_TRUE(p.under_most ? p.otherwise < p.most : p.otherwise <= p.most) << who;
    }
}

TEST(Descriptions, TensorsHaveShapesAndFormats) {
  for (const OperatorDef* op : operators()) {
    EXPECT_FALSE(op->tensors.empty()) << op->name;
    EXPECT_FALSE(main_formats(*op).empty()) << op->name;
    bool writes = false;
    for (const TensorDef& t : op->tensors) {
      const std::string who = op->name + "'s " + t.name;
      EXPECT_FALSE(t.pattern.empty()) << who << " has no shape";
      EXPECT_TRUE(t.formats.empty() != t.like.empty()) << who << " has formats, or is like another";
      if (t.derived) {
        EXPECT_FALSE(t.derived_name.empty()) << who << ": what follows from " << t.like << "?";
        EXPECT_FALSE(t.like.empty()) << who << " has a format that follows from no tensor";
      }
      EXPECT_TRUE(t.formats.empty() ||
                  std::set(t.formats.begin(), t.formats.end()).size() == t.formats.size())
          << who << " has a format twice";
      writes = writes || t.role != Role::in;
    }
    EXPECT_TRUE(writes) << op->name << " writes no tensor";
  }
}

TEST(Descriptions, RungsHaveIdeas) {
  for (const FamilyInfo& family : all_families()) {
    const Ladder* const ladder = ladder_of(family.name);
    ASSERT_TRUE(ladder);
    EXPECT_FALSE(ladder->summary.empty()) << family.name;
    ASSERT_EQ(family.rungs.size(), ladder->rungs.size()) << family.name;
    for (size_t r = 0; r < family.rungs.size(); ++r) {
      EXPECT_EQ(family.rungs[r].name, ladder->rungs[r].name);
      EXPECT_EQ(family.rungs[r].idea, ladder->rungs[r].idea) << family.name;
      EXPECT_FALSE(family.rungs[r].idea.empty()) << family.name << "/" << family.rungs[r].name;
    }
  }
}

// --- the families' cases ---

void expect_taken(const Ladder& ladder, Case c, const OperatorDef& op, const char* which) {
  const std::string who = op.name + ", " + which + " " + shape_text(c.shape) + " " +
                          name_of(c.dtype) + " " + settings_text(c);
  const Status completed = complete(c, op);
  ASSERT_TRUE(completed) << who << ": " << completed.message();
  const Status fine = ladder.check(c);
  ASSERT_TRUE(fine) << who << ": " << fine.message();
  CallNowhere nowhere(ladder, c);
  const Status called = nowhere.check();
  EXPECT_TRUE(called) << who << ": " << called.message();
}

TEST(Cases, ASettingReadsAsOnTheCommandLine) {
  OperatorDef op;
  ParameterDef precision, alpha;
  precision.name = "precision";
  precision.type = ParameterType::choice;
  precision.choices = {"full", "tf32"};
  alpha.name = "alpha";
  op.parameters = {precision, alpha};
  Case c;
  c.def = &op;
  c.parameters = {{"precision", 1}, {"alpha", 1}};
  EXPECT_EQ(settings_text(c), "precision=tf32 alpha=1");
}

TEST(Cases, OfEveryFamilyAreCallsOfIt) {
  for (const FamilyInfo& family : all_families()) {
    const Ladder* const ladder = ladder_of(family.name);
    ASSERT_TRUE(ladder);
    const auto expect_all = [&](const std::vector<Case>& cases, const char* which) {
      for (const Case& c : cases)
        expect_taken(*ladder, c, *family.operators.at(size_t(c.op)), which);
    };
    expect_all({ladder->tour()}, "tour");
    expect_all(ladder->tests(), "test");
    expect_all(ladder->timings(), "timing");
    EXPECT_FALSE(ladder->timings().empty()) << family.name;
  }
}

// The tour's case, or for other operators of the family the first of their tests, in each format.
TEST(Cases, AreThereInEveryFormat) {
  for (const OperatorDef* op : operators()) {
    const Ladder* const ladder = ladder_of(op->family);
    ASSERT_TRUE(ladder);
    std::vector<Case> cases = ladder->tests();
    cases.insert(cases.begin(), ladder->tour());
    const auto first =
        std::ranges::find_if(cases, [&](const Case& c) { return c.op == op->index; });
    ASSERT_NE(first, cases.end()) << op->name << " is not tested";
    for (const Dtype dtype : main_formats(*op)) {
      Case c = *first;
      c.dtype = dtype;
      expect_taken(*ladder, c, *op, "format");
    }
  }
}

// Each is tested with an operator of the family that has it; the first is what a case has that
// names none.
TEST(Cases, HaveEveryDistribution) {
  for (const FamilyInfo& family : all_families()) {
    const Ladder* const ladder = ladder_of(family.name);
    ASSERT_TRUE(ladder);
    const std::vector<Case> tests = ladder->tests();
    for (const OperatorDef* op : family.operators)
      for (const std::string& distribution : op->distributions)
        EXPECT_TRUE(std::ranges::any_of(
            tests, [&](const Case& c) { return c.is_distributed(distribution); }))
            << family.name << " is not tested with the distribution " << distribution;
  }
}

}  // namespace
}  // namespace ridge
