#include "docs.h"

#include <map>

#include "bound.h"
#include "case.h"

namespace ridge::golden {
namespace {

std::string escaped(std::string_view text) {  // '|' ends a table's cell, in code too
  std::string out;
  for (char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

// "exact", a bound, or why it is not compared.
std::string agreement(std::string_view group, const vm::InstrDef& row) {
  if (const std::string_view why = why_not_run(group, row); !why.empty())
    return "not compared: " + std::string(why);
  if (row.facts.access != vm::AccessKind::none) return "exact; its plain spellings are compared";
  std::string bounds;
  for (const std::string& spelling : vm::expand(row)) {
    const Bound bound = bound_of(spelling);
    if (bound.approximate() && bounds.find(bound.text) == std::string::npos)
      bounds += (bounds.empty() ? "" : "; ") + std::string(bound.text);
  }
  return bounds.empty() ? "exact" : bounds;
}

// What the hardware does here and the software GPU does not.
std::string left_out(const vm::InstrDef& row) {
  return row.facts.left_out.empty() ? "" : "; no effect here: " + std::string(row.facts.left_out);
}

}  // namespace

std::string documentation() {
  std::string out =
      "# PTX that the software GPU executes\n\n"
      "Written by `golden --docs` from the instruction tables in src/vm/isa; the test "
      "golden.docs compares the two.\n\n"
      "A spelling is the root and its modifiers: `[a|b]` needs one of them, `{a|b}` allows one, "
      "`%int` stands for a set\n"
      "of types (src/vm/isa/form.cpp). A spelling that no row matches is an error when the module "
      "is loaded, with its\n"
      "line. Among the operands, `d*` is a fragment of a matrix (several registers in braces), "
      "`x*` one that is read\n"
      "and written, `a@` a fragment or a descriptor of a matrix in shared memory, and `f#`, `k?` "
      "(0 or 1) and `h~` (1 or -1)\n"
      "are literals.\n\n"
      "*Exact*: the same bits as an H200, NaNs included, on all combinations of edge values and on "
      "random values\n"
      "(tests/vm/isa/golden). Otherwise the column has the error that the PTX documentation "
      "allows; "
      "the software GPU\n"
      "and the H200 both stay within it, but their results may differ. *No effect here* says what "
      "the hardware does\n"
      "and the software GPU leaves out, and why a program does not notice.\n";
  for (const vm::Group& group : vm::groups()) {
    out += "\n## " + std::string(1, char(std::toupper(group.name[0]))) +
           std::string(group.name.substr(1)) +
           "\n\n| spelling | operands | agrees with the hardware |\n|---|---|---|\n";
    for (const vm::InstrDef& row : group.rows)
      out += "| `" + escaped(row.spelling) + "` | `" +
             escaped(row.operands.empty() ? " " : row.operands) + "` | " +
             agreement(group.name, row) + left_out(row) + " |\n";
  }
  return out;
}

}  // namespace ridge::golden
