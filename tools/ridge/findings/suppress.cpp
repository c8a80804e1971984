#include "findings/suppress.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "verb.h"

namespace ridge::tools {
namespace {

constexpr const char* kUsualFile = ".ridge-suppress";

struct Rule {
  std::string kind, file, kernel;
  uint32_t line = 0;  // 0: any
};

bool matches(const std::string& pattern, const std::string& text) {
  return pattern.empty() || fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

bool is_at(const Rule& rule, const vm::report::Place& place) {
  return matches(rule.file, place.file) && (!rule.line || rule.line == place.line);
}

bool matches(const Rule& rule, const Finding& f) {
  return matches(rule.kind, f.kind) && matches(rule.kernel, f.kernel) &&
         (is_at(rule, f.first.place) || is_at(rule, f.second.place));
}

Expected<Rule> rule_of(const std::string& kind, const std::string& where, const std::string& more,
                       const std::string& place) {
  if (!more.empty())
    return Error{kUsage, fmt::format("{}: a rule is KIND [FILE[:LINE] | kernel:NAME], and this "
                                     "has more: {}",
                                     place, more)};
  Rule rule{.kind = kind, .file = {}, .kernel = {}, .line = 0};
  if (where.starts_with("kernel:")) {
    rule.kernel = where.substr(7);
    return rule;
  }
  const size_t colon = where.rfind(':');
  rule.file = where.substr(0, colon);
  if (colon == where.npos) return rule;
  const std::string number = where.substr(colon + 1);
  if (number.empty() || number.find_first_not_of("0123456789") != number.npos)
    return Error{kUsage, fmt::format("{}: '{}' is no line number", place, number)};
  rule.line = uint32_t(std::stoul(number));
  return rule;
}

Expected<std::vector<Rule>> read_rules(std::istream& in, const std::string& path) {
  std::vector<Rule> rules;
  uint32_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::string kind, where, more;
    words >> kind >> where >> more;
    if (kind.empty()) continue;
    const auto rule = rule_of(kind, where, more, fmt::format("{}:{}", path, number));
    if (!rule) return rule.error();
    rules.push_back(*rule);
  }
  return rules;
}

}  // namespace

Status suppress(Findings& findings, const std::string& path) {
  const std::string file = path.empty() ? kUsualFile : path;
  if (path.empty() && !std::filesystem::exists(file)) return Status::ok();
  std::ifstream in(file);
  if (!in) return Error{kMissing, fmt::format("cannot read the suppressions in {}", file)};
  const auto rules = read_rules(in, file);
  if (!rules) return rules.error();
  const auto known = [&](const Finding& f) {
    return std::ranges::any_of(*rules, [&](const Rule& rule) { return matches(rule, f); });
  };
  const auto kept = std::ranges::stable_partition(findings.all, std::not_fn(known));
  findings.suppressed.assign(kept.begin(), kept.end());
  findings.all.erase(kept.begin(), kept.end());
  return Status::ok();
}

}  // namespace ridge::tools
