// cudaLibrary_t: modules a program loads itself, from PTX text or a fat binary.
#include <algorithm>
#include <new>

#include "vm/cudart/modules.h"
#include "vm/cudart/runtime.h"

namespace ridge::vm::cudart {

// Unlike a registered fat binary a library is loaded at once: its caller is there to receive the
// error, and may free the code when this returns.
cudaError_t Modules::load_library(const void* code, bool optimise, LoadedImage** library,
                                  std::string* log) {
  const std::lock_guard lock(mutex_);
  LoadedImage* image = add_fat_binary(code);
  image->library = true;
  image->optimise = optimise;
  image->log = log;
  try {
    if (const cudaError_t error = load(image)) {
      remove(image);
      return error;
    }
  } catch (const std::bad_alloc&) {
    remove(image);
    throw;
  }
  image->source = nullptr;
  image->log = nullptr;
  *library = image;
  return cudaSuccess;
}

bool Modules::is_library(const LoadedImage* image) {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(images_,
                             [&](const auto& p) { return p.get() == image && p->library; });
}

cudaError_t Modules::unload_library(LoadedImage* library) {
  const std::lock_guard lock(mutex_);
  if (!is_library(library)) return cudaErrorInvalidResourceHandle;
  remove(library);
  return cudaSuccess;
}

KernelHandle* Modules::library_function(LoadedImage* library, Kernel* kernel) {
  for (const auto& function : library->functions)
    if (function->kernel == kernel) return function.get();
  auto function = std::make_unique<KernelHandle>();
  function->image = library;
  function->name = runtime().engine.info(kernel).name;
  function->kernel = kernel;
  library->functions.reserve(library->functions.size() + 1);
  functions_.emplace(function.get(), function.get());
  return library->functions.emplace_back(std::move(function)).get();
}

cudaError_t Modules::library_kernel(LoadedImage* library, std::string_view name,
                                    KernelHandle** function) {
  const std::lock_guard lock(mutex_);
  if (!is_library(library)) return cudaErrorInvalidResourceHandle;
  Kernel* kernel = runtime().engine.find_kernel(library->program, name);
  if (!kernel) return cudaErrorSymbolNotFound;
  *function = library_function(library, kernel);
  return cudaSuccess;
}

cudaError_t Modules::library_kernels(LoadedImage* library, std::vector<KernelHandle*>* functions) {
  const std::lock_guard lock(mutex_);
  if (!is_library(library)) return cudaErrorInvalidResourceHandle;
  for (Kernel* kernel : runtime().engine.kernels(library->program))
    functions->push_back(library_function(library, kernel));
  return cudaSuccess;
}

cudaError_t Modules::library_variable(LoadedImage* library, std::string_view name,
                                      Engine::Symbol* symbol) {
  const std::lock_guard lock(mutex_);
  if (!is_library(library)) return cudaErrorInvalidResourceHandle;
  *symbol = runtime().engine.find_variable(library->program, name);
  return symbol->address ? cudaSuccess : cudaErrorSymbolNotFound;
}

}  // namespace ridge::vm::cudart
