#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

namespace ridge::python {
namespace {

std::atomic<bool> loaded = false, forked = false;
std::mutex loading;

std::string last_dl_error() {
  const char* const text = dlerror();
  return text ? text : "unknown error";
}

bool is_ours(void* library) { return library && dlsym(library, "ridge_vm_tell"); }

// What libcuda.so.1 stands for in this process: NVIDIA's with a GPU; the software GPU, where the
// process was started on it; or nothing.
enum class Driver { none, gpu, software };
Driver find_driver() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver) return Driver::none;
  if (is_ours(driver)) return Driver::software;
  const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  const auto count = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  int devices = 0;
  const bool any = init && count && init(0) == 0 && count(&devices) == 0 && devices > 0;
  return any ? Driver::gpu : Driver::none;
}

}  // namespace

Wishes& wishes() {
  static Wishes all;
  return all;
}

bool is_loaded() { return loaded; }

void* Library::open_here(const std::string& file, std::string& why) const {
  void* const opened = name_space_ ? dlmopen(name_space_, file.c_str(), RTLD_NOW | RTLD_LOCAL)
                                   : dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!opened) why = last_dl_error();
  return opened;
}

void* Library::open(const std::string& file) const {
  std::string why;
  void* const opened = open_here(file, why);
  if (!opened) throw Failure("MissingError", file + " cannot be loaded: " + why);
  return opened;
}

void* Library::symbol(void* library, const char* name) const { return dlsym(library, name); }

void Library::load_software_gpu() {
  const std::string file = wishes().software_gpu + "/libcudart.so.13";
  runtime_ = dlmopen(LM_ID_NEWLM, file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!runtime_)
    throw Failure(
        "MissingError",
        "there is no GPU here, and the software GPU cannot be loaded: " + last_dl_error() +
            ". `pip install .` in the sources of Ridge installs it; "
            "`./ridge build cudart libridge families` builds it in place");
  Lmid_t made = 0;
  dlinfo(runtime_, RTLD_DI_LMID, &made);
  name_space_ = made;
  // Its C library has a copy of the environment of when the process began; it gets today's.
  if (auto* const theirs = static_cast<char***>(dlsym(runtime_, "environ"))) *theirs = environ;
  ctype_init_ = reinterpret_cast<void (*)()>(dlsym(runtime_, "__ctype_init"));
  fflush_ = reinterpret_cast<int (*)(void*)>(dlsym(runtime_, "fflush"));
}

void Library::load_runtime() {
  const std::string& device = wishes().device;
  const Driver driver = find_driver();
  if (device == "gpu" && driver != Driver::gpu)
    throw Failure("MissingError",
                  "there is no GPU here: libcuda.so.1 is missing or knows none. "
                  "ridge.use(\"vm\") takes the software GPU");
  if (driver == Driver::software) {
    // `ridge run` has started this process: it uses the one software GPU that there is, unless
    // PyTorch has brought another library of the runtime's name.
    std::string none;
    runtime_ = open_here("libcudart.so.13", none);
    if (is_ours(runtime_)) return;
    runtime_ = nullptr;
  }
  if (device == "vm" || driver != Driver::gpu) return load_software_gpu();
  std::string why, first;
  runtime_ = open_here("libcudart.so.13", first);
  for (const std::string& folder : wishes().runtimes)
    if (!runtime_) runtime_ = open_here(folder + "/libcudart.so.13", why);
  if (!runtime_)
    throw Failure("MissingError", "the CUDA runtime cannot be loaded: " + first +
                                      ". `pip install nvidia-cuda-runtime` installs it");
}

void Library::load_ridge() {
  std::string why;
  void* const ridge = open_here(wishes().libridge, why);
  if (!ridge)
    throw Failure("MissingError", "Ridge's library cannot be loaded: " + why +
                                      ". `pip install .` in the sources of Ridge installs it; "
                                      "`./ridge build libridge families` builds it in place");
  const auto get = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(ridge, name));
    if (!function)
      throw Failure("MissingError", wishes().libridge + " has no " + name +
                                        ": it belongs to another version of this package");
  };
  get(error, "ridge_error");
  get(operator_count, "ridge_operator_count");
  get(operator_name, "ridge_operator_name");
  get(operator_json, "ridge_operator_json");
  get(outputs, "ridge_outputs");
  get(run, "ridge_run");
}

void Library::load() {
  load_runtime();
  const auto get = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(runtime_, name));
    return function != nullptr;
  };
  bool all = get(cudaMalloc, "cudaMalloc");
#define X(name) all = get(name, #name) && all;
  RIDGE_RUNTIME_FUNCTIONS(X)
#undef X
  if (!all)
    throw Failure("MissingError", "the CUDA runtime lacks functions: it is older than CUDA 13");
  get(cudaLogsCurrent, "cudaLogsCurrent");
  get(cudaLogsDumpToMemory, "cudaLogsDumpToMemory");
  software = dlsym(runtime_, "ridge_vm_tell") != nullptr;
  enter_thread();
  int devices = 0;
  if (const cudaError_t e = cudaGetDeviceCount(&devices); e || devices == 0)
    throw Failure("MissingError", std::string("the CUDA runtime finds no device: ") +
                                      cudaGetErrorString(e ? e : cudaErrorNoDevice));
  // The name stands at the beginning of cudaDeviceProp, whatever the version.
  const auto properties =
      reinterpret_cast<cudaError_t (*)(void*, int)>(dlsym(runtime_, "cudaGetDeviceProperties"));
  std::vector<char> room(1 << 16);
  int current = 0;
  if (properties && !cudaGetDevice(&current) && !properties(room.data(), current))
    device = room.data();
  load_ridge();
}

void Library::enter_thread() const {
  static thread_local bool entered = false;
  if (entered) return;
  if (ctype_init_) ctype_init_();
  entered = true;
}

void Library::flush() const {
  if (fflush_) fflush_(nullptr);
}

const Library& library() {
  static Library made;
  if (forked)
    throw Failure(
        "ForkError",
        "this process was forked from one that had used the device already, which no CUDA "
        "device survives. Start workers with multiprocessing's \"spawn\" or \"forkserver\" "
        "method, or fork before the first operator is called");
  if (!loaded) {
    const std::lock_guard lock(loading);
    if (!loaded) {
      Library now;
      now.load();
      made = now;
      pthread_atfork(nullptr, nullptr, [] { forked = true; });
      loaded = true;
    }
  }
  made.enter_thread();
  return made;
}

}  // namespace ridge::python
