// Prints what the profiler takes the machine's accesses to be, for the test that holds it against
// the disassembly: a line "kernel NAME", then one line per access, "ld shared 16 LINE LINE …": its
// bytes per lane and the PTX lines that it serves; "unclear" before it where machine code is read,
// too, and leaves it open.
//
//   machine_dump PTX [DISASSEMBLY]
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>

#include "vm/decode/program.h"
#include "vm/exec/engine.h"
#include "vm/observe/plan.h"

using namespace ridge::vm;
using namespace ridge::vm::observe;

namespace {

std::string contents(const char* path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

void print(const Code& code, const Disassembly* machine) {
  const Plan plan = plan_of(code, machine);
  std::map<const Instruction*, std::string> lines;  // that each access serves
  for (const Entry& entry : plan.entries) {
    const bool serves = entry.width && entry.as_written.reach != Reach::none;
    const Instruction* lead = entry.merged_into ? entry.merged_into : entry.source;
    if (serves) lines[lead] += ' ' + std::to_string(entry.source->line);
  }
  for (const Entry& entry : plan.entries) {
    const Touch& touch = entry.as_written;
    if (touch.reach == Reach::none || !entry.width || entry.merged_into || touch.generic) continue;
    if (touch.action != Action::load && touch.action != Action::store) continue;
    if (touch.kind != Touch::Kind::lanes) continue;
    std::printf("%s%s %s %u%s\n", entry.unclear ? "unclear " : "",
                touch.action == Action::load ? "ld" : "st", name_of(touch.reach), entry.width,
                lines[entry.source].c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return 2;
  std::string text = contents(argv[1]);
  std::optional<Disassembly> machine;
  if (argc == 3) machine = read_disassembly(contents(argv[2]));
  EngineOptions options;
  options.gpu = *ridge::find_gpu("h200");
  Engine engine(options);
  const auto program = engine.load(std::move(text), argv[1]);
  if (!program) {
    std::fprintf(stderr, "%s\n", program.error().message.c_str());
    return 1;
  }
  for (Kernel* kernel : engine.kernels(*program)) {
    if (const auto usage = engine.usage(kernel); !usage) {
      std::fprintf(stderr, "%s\n", usage.error().message.c_str());
      return 1;
    }
    std::printf("kernel %s\n", kernel->info.name.c_str());
    print(*kernel->code->code, machine ? &*machine : nullptr);
  }
}
