// Conditional nodes of graphs: which body runs, how often, and what is refused. Kernels of the fake
// engine set conditions as cudaGraphSetConditional does.
#include "runtime_test.h"
#include "vm/exec/conditions.h"

namespace ridge::vm::cudart {
namespace {

using Names = std::vector<std::string>;

class ConditionalTest : public RuntimeTest {
 protected:
  void SetUp() override { cudaGraphCreate(&graph_, 0); }

  cudaGraphConditionalHandle condition(unsigned initial, unsigned flags = 1) {
    cudaGraphConditionalHandle handle = 0;
    EXPECT_EQ(cudaGraphConditionalHandleCreate(&handle, graph_, initial, flags), cudaSuccess);
    return handle;
  }
  cudaError_t add(cudaGraph_t graph, cudaGraphConditionalHandle handle,
                  cudaGraphConditionalNodeType type, unsigned size,
                  std::vector<cudaGraph_t>* bodies = nullptr) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    const cudaError_t error = cudaGraphAddNode(&node_, graph, nullptr, nullptr, 0, &params);
    if (!error && bodies)
      bodies->assign(params.conditional.phGraph_out, params.conditional.phGraph_out + size);
    return error;
  }
  void add_kernel(cudaGraph_t graph, const TestKernel& kernel, cudaGraphNode_t after = nullptr) {
    cudaKernelNodeParams params{};
    params.func = const_cast<void*>(kernel.handle());
    params.gridDim = params.blockDim = dim3(1);
    ASSERT_EQ(cudaGraphAddKernelNode(&node_, graph, &after, after ? 1 : 0, &params), cudaSuccess);
  }
  Names run(int launches = 1) {
    cudaGraphExec_t exec = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&exec, graph_, 0), cudaSuccess);
    for (int i = 0; i < launches; ++i) EXPECT_EQ(cudaGraphLaunch(exec, nullptr), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
    return trace_.events();
  }
  // Counts a condition down to zero.
  fake::Body countdown(cudaGraphConditionalHandle handle, const char* name) {
    return [this, handle, name](const Launch&) {
      trace_.add(name);
      --find_condition(handle)->value;
      return Fault{};
    };
  }
  cudaGraph_t graph_ = nullptr;
  cudaGraphNode_t node_ = nullptr;
  Trace trace_;
};

TEST_F(ConditionalTest, IfAndElse) {
  const TestKernel yes("yes", trace_.body("yes")), no("no", trace_.body("no"));
  for (const unsigned value : {1u, 0u, 7u}) {
    std::vector<cudaGraph_t> bodies;
    cudaGraphCreate(&graph_, 0);
    ASSERT_EQ(add(graph_, condition(value), cudaGraphCondTypeIf, 2, &bodies), cudaSuccess);
    add_kernel(bodies[0], yes);
    add_kernel(bodies[1], no);
    run();
  }
  EXPECT_EQ(trace_.events(), (Names{"yes", "no", "yes"}));
}

TEST_F(ConditionalTest, AnIfWithoutElseDoesNothing) {
  const TestKernel yes("yes", trace_.body("yes")), after("after", trace_.body("after"));
  std::vector<cudaGraph_t> bodies;
  ASSERT_EQ(add(graph_, condition(0), cudaGraphCondTypeIf, 1, &bodies), cudaSuccess);
  add_kernel(bodies[0], yes);
  const cudaGraphNode_t conditional = [&] {
    size_t one = 1;
    cudaGraphNode_t first = nullptr;
    cudaGraphGetNodes(graph_, &first, &one);
    return first;
  }();
  cudaGraphNodeType type{};
  EXPECT_EQ(cudaGraphNodeGetType(conditional, &type), cudaSuccess);
  EXPECT_EQ(type, cudaGraphNodeTypeConditional);
  add_kernel(graph_, after, conditional);
  EXPECT_EQ(run(), Names{"after"});
}

TEST_F(ConditionalTest, AWhileRunsUntilAKernelEndsIt) {
  const auto handle = condition(3);
  const TestKernel body("body", countdown(handle, "body"));
  std::vector<cudaGraph_t> bodies;
  ASSERT_EQ(add(graph_, handle, cudaGraphCondTypeWhile, 1, &bodies), cudaSuccess);
  add_kernel(bodies[0], body);
  EXPECT_EQ(run(2).size(), 6u);  // the default value comes back with each launch
}

TEST_F(ConditionalTest, WithoutADefaultTheValueStays) {
  const auto handle = condition(3, 0);
  const TestKernel body("body", countdown(handle, "body"));
  std::vector<cudaGraph_t> bodies;
  ASSERT_EQ(add(graph_, handle, cudaGraphCondTypeWhile, 1, &bodies), cudaSuccess);
  add_kernel(bodies[0], body);
  EXPECT_EQ(run(2), Names{});
  find_condition(handle)->value = 2;
  EXPECT_EQ(run(2).size(), 2u);
}

