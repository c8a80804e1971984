#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "findings/findings.h"
#include "findings/sarif.h"
#include "findings/suppress.h"
#include "findings/text.h"
#include "vm/report/text.h"

namespace ridge::tools {
namespace {

vm::report::Place line_of(const std::string& file, uint32_t line) {
  vm::report::Place place;
  place.file = file;
  place.line = line;
  return place;
}

Finding race() {
  Finding f;
  f.kind = "race";
  f.space = "shared";
  f.kernel = "reverse";
  f.first = {"read", "thread (31,0,0) of block (0,0,0)", line_of("a b.cu", 9)};
  f.second = {"write", "thread (32,0,0) of block (0,0,0)", line_of("a b.cu", 5)};
  f.memory = "'tile', byte 0 of 256";
  f.message = "write after read without \"synchronisation\"";
  f.notes = {"a note"};
  f.fix = "put __syncthreads() between line 5 and line 9";
  f.fix_kind = "syncthreads-between";
  f.edits = {{.file = "a b.cu", .line = 9, .from = "", .to = "__syncthreads();"}};
  f.scope = "block";
  return f;
}

Finding at(const std::string& kind, const std::string& file, uint32_t line) {
  Finding f;
  f.kind = kind;
  f.message = "words";
  f.first.place = line_of(file, line);
  return f;
}

Findings read(const std::string& lines) {
  std::istringstream in(lines);
  return read_findings(in);
}

TEST(Findings, ComeThroughTheWireAsTheyWere) {
  const std::string line = vm::report::to_json(race(), ", \"id\": 1");
  const Findings read_back = read(line +
                                  "\n{\"of\": 1, \"count\": 7}\n{\"finished\": true, "
                                  "\"launches\": 3}\n");
  ASSERT_EQ(read_back.all.size(), 1u);
  EXPECT_TRUE(read_back.finished);
  EXPECT_EQ(read_back.launches, 3u);
  EXPECT_EQ(read_back.all[0].count, 7u);
  Finding expected = race();
  expected.count = 7;
  EXPECT_EQ(vm::report::to_json(read_back.all[0]), vm::report::to_json(expected));
}

TEST(Findings, WithdrawnOnesAreNotThere) {
  const Findings found = read(vm::report::to_json(race(), ", \"id\": 1") + "\n" +
                              vm::report::to_json(at("leak", "a.cu", 3), ", \"id\": 2") +
                              "\n{\"withdrawn\": 1}\n");
  ASSERT_EQ(found.all.size(), 1u);
  EXPECT_EQ(found.all[0].kind, "leak");
}

TEST(Findings, ALaterLineReplacesTheEarlier) {
  Finding wider = race();
  wider.fix = "use an atomic";
  const Findings found = read(vm::report::to_json(race(), ", \"id\": 1") + "\n" +
                              vm::report::to_json(wider, ", \"id\": 1") + "\n");
  ASSERT_EQ(found.all.size(), 1u);
  EXPECT_EQ(found.all[0].fix, "use an atomic");
}

TEST(Findings, OfTheSameLinesAreOneAndACutLineIsNone) {
  const std::string line = vm::report::to_json(race());
  Finding swapped = race();
  std::swap(swapped.first, swapped.second);
  std::string text;
  for (int id = 1; id <= 2; ++id)
    text +=
        vm::report::to_json(id == 1 ? race() : swapped, ", \"id\": " + std::to_string(id)) + "\n";
  const Findings found = read(text + line.substr(0, line.size() / 2));
  ASSERT_EQ(found.all.size(), 1u);
  EXPECT_EQ(found.all[0].count, 2u);
  EXPECT_FALSE(found.finished);
}

TEST(Findings, TextStartsAsEditorsMatchIt) {
  const std::string text = vm::report::to_text(race(), {});
  EXPECT_TRUE(text.starts_with("a b.cu:9: error: race in shared memory in kernel reverse [race]\n"))
      << text;
  EXPECT_NE(text.find("\n  write at a b.cu:5 by thread (32,0,0) of block (0,0,0)\n"), text.npos);
  EXPECT_NE(text.find("(0x0)"), text.npos) << "address 0 of shared memory is an address\n" << text;
}

TEST(Findings, ExcerptsPointAtTheColumn) {
  const auto file = std::filesystem::temp_directory_path() / "ridge_excerpt.cu";
  std::ofstream(file) << "int a;\n\tb[i] = c[i];\n";
  Finding f = at("failed-call", file, 2);
  f.first.place.column = 9;
  const std::string text = vm::report::to_text(f, {});
  EXPECT_NE(text.find("     2 | \tb[i] = c[i];\n       | \t       ^\n"), text.npos) << text;
  f.first.place.column = 99;  // of another version of the file
  EXPECT_EQ(vm::report::to_text(f, {}).find('^'), text.npos);
  std::filesystem::remove(file);
}

struct Suppressed {
  size_t left, suppressed;
  std::string error;
};
Suppressed with_rules(const std::string& rules) {
  const auto file = std::filesystem::temp_directory_path() / "ridge_suppress_test";
  std::ofstream(file) << rules;
  Findings findings;
  findings.all = {race(), at("leak", "src/x.cu", 3), at("leak", "src/y.cu", 4)};
  const Status done = suppress(findings, file);
  std::filesystem::remove(file);
  return {findings.all.size(), findings.suppressed.size(), done ? "" : done.message()};
}

TEST(Suppress, ByKindFileLineAndKernel) {
  EXPECT_EQ(with_rules("# nothing\n\n").suppressed, 0u);
  EXPECT_EQ(with_rules("leak\n").suppressed, 2u);
  EXPECT_EQ(with_rules("leak src/x.cu\n").suppressed, 1u);
  EXPECT_EQ(with_rules("leak src/*  # both\n").suppressed, 2u);
  EXPECT_EQ(with_rules("leak src/x.cu:3\n").suppressed, 1u);
  EXPECT_EQ(with_rules("leak src/x.cu:4\n").suppressed, 0u);
  EXPECT_EQ(with_rules("* kernel:rev*\n").suppressed, 1u);
  EXPECT_EQ(with_rules("race kernel:other\n").suppressed, 0u);
  EXPECT_EQ(with_rules("*\n").left, 0u);
}

TEST(Suppress, BadRulesAreNamedByTheirLine) {
  EXPECT_NE(with_rules("leak\nrace x.cu:seven\n").error.find(":2: 'seven' is no line number"),
            std::string::npos);
  EXPECT_NE(with_rules("race a.cu:1 b.cu:2\n").error.find("has more: b.cu:2"), std::string::npos);
  EXPECT_EQ(with_rules("race x.cu:seven\n").left, 3u);
  Findings none;
  EXPECT_FALSE(suppress(none, "/no/such/file"));
}

TEST(Sarif, HasPlacesRulesAndSuppressions) {
  Findings findings;
  findings.all = {race()};
  findings.suppressed = {at("leak", "/abs/x.cu", 3)};
  const nlohmann::json run = to_sarif(findings)["runs"][0];
  ASSERT_EQ(run["results"].size(), 2u);
  const nlohmann::json& result = run["results"][0];
  EXPECT_EQ(result["ruleId"], "race");
  const nlohmann::json& place = result["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], "a%20b.cu");
  EXPECT_EQ(place["region"]["startLine"], 9);
  EXPECT_EQ(result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 5);
  EXPECT_EQ(run["results"][1]["suppressions"][0]["kind"], "external");
  EXPECT_EQ(run["results"][1]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "file:///abs/x.cu");
  EXPECT_EQ(run["tool"]["driver"]["rules"].size(), 2u);
}

}  // namespace
}  // namespace ridge::tools
