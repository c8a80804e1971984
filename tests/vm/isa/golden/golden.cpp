// Runs every spelling of the instruction tables on edge and random values, on the device that the
// CUDA runtime offers: on a GPU to record what is right, on the software GPU to hold it against
// that.
//
//   golden --record FILE [--raw FILE]   run all; write hashes (and, raw, every output)
//   golden --check FILE [--raw FILE]    run all; print what differs (with raw: on which inputs),
//                                       and exit 1 if anything does
//   golden --dump SPELLING              run one; print its inputs and outputs
//   golden --ptx DIR                    run nothing; write the modules, one file a batch
//   golden --docs FILE                  run nothing; write docs/ptx.md
//   golden --check-docs FILE            exit 1 if it differs
//   --only TEXT                         spellings that contain TEXT
//   --jobs N                            host threads that compile and launch
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "bound.h"
#include "case.h"
#include "device.h"
#include "docs.h"
#include "kernel.h"
#include "record.h"

namespace ridge::golden {
namespace {

enum Exit { kFine = 0, kWrong = 1, kUsage = 2 };

struct Options {
  std::string mode, target, raw, only;
  int jobs = std::max(1, std::min(8, int(std::thread::hardware_concurrency())));
};

std::string words_text(const std::vector<uint64_t>& words, size_t outputs, size_t n, size_t t) {
  std::string text;
  for (size_t k = 0; k < outputs; ++k) {
    char word[24];
    std::snprintf(word, sizeof word, " %" PRIx64, words[k * n + t]);
    text += word;
  }
  return text;
}

// Prints a progress line on stderr now and then.
class Progress {
 public:
  explicit Progress(size_t total) : total_(total) {}
  void step() {
    if (++done_ % 500 == 0 || done_ == total_)
      std::fprintf(stderr, "%zu of %zu spellings\n", done_, total_);
  }