TEST_F(ConditionalTest, ASwitchTakesTheBodyOfThatNumber) {
  const TestKernel a("a", trace_.body("a")), b("b", trace_.body("b")), c("c", trace_.body("c"));
  for (const unsigned value : {2u, 0u, 3u, 1u}) {  // there is no body 3
    std::vector<cudaGraph_t> bodies;
    cudaGraphCreate(&graph_, 0);
    ASSERT_EQ(add(graph_, condition(value), cudaGraphCondTypeSwitch, 3, &bodies), cudaSuccess);
    add_kernel(bodies[0], a);
    add_kernel(bodies[1], b);
    add_kernel(bodies[2], c);
    run();
  }
  EXPECT_EQ(trace_.events(), (Names{"c", "a", "b"}));
}

TEST_F(ConditionalTest, BodiesMayHoldConditionals) {
  const auto outer = condition(2), inner = condition(0, 0);
  const TestKernel set("set", [&](const Launch&) {
    trace_.add("set");
    find_condition(inner)->value = 2;
    return Fault{};
  });
  const TestKernel in("in", countdown(inner, "in")), out("out", countdown(outer, "out"));
  std::vector<cudaGraph_t> bodies, inside;
  ASSERT_EQ(add(graph_, outer, cudaGraphCondTypeWhile, 1, &bodies), cudaSuccess);
  add_kernel(bodies[0], set);
  const cudaGraphNode_t first = node_;
  ASSERT_EQ(add(bodies[0], inner, cudaGraphCondTypeWhile, 1, &inside), cudaSuccess);
  ASSERT_EQ(cudaGraphAddDependencies(bodies[0], &first, &node_, nullptr, 1), cudaSuccess);
  add_kernel(inside[0], in);
  cudaGraphNode_t loop = nullptr;
  size_t two = 2;
  cudaGraphNode_t nodes[2];
  cudaGraphGetNodes(bodies[0], nodes, &two);
  loop = nodes[1];
  add_kernel(bodies[0], out, loop);
  EXPECT_EQ(run(), (Names{"set", "in", "in", "out", "set", "in", "in", "out"}));
}

