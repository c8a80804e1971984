#include "kernel.h"

namespace ridge::golden {
namespace {

using vm::Space;
using vm::Type;
using Role = Argument::Role;

int bytes_of(Type type) { return type == Type::pred ? 0 : std::max(2, vm::size_of(type)); }
std::string bits_of(int bytes) { return ".b" + std::to_string(8 * bytes); }
std::string class_of(Type type) { return type == Type::pred ? ".pred" : bits_of(bytes_of(type)); }

class Writer {
 public:
  Writer(const Case& c, const std::string& name) : case_(c), name_(name) {}

  std::string text() {
    find_place();
    read_inputs();
    size_t runs = 1;
    for (const Argument& a : case_.arguments)
      if (a.role == Role::literals) runs = a.literals.size();
    for (size_t i = 0; i < runs; ++i) run(i);
    line("done:");
    line("ret;");
    return "// " + case_.spelling + "\n.visible .entry " + name_ +
           "(.param .u64 in, .param .u64 out, .param .u64 cells, .param .u32 n, .param .u32 "
           "part)\n{\n" +
           declarations_ + body_ + "}\n";
  }

 private:
  void line(const std::string& text) { body_ += text + "\n"; }
  std::string reg(const std::string& kind) {
    const std::string name = "%v" + std::to_string(next_++);
    declarations_ += ".reg " + kind + " " + name + ";\n";
    return name;
  }

  void find_place() {
    declarations_ +=
        ".reg .b64 %pi, %po, %step, %pc, %off;\n.reg .b32 %t, %x, %y, %word;\n.reg .pred %skip;\n";
    line("ld.param.u64 %pi, [in];");
    line("ld.param.u64 %po, [out];");
    line("ld.param.u64 %pc, [cells];");
    line("mov.u32 %t, %ctaid.x;");
    line("mov.u32 %x, %ntid.x;");
    line("mov.u32 %y, %tid.x;");
    line("mad.lo.u32 %t, %t, %x, %y;");
    // Lane l belongs to half (pattern >> l) & 1; part names the half that stays away.
    line("mov.u32 %x, 0x9a5c3d6b;");
    line("and.b32 %y, %y, 31;");
    line("shr.u32 %x, %x, %y;");
    line("and.b32 %x, %x, 1;");
    line("add.u32 %x, %x, 1;");
    line("ld.param.u32 %y, [part];");
    line("setp.eq.u32 %skip, %x, %y;");
    line("@%skip bra done;");
    line("mul.wide.u32 %off, %t, 8;");
    line("add.u64 %pi, %pi, %off;");
    line("add.u64 %po, %po, %off;");
    line("ld.param.u32 %x, [n];");
    line("mul.wide.u32 %step, %x, 8;");
    if (!case_.uses_memory()) return;
    line("mul.wide.u32 %off, %t, " + std::to_string(8 * kCellWords) + ";");
    const std::string cell = std::to_string(8 * kCellWords);
    if (case_.space == Space::shared) {
      declarations_ +=
          ".shared .align 16 .b8 cell[" + std::to_string(kBlock * 8 * kCellWords) + "];\n";
      line("mov.u64 %pc, cell;");
      line("mov.u32 %y, %tid.x;");
      line("mul.wide.u32 %off, %y, " + cell + ";");
      line("add.u64 %pc, %pc, %off;");
    } else if (case_.space == Space::local) {
      declarations_ += ".local .align 16 .b8 cell[" + cell + "];\n";
      line("mov.u64 %pc, cell;");
    } else {
      line("add.u64 %pc, %pc, %off;");
    }
  }
  std::string space() const {
    return case_.space == Space::shared  ? ".shared"
           : case_.space == Space::local ? ".local"
                                         : ".global";
  }

  std::string read_word(Type type) {
    const std::string name = reg(class_of(type));
    if (type == Type::pred) {
      line("ld.global.u32 %word, [%pi];");
      line("setp.ne.u32 " + name + ", %word, 0;");
    } else {
      line("ld.global" + bits_of(bytes_of(type)) + " " + name + ", [%pi];");
    }
    line("add.u64 %pi, %pi, %step;");
    return name;
  }
  void write_word(Type type, const std::string& name) {
    if (type == Type::pred) {
      line("selp.u32 %word, 1, 0, " + name + ";");
      line("st.global.u32 [%po], %word;");
    } else {
      line("st.global" + bits_of(bytes_of(type)) + " [%po], " + name + ";");
    }
    line("add.u64 %po, %po, %step;");
  }

  void read_inputs() {
    for (const Argument& a : case_.arguments)
      if (a.role == Role::source)
        for (int i = 0; i < a.elements; ++i) sources_.push_back(read_word(a.type));
    if (case_.carry_in) {
      const std::string p = read_word(Type::pred);
      carry_ = reg(".b32");
      line("selp.u32 " + carry_ + ", 1, 0, " + p + ";");
    }
    if (case_.uses_memory())
      for (int i = 0; i < kCellWords; ++i) {
        const std::string word = reg(".b64");
        line("ld.global.b64 " + word + ", [%pi];");
        line("add.u64 %pi, %pi, %step;");
        cell_.push_back(word);
      }
  }

  void run(size_t which) {
    for (size_t i = 0; i < cell_.size(); ++i)
      line("st" + space() + ".b64 [%pc+" + std::to_string(8 * i) + "], " + cell_[i] + ";");
    if (case_.carry_in)
      line(case_.borrows ? "sub.cc.u32 %word, 0, " + carry_ + ";"
                         : "add.cc.u32 %word, " + carry_ + ", 0xffffffff;");

    std::vector<std::pair<Type, std::string>> results;
    std::string operands;
    size_t source = 0;
    for (const Argument& a : case_.arguments) {
      if (!operands.empty()) operands += ", ";
      if (a.role == Role::literals) {
        operands += a.literals[which];
        continue;
      }
      if (a.role == Role::address) {
        operands += "[%pc]";
        continue;
      }
      std::string names;
      for (int i = 0; i < a.elements; ++i) {
        if (i) names += ", ";
        if (a.role == Role::source) {
          names += sources_[source++];
        } else {
          const std::string d = reg(class_of(a.type));
          results.emplace_back(a.type, d);
          names += d;
        }
      }
      operands += (a.elements > 1 ? "{" + names + "}" : names) + a.selector;
      if (a.second) {
        const std::string p = reg(".pred");
        results.emplace_back(Type::pred, p);
        operands += "|" + p;
      }
    }
    line(case_.mnemonic + " " + operands + ";");
    if (case_.carry_out) {
      const std::string out = reg(".b32");
      line((case_.borrows ? "subc.u32 " : "addc.u32 ") + out + ", 0, 0;");
      results.emplace_back(Type::u32, out);
    }
    for (const auto& [type, name] : results) write_word(type, name);
    for (size_t i = 0; i < cell_.size(); ++i) {
      const std::string word = reg(".b64");
      line("ld" + space() + ".b64 " + word + ", [%pc+" + std::to_string(8 * i) + "];");
      write_word(Type::b64, word);
    }
  }

  const Case& case_;
  const std::string& name_;
  std::string declarations_, body_, carry_;
  std::vector<std::string> sources_, cell_;
  int next_ = 0;
};

}  // namespace

std::string module_header() { return ".version 9.0\n.target sm_90a\n.address_size 64\n\n"; }

std::string kernel_text(const Case& c, const std::string& name) { return Writer(c, name).text(); }

}  // namespace ridge::golden
