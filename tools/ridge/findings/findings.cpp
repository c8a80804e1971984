#include "findings/findings.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#include <nlohmann/json.hpp>

namespace ridge::tools {
namespace {

using vm::report::Party;
using vm::report::Place;
using vm::report::Severity;

Party party_of(const nlohmann::json& json) {
  return {.act = json.value("act", ""),
          .who = json.value("thread", ""),
          .place = {.file = json.value("file", ""),
                    .line = json.value("line", 0u),
                    .column = json.value("column", 0u),
                    .function = json.value("function", ""),
                    .inside = json.value("inside", ""),
                    .ptx_line = json.value("ptx_line", 0u),
                    .instruction = json.value("instruction", "")}};
}

Finding finding_of(const nlohmann::json& json) {
  Finding f;
  f.kind = json.value("kind", "");
  f.severity = json.value("severity", "") == "warning" ? Severity::warning : Severity::error;
  f.message = json.value("message", "");
  f.fix = json.value("fix", "");
  f.fix_kind = json.value("fix_kind", "");
  f.kernel = json.value("kernel", "");
  f.space = json.value("space", "");
  f.first = party_of(json);
  if (json.contains("related") && !json["related"].empty()) f.second = party_of(json["related"][0]);
  f.address = std::strtoull(json.value("address", "0").c_str(), nullptr, 16);
  f.memory = json.value("memory", "");
  f.notes = json.value("notes", std::vector<std::string>());
  f.scope = json.value("scope", "");
  for (const auto& edit : json.value("edits", nlohmann::json::array()))
    f.edits.push_back({.file = edit.value("file", ""),
                       .line = edit.value("line", 0u),
                       .from = edit.value("from", ""),
                       .to = edit.value("to", "")});
  f.count = json.value("count", uint64_t(1));
  return f;
}

std::string place_key(const Place& p) {
  return p.file.empty() ? p.function + std::to_string(p.ptx_line) + p.instruction
                        : p.file + ":" + std::to_string(p.line);
}

using Key = std::tuple<std::string, std::string, std::string, std::string, std::string>;
Key key_of(const Finding& f) {
  std::string a = place_key(f.first.place), b = place_key(f.second.place);
  if (b < a) std::swap(a, b);
  const bool placed = f.first.place.known() || f.second.place.known();
  return {f.kind, f.space, f.kernel, a + "|" + b, placed ? "" : f.message};
}

bool is_side_of(const Finding& empty, const Finding& race) {
  const std::string place = place_key(empty.place());
  return race.kind.starts_with("race") && race.space == empty.space &&
         race.kernel == empty.kernel &&
         (place_key(race.first.place) == place || place_key(race.second.place) == place);
}

}  // namespace

void Findings::add(const Findings& other, uint64_t seed) {
  for (const Finding& f : other.all) {
    const auto same =
        std::ranges::find_if(all, [&](const Finding& mine) { return key_of(mine) == key_of(f); });
    if (same != all.end()) continue;
    all.push_back(f);
    all.back().seed = seed;
  }
}

bool Findings::has(std::string_view kind) const {
  return std::ranges::any_of(all, [&](const Finding& f) { return f.kind == kind; });
}

Findings read_findings(std::istream& in) {
  Findings result;
  std::vector<Finding> read;
  std::map<uint64_t, size_t> by_id;
  for (std::string text; std::getline(in, text);) {
    const auto line = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!line.is_object()) continue;  // cut off where the program was ended
    if (line.contains("finished")) {
      result.finished = true;
      result.launches = line.value("launches", uint64_t(0));
    } else if (line.contains("withdrawn")) {
      const auto found = by_id.find(line["withdrawn"].get<uint64_t>());
      if (found != by_id.end()) read[found->second] = {};
    } else if (line.contains("of")) {
      const auto found = by_id.find(line["of"].get<uint64_t>());
      if (found != by_id.end()) read[found->second].count = line.value("count", uint64_t(1));
    } else if (line.contains("kind")) {
      const auto [at, fresh] = by_id.emplace(line.value("id", uint64_t(0)), read.size());
      if (fresh) read.push_back(finding_of(line));
      else read[at->second] = finding_of(line);
    }
  }
  std::erase_if(read, [](const Finding& f) { return f.kind.empty(); });
  std::erase_if(read, [&](const Finding& f) {
    return f.kind == "uninitialised" &&
           std::ranges::any_of(read, [&](const Finding& race) { return is_side_of(f, race); });
  });
  std::map<Key, size_t> groups;
  for (Finding& f : read) {
    const auto [at, fresh] = groups.emplace(key_of(f), result.all.size());
    if (fresh) result.all.push_back(std::move(f));
    else result.all[at->second].count += f.count;
  }
  return result;
}

}  // namespace ridge::tools
