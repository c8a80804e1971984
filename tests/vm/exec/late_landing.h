// While it lives, bulk stores land as late as they may, as under `ridge check`.
#pragma once

#include "vm/exec/late_stores.h"

namespace ridge::vm::testing {

struct LateStores {
  LateStores() { let_stores_land_late(true); }
  ~LateStores() { let_stores_land_late(false); }
  LateStores(const LateStores&) = delete;
  LateStores& operator=(const LateStores&) = delete;
};

}  // namespace ridge::vm::testing