 private:
  size_t total_, done_ = 0;
};

int record(const Options& o, const std::vector<Case>& cases) {
  std::vector<std::optional<Entry>> entries(cases.size());
  RawWriter writer(o.raw.empty() ? "/dev/null" : o.raw);
  if (!writer.ok()) return std::fprintf(stderr, "cannot write %s\n", o.raw.c_str()), kUsage;
  Progress progress(cases.size());
  size_t refused = 0, failed = 0;
  run_cases(cases, o.jobs, [&](size_t i, const Result& r) {
    progress.step();
    if (r.kind == Result::Kind::failed) {
      ++failed;
      std::printf("failed   %s: %s\n", cases[i].spelling.c_str(), r.message.c_str());
      return;
    }
    if (r.kind == Result::Kind::refused) {
      ++refused;
      std::printf("refused  %s: %s\n", cases[i].spelling.c_str(), r.message.c_str());
    } else {
      if (r.split_differs)
        std::printf("unsteady %s: other results when half the lanes are away\n",
                    cases[i].spelling.c_str());
      writer.add(cases[i], r);
    }
    entries[i] = entry_of(cases[i], r);
  });
  if (!writer.close() || !write_record(o.target, device_name(), cases, entries)) {
    std::fprintf(stderr, "cannot write the results\n");
    return kUsage;
  }
  const auto recorded =
      std::count_if(entries.begin(), entries.end(), [](const auto& e) { return e.has_value(); });
  std::printf("%td of %zu spellings recorded on %s, %zu refused, %zu failed\n", recorded,
              cases.size(), device_name().c_str(), refused, failed);
  return size_t(recorded) == cases.size() ? kFine : kWrong;
}

// Says where a result differs from the recorded outputs of every thread.
void explain(const Case& c, const Result& r, const std::vector<uint64_t>& want) {
  const size_t n = size_t(r.threads), outputs = c.outputs().size(), inputs = c.inputs().size();
  size_t shown = 0, differing = 0;
  const Bound bound = bound_of(c.spelling);
  for (size_t t = 0; t < n; ++t) {
    bool same = true;
    for (size_t k = 0; k < outputs; ++k) {
      const uint64_t got = r.words[k * n + t], expected = want[k * n + t];
      same = same &&
             (got == expected || (bound.approximate() && within(bound, c.spelling, c.outputs()[k],
                                                                r.inputs[t], got, expected)));
    }
    if (same) continue;
    ++differing;
    if (shown++ < 4)
      std::printf("    in%s: got%s, expected%s\n", words_text(r.inputs, inputs, n, t).c_str(),
                  words_text(r.words, outputs, n, t).c_str(),
                  words_text(want, outputs, n, t).c_str());
  }
  std::printf("    %zu of %zu inputs differ\n", differing, n);
}

int check(const Options& o, const std::vector<Case>& cases, const std::vector<Case>& all) {
  std::string error;
  const auto recorded = read_record(o.target, &error);
  if (!recorded) return std::fprintf(stderr, "%s\n", error.c_str()), kUsage;
  std::optional<RawResults> raw;
  if (!o.raw.empty() && !(raw = read_raw(o.raw, all)))
    return std::fprintf(stderr, "cannot read %s\n", o.raw.c_str()), kUsage;

  size_t exact = 0, bounded = 0, wrong = 0, unknown = 0;
  Progress progress(cases.size());
  run_cases(cases, o.jobs, [&](size_t i, const Result& r) {
    progress.step();
    const Case& c = cases[i];
    const auto differs = [&](const std::string& how) {
      ++wrong;
      std::printf("differs  %s: %s\n", c.spelling.c_str(), how.c_str());
    };
    if (r.kind != Result::Kind::ok) return differs(r.message);
    if (r.split_differs) differs("other results when half the lanes are away");
    const auto found = recorded->entries.find(c.spelling);
    if (found == recorded->entries.end()) {
      ++unknown;
      std::printf("unknown  %s: not in %s\n", c.spelling.c_str(), o.target.c_str());
      return;
    }
    const Entry& want = found->second;
    if (want.kind == Entry::Kind::refused)
      return differs("the hardware's assembler has no such instruction");
    if (want.kind == Entry::Kind::exact) {
      if (hash_of(r.words) == want.hash) return void(++exact);
      differs("other results");
    } else {
      const Bound bound = bound_of(c.spelling);
      const auto threads = sampled(size_t(r.threads));
      size_t outside = 0;
      for (size_t s = 0; s < threads.size() && s < want.samples.size(); ++s)
        if (!within(bound, c.spelling, c.outputs()[0], r.inputs[threads[s]], r.words[threads[s]],
                    want.samples[s])) {
          if (outside++ < 4 && !raw)
            std::printf("    in %" PRIx64 ": got %" PRIx64 ", expected %" PRIx64 "\n",
                        r.inputs[threads[s]], r.words[threads[s]], want.samples[s]);
        }
      if (!outside) return void(++bounded);
      differs(std::to_string(outside) + " of " + std::to_string(threads.size()) +
              " results outside " + std::string(bound.text));
    }
    if (raw)
      if (const auto outputs = raw->find(c.spelling); outputs != raw->end())
        explain(c, r, outputs->second);
  });
  std::printf(
      "%zu spellings on %s against %s: %zu exact, %zu within their bound, %zu differ, %zu not "
      "recorded\n",
      cases.size(), device_name().c_str(), recorded->device.c_str(), exact, bounded, wrong,
      unknown);
  return wrong || unknown ? kWrong : kFine;
}

int dump(const Options& o, const std::vector<Case>& cases) {
  const auto found = std::find_if(cases.begin(), cases.end(),
                                  [&](const Case& c) { return c.spelling == o.target; });
  if (found == cases.end())
    return std::fprintf(stderr, "the tables have no '%s'\n", o.target.c_str()), kUsage;
  bool fine = false;
  run_cases({*found}, 1, [&](size_t, const Result& r) {
    if (r.kind != Result::Kind::ok) return void(std::printf("%s\n", r.message.c_str()));
    fine = true;
    for (size_t t = 0; t < size_t(r.threads); ++t)
      std::printf("in%s out%s\n",
                  words_text(r.inputs, found->inputs().size(), size_t(r.threads), t).c_str(),
                  words_text(r.words, found->outputs().size(), size_t(r.threads), t).c_str());
  });
  return fine ? kFine : kWrong;
}

int write_ptx(const Options& o, const std::vector<Case>& cases) {
  constexpr size_t kBatch = 200;
  for (size_t begin = 0; begin < cases.size(); begin += kBatch) {
    std::ofstream out(o.target + "/" + std::to_string(begin / kBatch) + ".ptx");
    out << module_header();
    for (size_t i = begin; i < std::min(begin + kBatch, cases.size()); ++i)
      out << kernel_text(cases[i], "golden_" + std::to_string(i));
    if (!out.flush()) return std::fprintf(stderr, "cannot write to %s\n", o.target.c_str()), kUsage;
  }
  std::printf("%zu spellings\n", cases.size());
  return kFine;
}

int docs(const Options& o) {
  const std::string text = documentation();
  if (o.mode == "--docs") {
    std::ofstream out(o.target);
    out << text;
    return out.flush() ? kFine : kUsage;
  }
  std::ifstream in(o.target);
  std::stringstream have;
  have << in.rdbuf();
  if (have.str() == text) return kFine;
  std::fprintf(stderr, "%s is out of date: run golden --docs %s\n", o.target.c_str(),
               o.target.c_str());
  return kWrong;
}

int usage() {
  std::fprintf(stderr,
               "golden --record FILE | --check FILE | --dump SPELLING | --ptx DIR | --docs FILE | "
               "--check-docs FILE\n"
               "       [--raw FILE] [--only TEXT] [--jobs N]\n");
  return kUsage;
}

int run(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (i + 1 == argc) return usage();
    const std::string value = argv[++i];
    if (flag == "--raw") o.raw = value;
    else if (flag == "--only") o.only = value;
    else if (flag == "--jobs") o.jobs = std::max(1, std::atoi(value.c_str()));
    else if (o.mode.empty()) o.mode = flag, o.target = value;
    else return usage();
  }
  if (o.mode == "--docs" || o.mode == "--check-docs") return docs(o);
  std::vector<std::string> missing;
  const std::vector<Case> all = collect_cases(&missing);
  std::vector<Case> cases = all;
  for (const std::string& spelling : missing)
    std::fprintf(stderr, "no row for %s\n", spelling.c_str());
  if (!o.only.empty())
    std::erase_if(cases,
                  [&](const Case& c) { return c.spelling.find(o.only) == std::string::npos; });
  if (o.mode == "--record") return record(o, cases);
  if (o.mode == "--check") {
    const int result = check(o, cases, all);
    return missing.empty() ? result : std::max(result, int(kWrong));
  }
  if (o.mode == "--dump") return dump(o, cases);
  if (o.mode == "--ptx") return write_ptx(o, cases);
  return usage();
}

}  // namespace
}  // namespace ridge::golden

int main(int argc, char** argv) { return ridge::golden::run(argc, argv); }
