#include "kernels/rainbow_table/rainbow_table.h"
#include "ladder/family.h"

namespace ridge::rainbow_table {

Status bind(const Call& call, Launch<Args>& launch) {
  return launch({.keys = call["keys"].data,
                 .out = call["out"].data,
                 .n = call.size("n"),
                 .rounds = int(call.integer("rounds")),
                 .dtype = call["keys"].dtype});
}

}  // namespace ridge::rainbow_table
