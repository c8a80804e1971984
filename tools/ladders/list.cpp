// What there is: families, operators with their tensors and parameters, rungs. Claims are in the
// families' libraries, and are told of those that are named.
#include "commands.h"
#include "operator/json.h"

namespace ridge::ladders {
namespace {

using nlohmann::json;

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

}  // namespace

int list(const Request& request) {
  for (const FamilyInfo& family : all_families()) {
    bool wanted = request.operators.empty();
    for (const std::string& name : request.operators) {
      const OperatorDef* const op = find_operator(name);
      wanted = wanted || (op && op->family == family.name);
    }
    if (!wanted) continue;
    FamilyAnswer answer = {.family = family.name, .rivals = family.rivals};
    for (const OperatorDef* op : family.operators)
      answer.operators.push_back(json::parse(json_of(*op)));
    if (request.operators.empty()) {
      for (const ListedRung& rung : family.rungs)
        answer.rungs.push_back({rung.name, rung.idea, {}});
    } else {
      const auto ladder = load_family(family.name);
      if (!ladder) return fail(ladder.error());
      answer.summary = (*ladder)->summary;
      answer.tests = int64_t((*ladder)->tests().size());
      for (const RungInfo& rung : (*ladder)->rungs)
        answer.rungs.push_back({rung.name, rung.idea, describe(rung.claims)});
    }
    tell(answer);
  }
  return 0;
}

}  // namespace ridge::ladders
