// What there is: families, operators with their tensors and parameters, rungs. Claims are in the
// families' libraries, and are told of those that are named.
#include <nlohmann/json.hpp>

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
    for (const OperatorDef* op : family.operators)
      line["operators"].push_back(json::parse(json_of(*op)));
    if (options.operators.empty()) {
      for (const ListedRung& rung : family.rungs)
        line["rungs"].push_back({{"name", rung.name}, {"idea", rung.idea}});
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
