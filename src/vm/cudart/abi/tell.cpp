#include "ridge/vm_counters.h"
#include "vm/report/host_place.h"
#include "vm/report/sink.h"

using namespace ridge::vm;

extern "C" {

__attribute__((visibility("default"))) void ridge_vm_tell(const char* kind, const char* message,
                                                          const char* fix) {
  report::Finding finding;
  finding.kind = kind;
  finding.first.place = report::host_place(report::host_call());
  finding.message = message;
  finding.fix = fix;
  report::tell(finding);
}

}  // extern "C"
