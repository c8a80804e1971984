#include "findings/sarif.h"

#include <filesystem>
#include <map>

#include <nlohmann/json.hpp>

#include "vm/report/text.h"

namespace ridge::tools {
namespace {

using nlohmann::json;
using vm::report::Party;
using vm::report::Place;

// A URI reference: characters that mean something in one are escaped.
std::string uri_of(const std::string& path) {
  std::string uri = std::filesystem::path(path).is_absolute() ? "file://" : "";
  for (const char c : path) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) ||
                       std::string_view("/._-~+").find(c) != std::string_view::npos;
    char escaped[4];
    std::snprintf(escaped, sizeof escaped, "%%%02X", static_cast<unsigned char>(c));
    uri += plain ? std::string(1, c) : std::string(escaped);
  }
  return uri;
}

json location_of(const Party& party, int id) {
  json location = json::object();
  const Place& place = party.place;
  if (!place.file.empty()) {
    json region = {{"startLine", std::max(place.line, 1u)}};
    if (place.column) region["startColumn"] = place.column;
    location["physicalLocation"] = {{"artifactLocation", {{"uri", uri_of(place.file)}}},
                                    {"region", region}};
  }
  if (!place.function.empty())
    location["logicalLocations"] = json::array({{{"name", place.function}, {"kind", "function"}}});
  if (id) location["id"] = id;
  std::string text = party.act;
  if (!party.who.empty()) text += " by " + party.who;
  if (!text.empty()) location["message"] = {{"text", text}};
  return location;
}

std::string text_of(const Finding& f) {
  std::string text = vm::report::title(f);
  if (!text.empty() && !f.kernel.empty()) text += " in kernel " + f.kernel;
  if (!f.message.empty()) text += (text.empty() ? "" : ": ") + f.message;
  for (const std::string& note : f.notes) text += ". " + note;
  if (!f.fix.empty()) text += ". Fix: " + f.fix;
  return text;
}

json result_of(const Finding& f, bool suppressed) {
  json result = {
      {"ruleId", f.kind},
      {"level", f.severity == vm::report::Severity::error ? "error" : "warning"},
      {"message", {{"text", text_of(f)}}},
      {"occurrenceCount", std::max<uint64_t>(f.count, 1)},
  };
  if (f.first.there()) result["locations"] = json::array({location_of(f.first, 0)});
  if (f.second.there()) result["relatedLocations"] = json::array({location_of(f.second, 1)});
  if (!f.kernel.empty()) result["properties"]["kernel"] = f.kernel;
  if (!f.fix_kind.empty()) result["properties"]["fixKind"] = f.fix_kind;
  if (suppressed) result["suppressions"] = json::array({{{"kind", "external"}}});
  return result;
}

}  // namespace

json to_sarif(const Findings& findings) {
  json results = json::array();
  std::map<std::string, json> rules;
  for (const auto* list : {&findings.all, &findings.suppressed})
    for (const Finding& f : *list) {
      results.push_back(result_of(f, list == &findings.suppressed));
      rules[f.kind] = {{"id", f.kind}, {"name", f.kind}};
    }
  json driver = {{"name", "ridge"}, {"version", RIDGE_VERSION}, {"rules", json::array()}};
  for (const auto& [kind, rule] : rules) driver["rules"].push_back(rule);
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs", json::array({{{"tool", {{"driver", driver}}}, {"results", results}}})}};
}

}  // namespace ridge::tools
