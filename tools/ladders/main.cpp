#include <cstdlib>

#include "commands.h"

using namespace ridge::ladders;

int main(int argc, char** argv) {
  // What verifies kernels stops at the exact end of an array, on the software GPU.
  setenv("RIDGE_STRICT", "1", 1);
  const auto request = read_request({argv + 1, argv + argc});
  if (!request) return fail(request.error());
  switch (request->command) {
    case Command::list: return list(*request);
    case Command::verify: return verify(*request);
    case Command::measure: return measure(*request);
    case Command::choose: return choose(*request);
    case Command::launch: return launch(*request);
    case Command::export_case: return export_case(*request);
    case Command::tune: return tune(*request);
  }
}
