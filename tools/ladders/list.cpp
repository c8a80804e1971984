// What there is: families, operators with their tensors and parameters, rungs. Rungs' ideas and
// claims are in the families' libraries, and are told of those that are named.
#include <nlohmann/json.hpp>

#include "commands.h"

namespace ridge::ladders {
namespace {

using nlohmann::json;

constexpr const char* kRoles[] = {"in", "out", "inout"};
constexpr const char* kLayouts[] = {"any", "contiguous", "dense", "rows", "unit_last", "matrix"};
constexpr const char* kTypes[] = {"number", "integer", "flag", "choice"};

json names(const Formats& formats) {
  json list = json::array();
  for (const Dtype d : formats) list.push_back(name_of(d));
  return list;
}

// What a rung claims; what it does not is left out.
json describe(const Claims& claims) {
  json out = json::object();
  if (claims.global_loads_per_element != kNoClaim)
    out["global_loads_per_element"] = claims.global_loads_per_element;
  if (claims.global_stores_per_element != kNoClaim)
    out["global_stores_per_element"] = claims.global_stores_per_element;
  if (claims.barriers != int(kNoClaim)) out["barriers"] = claims.barriers;
  if (claims.conflict_free) out["conflict_free"] = true;
  return out;
}

json describe(const TensorDef& t) {
  json out = {{"name", t.name},
              {"role", kRoles[size_t(t.role)]},
              {"shape", t.shape},
              {"layout", kLayouts[size_t(t.layout)]}};
  if (!t.formats.empty()) out["formats"] = names(t.formats);
  if (!t.like.empty()) out["like"] = t.like;
  if (t.derived) out["derived"] = t.derived_name;
  if (t.optional) out["optional"] = true;
  if (!t.may_be.empty()) out["may_be"] = t.may_be;
  if (t.on_host) out["on_host"] = true;
  if (!t.meaning.empty()) out["meaning"] = t.meaning;
  return out;
}

json describe(const ParameterDef& p) {
  json out = {{"name", p.name}, {"type", kTypes[size_t(p.type)]}, {"default", p.otherwise}};
  if (p.required) out["required"] = true;
  if (p.least > -std::numeric_limits<double>::infinity()) out["least"] = p.least;
  if (p.most < std::numeric_limits<double>::infinity()) out["most"] = p.most;
  if (p.above_least) out["above_least"] = true;
  if (p.under_most) out["under_most"] = true;
  if (!p.choices.empty()) out["choices"] = p.choices;
  if (!p.meaning.empty()) out["meaning"] = p.meaning;
  return out;
}

json describe(const OperatorDef& op) {
  json out = {{"name", op.name}, {"formula", op.formula}, {"formats", names(main_formats(op))}};
  for (const DimensionDef& d : op.dimensions)
    out["dimensions"].push_back({{"name", d.name}, {"meaning", d.meaning}});
  for (const TensorDef& t : op.tensors) out["tensors"].push_back(describe(t));
  out["parameters"] = json::array();
  for (const ParameterDef& p : op.parameters) out["parameters"].push_back(describe(p));
  if (!op.backward.empty()) out["backward"] = op.backward;
  if (!op.aliases.empty()) out["aliases"] = op.aliases;
  if (!op.header.empty()) out["header"] = op.header;
  if (!op.distributions.empty()) out["distributions"] = op.distributions;
  if (!op.notes.empty()) out["notes"] = op.notes;
  return out;
}

}  // namespace

int list(const Options& options) {
  for (const FamilyInfo& family : all_families()) {
    bool wanted = options.operators.empty();
    for (const std::string& name : options.operators) {
      const OperatorDef* const op = find_operator(name);
      wanted = wanted || (op && op->family == family.name);
    }
    if (!wanted) continue;
    json line = {{"family", family.name},
                 {"operators", json::array()},
                 {"rungs", json::array()},
                 {"rivals", family.rivals}};
    for (const OperatorDef* op : family.operators) line["operators"].push_back(describe(*op));
    if (options.operators.empty()) {
      for (const std::string& name : family.rungs) line["rungs"].push_back({{"name", name}});
    } else {
      const auto ladder = load_family(family.name);
      if (!ladder) return fail(ladder.error());
      line["summary"] = (*ladder)->summary;
      line["tests"] = (*ladder)->tests().size();
      for (const RungInfo& rung : (*ladder)->rungs)
        line["rungs"].push_back(
            {{"name", rung.name}, {"idea", rung.idea}, {"claims", describe(rung.claims)}});
    }
    tell(line);
  }
  return 0;
}

}  // namespace ridge::ladders
