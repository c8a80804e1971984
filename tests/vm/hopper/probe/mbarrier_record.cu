// The 64 bits of an mbarrier after each of a list of operations by one thread, the states that
// arrivals return and what tests answer. Each list runs in a process of its own, since some stop
// the GPU.
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <vector>

enum Op : uint32_t {
  init,
  arrive,
  arrive_count,
  arrive_expect,
  expect,
  complete,
  drop,
  drop_count,
  drop_expect,
  no_complete,
  test_parity,
  test_token,
  pending,
  inval,
  raw_low,
  raw_high,
  try_wait_limit,
};
static const char* const kNames[] = {
    "init",
    "arrive",
    "arrive.count",
    "arrive.expect_tx",
    "expect_tx",
    "complete_tx",
    "drop",
    "drop.count",
    "drop.expect_tx",
    "arrive.noComplete",
    "test_wait.parity",
    "test_wait",
    "pending_count",
    "inval",
    "store.low",
    "store.high",
    "try_wait.limit",
};
struct Step {
  uint32_t op, value;
};
struct Seen {
  uint64_t word, token;
  uint32_t answer, time;
};

__global__ void play(const Step* steps, int n, Seen* seen, bool shows) {
  __shared__ __align__(8) uint64_t barrier;
  const auto at = uint32_t(__cvta_generic_to_shared(&barrier));
  uint64_t token = 0;
  for (int i = 0; i < n; ++i) {
    const uint32_t v = steps[i].value;
    uint32_t answer = ~0u;
    const int64_t begin = clock64();
    switch (steps[i].op) {
      case init:
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(v) : "memory");
        break;
      case arrive:
        asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(at) : "memory");
        break;
      case arrive_count:
        asm volatile("mbarrier.arrive.shared.b64 %0, [%1], %2;"
                     : "=l"(token)
                     : "r"(at), "r"(v)
                     : "memory");
        break;
      case arrive_expect:
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], %2;"
                     : "=l"(token)
                     : "r"(at), "r"(v)
                     : "memory");
        break;
      case expect:
        asm volatile("mbarrier.expect_tx.relaxed.cta.shared.b64 [%0], %1;" ::"r"(at), "r"(v)
                     : "memory");
        break;
      case complete:
        asm volatile("mbarrier.complete_tx.relaxed.cta.shared.b64 [%0], %1;" ::"r"(at), "r"(v)
                     : "memory");
        break;
      case drop:
        asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];"
                     : "=l"(token)
                     : "r"(at)
                     : "memory");
        break;
      case drop_count:
        asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1], %2;"
                     : "=l"(token)
                     : "r"(at), "r"(v)
                     : "memory");
        break;
      case drop_expect:
        asm volatile("mbarrier.arrive_drop.expect_tx.shared.b64 %0, [%1], %2;"
                     : "=l"(token)
                     : "r"(at), "r"(v)
                     : "memory");
        break;
      case no_complete:
        asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], %2;"
                     : "=l"(token)
                     : "r"(at), "r"(v)
                     : "memory");
        break;
      case test_parity:
        asm volatile(
            "{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, "
            "p;}"
            : "=r"(answer)
            : "r"(at), "r"(v)
            : "memory");
        break;
      case test_token:
        asm volatile(
            "{.reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
            : "=r"(answer)
            : "r"(at), "l"(token)
            : "memory");
        break;
      case pending:
        asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(answer) : "l"(token));
        break;
      case inval: asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at) : "memory"); break;
      case raw_low: ((volatile uint32_t*)&barrier)[0] = v; break;
      case raw_high: ((volatile uint32_t*)&barrier)[1] = v; break;
      case try_wait_limit:
        asm volatile(
            "{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0, %2; selp.u32 %0, 1, 0, "
            "p;}"
            : "=r"(answer)
            : "r"(at), "r"(v)
            : "memory");
        break;
    }
    const int64_t time = clock64() - begin;
    // Ordinary loads see a barrier only after mbarrier.inval has written it to memory, where the
    // next operation on it finds it again.
    if (shows) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at) : "memory");
    seen[i] = {*(volatile uint64_t*)&barrier, token, answer, uint32_t(time)};
  }
}

