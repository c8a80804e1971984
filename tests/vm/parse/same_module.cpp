#include "same_module.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <unordered_map>

#include "vm/parse/print.h"

namespace ridge::vm {
namespace {

// A module spelled out with nothing of its text: lines that are compared one by one. What is
// pointed at is spelled by its place.
class Dump {
 public:
  // Names are spelled where they are unambiguous in `naming`.
  Dump(const Module& module, const Module& naming) : m_(module), naming_(naming) {
    for (size_t i = 0; i < m_.variables.size(); ++i)
      places_[&m_.variables[i]] = "variable " + std::to_string(i);
    for (size_t i = 0; i < m_.functions.size(); ++i)
      functions_[&m_.functions[i]] = "function " + std::to_string(i);
  }

  std::vector<std::string> lines() {
    line() << "version " << m_.version_major << '.' << m_.version_minor << " target " << m_.target
           << " optimised " << m_.optimised << " address " << m_.address_size;
    for (const std::string& file : m_.files) line() << "file " << file;
    for (const Variable& v : m_.variables) variable(v, v.name);
    for (size_t i = 0; i < m_.functions.size() && i < naming_.functions.size(); ++i)
      function(m_.functions[i], naming_.functions[i]);
    line() << m_.functions.size() << " functions";
    std::vector<std::string> out;
    for (const std::ostringstream& l : lines_) out.push_back(l.str());
    return out;
  }

 private:
  std::ostringstream& line() { return lines_.emplace_back(); }

  void variable(const Variable& v, const std::string& name) {
    std::ostringstream& out = line();
    out << "variable " << name << " space " << int(v.space) << " type " << int(v.type)
        << " linkage " << int(v.linkage) << " align " << v.align << " size " << v.size
        << " unsized " << v.unsized << " managed " << v.managed << " init";
    for (const uint8_t byte : v.init) out << ' ' << int(byte);
    for (const Relocation& r : v.relocations)
      out << " at " << r.offset << ' ' << places_[r.variable] << functions_[r.function] << " + "
          << r.addend << " generic " << r.generic << " size " << int(r.size) << " byte "
          << int(r.byte);
  }

  template <class T>
  static void numbers(std::ostringstream& out, const T (&values)[3]) {
    out << ' ' << values[0] << ' ' << values[1] << ' ' << values[2];
  }

  void function(const Function& f, const Function& naming) {
    std::ostringstream& out = line();
    out << "function " << f.name << " entry " << f.entry << " defined " << f.defined << " noreturn "
        << f.noreturn << " linkage " << int(f.linkage);
    numbers(out, f.maxntid);
    numbers(out, f.reqntid);
    numbers(out, f.reqnctapercluster);
    out << ' ' << f.minnctapersm << ' ' << f.maxnreg << ' ' << f.maxnctapersm << ' '
        << f.maxclusterrank << ' ' << f.explicitcluster << f.blocksareclusters;
    for (const Variable& v : f.results) variable(v, v.name);
    for (const Variable& v : f.params) variable(v, v.name);
    if (f.parsed) body(f, naming);
  }

  // The name of the i-th of a list, where the naming one stands for one thing only; else nothing,
  // for printing may have changed it.
  template <class List>
  std::string own(const List& list, const List& naming, size_t i) const {
    if (i >= naming.size()) return "";
    const std::string& name = naming[i].name;
    const std::string base = name.substr(0, name.find('.'));
    const auto found = names_.find(base);
    const bool unique = found != names_.end() && found->second == 1;
    const bool outside =
        naming_.variable_by_name.contains(base) || naming_.function_by_name.contains(base);
    return unique && !outside ? list[i].name : "";
  }

  void count_names(const Function& f) {
    names_.clear();
    for (const Register& r : f.registers)
      if (!r.name.ends_with(".y") && !r.name.ends_with(".z") && !r.name.ends_with(".w"))
        ++names_[r.name.substr(0, r.name.find('.'))];
    for (const Variable& v : f.variables) ++names_[v.name];
    for (const auto* parameters : {&f.results, &f.params})
      for (const Variable& v : *parameters)
        if (v.space != Space::reg) ++names_[v.name];
    for (const BranchTable& t : f.tables) ++names_[t.name];
    for (const Instruction& i : f.instructions)
      for (const Operand& o : i.operands) specials(o);
  }

