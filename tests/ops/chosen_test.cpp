// What `ridge explain` says is what the library does: for every operator in every format at random
// sizes, the kernels that the public functions launch are those of the rungs that explain names.
//
// Nothing runs: launches are captured into graphs, on tensors that are nowhere. What is no kernel,
// a copy, a fill or a call of the host, is a node of its type. Only copies are captured with memory
// that exists, which the runtime asks for: operators with tensors in host memory get some.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "captured.h"
#include "nowhere.h"
#include "ridge/c.h"
#include "select/device.h"

namespace ridge {
namespace {

constexpr int kCases = 20;  // of each operator in each format
constexpr int kMostTries = 200 * kCases;
constexpr double kMostBytes = double(int64_t(1) << 40);
constexpr double kMostBits = 22;       // of one size: up to 4 million
constexpr double kMostBitsOfAll = 32;  // of all sizes together
constexpr int64_t kMostParts = 1000;   // of one call

class Random {
 public:
  explicit Random(const std::string& name) {
    std::seed_seq seed(name.begin(), name.end());
    bits_.seed(seed);
  }
  int64_t below(int64_t end) { return std::uniform_int_distribution<int64_t>(0, end - 1)(bits_); }
  double up_to(double most) { return std::uniform_real_distribution<double>(0, most)(bits_); }

 private:
  std::mt19937_64 bits_;
};

// One of the operator's own tests, with all that makes it awkward, at sizes of any magnitude. Some
// sizes stay as they are: an operator may have no choice of them.
Case random_case(const std::vector<Case>& tests, Dtype dtype, Random& random) {
  Case c = tests[size_t(random.below(int64_t(tests.size())))];
  c.dtype = dtype;
  c.misalignment = random.below(2) ? int(random.below(9)) : 0;
  double bits = random.up_to(kMostBitsOfAll);
  for (int64_t& size : c.shape) {
    if (random.below(8) == 0) continue;
    const double share = random.up_to(std::min(bits, kMostBits));
    bits -= share;
    const int64_t multiple = int64_t(1) << random.below(8);  // of few and of many elements alike
    size = int64_t(std::exp2(share));
    if (random.below(2)) size = (size + multiple - 1) / multiple * multiple;
  }
  return c;
}

// Whether a size that is no tensor's, as how many tensors or launches there are, is large: a call
// of a million parts takes its time, and tells nothing new.
bool has_many_parts(const Case& c) {
  for (size_t d = 0; d < c.def->dimensions.size(); ++d) {
    const auto has_it = [&](const TensorDef& tensor) {
      return std::ranges::any_of(tensor.pattern,
                                 [&](const Extent& e) { return e.dimension == int(d); });
    };
    if (std::ranges::none_of(c.def->tensors, has_it) && c.sizes.size[d] > kMostParts) return true;
  }
  return false;
}

double bytes_of(const Workload& workload) {
  double bytes = 0;
  for (const TensorSpec& t : workload.tensors) bytes += double(t.span) * double(size_of(t.dtype));
  return bytes;
}

// Whether there is nothing to do: nothing to write, or one element, which is reversed already.
bool is_nothing(const Workload& workload) {
  int64_t most = 0;
  for (const TensorSpec& t : workload.tensors) {
    if (t.role != Role::in && count(t.shape) == 0) return true;
    most = std::max(most, count(t.shape));
  }
  return most <= 1;
}

bool is_on_host(const OperatorDef& op) {
  return std::ranges::any_of(op.tensors, &TensorDef::on_host);
}

// The same call through the C API.
Status run_by_name(const Call& call, const Workspace& workspace, cudaStream_t stream) {
  const OperatorDef& op = call.op();
  std::array<RidgeTensor, kMostTensors> views;
  std::array<const RidgeTensor*, kMostTensors> tensors = {};
  std::array<double, kMostParameters> parameters = {};
  for (size_t t = 0; t < op.tensors.size(); ++t) {
    if (!call.tensors[t]) continue;
    views[t] = std::bit_cast<RidgeTensor>(*call.tensors[t]);
    tensors[t] = &views[t];
  }
  for (size_t p = 0; p < op.parameters.size(); ++p) parameters[p] = call.parameters[p].number;
  const RidgeWorkspace memory = {workspace.data, workspace.bytes, workspace.wanted};
  const int code = ridge_run(op.name.c_str(), tensors.data(), int(op.tensors.size()),
                             parameters.data(), int(op.parameters.size()), &memory, stream);
  return code == 0 ? Status::ok() : Status(Error{code, ridge_error()});
}

// What explain tells, as launches: those of the rungs that it names, part for part.
Status run_as_explained(const std::vector<Ladder::Choice>& choices, const Workspace& workspace,
                        const DeviceInfo& device, cudaStream_t stream) {
  for (const Ladder::Choice& choice : choices)
    if (const Status s = choice.launch(choice.chosen, workspace, device, stream); !s) return s;
  return Status::ok();
}

struct Tally {
  int compared = 0, refused = 0, handed_over = 0, of_several = 0, without_kernel = 0;
};

class Chosen : public ::testing::Test {
 protected:
  Chosen() : device_(current_device()) {
    EXPECT_TRUE(device_);
    EXPECT_EQ(cudaStreamCreate(&stream_), cudaSuccess);
  }
  ~Chosen() override {
    (void)cudaStreamDestroy(stream_);
    (void)cudaFreeHost(on_host_);
    (void)cudaFree(beside_host_);
  }

