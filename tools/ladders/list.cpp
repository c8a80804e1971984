#include <cstdio>

#include <nlohmann/json.hpp>

#include "commands.h"

namespace ridge::ladders {

int list(const Options&) {
  for (const Ladder* ladder : all_ladders()) {
    nlohmann::json line = {{"family", ladder->family},
                           {"summary", ladder->summary},
                           {"operators", ladder->operators},
                           {"shape", ladder->shape_help},
                           {"tests", ladder->tests.size()}};
    for (const Dtype d : ladder->dtypes) line["dtypes"].push_back(name_of(d));
    for (const RungInfo& rung : ladder->rungs)
      line["rungs"].push_back({{"name", rung.name}, {"idea", rung.idea}});
    std::printf("%s\n", line.dump().c_str());
  }
  return 0;
}

}  // namespace ridge::ladders
