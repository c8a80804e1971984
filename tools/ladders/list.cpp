#include <cstdio>

#include <nlohmann/json.hpp>

#include "commands.h"

namespace ridge::ladders {
namespace {

// What a rung claims; what it does not is left out.
nlohmann::json describe(const Claims& claims) {
  nlohmann::json out = nlohmann::json::object();
  if (claims.global_loads_per_element != kNoClaim)
    out["global_loads_per_element"] = claims.global_loads_per_element;
  if (claims.global_stores_per_element != kNoClaim)
    out["global_stores_per_element"] = claims.global_stores_per_element;
  if (claims.barriers != int(kNoClaim)) out["barriers"] = claims.barriers;
  if (claims.conflict_free) out["conflict_free"] = true;
  return out;
}

}  // namespace

int list(const Options&) {
  for (const Ladder* ladder : all_ladders()) {
    nlohmann::json line = {{"family", ladder->family},
                           {"summary", ladder->summary},
                           {"operators", ladder->operators},
                           {"shape", ladder->shape_help},
                           {"tests", ladder->tests.size()}};
    for (const Dtype d : ladder->dtypes) line["dtypes"].push_back(name_of(d));
    for (const RungInfo& rung : ladder->rungs)
      line["rungs"].push_back(
          {{"name", rung.name}, {"idea", rung.idea}, {"claims", describe(rung.claims)}});
    std::printf("%s\n", line.dump().c_str());
  }
  return 0;
}

}  // namespace ridge::ladders
