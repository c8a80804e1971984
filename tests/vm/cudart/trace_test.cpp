// `ridge run --trace`: which events the streams' work becomes.
#include "vm/cudart/trace.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "runtime_test.h"

namespace ridge::vm::cudart {
namespace {

using nlohmann::json;

class TraceTest : public RuntimeTest {
 protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + "ridge_trace_XXXXXX";
    const int file = mkstemp(path_.data());
    ASSERT_GE(file, 0);
    close(file);
    trace_to(path_);
  }
  void TearDown() override {
    trace_to("");
    std::remove(path_.c_str());
    RuntimeTest::TearDown();
  }

  // Ends the trace: its lines, by their phase (M: names, X: spans).
  void finish() {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    trace_to("");
    std::ifstream in(path_);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    ASSERT_TRUE(text.ends_with(",\n"));
    text.resize(text.size() - 2);
    for (const json& event : json::parse("[" + text + "]"))
      (event["ph"] == "X" ? spans_ : names_).push_back(event);
  }
  std::string row_name(const json& span) const {
    for (const json& name : names_)
      if (name["name"] == "thread_name" && name["tid"] == span["tid"]) return name["args"]["name"];
    return "";
  }

  std::vector<json> names_, spans_;
  std::string path_;
};

bool overlap(const json& a, const json& b) {
  const double a0 = a["ts"], a1 = a0 + double(a["dur"]), b0 = b["ts"], b1 = b0 + double(b["dur"]);
  return a0 < b1 && b0 < a1;
}

TEST_F(TraceTest, EveryKindOfWork) {
  const TestKernel kernel("_Z3addPfi");
  void *device = nullptr, *pinned = nullptr;
  char pageable[96];
  ASSERT_EQ(cudaMalloc(&device, 96), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&pinned, 96), cudaSuccess);
  EXPECT_EQ(cudaMemset(device, 1, 96), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(pinned, device, 80, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(cudaMemcpy2D(device, 32, pageable, 16, 8, 3, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(kernel.launch(nullptr, dim3(2, 3, 4), dim3(8, 4, 2), 48), cudaSuccess);
  EXPECT_EQ(cudaLaunchHostFunc(
                nullptr, [](void*) {}, nullptr),
            cudaSuccess);
  EXPECT_EQ(cudaStreamAddCallback(
                nullptr, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 0),
            cudaSuccess);
  finish();
  ASSERT_EQ(spans_.size(), 6u);
  EXPECT_EQ(spans_[0]["name"], "memset");
  EXPECT_EQ(spans_[0]["args"], json({{"bytes", 96}}));
  EXPECT_EQ(spans_[1]["name"], "copy device to host");
  EXPECT_EQ(spans_[1]["args"], json({{"bytes", 80}, {"from", "device"}, {"to", "pinned"}}));
  EXPECT_EQ(spans_[2]["name"], "copy host to device");
  EXPECT_EQ(spans_[2]["args"], json({{"bytes", 24}, {"from", "pageable"}, {"to", "device"}}));
  EXPECT_EQ(spans_[3]["name"], "add(float*, int)");
  EXPECT_EQ(spans_[3]["args"],
            json({{"grid", {2, 3, 4}}, {"block", {8, 4, 2}}, {"dynamic shared bytes", 48}}));
  EXPECT_EQ(spans_[4]["cat"], "host function");
  EXPECT_EQ(spans_[5]["cat"], "host function");
  double end = 0;  // work in one stream: one after the other
  for (const json& span : spans_) {
    EXPECT_EQ(row_name(span), "default stream");
    EXPECT_GE(double(span["ts"]), end);
    end = double(span["ts"]) + double(span["dur"]);
  }
  cudaFree(device);
  cudaFreeHost(pinned);
}

TEST_F(TraceTest, ARowAStreamAndTheirWorkOverlaps) {
  Gate first, second;  // each kernel waits for the other to have started
  const TestKernel a("a", [&](const Launch&) {
    first.open();
    second.wait();
    return Fault{};
  });
  const TestKernel b("b", [&](const Launch&) {
    second.open();
    first.wait();
    return Fault{};
  });
  cudaStream_t s = nullptr, t = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaStreamCreateWithPriority(&t, cudaStreamDefault, -2), cudaSuccess);
  EXPECT_EQ(a.launch(s), cudaSuccess);
  EXPECT_EQ(b.launch(t), cudaSuccess);
  finish();
  ASSERT_EQ(spans_.size(), 2u);
  EXPECT_TRUE(overlap(spans_[0], spans_[1]));
  std::map<std::string, std::string> rows;  // by kernel
  for (const json& span : spans_) rows[span["name"]] = row_name(span);
  EXPECT_TRUE(rows["a"].ends_with(", non-blocking")) << rows["a"];
  EXPECT_TRUE(rows["b"].ends_with(", priority -2")) << rows["b"];
  EXPECT_EQ(
      std::ranges::count_if(names_, [](const json& name) { return name["name"] == "thread_name"; }),
      2);
}

TEST_F(TraceTest, NodesOfAGraphAreOnTheRowOfItsStream) {
  const TestKernel a("a"), b("b");
  cudaStream_t s = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaStreamCreate(&s), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), cudaSuccess);
  a.launch(s);
  b.launch(s);
  ASSERT_EQ(cudaStreamEndCapture(s, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, s), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, s), cudaSuccess);
  finish();
  ASSERT_EQ(spans_.size(), 4u);
  for (const json& span : spans_) EXPECT_EQ(span["tid"], spans_[0]["tid"]);
  EXPECT_EQ(spans_[3]["name"], "b");
}

}  // namespace
}  // namespace ridge::vm::cudart