TEST_F(ConditionalTest, ABodyIsCaptured) {
  const TestKernel a("a", trace_.body("a"));
  std::vector<cudaGraph_t> bodies;
  cudaStream_t stream = nullptr;
  cudaGraph_t same = nullptr;
  cudaStreamCreate(&stream);
  ASSERT_EQ(add(graph_, condition(1), cudaGraphCondTypeIf, 1, &bodies), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCaptureToGraph(stream, bodies[0], nullptr, nullptr, 0,
                                          cudaStreamCaptureModeGlobal),
            cudaSuccess);
  EXPECT_EQ(a.launch(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamEndCapture(stream, &same), cudaSuccess);
  EXPECT_EQ(same, bodies[0]);
  EXPECT_EQ(run(), Names{"a"});
}

TEST_F(ConditionalTest, AFaultEndsALoop) {
  const TestKernel bad("bad", [&](const Launch&) {
    trace_.add("bad");
    return Fault{FaultKind::illegal_address, {}};
  });
  std::vector<cudaGraph_t> bodies;
  ASSERT_EQ(add(graph_, condition(1), cudaGraphCondTypeWhile, 1, &bodies), cudaSuccess);
  add_kernel(bodies[0], bad);
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph_, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(trace_.events(), Names{"bad"});
}

TEST_F(ConditionalTest, RefusesWrongParameters) {
  cudaGraph_t other = nullptr;
  cudaGraphConditionalHandle handle = 0, foreign = 0;
  cudaGraphCreate(&other, 0);
  EXPECT_EQ(cudaGraphConditionalHandleCreate(nullptr, graph_, 0, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphConditionalHandleCreate(&handle, nullptr, 0, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphConditionalHandleCreate(&handle, graph_, 0, 2), cudaErrorInvalidValue);
  ASSERT_EQ(cudaGraphConditionalHandleCreate(&foreign, other, 0, 0), cudaSuccess);
  handle = condition(0);
  const struct {
    cudaGraphConditionalHandle handle;
    int type;
    unsigned size;
  } wrong[] = {{handle, cudaGraphCondTypeIf, 0},     {handle, cudaGraphCondTypeIf, 3},
               {handle, cudaGraphCondTypeWhile, 0},  {handle, cudaGraphCondTypeWhile, 2},
               {handle, cudaGraphCondTypeSwitch, 0}, {handle, 7, 1},
               {foreign, cudaGraphCondTypeIf, 1},    {0, cudaGraphCondTypeIf, 1},
               {~0ull, cudaGraphCondTypeIf, 1}};
  for (const auto& w : wrong)
    EXPECT_EQ(add(graph_, w.handle, cudaGraphConditionalNodeType(w.type), w.size),
              cudaErrorInvalidValue);
  std::vector<cudaGraph_t> bodies;
  EXPECT_EQ(add(graph_, handle, cudaGraphCondTypeIf, 1, &bodies), cudaSuccess);
  EXPECT_EQ(add(graph_, handle, cudaGraphCondTypeIf, 1), cudaErrorInvalidValue);  // it has a node
  EXPECT_EQ(cudaGraphDestroy(bodies[0]), cudaErrorInvalidValue);  // the node's, not ours
}

TEST_F(ConditionalTest, TheGraphIsOneOfAKind) {
  ASSERT_EQ(add(graph_, condition(0), cudaGraphCondTypeIf, 1), cudaSuccess);
  cudaGraph_t copy = nullptr, parent = nullptr;
  cudaGraphExec_t first = nullptr, second = nullptr;
  cudaGraphCreate(&parent, 0);
  EXPECT_EQ(cudaGraphClone(&copy, graph_), cudaErrorNotSupported);
  EXPECT_EQ(cudaGraphAddChildGraphNode(&node_, parent, nullptr, 0, graph_), cudaErrorNotSupported);
  ASSERT_EQ(cudaGraphInstantiate(&first, graph_, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphInstantiate(&second, graph_, 0), cudaErrorNotSupported);
  EXPECT_EQ(cudaGraphExecDestroy(first), cudaSuccess);
  EXPECT_EQ(cudaGraphInstantiate(&second, graph_, 0), cudaSuccess);
}

TEST_F(ConditionalTest, InstantiatingSaysWhatIsWrong) {
  cudaGraphExec_t exec = nullptr;
  cudaGraphInstantiateParams params{};
  const auto unused = condition(0);
  EXPECT_EQ(cudaGraphInstantiateWithParams(&exec, graph_, &params), cudaErrorInvalidValue);
  EXPECT_EQ(params.result_out, cudaGraphInstantiateConditionalHandleUnused);
  std::vector<cudaGraph_t> bodies;
  ASSERT_EQ(add(graph_, unused, cudaGraphCondTypeIf, 1, &bodies), cudaSuccess);
  EXPECT_EQ(cudaGraphInstantiateWithParams(&exec, graph_, &params), cudaSuccess);
  EXPECT_EQ(params.result_out, cudaGraphInstantiateSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  const cudaHostNodeParams host{[](void*) {}, nullptr};
  cudaGraphNode_t forbidden = nullptr;
  ASSERT_EQ(cudaGraphAddHostNode(&forbidden, bodies[0], nullptr, 0, &host), cudaSuccess);
  EXPECT_EQ(cudaGraphInstantiateWithParams(&exec, graph_, &params), cudaErrorNotSupported);
  EXPECT_EQ(params.result_out, cudaGraphInstantiateNodeOperationNotSupported);
  EXPECT_EQ(params.errNode_out, forbidden);
}

TEST_F(ConditionalTest, UpdatesChangeBodiesButNotTheChoice) {
  const TestKernel a("a", trace_.body("a")), b("b", trace_.body("b"));
  const auto make = [&](const TestKernel& kernel, cudaGraphConditionalNodeType type,
                        unsigned size) {
    std::vector<cudaGraph_t> bodies;
    cudaGraphCreate(&graph_, 0);
    EXPECT_EQ(add(graph_, condition(type == cudaGraphCondTypeIf), type, size, &bodies),
              cudaSuccess);
    for (const cudaGraph_t body : bodies) add_kernel(body, kernel);
    return graph_;
  };
  cudaGraphExec_t exec = nullptr;
  cudaGraphExecUpdateResultInfo result{};
  ASSERT_EQ(cudaGraphInstantiate(&exec, make(a, cudaGraphCondTypeIf, 1), 0), cudaSuccess);
  EXPECT_EQ(cudaGraphExecUpdate(exec, make(b, cudaGraphCondTypeIf, 1), &result), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(trace_.events(), Names{"b"});
  EXPECT_EQ(cudaGraphExecUpdate(exec, make(b, cudaGraphCondTypeSwitch, 1), &result),
            cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(result.result, cudaGraphExecUpdateErrorParametersChanged);
}

}  // namespace
}  // namespace ridge::vm::cudart
