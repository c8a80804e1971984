// What mends a race. The widest scope that was seen decides which barrier would do, and whether any
// would; what the two instructions are to each other decides whether a barrier is the right thing.
#include <algorithm>

#include "vm/check/races.h"
#include "vm/check/say.h"
#include "vm/check/source.h"

namespace ridge::vm::check {
namespace {

std::string own_file(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

// "line 7", with its file where the other one is elsewhere.
std::string place(const SiteInfo& info, const SiteInfo& other) {
  if (info.file.empty()) return say("PTX line ", info.ptx_line);
  if (info.file == other.file) return say("line ", info.line);
  return say("line ", info.line, " of ", own_file(info.file));
}

// The lines of one function through which control comes to the two: where functions were inlined,
// those that call them.
struct Ends {
  Spot first, second;
};
Ends ends_of(const RacePair& p) {
  const auto &a = p.at_first.calls, &b = p.at_second.calls;
  for (size_t k = 0; k < a.size() && k < b.size(); ++k)
    if (a[k].file != b[k].file) break;
    else if (a[k].line != b[k].line) return {a[k], b[k]};
  return {{p.at_first.file, p.at_first.line}, {p.at_second.file, p.at_second.line}};
}

bool same_place(const SiteInfo& a, const SiteInfo& b) {
  return a.file == b.file && a.line == b.line && (a.line || a.ptx_line == b.ptx_line);
}

const char* words_of(Scope scope) {
  switch (scope) {
    case Scope::lanes: return "lanes of a warp";
    case Scope::block: return "threads of a block";
    case Scope::cluster: return "blocks of a cluster";
    case Scope::grid: return "blocks";
    default: return "launches";
  }
}

template <class F>
bool all(const Cause& c, F&& holds) {
  return std::ranges::all_of(c.pairs, holds);
}
template <class F>
bool any(const Cause& c, F&& holds) {
  return std::ranges::any_of(c.pairs, holds);
}

bool lanes_only(const Cause& c) { return c.finding.scope == "lanes"; }
bool is_atomic(const SiteInfo& s) { return s.act == Act::atomic; }
bool writes_twice(const RacePair* p) { return p->widest.first_writes && p->widest.second_writes; }

void set(Cause& c, const char* kind, std::string text) {
  c.finding.fix_kind = kind;
  c.finding.fix = std::move(text);
}

// One statement reads, changes and writes a place that several threads share.
void use_atomic(Cause& c, const RacePair& pair, const Update& update) {
  const SiteInfo& at = pair.at_second;
  const std::string first = "two threads may read the same value before either writes: ";
  if (update.atomic.empty())
    return set(c, "atomic",
               first +
                   "do it with one atomic operation, or with a loop around atomicCAS where "
                   "there is none");
  const auto source = Source::read(at.file);
  const auto rewrite = source ? source->as_atomic(at.line, update.atomic) : std::nullopt;
  if (rewrite) {
    c.finding.edits.push_back({at.file, at.line, rewrite->from, rewrite->to});
    return set(c, "atomic", say(first, "use ", rewrite->to));
  }
  set(c, "atomic",
      say(first, "use ", update.atomic, "(address, ", update.value.empty() ? "value" : update.value,
          ") for the whole update"));
}

void use_one_row(Cause& c) {
  set(c, "one-row",
      "the kernel never uses threadIdx.y or .z, so the rows of threads of a block all do the same "
      "work: launch blocks of one row, or let only the threads with threadIdx.y == 0 work");
}

void word_barriers(Cause& c) {
  const RacePair& pair = *c.pairs[0];
  // The one that stands first in the text.
  const auto position = [](const SiteInfo& s) { return std::pair(s.line, s.ptx_line); };
  const bool turned = position(pair.at_second) < position(pair.at_first);
  const SiteInfo &one = turned ? pair.at_second : pair.at_first,
                 &two = turned ? pair.at_first : pair.at_second;
  const bool elsewhere = one.file != c.file || two.file != c.file;
  const auto line = [&](uint32_t number) {
    return say("line ", number, elsewhere ? " of " + own_file(c.file) : "");
  };
  Finding& f = c.finding;
  f.edits.clear();
  const std::string name = lanes_only(c) ? "syncwarp" : "syncthreads";
  const std::string statement = c.barrier + ";";
  std::string text = "put " + c.barrier;
  if (c.between) {
    text += c.before ? say(" between line ", c.after, " and ", line(c.before))
                     : say(" between ", place(one, two), " and ", place(two, one));
    if (!c.places.empty()) {
      const uint32_t at = c.places.back();
      if (at != c.before && at != c.after + 1) text += say(", before line ", at);
      f.edits.push_back({c.file, at, "", statement});
    }
  }
  if (c.loop_end) {
    uint32_t again = 0;
    for (const RacePair* p : c.pairs) {
      const Ends ends = ends_of(*p);
      for (const Spot* spot : {&ends.first, &ends.second})
        if (spot->line && spot->file == c.file)
          again = again ? std::min(again, spot->line) : spot->line;
    }
    text += say(c.between ? ", and another" : "", " at the end of the loop, before ",
                again ? line(again) : place(one, two), " is reached again");
    if (c.end_of_loop) f.edits.push_back({c.file, c.end_of_loop, "", statement});
  }
  f.fix_kind = name + (c.between && c.loop_end ? "-both" : c.loop_end ? "-loop-end" : "-between");
  f.fix = text + c.otherwise;
}

// A plain access to what others change atomically.
void mend_mixed(Cause& c, const RacePair& pair) {
  const bool first_is_plain = !is_atomic(pair.at_first);
  const SiteInfo& plain = first_is_plain ? pair.at_first : pair.at_second;
  const SiteInfo& other = first_is_plain ? pair.at_second : pair.at_first;
  const bool writes = first_is_plain ? pair.widest.first_writes : pair.widest.second_writes;
  if (pair.relation.looked_at_again) {
    c.finding.kind = "race-recheck";
    c.finding.what =
        say("a plain read decides whether the atomic is worth while, and the atomic "
            "looks again: what the read finds may be old, which is harmless if it "
            "only costs time");
    return set(c, "atomic",
               say("suppress it if a late answer is good enough; otherwise read atomically at ",
                   place(plain, other),
                   ", too: atomicAdd(address, 0), or a relaxed load of "
                   "cuda::atomic_ref"));
  }
  const std::string what =
      writes ? say("make the write at ", place(plain, other), " atomic, too (atomicExch)")
             : say("make the read at ", place(plain, other),
                   " atomic, too: atomicAdd(address, 0), or a relaxed load of "
                   "cuda::atomic_ref");
  // Behind all of the atomics, or before them, is what is meant where there is no loop.
  if (c.between && !pair.relation.one_loop) {
    c.otherwise = "; or " + what;
    return word_barriers(c);
  }
  set(c, "atomic", what);
}

void mend_writes(Cause& c, const RacePair& pair) {
  if (all(c, [](const RacePair* p) { return p->relation.claim; })) {
    c.finding.kind = "race-any-winner";
    c.finding.what =
        say("several threads that meet a condition store different values in one "
            "place, between ",
            words_of(pair.widest.scope), ": which one stays is chance");
    return set(c, "one-writer",
               "suppress it if any of the values will do; otherwise choose one: atomicMin or "
               "atomicMax of the values, atomicCAS for the first, or a place for each thread");
  }
  set(c, "one-writer", "let one thread write, give each thread its own place, or use an atomic");
}

// Directed ways past no barrier: where one is missing.
void find_missing_barriers(Cause& c, bool asks_turns) {
  const bool lanes = lanes_only(c);
  for (const RacePair* p : c.pairs) {
    const bool one_loop = p->relation.one_loop;
    const bool turns_known = asks_turns && one_loop && (p->same_turn || p->other_turn);
    const auto take = [&](const Spot& from, const Spot& to, const Listing::Paths& ways) {
      const bool one_file = !from.file.empty() && from.file == to.file;
      const bool backwards = one_file && from.line >= to.line;
      const bool within = ways.within_turn && (!turns_known || p->same_turn || backwards);
      const bool by_turn = one_loop && ways.by_turn && (!turns_known || p->other_turn);
      if (within && !backwards) {
        c.between = true;
        if (one_file) {
          c.file = from.file;
          c.after = std::max(c.after, from.line);
          c.before = c.before ? std::min(c.before, to.line) : to.line;
        }
      }
      if (by_turn || (within && backwards)) {
        c.loop_end = true;
        if (one_file) {
          c.file = from.file;
          if (const auto source = Source::read(from.file))
            c.end_of_loop = source->end_of_loop(from.line, to.line);
        }
      }
    };
    const Relation::Ways& ways = lanes ? p->relation.past_meetings : p->relation.past_barriers;
    const Ends ends = ends_of(*p);
    take(ends.first, ends.second, ways.to_second);
    take(ends.second, ends.first, ways.to_first);
  }
  if (c.between && c.after < c.before)
    if (const auto source = Source::read(c.file))
      c.places = source->places_between(c.after, c.before);
}

// A thread writes where its neighbour still reads, in one statement.
void mend_in_place(Cause& c, const RacePair& pair) {
  const SiteInfo& at = pair.at_second;
  const auto source = Source::read(at.file);
  const auto rewrite = source && same_place(pair.at_first, at)
                           ? source->read_then_write(at.line, c.barrier)
                           : std::nullopt;
  if (rewrite) c.finding.edits.push_back({at.file, at.line, rewrite->from, rewrite->to});
  set(c, "read-then-write",
      say("a thread writes where its neighbour still reads: let all read into a variable, put ",
          c.barrier, " there, then let all write; or write to a second buffer"));
}

// No barrier of the kernel orders blocks.
void mend_blocks(Cause& c, const RacePair& pair) {
  const SiteInfo &a = pair.at_first, &b = pair.at_second;
  if (any(c, [](const RacePair* p) { return p->named && p->relation.in_place; }))
    return set(c, "second-buffer",
               "a thread writes where a thread of another block still reads: write to a second "
               "buffer, and swap the two between launches");
  const RacePair* published = nullptr;
  for (const RacePair* p : c.pairs)
    if (p->relation.fences) published = p;
  if (published) {
    const SiteInfo& write =
        published->widest.first_writes ? published->at_first : published->at_second;
    return set(c, "threadfence",
               say("what is written at ", place(write, same_place(write, a) ? b : a),
                   " must be published before others are told of it: __syncthreads() if other "
                   "threads of the block wrote it, then __threadfence(), then the atomic; or "
                   "split the kernel in two launches"));
  }
  const Ends ends = ends_of(pair);
  std::string between;
  if (!ends.first.file.empty() && ends.first.file == ends.second.file) {
    const auto [from, to] = std::minmax(ends.first.line, ends.second.line);
    const bool elsewhere = a.file != ends.first.file || b.file != ends.first.file;
    between =
        say("line ", from, " and line ", to, elsewhere ? " of " + own_file(ends.first.file) : "");
  } else {
    const bool turned = b.line < a.line;
    between =
        say(place(turned ? b : a, turned ? a : b), " and ", place(turned ? a : b, turned ? b : a));
  }
  set(c, "split-launch",
      say("blocks run in any order, and no barrier holds between them: split the kernel in two "
          "launches between ",
          between, ", or launch it with cudaLaunchCooperativeKernel and put grid.sync() there"));
}

// __syncthreads() does not reach the other blocks of a cluster.
void mend_cluster(Cause& c, const RacePair& pair) {
  const SiteInfo &a = pair.at_first, &b = pair.at_second;
  const bool turned = b.line < a.line;
  const SiteInfo &one = turned ? b : a, &two = turned ? a : b;
  set(c, "cluster-sync",
      say("put cluster.sync() (barrier.cluster.arrive and barrier.cluster.wait, by all threads of "
          "the cluster) ",
          same_place(a, b) ? say("before ", place(a, b), " is reached again")
                           : say("between ", place(one, two), " and ", place(two, one)),
          ", or let the one block arrive at an mbarrier of the other, which waits there"));
}

}  // namespace

Cause decide_cause(std::vector<const RacePair*> pairs) {
  Cause c;
  c.pairs = std::move(pairs);
  const RacePair& pair =
      **std::ranges::max_element(c.pairs, {}, [](const RacePair* p) { return p->widest.scope; });
  const Scope scope = pair.widest.scope;
  c.finding = pair.example;
  constexpr const char* names[] = {"lanes", "block", "cluster", "grid", "launches"};
  c.finding.scope = names[size_t(scope)];
  c.barrier = scope == Scope::lanes ? "__syncwarp()" : "__syncthreads()";
  if (scope <= Scope::block) {
    find_missing_barriers(c, true);
    if (!c.between && !c.loop_end) find_missing_barriers(c, false);
  }

  const auto mixed = [](const RacePair* p) {
    return is_atomic(p->at_first) || is_atomic(p->at_second);
  };
  const auto updates = [](const RacePair* p) { return p->named && p->relation.update; };
  const RacePair* updating = nullptr;
  for (const RacePair* p : c.pairs)
    if (updates(p)) updating = p;
  const bool one_line = same_place(pair.at_first, pair.at_second);
  const bool initialises =
      mixed(&pair) && c.between && scope <= Scope::block &&
      (is_atomic(pair.at_first) ? pair.widest.second_writes : pair.widest.first_writes) &&
      !updating;

  if (scope == Scope::launches) set(c, "wait-event", kOrderStreams);
  else if (all(c, [](const RacePair* p) { return p->rows_only && p->idle_rows; })) use_one_row(c);
  else if (updating && (one_line || all(c, updates)))
    use_atomic(c, *updating, *updating->relation.update);
  else if (scope == Scope::cluster) mend_cluster(c, pair);
  else if (any(c, mixed) && !initialises) mend_mixed(c, **std::ranges::find_if(c.pairs, mixed));
  else if (all(c, writes_twice) && one_line) mend_writes(c, pair);
  else if (scope == Scope::grid) mend_blocks(c, pair);
  else if (one_line && any(c, [](const RacePair* p) {
             return p->named && p->relation.in_place && (p->same_turn || !p->other_turn);
           }))
    mend_in_place(c, pair);
  else {
    if (!c.between && !c.loop_end) (one_line ? c.loop_end : c.between) = true;
    word_barriers(c);
  }
  if (!c.finding.fix_kind.starts_with("sync")) c.between = c.loop_end = false;
  return c;
}

std::vector<Cause> join_causes(std::vector<Cause> causes) {
  // The one whose room ends first says where its barrier goes; it does for all that it lies in.
  std::vector<Cause*> order;
  for (Cause& c : causes)
    if (c.between && !c.places.empty()) order.push_back(&c);
  std::ranges::stable_sort(order, {}, [](const Cause* c) { return c->places.back(); });
  std::vector<bool> gone(causes.size(), false);
  const auto index = [&](const Cause* c) { return size_t(c - causes.data()); };
  const auto join = [&](Cause& into, const Cause& other) {
    into.pairs.insert(into.pairs.end(), other.pairs.begin(), other.pairs.end());
    if (other.between) {
      into.after = std::max(into.after, other.after);
      into.before = std::min(into.before, other.before);
    }
    into.loop_end |= other.loop_end;
    if (!into.end_of_loop) into.end_of_loop = other.end_of_loop;
    if (!lanes_only(other)) into.barrier = other.barrier, into.finding.scope = other.finding.scope;
    gone[index(&other)] = true;
    word_barriers(into);
  };
  for (size_t k = 0; k < order.size(); ++k) {
    if (gone[index(order[k])]) continue;
    const uint32_t at = order[k]->places.back();
    for (size_t m = k + 1; m < order.size(); ++m) {
      const Cause& other = *order[m];
      if (gone[index(&other)] || other.finding.kernel != order[k]->finding.kernel ||
          other.file != order[k]->file || std::ranges::find(other.places, at) == other.places.end())
        continue;
      join(*order[k], other);
    }
    order[k]->places = {at};
    word_barriers(*order[k]);
  }
  // The end of a loop needs one barrier, whatever it orders.
  for (Cause& c : causes) {
    if (gone[index(&c)] || !c.loop_end || !c.end_of_loop) continue;
    for (Cause& other : causes)
      if (&other != &c && !gone[index(&other)] && other.loop_end && !other.between &&
          other.end_of_loop == c.end_of_loop && other.file == c.file &&
          other.finding.kernel == c.finding.kernel)
        join(c, other);
  }
  // Threads that do the same work do it in many places.
  for (Cause& c : causes)
    for (Cause& other : causes) {
      const bool gone_already = &other == &c || gone[index(&c)] || gone[index(&other)];
      if (gone_already || c.finding.fix_kind != "one-row" || other.finding.fix_kind != "one-row" ||
          c.finding.kernel != other.finding.kernel)
        continue;
      c.pairs.insert(c.pairs.end(), other.pairs.begin(), other.pairs.end());
      gone[index(&other)] = true;
    }
  std::vector<Cause> left;
  for (size_t k = 0; k < causes.size(); ++k)
    if (!gone[k]) left.push_back(std::move(causes[k]));
  return left;
}

}  // namespace ridge::vm::check
