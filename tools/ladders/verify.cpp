#include "harness/verify.h"

#include <algorithm>
#include <cstdio>

#include "commands.h"
#include "harness/device.h"
#include "harness/drawn.h"
#include "select/device.h"

namespace ridge::ladders {
namespace {

// What a sanitizer gets through, which makes a launch a thousand times as long.
constexpr int64_t kFastElements = 1 << 11;

bool is_small(const Ladder& ladder, const Case& c) {
  int64_t elements = 0;
  for (const TensorSpec& tensor : ladder.workload(c).tensors)
    elements = std::max(elements, count(tensor.shape));
  return elements <= kFastElements;
}

struct Tally {
  int right = 0, wrong = 0, unsupported = 0;
};

// Each case takes the variant that a rung chooses, and one more: cases take turns at the others, so
// that all variants are verified without a run of every case for each.
std::vector<int> variants_for(const RungInfo& rung, size_t number_of_case) {
  if (rung.variants.empty()) return {-1};
  return {-1, int(number_of_case % rung.variants.size())};
}

// Whether the rung is there to show what these inputs do to it (RungOf::fails_on).
bool is_to_fail(const RungInfo& rung, const Case& c) {
  return !rung.fails_on.empty() && c.distribution == rung.fails_on;
}
harness::Verification turned_round(const harness::Verification& result) {
  if (result.verdict == harness::Verdict::wrong) return {.verdict = harness::Verdict::right};
  if (result.verdict != harness::Verdict::right) return result;
  return {.verdict = harness::Verdict::wrong,
          .message = "is right, but says that these inputs make it wrong (fails_on)"};
}

// What a caller of the library gets. It serves every call that can be made.
harness::Contestant library() {
  return {.name = "library",
          .refuses = [](const Case&, const Call&) { return std::string(); },
          .workspace =
              [](Call call) {
                size_t wanted = 0;
                const Status asked = run(call, Workspace::ask(wanted), nullptr);
                return asked ? Expected<size_t>(wanted) : Expected<size_t>(asked.error());
              },
          .launch = [](Call call, const Workspace& workspace,
                       cudaStream_t stream) { return run(call, workspace, stream); }};
}

struct Entrant {
  harness::Contestant contestant;
  bool is_to_fail = false;
};
std::vector<Entrant> entrants_for(const Ladder& ladder, const Case& c, size_t number,
                                  const Request& request, const DeviceInfo& device) {
  std::vector<Entrant> all;
  for (int r = 0; r < int(ladder.rungs.size()); ++r) {
    const RungInfo& info = ladder.rungs[size_t(r)];
    if (!request.rung.empty() && request.rung != info.name) continue;
    // Inputs of a drawn case may be too few to make the rung wrong.
    if (request.random && is_to_fail(info, c)) continue;
    for (const int variant : variants_for(info, number))
      all.push_back({harness::contestant_of(ladder, r, device, variant), is_to_fail(info, c)});
  }
  if (request.random && (request.rung.empty() || request.rung == kLibrary))
    all.push_back({library()});
  return all;
}

// Returns whether the device is still there: after a fault it is gone for this process.
bool verify_case(const Ladder& ladder, const Case& c, size_t number, const Request& request,
                 const DeviceInfo& device, Tally& tally) {
  const auto complain = [&](const std::string& what) {
    std::printf("%s: %s: the case itself: %s\n", ladder.family.c_str(),
                harness::case_text(c).c_str(), what.c_str());
    ++tally.wrong;
    return true;
  };
  if (const Status s = ladder.check(c); !s) return complain(s.message());
  if (request.fast && !is_small(ladder, c)) return true;
  const auto prepared = harness::prepare(ladder, c);
  if (!prepared) return complain(prepared.error().message);
  if (const std::string why = harness::truth_against_reference(*prepared); !why.empty())
    return complain(why);
  for (const auto& [contestant, is_to_fail] : entrants_for(ladder, c, number, request, device)) {
    auto result = harness::verify(*prepared, contestant);
    if (is_to_fail) result = turned_round(result);
    if (result.verdict == harness::Verdict::right) {
      ++tally.right;
    } else if (result.verdict == harness::Verdict::unsupported) {
      ++tally.unsupported;
    } else {
      ++tally.wrong;
      std::printf("%s/%s: %s: %s\n", ladder.family.c_str(), contestant.name.c_str(),
                  harness::case_text(c).c_str(), result.message.c_str());
      if (result.verdict == harness::Verdict::failed && !harness::synchronize()) return false;
    }
  }
  return true;
}

std::vector<Case> cases_for(const Ladder& ladder, const Request& request,
                            const DeviceInfo& device) {
  if (!request.random) return ladder.tests();
  const harness::DrawnCases drawn(ladder, device);
  std::vector<Case> cases;
  for (uint64_t i = 0; i < request.random; ++i)
    if (const auto c = drawn(request.seed + i)) cases.push_back(*c);
  return cases;
}

}  // namespace

int verify(const Request& request) {
  const auto device = current_device();
  if (!device) return fail(device.error());
  Tally tally;
  for (const FamilyInfo& family : all_families()) {
    const auto& names = request.operators;
    if (!names.empty() && std::ranges::find(names, family.name) == names.end()) continue;
    const auto ladder = load_family(family.name);
    if (!ladder) return fail(ladder.error());
    const std::vector<Case> cases = cases_for(**ladder, request, *device);
    for (size_t i = 0; i < cases.size(); ++i)
      if (!verify_case(**ladder, cases[i], request.random ? cases[i].seed : i, request, *device,
                       tally))
        return 1;
  }
  std::printf("%d right, %d wrong, %d not supported\n", tally.right, tally.wrong,
              tally.unsupported);
  return tally.wrong || tally.right == 0 ? 1 : 0;
}

}  // namespace ridge::ladders