  void body(const Function& f, const Function& naming) {
    count_names(naming);
    size_t place = 0;
    for (const auto* list : {&f.results, &f.params, &f.variables})
      for (const Variable& v : *list) places_[&v] = "local " + std::to_string(place++);
    for (size_t i = 0; i < f.registers.size(); ++i)
      line() << "register " << own(f.registers, naming.registers, i) << ' '
             << int(f.registers[i].type);
    for (size_t i = 0; i < f.variables.size(); ++i)
      variable(f.variables[i], own(f.variables, naming.variables, i));
    for (size_t i = 0; i < f.tables.size(); ++i) {
      const BranchTable& t = f.tables[i];
      std::ostringstream& out = line();
      out << "table " << own(f.tables, naming.tables, i);
      for (const uint32_t target : t.targets) out << ' ' << target;
      for (const Function* to : t.functions) out << ' ' << functions_[to];
      for (const Variable& v : t.results) variable(v, v.name);
      for (const Variable& v : t.params) variable(v, v.name);
    }
    for (const Instruction& i : f.instructions) instruction(f, i);
  }

  void specials(const Operand& o) {
    if (o.kind == Operand::Kind::special) ++names_[o.text.substr(0, o.text.find('.'))];
    for (const Operand& elem : o.elems) specials(elem);
  }

  void instruction(const Function& f, const Instruction& i) {
    std::ostringstream& out = line();
    out << i.mnemonic << " guard " << i.guard << ' ' << i.guard_negated;
    for (const Operand& o : i.operands) operand(out, o);
    for (int32_t loc = i.loc; loc >= 0; loc = f.locs[size_t(loc)].inlined_at)
      out << " loc " << f.locs[size_t(loc)].file << ':' << f.locs[size_t(loc)].line << ':'
          << f.locs[size_t(loc)].column;
  }

  void operand(std::ostringstream& out, const Operand& o) {
    out << " (" << int(o.kind) << ' ' << o.negated << o.is_float << o.is_f64 << ' ' << o.reg << ' '
        << o.second << ' ' << o.bits << ' ' << places_[o.variable] << functions_[o.function] << ' '
        << o.offset << ' ' << o.target << ' ' << o.text;
    for (const Operand& elem : o.elems) operand(out, elem);
    out << ')';
  }

  const Module& m_;
  const Module& naming_;
  std::deque<std::ostringstream> lines_;
  std::unordered_map<const Variable*, std::string> places_;
  std::unordered_map<const Function*, std::string> functions_;
  std::map<std::string, int> names_;
};

}  // namespace

std::string difference(const Module& a, const Module& b) {
  const std::vector<std::string> x = Dump(a, a).lines(), y = Dump(b, a).lines();
  const auto [p, q] = std::mismatch(x.begin(), x.end(), y.begin(), y.end());
  if (p == x.end() && q == y.end()) return "";
  return "before: " + (p == x.end() ? "the end" : *p) +
         "\n after: " + (q == y.end() ? "the end" : *q);
}

std::string round_trip(Module& module) {
  for (Function& f : module.functions)
    if (f.defined) (void)parse_body(module, f);
  const std::string text = print(module);
  auto again = parse_module(text, "printed.ptx");
  if (!again) return "does not read: " + again.error().message;
  for (size_t i = 0; i < module.functions.size(); ++i)
    if (module.functions[i].parsed && i < (*again)->functions.size())
      if (const Status read = parse_body(**again, (*again)->functions[i]); !read)
        return "does not read: " + read.message();
  if (const std::string differs = difference(module, **again); !differs.empty()) return differs;
  return print(**again) == text ? "" : "printing it again gives another text";
}

}  // namespace ridge::vm
