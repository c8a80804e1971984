// While it lives, bulk stores land as late as they may, as under `ridge check`.
#pragma once

#include "vm/exec/observer.h"

namespace ridge::vm::testing {

class LateStores : public Observer {
 public:
  LateStores() { add_observer(this); }
  ~LateStores() override { remove_observer(this); }
  LateStores(const LateStores&) = delete;
  LateStores& operator=(const LateStores&) = delete;

  bool wants_late_stores() const override { return true; }
  void begin(const GridRun&, unsigned) override {}
  void end(const GridRun&) override {}
  void before(const Warp&, const Inst*) override {}
  void finish() override {}
};

}  // namespace ridge::vm::testing
