#include "profile/against.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "verb.h"

namespace ridge::tools::profile {
namespace {

using nlohmann::json;
using Pair = std::pair<const json*, const json*>;  // before, after; nullptr: that side has none

const json kNothing;

const json& member(const json* object, const char* key) {
  if (!object || !object->is_object()) return kNothing;
  const auto found = object->find(key);
  return found == object->end() ? kNothing : *found;
}
std::string text_of(const json* object, const char* key) {
  const json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}
double number_of(const json* object, const char* key) {
  const json& value = member(object, key);
  return value.is_number() ? value.get<double>() : 0;
}

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// --- kernels

std::string base_name(const json* kernel) {
  const std::string name = text_of(kernel, "full_name");
  return name.substr(0, name.find('<'));
}

// The best matches first: the same kernel in the same shape, the same kernel, another instance of a
// template; and one that is left on each side was renamed.
std::vector<Pair> match_kernels(const json& before, const json& after) {
  std::vector<const json*> left, right;
  for (const json& kernel : before) left.push_back(&kernel);
  for (const json& kernel : after) right.push_back(&kernel);
  std::map<const json*, const json*> found;  // after → before
  const auto take = [&](auto alike) {
    for (const json*& one : right) {
      const auto other = std::ranges::find_if(
          left, [&](const json* candidate) { return candidate && one && alike(*candidate, *one); });
      if (other == left.end()) continue;
      found[one] = *other;
      *other = one = nullptr;
    }
  };
  const auto same = [](const json& a, const json& b, const char* key) {
    return member(&a, key) == member(&b, key);
  };
  take([&](const json& a, const json& b) {
    return same(a, b, "full_name") && same(a, b, "grid") && same(a, b, "block");
  });
  take([&](const json& a, const json& b) { return same(a, b, "full_name"); });
  take([&](const json& a, const json& b) { return base_name(&a) == base_name(&b); });
  const auto none = [](const json* kernel) { return kernel == nullptr; };
  const bool one_each = std::ranges::count_if(left, std::not_fn(none)) == 1 &&
                        std::ranges::count_if(right, std::not_fn(none)) == 1;
  if (one_each) take([](const json&, const json&) { return true; });
  std::vector<Pair> pairs;
  for (const json& kernel : after)
    pairs.emplace_back(found.contains(&kernel) ? found[&kernel] : nullptr, &kernel);
  for (const json* kernel : left)
    if (kernel) pairs.emplace_back(kernel, nullptr);
  return pairs;
}

// --- lines

using Lines = std::vector<const json*>;  // of one file, in its order

std::map<std::string, Lines> files_of(const json* kernel) {
  std::map<std::string, Lines> files;
  for (const json& line : member(kernel, "lines"))
    files[std::filesystem::path(text_of(&line, "file")).filename()].push_back(&line);
  for (auto& [file, lines] : files)
    std::ranges::stable_sort(lines, {}, [](const json* line) { return number_of(line, "line"); });
  return files;
}

// How alike two texts are, from 0 to 1: the pairs of neighbouring letters that both have.
double likeness(const std::string& a, const std::string& b) {
  if (a == b) return 1;
  if (a.size() < 2 || b.size() < 2) return 0;
  std::map<std::pair<char, char>, int> pairs;
  for (size_t i = 1; i < a.size(); ++i) ++pairs[{a[i - 1], a[i]}];
  double both = 0;
  for (size_t i = 1; i < b.size(); ++i)
    if (int& left = pairs[{b[i - 1], b[i]}]; left > 0) --left, ++both;
  return 2 * both / double(a.size() + b.size() - 2);
}

// Lines in their order, so that those that stand beside each other are as alike as can be. Lines
// that are too different stand alone: one is gone, the other is new.
void match_edited(const Lines& before, const Lines& after, std::vector<Pair>& pairs) {
  constexpr double kAlike = 0.4;
  constexpr size_t kMost = 200'000;  // comparisons; beyond them, only equal lines are alike
  std::vector<std::string> left, right;
  for (const json* line : before) left.push_back(trimmed(text_of(line, "text")));
  for (const json* line : after) right.push_back(trimmed(text_of(line, "text")));
  const bool few = left.size() * right.size() <= kMost;
  const size_t columns = right.size() + 1;
  std::vector<double> best((left.size() + 1) * columns, 0.0), score(best.size(), 0.0);
  for (size_t i = left.size(); i-- > 0;)
    for (size_t j = right.size(); j-- > 0;) {
      const size_t at = i * columns + j;
      const double alike = few ? likeness(left[i], right[j]) : double(left[i] == right[j]);
      score[at] = alike >= kAlike ? best[at + columns + 1] + alike : -1;
      best[at] = std::max({score[at], best[at + columns], best[at + 1]});
    }
  size_t i = 0, j = 0;
  while (i < left.size() && j < right.size()) {
    const size_t at = i * columns + j;
    if (score[at] == best[at]) pairs.emplace_back(before[i++], after[j++]);
    else if (best[at] == best[at + columns]) pairs.emplace_back(before[i++], nullptr);
    else pairs.emplace_back(nullptr, after[j++]);
  }
  while (i < left.size()) pairs.emplace_back(before[i++], nullptr);
  while (j < right.size()) pairs.emplace_back(nullptr, after[j++]);
}

// Most of a file is as it was: only what lies between the first and the last edit is looked into.
void match_lines(const Lines& before, const Lines& after, std::vector<Pair>& pairs) {
  const auto same = [](const json* a, const json* b) {
    return trimmed(text_of(a, "text")) == trimmed(text_of(b, "text"));
  };
  const size_t most = std::min(before.size(), after.size());
  size_t begin = 0, end = 0;
  while (begin < most && same(before[begin], after[begin])) ++begin;
  while (end < most - begin && same(before[before.size() - 1 - end], after[after.size() - 1 - end]))
    ++end;
  for (size_t i = 0; i < begin; ++i) pairs.emplace_back(before[i], after[i]);
  const auto middle = [&](const Lines& lines) {
    return Lines(lines.begin() + long(begin), lines.end() - long(end));
  };
  match_edited(middle(before), middle(after), pairs);
  for (size_t i = end; i > 0; --i)
    pairs.emplace_back(before[before.size() - i], after[after.size() - i]);
}

std::vector<Pair> match_lines(const json* before, const json* after) {
  std::map<std::string, Lines> left = files_of(before), right = files_of(after);
  std::vector<Pair> pairs;
  // The file that a copy of the program has under another name.
  if (left.size() == 1 && right.size() == 1 && left.begin()->first != right.begin()->first)
    left = {{right.begin()->first, left.begin()->second}};
  for (const auto& [file, lines] : right) match_lines(left[file], lines, pairs);
  for (const auto& [file, lines] : left)
    if (!right.contains(file)) match_lines(lines, {}, pairs);
  return pairs;
}

// --- both sides as [before, after]

json counters_of(const Pair& pair) {
  json out = json::object();
  for (const json* side : {pair.first, pair.second}) {
    if (!side) continue;
    for (const auto& [name, value] : member(side, "counters").items()) {
      const json& before = member(pair.first, "counters");
      const json& after = member(pair.second, "counters");
      out[name] = {number_of(&before, name.c_str()), number_of(&after, name.c_str())};
    }
  }
  return out;
}

json line_json(const Pair& pair, double cycles_before, double cycles_after) {
  json out = {{"counters", counters_of(pair)},
              {"cost",
               {number_of(pair.first, "share") * cycles_before,
                number_of(pair.second, "share") * cycles_after}}};
  const auto put = [&](const json* side, const std::string& suffix) {
    if (!side) return;
    out["line" + suffix] = member(side, "line");
    out["text" + suffix] = trimmed(text_of(side, "text"));
    if (const std::string file = text_of(side, "file"); !file.empty()) out["file" + suffix] = file;
  };
  put(pair.first, "_before");
  put(pair.second, "");
  return out;
}

json kernel_json(const Pair& pair) {
  const auto [before, after] = pair;
  const double cycles_before = number_of(before, "time_cycles");
  const double cycles_after = number_of(after, "time_cycles");
  json out = {{"name", text_of(after, "name")},
              {"name_before", text_of(before, "name")},
              {"grid", {member(before, "grid"), member(after, "grid")}},
              {"block", {member(before, "block"), member(after, "block")}},
              {"launches", {number_of(before, "launches"), number_of(after, "launches")}},
              {"modelled_us", {number_of(before, "modelled_us"), number_of(after, "modelled_us")}},
              {"time_cycles", {cycles_before, cycles_after}},
              {"counters", counters_of(pair)},
              {"lines", json::array()}};
  for (const char* key : {"registers", "static_shared", "local_bytes"})
    out["resources"][key] = {number_of(&member(before, "resources"), key),
                             number_of(&member(after, "resources"), key)};
  out["occupancy"] = {number_of(&member(before, "occupancy"), "fraction"),
                      number_of(&member(after, "occupancy"), "fraction")};
  for (const Pair& lines : match_lines(before, after))
    out["lines"].push_back(line_json(lines, cycles_before, cycles_after));
  return out;
}

}  // namespace

Expected<json> read_record(const std::string& file) {
  std::ifstream in(file);
  if (!in) return Error{kMissing, fmt::format("--against: cannot read {}", file)};
  json record = json::parse(in, nullptr, /*allow_exceptions=*/false);
  const json& kernels = member(&record, "kernels");
  const bool whole =
      kernels.is_array() && std::ranges::all_of(kernels, [](const json& kernel) {
        return member(&kernel, "lines").is_array() && member(&kernel, "time_cycles").is_number();
      });
  if (!whole)
    return Error{kUsage, fmt::format("--against: {} is no record of `ridge profile --json`", file)};
  return record;
}

json compare(const json& before, const json& after) {
  json out = {
      {"kernels", json::array()}, {"only_before", json::array()}, {"only_after", json::array()}};
  for (const Pair& pair : match_kernels(member(&before, "kernels"), member(&after, "kernels"))) {
    if (!pair.first) out["only_after"].push_back(text_of(pair.second, "name"));
    else if (!pair.second) out["only_before"].push_back(text_of(pair.first, "name"));
    else out["kernels"].push_back(kernel_json(pair));
  }
  return out;
}

}  // namespace ridge::tools::profile