  void compare(const Ladder& ladder, const Case& c, CallNowhere& nowhere);
  bool compare_random(const Ladder& ladder, const OperatorDef& op, const std::vector<Case>& tests,
                      Dtype dtype, Random& random);

  // Memory for tensors of host memory, and for the workspace of their operators.
  void make_host_memory() {
    if (on_host_) return;
    ASSERT_EQ(cudaMallocHost(&on_host_, kHostBytes), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&beside_host_, kHostBytes), cudaSuccess);
  }

  static constexpr size_t kHostBytes = size_t(1) << 28;
  Expected<DeviceInfo> device_;
  cudaStream_t stream_ = nullptr;
  void *on_host_ = nullptr, *beside_host_ = nullptr;
  Tally tally_;
};

void Chosen::compare(const Ladder& ladder, const Case& c, CallNowhere& nowhere) {
  const std::string who = c.def->name + " " + shape_text(c.shape) + " " + name_of(c.dtype) + " " +
                          settings_text(c) + " misaligned by " + std::to_string(c.misalignment);
  const auto choices = ladder.choices(nowhere.call(), *device_);
  const auto wanted = ladder.workspace(kChosen, nowhere.call(), *device_);
  const Workspace workspace = {is_on_host(*c.def) ? beside_host_ : CallNowhere::workspace(),
                               wanted ? *wanted : 0};
  const Captured done = captured(
      stream_, [&](cudaStream_t stream) { return run(nowhere.call(), workspace, stream); });
  const bool is_group = !nowhere.call().group.empty();  // which C has no function for
  const Captured by_name = captured(stream_, [&](cudaStream_t stream) {
    return is_group ? run(nowhere.call(), workspace, stream)
                    : run_by_name(nowhere.call(), workspace, stream);
  });
  EXPECT_EQ(done.status.message(), by_name.status.message()) << who;
  EXPECT_EQ(done.nodes, by_name.nodes) << who;
  const bool can = choices && std::ranges::all_of(
                                  *choices, [](const auto& choice) { return choice.chosen >= 0; });
  if (!can) {
    EXPECT_FALSE(done.status) << who << " runs, but explain says that no rung can do it";
    ++tally_.refused;
    return;
  }
  const Captured explained = captured(stream_, [&](cudaStream_t stream) {
    return run_as_explained(*choices, workspace, *device_, stream);
  });
  ASSERT_TRUE(explained.status) << who << ": " << explained.status.message();
  ASSERT_TRUE(done.status) << who << ": " << done.status.message();
  EXPECT_EQ(done.nodes, explained.nodes)
      << who << ": the library launches the first, explain names the second";
  EXPECT_TRUE(!done.nodes.empty() || is_nothing(nowhere.workload())) << who << " launches nothing";
  ++tally_.compared;
  tally_.of_several += choices->size() > 1;
  tally_.handed_over += !choices->empty() && choices->front().ladder != &ladder;
  tally_.without_kernel += std::ranges::none_of(
      done.nodes, [](const std::string& node) { return node.find("grid=") != node.npos; });
}

// False: the family takes no such case.
bool Chosen::compare_random(const Ladder& ladder, const OperatorDef& op,
                            const std::vector<Case>& tests, Dtype dtype, Random& random) {
  Case c = random_case(tests, dtype, random);
  if (!complete(c, op) || !ladder.check(c) || has_many_parts(c)) return false;
  const bool on_host = is_on_host(op);
  if (on_host) make_host_memory();
  CallNowhere nowhere(ladder, c, on_host ? static_cast<char*>(on_host_) : nullptr);
  const double most = on_host ? double(kHostBytes / 2) : kMostBytes;
  if (bytes_of(nowhere.workload()) > most || !nowhere.check()) return false;
  const auto choices = ladder.choices(nowhere.call(), *device_);
  if (choices && int64_t(choices->size()) > kMostParts) return false;
  compare(ladder, c, nowhere);
  return true;
}

TEST_F(Chosen, AsExplained) {
  if (!is_software_gpu())
    GTEST_SKIP() << "a driver may refuse to capture what touches memory that does not exist";
  for (const OperatorDef* op : all_operators()) {
    const auto loaded = load_family(op->family);
    ASSERT_TRUE(loaded) << loaded.error().message;
    const Ladder& ladder = **loaded;
    std::vector<Case> tests = ladder.tests();
    std::erase_if(tests, [&](const Case& c) { return c.op != op->index; });
    ASSERT_FALSE(tests.empty()) << op->name;
    for (const Dtype dtype : main_formats(*op)) {
      Random random(op->name + name_of(dtype));
      int found = 0;
      for (int tries = 0; tries < kMostTries && found < kCases; ++tries)
        found += compare_random(ladder, *op, tests, dtype, random);
      EXPECT_EQ(found, kCases) << op->name << " " << name_of(dtype)
                               << " refuses nearly every random case";
    }
  }
  std::printf(
      "%d calls launch what explain names, %d are refused; %d were handed over, %d take "
      "several launches, %d launch no kernel\n",
      tally_.compared, tally_.refused, tally_.handed_over, tally_.of_several,
      tally_.without_kernel);
  // The odd ones are among them.
  EXPECT_GT(tally_.handed_over, 0);
  EXPECT_GT(tally_.of_several, 0);
}

}  // namespace
}  // namespace ridge
