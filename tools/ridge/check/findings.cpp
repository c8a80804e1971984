#include "check/findings.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <nlohmann/json.hpp>

namespace ridge::tools::check {
namespace {

Party party_of(const nlohmann::json& json) {
  return {.act = json.value("act", ""),
          .who = json.value("who", ""),
          .file = json.value("file", ""),
          .line = json.value("line", 0u),
          .inside = json.value("inside", ""),
          .ptx_line = json.value("ptx_line", 0u),
          .ptx = json.value("ptx", "")};
}

std::string place(const Party& p) {
  if (!p.there()) return {};
  return p.file.empty() ? "PTX:" + std::to_string(p.ptx_line) + p.ptx
                        : p.file + ":" + std::to_string(p.line);
}

using Key = std::tuple<std::string, std::string, std::string, std::string, std::string>;
Key key_of(const Finding& f) {
  std::string a = place(f.first), b = place(f.second);
  if (b < a) std::swap(a, b);
  std::string what = f.first.there() || f.second.there() ? "" : f.what;
  // How often a count appears in the words of a leak or a fault says nothing.
  return {f.kind, f.space, f.kernel, a + "|" + b, std::move(what)};
}

bool is_side_of(const Finding& empty, const Finding& race) {
  return race.kind.starts_with("race") && race.space == empty.space &&
         race.kernel == empty.kernel &&
         (place(race.first) == place(empty.second) || place(race.second) == place(empty.second));
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
    } else if (line.contains("drafts")) {  // what was told of races early is told again, better
      std::erase_if(read, [](const Finding& f) { return f.draft; });
      by_id.clear();
    } else if (line.contains("of")) {
      const auto found = by_id.find(line["of"].get<uint64_t>());
      if (found != by_id.end()) read[found->second].count = line.value("count", uint64_t(1));
    } else if (line.contains("kind")) {
      Finding f;
      f.kind = line.value("kind", "");
      f.space = line.value("space", "");
      f.kernel = line.value("kernel", "");
      if (line.contains("first")) f.first = party_of(line["first"]);
      if (line.contains("second")) f.second = party_of(line["second"]);
      f.address = line.value("address", "");
      f.memory = line.value("memory", "");
      f.what = line.value("what", "");
      f.fix = line.value("fix", "");
      f.fix_kind = line.value("fix_kind", "");
      f.scope = line.value("scope", "");
      f.draft = line.value("draft", false);
      f.count = line.value("count", uint64_t(1));
      for (const auto& edit : line.value("edits", nlohmann::json::array()))
        f.edits.push_back({edit.value("file", ""), edit.value("line", 0u), edit.value("from", ""),
                           edit.value("to", "")});
      f.file = line.value("file", "");
      f.line = line.value("line", 0u);
      f.other_line = line.value("other_line", 0u);
      by_id[line.value("id", uint64_t(0))] = read.size();
      read.push_back(std::move(f));
    }
  }
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

}  // namespace ridge::tools::check