static void run(std::FILE* out, const std::vector<Step>& steps, bool shows) {
  Step* in;
  Seen* seen;
  cudaMalloc(&in, steps.size() * sizeof(Step));
  cudaMallocHost(&seen, steps.size() * sizeof(Seen));
  cudaMemcpy(in, steps.data(), steps.size() * sizeof(Step), cudaMemcpyHostToDevice);
  for (size_t i = 0; i < steps.size(); ++i) seen[i] = {~0ull, 0, 0, 0};
  play<<<1, 1>>>(in, int(steps.size()), seen, shows);
  const cudaError_t error = cudaDeviceSynchronize();
  std::fprintf(out, "list %s%s\n", cudaGetErrorName(error),
               shows ? ", with inval before each look" : "");
  for (size_t i = 0; i < steps.size(); ++i)
    std::fprintf(out, "  %-18s %-10u word=%016llx token=%016llx answer=%d cycles=%u\n",
                 kNames[steps[i].op], steps[i].value, (unsigned long long)seen[i].word,
                 (unsigned long long)seen[i].token, int(seen[i].answer), seen[i].time);
  std::fflush(out);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  constexpr uint32_t kMost = (1 << 20) - 1;
  const std::vector<std::vector<Step>> lists = {
      {{init, 1},
       {test_parity, 0},
       {test_parity, 1},
       {arrive, 0},
       {test_token, 0},
       {pending, 0},
       {test_parity, 0},
       {test_parity, 1},
       {arrive, 0},
       {test_parity, 0},
       {test_parity, 1},
       {inval, 0}},
      {{init, 5},
       {arrive, 0},
       {pending, 0},
       {test_token, 0},
       {arrive_count, 2},
       {pending, 0},
       {no_complete, 1},
       {pending, 0},
       {arrive, 0},
       {test_token, 0},
       {arrive_count, 4},
       {arrive, 0}},
      {{init, 2},
       {arrive_expect, 100},
       {expect, 28},
       {complete, 64},
       {arrive, 0},
       {pending, 0},
       {complete, 63},
       {test_parity, 0},
       {complete, 1},
       {test_parity, 0},
       {test_parity, 1}},
      {{init, 3},
       {drop, 0},
       {arrive_count, 2},
       {arrive, 0},
       {drop_count, 1},
       {arrive, 0},
       {drop, 0},
       {test_parity, 1},
       {test_parity, 0}},
      {{init, 2}, {drop_expect, 16}, {arrive, 0}, {complete, 16}, {arrive, 0}},
      {{init, kMost}, {arrive, 0}, {arrive_count, kMost - 1}, {expect, kMost}, {complete, kMost}},
      {{init, 1}, {complete, 16}, {expect, 16}, {arrive, 0}},  // completed first
      {{init, 1}, {complete, 16}, {arrive_expect, 16}, {test_parity, 0}},
      {{init, 1}, {complete, 16}, {arrive, 0}, {expect, 16}, {test_parity, 0}},
      {{init, 1}, {expect, 0}, {arrive_expect, 0}, {test_parity, 0}},
      {{init, 2}, {expect, kMost}, {expect, 1}, {complete, 1}, {arrive, 0}},  // too much
      {{init, 2}, {expect, 1 << 20}, {arrive, 0}},
      {{init, 2}, {expect, kMost}, {expect, kMost}, {arrive, 0}},
      {{init, 2}, {complete, kMost}, {complete, kMost}, {expect, 2}, {arrive, 0}},
      {{init, 2}, {arrive_count, 3}, {arrive, 0}, {test_parity, 0}},  // too many arrivals
      {{init, 2}, {arrive_count, 0}, {arrive, 0}},
      {{init, 1 << 20}, {arrive, 0}},
      {{init, 0}, {arrive, 0}},
      {{init, 2}, {no_complete, 2}, {arrive, 0}},
      {{raw_low, 0},
       {raw_high, 0},
       {test_parity, 0},
       {test_parity, 1},
       {arrive, 0},
       {expect, 16},
       {complete, 16}},
      {{raw_low, ~0u}, {raw_high, ~0u}, {test_parity, 0}, {test_parity, 1}, {arrive, 0}},
      {{raw_low, 0xa5a5a5a5}, {raw_high, 0xa5a5a5a5}, {init, 1}, {arrive, 0}},
      {{init, 1}, {inval, 0}, {arrive, 0}},
      {{init, 1}, {init, 2}, {arrive, 0}},
      {{init, 1},
       {try_wait_limit, 0},
       {try_wait_limit, 1000},
       {try_wait_limit, 100000},
       {try_wait_limit, 1000000},
       {try_wait_limit, 20000000},
       {arrive, 0},
       {try_wait_limit, 1000000}},
  };
  for (bool shows : {false, true})
    for (const auto& list : lists) {
      if (!shows && &list - lists.data() > 2) continue;
      const pid_t child = fork();
      if (child == 0) {
        std::FILE* out = std::fopen(argv[1], "a");
        alarm(5);
        run(out, list, shows);
        std::fclose(out);
        _exit(0);
      }
      waitpid(child, nullptr, 0);
    }
}
