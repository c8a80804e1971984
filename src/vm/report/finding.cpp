#include "vm/report/finding.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "core/text.h"

namespace ridge::vm::report {
namespace {

struct Title {
  std::string_view kind, text;  // {}: the memory's space
};

constexpr Title kTitles[] = {
    {"race", "race in {} memory"},
    {"race-recheck", "read before an atomic that looks again, in {} memory"},
    {"race-any-winner", "several threads store in one place of {} memory"},
    {"uninitialised", "uninitialised read of {} memory"},
    {"async", "asynchronous copy used too early ({} memory)"},
    {"proxy-fence", "no fence between threads and asynchronous copies ({} memory)"},
    {"mbarrier", "an mbarrier used out of turn"},
    {"barrier", "divergent barrier"},
    {"mask", "wrong mask of a warp"},
    {"out-of-bounds", "illegal memory access"},
    {"use-after-free", "use after free"},
    {"misaligned", "misaligned memory access"},
    {"bulk-size", "a bulk copy of a size that hardware cuts off"},
    {"deadlock", "the kernel cannot finish"},
    {"setmaxnreg", "wrong use of setmaxnreg"},
    {"dependent-launch", "access before the wait for the previous kernel"},
    {"timeout", "the kernel ran past the time limit"},
    {"leak", "leak"},
    {"schedule", "the result depends on the order of threads"},
};

void add(std::string& out, std::string_view key, std::string_view text) {
  if (text.empty()) return;
  out += ", \"" + std::string(key) + "\": " + in_quotes(text);
}

void add(std::string& out, std::string_view key, uint64_t number) {
  if (number) out += ", \"" + std::string(key) + "\": " + std::to_string(number);
}

void add_place(std::string& out, const Place& p) {
  add(out, "file", shown_path(p.file));
  add(out, "line", p.line);
  add(out, "column", p.column);
  add(out, "function", p.function);
  add(out, "inside", p.inside);
  add(out, "ptx_line", p.ptx_line);
  add(out, "instruction", p.instruction);
}

}  // namespace

const Place& Finding::place() const {
  return first.place.line || !second.place.line ? first.place : second.place;
}

std::string title(const Finding& finding) {
  for (const Title& row : kTitles) {
    if (row.kind != finding.kind) continue;
    std::string text(row.text);
    if (const size_t at = text.find("{}"); at != text.npos) text.replace(at, 2, finding.space);
    return text;
  }
  return {};
}

std::string thread_name(const uint32_t thread[3], const uint32_t block[3]) {
  char text[160];
  std::snprintf(text, sizeof text, "thread (%u,%u,%u) of block (%u,%u,%u)", thread[0], thread[1],
                thread[2], block[0], block[1], block[2]);
  return text;
}

// The folder the program was started in: it may change it.
const std::string& start_folder() {
  static const std::string& folder = *new std::string([] {
    std::error_code none;
    const std::string here = std::filesystem::current_path(none).string();
    return none || here == "/" ? std::string() : here + "/";
  }());
  return folder;
}

std::string shown_path(const std::string& file) {
  const std::string& here = start_folder();
  return !here.empty() && file.starts_with(here) ? file.substr(here.size()) : file;
}

bool is_of_toolkit(std::string_view path) {
  return (path.find("/cuda") != path.npos && path.find("/include/") != path.npos) ||
         path.find("/triton/language/") != path.npos;  // tl.sum and the like, written in Triton
}

std::string without_parameters(std::string name) {
  if (name.starts_with("void ")) name.erase(0, 5);
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] != '(' || depth > 0) continue;
    constexpr std::string_view kAnonymous = "(anonymous namespace)";
    if (name.compare(i, kAnonymous.size(), kAnonymous) == 0) i += kAnonymous.size() - 1;
    else return name.substr(0, i);
  }
  return name;
}

std::string function_name(const std::string& cpp_symbol) {
  return without_parameters(demangled(cpp_symbol));
}

// The first party's place is the finding's own; the second's is related.
std::string to_json(const Finding& f, std::string_view more) {
  std::string out = "{\"kind\": " + in_quotes(f.kind) + ", \"severity\": " +
                    (f.severity == Severity::error ? "\"error\"" : "\"warning\"");
  add(out, "message", f.message);
  add(out, "fix", f.fix);
  add(out, "fix_kind", f.fix_kind);
  add(out, "kernel", f.kernel);
  add(out, "space", f.space);
  add(out, "act", f.first.act);
  add(out, "thread", f.first.who);
  add_place(out, f.first.place);
  if (f.second.there()) {
    std::string related;
    add(related, "act", f.second.act);
    add(related, "thread", f.second.who);
    add_place(related, f.second.place);
    out += ", \"related\": [{" + related.substr(2) + "}]";
  }
  if (f.address || f.space == "shared") add(out, "address", hex_text(f.address));
  add(out, "memory", f.memory);
  add(out, "scope", f.scope);
  if (!f.edits.empty()) {
    std::string edits;
    for (const Edit& edit : f.edits) {
      std::string one;
      add(one, "file", shown_path(edit.file));
      add(one, "line", edit.line);
      add(one, "from", edit.from);
      add(one, "to", edit.to);
      edits += ", {" + one.substr(2) + "}";
    }
    out += ", \"edits\": [" + edits.substr(2) + "]";
  }
  if (!f.notes.empty()) {
    out += ", \"notes\": [";
    for (size_t k = 0; k < f.notes.size(); ++k) out += (k ? ", " : "") + in_quotes(f.notes[k]);
    out += "]";
  }
  out += ", \"count\": " + std::to_string(f.count);
  add(out, "seed", f.seed);
  return out + std::string(more) + "}";
}

}  // namespace ridge::vm::report
