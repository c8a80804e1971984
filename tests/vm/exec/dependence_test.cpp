// griddepcontrol: when a grid lets its dependents begin, and what waits for its prerequisites.
#include <atomic>

#include "machine.h"
#include "vm/exec/dependence.h"

namespace ridge::vm::testing {
namespace {

// The grids before and behind, as a test wants them.
struct Neighbours : Dependence {
  bool dependents = false, fails = false;
  int polls = 0;  // how often the prerequisites are asked for before they end
  std::atomic<int> triggers{0}, unwaited{0}, releases{0}, parked{0};
  uint32_t* seen = nullptr;  // a word of memory
  uint32_t at_release = 0, at_park = 0;

  bool has_dependents() override { return dependents; }
  void trigger(bool has_waited) override {
    ++triggers;
    unwaited += !has_waited;
  }
  void release() override {
    ++releases;
    if (seen) at_release = *seen;
  }
  bool has_prerequisites() override { return polls > 0; }
  bool wait() override { return --polls <= 0; }
  void parks() override {
    if (!parked++ && seen) at_park = *seen;
  }
  bool goes_on() override { return !fails; }
};

// Adds 1 before `control`, and 100 behind it.
constexpr const char* kAdd = "  mov.u32 %r1, 1; red.global.add.u32 [%out], %r1;\n";
constexpr const char* kAddMore = "  mov.u32 %r1, 100; red.global.add.u32 [%out], %r1;\n";
std::string around(const std::string& control) { return kAdd + control + kAddMore; }

struct Grid {
  Machine machine;
  uint64_t word = 0;
  explicit Grid(const std::string& body, unsigned threads = 1) : machine(threads) {
    machine.load_body(body);
    word = machine.allocate(std::vector<uint32_t>{0});
  }
  uint32_t value() { return machine.read<uint32_t>(word, 1)[0]; }
  Fault run(uint32_t blocks, Neighbours& neighbours) {
    neighbours.seen = reinterpret_cast<uint32_t*>(machine.engine().memory().place(word));
    Launch launch = Machine::shape({blocks}, {1});
    launch.kernel = machine.engine().find_kernel(machine.program(), "k");
    launch.params.resize(8);
    std::memcpy(launch.params.data(), &word, 8);
    return machine.engine().run(launch, &neighbours);
  }
};

// With a dependent behind it, every block comes to the trigger before one goes on.
TEST(Dependence, LetsDependentsBeginAsEarlyAsPossible) {
  Grid grid(around("  griddepcontrol.launch_dependents;\n"));
  Neighbours n;
  n.dependents = true;
  EXPECT_FALSE(grid.run(10, n));
  EXPECT_EQ(n.triggers, 10);
  EXPECT_EQ(n.unwaited, 10);
  EXPECT_EQ(n.releases, 1);
  EXPECT_EQ(n.at_release, 10u);
  EXPECT_EQ(grid.value(), 1010u);
}

TEST(Dependence, WithoutDependentsBlocksGoOn) {
  Grid grid(around("  griddepcontrol.launch_dependents;\n"));
  Neighbours n;
  EXPECT_FALSE(grid.run(10, n));
  EXPECT_EQ(n.releases, 1);
  EXPECT_EQ(n.at_release, 9 * 101u + 1);
}

// A block that ends counts as one that has triggered.
TEST(Dependence, BlocksThatEndCount) {
  Grid grid(around(R"(
  mov.u32 %r2, %ctaid.x;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 ret;
  griddepcontrol.launch_dependents;
  griddepcontrol.launch_dependents;
)"));
  Neighbours n;
  n.dependents = true;
  EXPECT_FALSE(grid.run(5, n));
  EXPECT_EQ(n.triggers, 1);
  EXPECT_EQ(n.releases, 1);
  EXPECT_EQ(grid.value(), 105u);
}

// Blocks that wait for each other in front of the trigger's other side do not hang.
TEST(Dependence, BlocksThatNeedEachOtherGoOn) {
  Grid grid(R"(
  mov.u32 %r2, %ctaid.x;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra SPIN;
  griddepcontrol.launch_dependents;
  mov.u32 %r1, 1;
  red.global.add.u32 [%out], %r1;
  ret;
SPIN:
  ld.volatile.global.u32 %r3, [%out];
  setp.eq.u32 %p2, %r3, 0;
  @%p2 bra SPIN;
  griddepcontrol.launch_dependents;
)",
            2);
  Neighbours n;
  n.dependents = true;
  EXPECT_FALSE(grid.run(4, n));
  EXPECT_EQ(n.releases, 1);
}

TEST(Dependence, AllBlocksComeToTheWaitBeforeOnePasses) {
  Grid grid(around("  griddepcontrol.wait;\n"));
  Neighbours n;
  n.polls = 3;
  EXPECT_FALSE(grid.run(10, n));
  EXPECT_GE(n.parked, 1);
  EXPECT_EQ(n.at_park, 10u);
  EXPECT_EQ(grid.value(), 1010u);
}

// Whether the prerequisites have ended by then makes no difference.
TEST(Dependence, WaitBeforeTheTriggerIsTold) {
  for (const int polls : {0, 1}) {
    Grid before("  griddepcontrol.launch_dependents;\n  griddepcontrol.wait;\n");
    Neighbours n;
    n.polls = polls;
    EXPECT_FALSE(before.run(2, n));
    EXPECT_EQ(n.unwaited, 2);
    Grid behind("  griddepcontrol.wait;\n  griddepcontrol.launch_dependents;\n");
    Neighbours m;
    m.polls = polls;
    EXPECT_FALSE(behind.run(2, m));
    EXPECT_EQ(m.unwaited, 0);
  }
}

TEST(Dependence, StopsWhereAPrerequisiteHasFailed) {
  Grid grid(around("  griddepcontrol.wait;\n"));
  Neighbours n;
  n.polls = 1;
  n.fails = true;
  EXPECT_FALSE(grid.run(3, n));
  EXPECT_EQ(grid.value(), 3u);
}

TEST(Dependence, AloneItHasNoEffect) {
  Grid grid(around("  griddepcontrol.wait;\n  griddepcontrol.launch_dependents;\n"));
  EXPECT_FALSE(grid.machine.run({4}, {1}, grid.word));
  EXPECT_EQ(grid.value(), 404u);
}

}  // namespace
}  // namespace ridge::vm::testing
