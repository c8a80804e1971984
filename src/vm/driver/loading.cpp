#include "vm/driver/loading.h"

#include <cstdio>
#include <memory>

#include "vm/cudart/memory.h"
#include "vm/cudart/runtime.h"

namespace ridge::vm::driver {
namespace {

using cudart::registrations;
using cudart::runtime;

// What ptxas -v would say.
std::string usage_of(cudart::LoadedImage* image) {
  std::string text;
  for (Kernel* kernel : runtime().engine.kernels(image->program)) {
    text += "kernel " + runtime().engine.info(kernel).name + ": ";
    const auto usage = runtime().engine.usage(kernel);
    text += usage ? "about " + std::to_string(usage->registers) + " registers, " +
                        std::to_string(usage->static_shared) + " bytes of shared memory, " +
                        std::to_string(usage->local_bytes) + " bytes of local memory\n"
                  : usage.error().message + "\n";
  }
  return text;
}

}  // namespace

cudaError_t load_image(const void* code, JitOptions& options, cudart::LoadedImage** image) {
  if (!code) return cudaErrorInvalidValue;
  std::string errors;
  const cudaError_t error = registrations().load_library(
      code, options.optimises(), image, options.wants_errors() ? &errors : nullptr);
  options.finish(errors, !error && options.verbose() ? usage_of(*image) : "");
  return error;
}

cudaError_t read_file(const char* path, std::string* bytes) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(path ? std::fopen(path, "rbe") : nullptr,
                                                   [](FILE* f) { return f ? std::fclose(f) : 0; });
  if (!file) return path ? cudaErrorFileNotFound : cudaErrorInvalidValue;
  char buffer[1 << 16];
  while (const size_t got = std::fread(buffer, 1, sizeof buffer, file.get()))
    bytes->append(buffer, got);
  return cudaSuccess;
}

cudaError_t load_image_file(const char* path, JitOptions& options, cudart::LoadedImage** image) {
  std::string bytes;
  if (const cudaError_t error = read_file(path, &bytes)) return error;
  return load_image(bytes.c_str(), options, image);
}

cudaError_t unload_image(cudart::LoadedImage* image) {
  if (!registrations().is_library(image)) return kInvalidHandle;
  runtime().scheduler.wait_all();
  return registrations().unload_library(image);
}

template <class Handle>
cudaError_t list_kernels(cudart::LoadedImage* image, Handle* out, unsigned count) {
  std::vector<cudart::KernelHandle*> functions;
  if (!out || !count) return cudaErrorInvalidValue;
  if (const cudaError_t error = registrations().library_kernels(image, &functions)) return error;
  for (unsigned i = 0; i < count && i < functions.size(); ++i)
    out[i] = reinterpret_cast<Handle>(functions[i]);
  return cudaSuccess;
}
template cudaError_t list_kernels(cudart::LoadedImage*, CUfunction*, unsigned);
template cudaError_t list_kernels(cudart::LoadedImage*, CUkernel*, unsigned);

cudaError_t count_kernels(cudart::LoadedImage* image, unsigned* count) {
  std::vector<cudart::KernelHandle*> functions;
  if (!count) return cudaErrorInvalidValue;
  if (const cudaError_t error = registrations().library_kernels(image, &functions)) return error;
  *count = unsigned(functions.size());
  return cudaSuccess;
}

cudaError_t find_kernel(cudart::LoadedImage* image, const char* name,
                        cudart::KernelHandle** function) {
  return name ? registrations().library_kernel(image, name, function) : cudaErrorInvalidValue;
}

cudaError_t find_variable(cudart::LoadedImage* image, const char* name, bool managed,
                          CUdeviceptr* address, size_t* bytes) {
  if (!name || (!address && !bytes)) return cudaErrorInvalidValue;
  Engine::Symbol symbol;
  if (const cudaError_t error = registrations().library_variable(image, name, &symbol))
    return error;
  const auto found = runtime().engine.memory().find(symbol.address);
  if (managed && (!found || !cudart::is_managed(*found))) return kNotFound;
  if (address) *address = symbol.address;
  if (bytes) *bytes = symbol.size;
  return cudaSuccess;
}

}  // namespace ridge::vm::driver
