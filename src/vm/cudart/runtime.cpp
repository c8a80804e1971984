#include "vm/cudart/runtime.h"

#include <atomic>

#include "vm/cudart/config.h"
#include "vm/cudart/errors.h"
#include "vm/cudart/host_access.h"
#include "vm/cudart/logs.h"
#include "vm/cudart/report.h"
#include "vm/cudart/trace.h"
#include "vm/exec/children.h"
#include "vm/exec/observer.h"
#include "vm/report/sink.h"

namespace ridge::vm::cudart {
namespace {

std::atomic<bool> started{false};

EngineOptions options() {
  return {.gpu = config().gpu,
          .threads = config().threads,
          .timeout_seconds = config().timeout_seconds,
          .progress = config().progress,
          .closed = !config().open_memory,
          .strict = config().strict,
          .watched = observer() && observer()->watches_host(),
          .warn = [](const report::Finding& finding) { report::tell(finding); }};
}

}  // namespace

Runtime::Runtime() : engine(options()) {
  engine.set_counting(config().count);
  provide_error_texts([](int32_t code, bool name) {
    return name ? error_name(cudaError_t(code)) : error_text(cudaError_t(code));
  });
  report::on_text([](std::string_view text) { log_message(text.substr(0, text.size() - 1)); });
  if (!config().trace_file.empty()) trace_to(config().trace_file);
}

Runtime& runtime() {
  static Runtime& instance = [&]() -> Runtime& {
    auto* made = new Runtime;
    started = true;
    if (!config().open_memory || (observer() && observer()->watches_host())) watch_host_accesses();
    return *made;
  }();
  return instance;
}

Modules& registrations() {
  static Modules& instance = *new Modules;
  return instance;
}

bool runtime_started() { return started; }

cudaError_t synchronised() {
  runtime().engine.flush_printf();
  return sticky_error();
}

void record_fault(const Fault& fault) {
  if (!fault || !set_sticky_error(error_of(fault.kind))) return;
  // Where memory ran out there was none for words either.
  if (fault.finding) report::tell(fault.finding);
  else report_verbatim("ridge: the host ran out of memory while a stream worked");
}

}  // namespace ridge::vm::cudart
