// Statements that exchange lanes, wait or branch. A masked context knows exactly which lanes of its
// warp are in it, so that shuffles and votes are defined in the middle of divergent code.
#include "generator.h"

namespace ridge::differential {

// %t0 = a lane that is here, chosen by a register's value: the first one in the mask from there on.
std::string Generator::member_lane(const Context& at) {
  return "and.b32 %t1, " + reg('r') + ", 31;\nshf.r.wrap.b32 %t0, " + at.mask() + ", " + at.mask() +
         ", %t1;\nbrev.b32 %t0, %t0;\nclz.b32 %t0, %t0;\nadd.u32 %t0, %t0, %t1;\n"
         "and.b32 %t0, %t0, 31;\n";
}

// A lane that is not here has no value to give; where all are, every mode is defined.
Node Generator::shuffle(const Context& at) {
  const char letter = random_.chance(70) ? 'r' : 'f';
  const std::string destination = reg(letter) + (random_.chance(50) ? "|" + reg('p') : "");
  if (!at.full)
    return leaf(member_lane(at) + "shfl.sync.idx.b32 " + destination + ", " + reg(letter) +
                ", %t0, 31, " + at.mask() + ";\n");
  static constexpr std::string_view kModes[] = {"up", "down", "bfly", "idx"};
  const std::string mode(random_.pick(kModes));
  const uint32_t width = 32 >> random_.below(4);
  const uint32_t clamp = ((32 - width) << 8) | (mode == "up" ? 0 : 31);
  const std::string distance = random_.chance(50) ? number(random_.below(32)) : reg('r');
  std::string text;
  if (distance[0] == '%') text = "and.b32 %t0, " + distance + ", 31;\n";
  return leaf(text + "shfl.sync." + mode + ".b32 " + destination + ", " + reg(letter) + ", " +
              (text.empty() ? distance : "%t0") + ", " + number(clamp) + ", " + at.mask() + ";\n");
}

Node Generator::collective(const Context& at) {
  const std::string m = at.mask();
  switch (random_.below(8)) {
    case 0:
    case 1: return shuffle(at);
    case 2:
      return leaf("vote.sync." + spelling("[all|any|uni]") + ".pred " + reg('p') + ", " +
                  (random_.chance(50) ? "!" : "") + reg('p') + ", " + m + ";\n");
    case 3: return leaf("vote.sync.ballot.b32 " + reg('r') + ", " + reg('p') + ", " + m + ";\n");
    case 4:
      return leaf("and.b32 %t0, " + reg('r') + ", " + number(random_.below(8)) +
                  ";\nmatch.any.sync.b32 " + reg('r') + ", %t0, " + m + ";\n");
    case 5:
      return leaf("and.b64 %u0, " + reg('d') + ", " + number(random_.below(4)) +
                  ";\nmatch.all.sync.b64 " + reg('r') + "|" + reg('p') + ", %u0, " + m + ";\n");
    case 6:
      return leaf("redux.sync." + spelling("[add|min|max].[u32|s32] ") + reg('r') + ", " +
                  reg('r') + ", " + m + ";\n");
    default:
      return leaf("redux.sync." + spelling("[and|or|xor].b32 ") + reg('r') + ", " + reg('r') +
                  ", " + m + ";\n");
  }
}

Node Generator::barrier(const Context&) {
  switch (random_.below(5)) {
    case 0: return leaf("bar.red.popc.u32 " + reg('r') + ", 0, " + reg('p') + ";\n");
    case 1:
      return leaf("bar.red." + spelling("[and|or]") + ".pred " + reg('p') + ", 0, " +
                  (random_.chance(50) ? "!" : "") + reg('p') + ";\n");
    default: return exchange_in_block();
  }
}

Node Generator::branch(const Context& at) {
  Node n = node();
  const std::string label = "IF" + number(n.id);
  Context inside = at;
  inside.depth++;
  inside.leave.clear();
  const std::string m = at.mask(), inner = inside.mask();
  std::string head, condition;
  const bool with_else = random_.chance(50);
  const bool uniform = at.uniform && random_.chance(25);
  if (uniform) {
    condition = "%tp";
    head = "mov.u32 %t0, %ctaid.x;\nand.b32 %t0, %t0, 1;\nsetp.eq.u32 %tp, %t0, " +
           number(random_.below(2)) + ";\n";
    if (at.masked) head += "mov.b32 " + inner + ", " + m + ";\n";
  } else {
    condition = reg('p');
    inside.uniform = false;
    inside.full = false;
    inside.masked = at.masked && random_.chance(60);
    if (inside.masked) head = "vote.sync.ballot.b32 " + inner + ", " + condition + ", " + m + ";\n";
  }
  n.unwrapped = inside.masked ? "mov.b32 " + inner + ", " + m + ";\n" : "";
  head += "@!" + condition + " bra " + label + (with_else ? "_ELSE" : "_END") + ";\n";
  n.arms.push_back({head, statements(1 + random_.below(6), inside)});
  if (with_else) {
    std::string middle = "bra " + label + "_END;\n" + label + "_ELSE:\n";
    if (inside.masked && !uniform) middle += "xor.b32 " + inner + ", " + m + ", " + inner + ";\n";
    n.arms.push_back({middle, statements(1 + random_.below(6), inside)});
  }
  n.tail = label + "_END:\n";
  return n;
}

Node Generator::loop(const Context& at) {
  Node n = node();
  const std::string label = "LOOP" + number(n.id);
  Context inside = at;
  inside.depth++;
  inside.leave.clear();
  inside.rejoin_mask.clear();
  const std::string level = number(inside.depth), m = at.mask(), inner = inside.mask();
  const std::string counter = "%c" + level, trips = "%n" + level, stay = "%q" + level;
  const bool uniform = random_.chance(50);
  const uint32_t most = 1 + random_.below(6);
  inside.work = at.work * most;
  std::string head = "mov.u32 " + counter + ", 0;\n";
  if (uniform) {
    // Tested at the bottom; everybody goes round together.
    if (at.masked) head += "mov.b32 " + inner + ", " + m + ";\n";
    head += label + ":\n";
    n.unwrapped = at.masked ? "mov.b32 " + inner + ", " + m + ";\n" : "";
    n.arms.push_back({head, statements(1 + random_.below(7), inside)});
    n.tail = "add.u32 " + counter + ", " + counter + ", 1;\nsetp.lt.u32 " + stay + ", " + counter +
             ", " + number(most) + ";\n@" + stay + " bra " + label + ";\n";
    return n;
  }
  inside.uniform = false;
  inside.full = false;
  inside.masked = at.masked && random_.chance(60);
  const std::string round = "%w" + level;  // lanes that began this round
  head += "rem.u32 " + trips + ", " + reg('r') + ", " + number(most + 1) + ";\n";
  if (inside.masked) head += "mov.b32 " + round + ", " + m + ";\n";
  head += label + ":\nsetp.lt.u32 " + stay + ", " + counter + ", " + trips + ";\n";
  if (inside.masked)
    head += "vote.sync.ballot.b32 " + round + ", " + stay + ", " + round + ";\nmov.b32 " + inner +
            ", " + round + ";\n";
  head += "@!" + stay + " bra " + label + "_END;\n";
  // Leaving lanes go round again, or out; both in one loop would leave nobody who knows who is
  // there.
  const bool breaks = random_.chance(50);
  inside.leave = label + (breaks ? "_END" : "_NEXT");
  if (breaks) inside.rejoin_mask = round;
  n.unwrapped = inside.masked ? "mov.b32 " + inner + ", " + m + ";\n" : "";
  n.arms.push_back({head, statements(1 + random_.below(7), inside)});
  n.tail = label + "_NEXT:\nadd.u32 " + counter + ", " + counter + ", 1;\nbra " + label + ";\n" +
           label + "_END:\n";
  return n;
}

Node Generator::table_branch(const Context& at) {
  Node n = node();
  const std::string label = "SWITCH" + number(n.id);
  const uint32_t cases = 2 + random_.below(3);
  Context inside = at;
  inside.depth++;
  inside.leave.clear();
  inside.uniform = false;
  inside.full = false;
  const std::string inner = inside.mask();
  std::string head = "rem.u32 %t0, " + reg('r') + ", " + number(cases) + ";\n";
  if (inside.masked) head += "match.any.sync.b32 " + inner + ", %t0, " + at.mask() + ";\n";
  head += label + ": .branchtargets ";
  for (uint32_t i = 0; i < cases; ++i) head += (i ? ", " : "") + label + "_" + number(i);
  head += ";\nbrx.idx %t0, " + label + ";\n";
  n.unwrapped = inside.masked ? "mov.b32 " + inner + ", " + at.mask() + ";\n" : "";
  for (uint32_t i = 0; i < cases; ++i)
    n.arms.push_back({(i ? "bra " + label + "_END;\n" : head) + label + "_" + number(i) + ":\n",
                      statements(1 + random_.below(4), inside)});
  n.tail = label + "_END:\n";
  return n;
}

// Break, continue or return for some lanes; those that stay know who they are.
Node Generator::leave(const Context& at) {
  const std::string p = reg('p');
  std::string text;
  if (at.masked) {
    text = "not.pred %tp, " + p + ";\nvote.sync.ballot.b32 " + at.mask() + ", %tp, " + at.mask() +
           ";\n";
    if (!at.rejoin_mask.empty()) text += "mov.b32 " + at.rejoin_mask + ", " + at.mask() + ";\n";
  }
  Node n = leaf(text + "@" + p + " bra " + at.leave + ";\n");
  n.leaves_loop = true;
  return n;
}

Node Generator::call(const Context& at) {
  const uint32_t count = uint32_t(masked_functions_.size());
  const bool indirect = count == 2 && random_.chance(40);
  const uint32_t which = random_.below(count);
  const bool needs_mask =
      indirect ? masked_functions_[0] || masked_functions_[1] : bool(masked_functions_[which]);
  if (needs_mask && !at.masked) return row();
  std::string text;
  std::string mask = needs_mask ? at.mask() : "0";
  Node n = node();
  const std::string prototype = "PROTOTYPE" + number(n.id);
  std::string target = "f" + number(which) + "_" + program_.name();
  if (indirect) {
    text = "and.b32 %t0, " + reg('r') + ", 1;\n";
    if (needs_mask) {
      text += "match.any.sync.b32 %t1, %t0, " + mask + ";\n";
      mask = "%t1";
    }
    text += "mul.wide.u32 %u0, %t0, 8;\nmov.u64 %u1, functions_" + program_.name() +
            ";\nadd.u64 %u0, %u0, %u1;\nld.global.u64 %u0, [%u0];\n" + prototype +
            ": .callprototype (.param .align 8 .b8 _[16]) _ (.param .b32 _, .param .b64 _, "
            ".param .b32 _, .param .b64 _, .param .b64 _);\n";
    target = "%u0";
  }
  text +=
      "{\n.param .b32 a0; .param .b64 a1; .param .b32 a2; .param .b64 a3; .param .b64 a4;\n"
      ".param .align 8 .b8 o[16];\nst.param.b32 [a0], " +
      reg('r') + ";\nst.param.b64 [a1], " + reg('d') + ";\nst.param.b32 [a2], " + mask +
      ";\nst.param.b64 [a3], %buffer;\nst.param.b64 [a4], %in;\ncall (o), " + target +
      ", (a0, a1, a2, a3, a4)" + (indirect ? ", " + prototype : "") + ";\nld.param.b32 " +
      reg('r') + ", [o];\nld.param.b64 " + reg('d') + ", [o+8];\n}\n";
  n.arms.push_back({text, {}});
  return n;
}

}  // namespace ridge::differential
