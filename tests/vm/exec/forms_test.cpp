// Every form that PTX ISA 9.0 has of the instructions that Hopper's pipelines consist of, and those
// that are refused by name.
#include <string>
#include <vector>

#include "machine.h"

namespace ridge::vm::testing {
namespace {

// Why the instruction does not load; empty: it does. An address in shared memory has 32 bits.
std::string refusal(std::string instruction) {
  if (const size_t at = instruction.find("[%g]");
      at != std::string::npos && instruction.find(".shared") != std::string::npos)
    instruction.replace(at, 4, "[%a]");
  Engine engine({.gpu = *find_gpu("h200"), .threads = 1});
  auto program = engine.load(R"(
.version 9.0
.target sm_90a
.address_size 64
.visible .entry k()
{
  .reg .pred %p; .reg .b32 %r, %n, %a; .reg .b64 %rd, %g;
  )" + instruction + R"(
  ret;
}
)",
                             "test.ptx");
  if (!program) return program.error().message;
  const auto usage = engine.usage(engine.find_kernel(*program, "k"));
  return usage ? std::string() : usage.error().message;
}

void expect_accepted(const std::vector<std::string>& instructions) {
  for (const std::string& one : instructions) EXPECT_EQ(refusal(one), "") << one;
}

const std::vector<std::string> kCta = {"", ".shared", ".shared::cta"};

TEST(Forms, FencesOfProxies) {
  expect_accepted({"fence.proxy.alias;", "membar.proxy.alias;"});
  for (const std::string where : {"", ".global", ".shared::cta", ".shared::cluster"})
    expect_accepted({"fence.proxy.async" + where + ";", "membar.proxy.async" + where + ";"});
  for (const std::string scope : {"cta", "cluster", "gpu", "sys"})
    expect_accepted({"fence.proxy.tensormap::generic.release." + scope + ";",
                     "fence.proxy.tensormap::generic.acquire." + scope + " [%g], 128;"});
  expect_accepted({"fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;",
                   "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;",
                   "fence.acquire.sync_restrict::shared::cluster.cluster;",
                   "fence.release.sync_restrict::shared::cta.cluster;",
                   "fence.mbarrier_init.release.cluster;"});
}

TEST(Forms, ElectASingleLane) {
  expect_accepted({"elect.sync %r|%p, -1;", "elect.sync _|%p, 0xffffffff;", "elect.sync %r|%p, %n;",
                   "elect.sync _|%p, %n;"});
}

TEST(Forms, MbarrierObjects) {
  for (const std::string& cta : kCta)
    expect_accepted({"mbarrier.init" + cta + ".b64 [%g], 1;",
                     "mbarrier.init" + cta + ".b64 [%g], %n;",
                     "mbarrier.inval" + cta + ".b64 [%g];"});
  expect_accepted({"mbarrier.pending_count.b64 %n, %rd;"});
}

TEST(Forms, MbarrierTransactions) {
  for (const std::string action : {"expect_tx", "complete_tx"})
    for (const std::string order : {"", ".relaxed.cta", ".relaxed.cluster"})
      for (const std::string where : {"", ".shared", ".shared::cta", ".shared::cluster"})
        expect_accepted({"mbarrier." + action + order + where + ".b64 [%g], 16;"});
}

TEST(Forms, MbarrierArrivals) {
  for (const std::string action : {"arrive", "arrive_drop"})
    for (const std::string order :
         {"", ".release.cta", ".release.cluster", ".relaxed.cta", ".relaxed.cluster"}) {
      const std::string start = "mbarrier." + action;
      for (const std::string& cta : kCta)
        expect_accepted({start + order + cta + ".b64 %rd, [%g];",
                         start + order + cta + ".b64 %rd, [%g], 2;",
                         start + order + cta + ".b64 _, [%g], %n;",
                         start + ".expect_tx" + order + cta + ".b64 %rd, [%g], 16;",
                         start + ".expect_tx" + order + cta + ".b64 _, [%g], %n;"});
      expect_accepted({start + order + ".shared::cluster.b64 _, [%g];",
                       start + order + ".shared::cluster.b64 _, [%g], 2;",
                       start + ".expect_tx" + order + ".shared::cluster.b64 _, [%g], 16;"});
    }
  for (const std::string& cta : kCta)
    expect_accepted({"mbarrier.arrive.noComplete" + cta + ".b64 %rd, [%g], 1;",
                     "mbarrier.arrive.noComplete.release.cta" + cta + ".b64 %rd, [%g], 1;",
                     "mbarrier.arrive_drop.noComplete" + cta + ".b64 %rd, [%g], 1;",
                     "mbarrier.arrive_drop.noComplete.release.cta" + cta + ".b64 %rd, [%g], 1;",
                     "cp.async.mbarrier.arrive" + cta + ".b64 [%g];",
                     "cp.async.mbarrier.arrive.noinc" + cta + ".b64 [%g];"});
}

TEST(Forms, MbarrierWaits) {
  for (const std::string order :
       {"", ".acquire.cta", ".acquire.cluster", ".relaxed.cta", ".relaxed.cluster"})
    for (const std::string& cta : kCta) {
      const std::string end = order + cta + ".b64 %p, [%g]";
      expect_accepted(
          {"mbarrier.test_wait" + end + ", %rd;", "mbarrier.test_wait.parity" + end + ", %n;",
           "mbarrier.test_wait.parity" + end + ", 1;", "mbarrier.try_wait" + end + ", %rd;",
           "mbarrier.try_wait" + end + ", %rd, %n;", "mbarrier.try_wait.parity" + end + ", %n;",
           "mbarrier.try_wait.parity" + end + ", 0, 1000;"});
    }
}

TEST(Forms, MulticastMemoryIsRefusedByName) {
  for (const std::string one :
       {"multimem.ld_reduce.global.add.f32 %n, [%g];", "multimem.st.global.f32 [%g], %n;",
        "multimem.red.global.add.f32 [%g], %n;"}) {
    const std::string why = refusal(one);
    EXPECT_NE(why.find("'multimem' is not supported"), why.npos) << why;
    EXPECT_NE(why.find("several GPUs"), why.npos) << why;
  }
}

}  // namespace
}  // namespace ridge::vm::testing
