#include "run.h"

#include <cuda_runtime_api.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "pools.h"

namespace ridge::differential {
namespace {

int optimisation_level = -1;

// What the launches of a process share.
struct Memory {
  void* input = nullptr;
  void* buffer = nullptr;
  size_t size = 0;
};

cudaError_t prepare(Memory& memory, size_t size) {
  if (!memory.input) {
    const std::vector<uint8_t> bytes = input_bytes();
    if (const cudaError_t e = cudaMalloc(&memory.input, bytes.size())) return e;
    if (const cudaError_t e =
            cudaMemcpy(memory.input, bytes.data(), bytes.size(), cudaMemcpyHostToDevice))
      return e;
  }
  if (size <= memory.size) return cudaSuccess;
  cudaFree(memory.buffer);
  memory.size = 0;
  if (const cudaError_t e = cudaMalloc(&memory.buffer, size)) return e;
  memory.size = size;
  return cudaSuccess;
}

cudaError_t launch(const Job& job, cudaLibrary_t library, std::vector<uint8_t>& bytes) {
  static Memory memory;
  if (const cudaError_t e = prepare(memory, bytes.size())) return e;
  const auto* accumulators = static_cast<const uint8_t*>(memory.input) + kRegions * kRegionBytes;
  if (const cudaError_t e = cudaMemset(memory.buffer, 0x5a, bytes.size())) return e;
  if (const cudaError_t e =
          cudaMemcpy(memory.buffer, accumulators, kAccumulatorBytes, cudaMemcpyDeviceToDevice))
    return e;
  cudaKernel_t kernel;
  if (const cudaError_t e = cudaLibraryGetKernel(&kernel, library, job.kernel.c_str())) return e;
  void* arguments[] = {&memory.buffer, &memory.input};
  if (const cudaError_t e =
          cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(job.blocks, 1, 1),
                           dim3(job.threads, 1, 1), arguments, 0, nullptr))
    return e;
  return cudaMemcpy(bytes.data(), memory.buffer, bytes.size(), cudaMemcpyDeviceToHost);
}

// What the processes of one run share. A worker takes seeds one by one and says which it has.
struct Board {
  std::atomic<size_t> next;
  struct Worker {
    std::atomic<size_t> at;     // index of the program in hand
    std::atomic<time_t> since;  // when it was begun
  } workers[256];
};
constexpr time_t kHungAfter = 60;  // seconds

[[noreturn]] void work(Board& board, unsigned me, Outcome* outcomes, uint64_t first, size_t count) {
  for (size_t i; (i = board.next++) < count;) {
    board.workers[me].since = std::time(nullptr);
    board.workers[me].at = i;
    int error;
    const std::vector<uint8_t> bytes = run(job(generate(first + i), {}), error);
    outcomes[i] = error ? Outcome{Outcome::Kind::failed, 0, error}
                        : Outcome{Outcome::Kind::ok, hash(bytes), 0};
    if (error) _exit(1);  // the context may be of no use any more: the next process has a new one
  }
  _exit(0);
}

template <class T>
T* shared_memory(size_t count) {
  void* at =
      mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<T*>(at);
}

}  // namespace

Job job(const Program& program, const Mask& mask) {
  return {module_header() + text(program, mask), program.name(), program.blocks, program.threads};
}

void compile_at(int level) { optimisation_level = level; }

std::vector<uint8_t> run(const Job& job, int& error) {
  std::vector<uint8_t> bytes(buffer_bytes(job.blocks, job.threads));
  cudaLibrary_t library;
  cudaJitOption option = cudaJitOptimizationLevel;
  void* level = reinterpret_cast<void*>(intptr_t(optimisation_level));
  cudaError_t result = cudaLibraryLoadData(&library, job.ptx.c_str(), &option, &level,
                                           optimisation_level >= 0 ? 1 : 0, nullptr, nullptr, 0);
  if (result == cudaSuccess) {
    result = launch(job, library, bytes);
    cudaLibraryUnload(library);
  }
  error = int(result);
  cudaGetLastError();
  if (error) bytes.clear();
  return bytes;
}

uint32_t hash(const std::vector<uint8_t>& bytes) {
  uint64_t h = 0x9e3779b97f4a7c15;
  size_t i = 0;
  const auto mix = [&](uint64_t word) {
    h = (h ^ word) * 0xff51afd7ed558ccd;
    h ^= h >> 32;
  };
  for (; i + 8 <= bytes.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + i, 8);
    mix(word);
  }
  for (; i < bytes.size(); ++i) mix(bytes[i]);
  return uint32_t(h >> 32) ^ uint32_t(h);
}

std::vector<Outcome> run_all(uint64_t first, size_t count, unsigned jobs) {
  auto* outcomes = shared_memory<Outcome>(count);
  auto* board = shared_memory<Board>(1);
  if (!outcomes || !board) return {};
  jobs = std::min(jobs, 256u);
  std::vector<pid_t> processes(jobs, 0);
  while (true) {
    bool busy = false;
    for (unsigned k = 0; k < jobs; ++k) {
      auto& worker = board->workers[k];
      if (processes[k]) {
        if (std::time(nullptr) - worker.since > kHungAfter) {
          kill(processes[k], SIGKILL);
          if (worker.at < count && outcomes[worker.at].kind == Outcome::Kind::not_run)
            outcomes[worker.at].kind = Outcome::Kind::hung;
        }
        int status;
        if (waitpid(processes[k], &status, WNOHANG) == processes[k]) {
          // A crash leaves no outcome behind.
          if (WIFSIGNALED(status) && outcomes[worker.at].kind == Outcome::Kind::not_run)
            outcomes[worker.at] = {Outcome::Kind::failed, 0, -WTERMSIG(status)};
          processes[k] = 0;
        }
      }
      if (!processes[k] && board->next < count) {
        worker.since = std::time(nullptr);
        worker.at = 0;
        processes[k] = fork();
        if (processes[k] == 0) work(*board, k, outcomes, first, count);
        if (processes[k] < 0) processes[k] = 0;
      }
      busy |= processes[k] != 0;
    }
    if (!busy && board->next >= count) break;
    usleep(10000);
  }
  std::vector<Outcome> result(outcomes, outcomes + count);
  munmap(outcomes, count * sizeof(Outcome));
  munmap(board, sizeof(Board));
  return result;
}

std::string device_name() {
  // Asked in a process of its own: those that run programs are forked before the runtime starts.
  int channel[2];
  if (pipe(channel)) return "?";
  const pid_t child = fork();
  if (child == 0) {
    cudaDeviceProp properties;
    int driver = 0;
    std::string name = "no device";
    if (cudaGetDeviceProperties(&properties, 0) == cudaSuccess) {
      cudaDriverGetVersion(&driver);
      name = std::string(properties.name) + ", driver " + std::to_string(driver);
    }
    [[maybe_unused]] const ssize_t written = write(channel[1], name.data(), name.size());
    _exit(0);
  }
  close(channel[1]);
  char name[256] = "";
  const ssize_t got = read(channel[0], name, sizeof name - 1);
  close(channel[0]);
  waitpid(child, nullptr, 0);
  return got > 0 ? std::string(name, size_t(got)) : "?";
}

}  // namespace ridge::differential
