#include "vm/cudart/modules.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/closed_libraries.h"
#include "vm/cudart/failed_call.h"
#include "vm/cudart/fatbin.h"
#include "vm/cudart/origin.h"
#include "vm/cudart/ptx_link.h"
#include "vm/cudart/runtime.h"
#include "vm/decode/code.h"

namespace ridge::vm::cudart {
namespace {

constexpr size_t kMaxText = size_t(1) << 31;

struct Text {
  std::string ptx, name;
  std::string machine_code = {};  // made from it, where an observer wants to look into that
};

std::string machine_code_in(std::span<const FatImage> images) {
  const char* const wanted = std::getenv("RIDGE_PROFILE_NVDISASM");
  if (!wanted || !*wanted) return {};
  const GpuSpec& gpu = runtime().gpu();
  const FatImage* const chosen = choose_machine_code(images, gpu.major, gpu.minor);
  if (!chosen) return {};
  auto plain = unpack(*chosen);
  return plain ? std::move(*plain) : std::string();
}

Error no_ptx(const void* holder, const Error& why) {
  const std::string file = library_at(holder);
  if (const ClosedLibrary* library = find_closed_library(file))
    return {why.code, describe(*library, file) +
                          " holds machine code, which only a GPU can run.\n  " +
                          std::string(kOpenInstead)};
  return {why.code, owner_at(holder) + " " + why.message};
}

Expected<Text> text_of_container(std::span<const uint8_t> container) {
  const auto images = read_container(container);
  if (!images) return images.error();
  const GpuSpec& gpu = runtime().gpu();
  const auto chosen = choose_ptx(*images, gpu.major, gpu.minor);
  if (!chosen) return no_ptx(container.data(), chosen.error());
  auto ptx = unpack(**chosen);
  if (!ptx) return ptx.error();
  ptx->resize(std::strlen(ptx->c_str()));  // padding
  return Text{std::move(*ptx), (*chosen)->label(), machine_code_in(*images)};
}

// The units of a program built with -rdc=true, linked. A unit without PTX for this device is left
// out: what it defines may not be needed (the device runtime library comes with every such
// program), and if it is, loading says so.
Expected<Text> text_of_units(const Wrapper& wrapper) {
  std::vector<std::string> units;
  Error first{0, {}};
  for (const auto& unit : wrapper.units) {
    auto text = text_of_container(unit);
    if (text) units.push_back(std::move(text->ptx));
    else if (text.error().code != cudaErrorNoKernelImageForDevice) return text.error();
    else if (!first.code) first = text.error();
  }
  if (units.empty()) return first;
  return Text{link_ptx(units), "linked PTX"};
}

// PTX text out of whatever a program hands over.
Expected<Text> text_of(const void* source) {
  uint32_t magic = 0;
  if (!source || readable_bytes(source, sizeof magic) < sizeof magic)
    return Error{cudaErrorInvalidKernelImage, "the module's address cannot be read"};
  std::memcpy(&magic, source, sizeof magic);
  if (magic == kWrapperMagic) {
    const auto wrapper = read_wrapper(source);
    if (!wrapper) return wrapper.error();
    return wrapper->units.empty() ? text_of_container(wrapper->linked) : text_of_units(*wrapper);
  }
  if (magic == kContainerMagic) {
    const auto container = container_at(source);
    if (!container) return container.error();
    return text_of_container(*container);
  }
  constexpr uint32_t kElfMagic = 0x464c457f;
  if (magic == kElfMagic)
    return Error{
        cudaErrorNoKernelImageForDevice,
        "the module is machine code (a cubin), which the software GPU cannot run; give it PTX "
        "(docs/driver.md says how, for NVRTC and Triton)"};
  const char* text = static_cast<const char*>(source);
  const size_t limit = readable_bytes(source, kMaxText);
  const size_t size = strnlen(text, limit);
  if (size == limit)
    return Error{cudaErrorInvalidKernelImage, "the module is neither PTX text nor a fat binary"};
  const GpuSpec& gpu = runtime().gpu();
  if (const Status fits = check_target({text, size}, gpu.major, gpu.minor); !fits)
    return fits.error();
  return Text{std::string(text, size), "module.ptx"};
}

// Why a module cannot be loaded: into the log that the program gave, and told with the call.
cudaError_t refuse_module(LoadedImage& image, const Error& error, cudaError_t otherwise) {
  if (image.log) *image.log += error.message + "\n";
  image.why = error.message;
  return error.code > 1 ? cudaError_t(error.code) : otherwise;
}

}  // namespace

LoadedImage* Modules::add_fat_binary(const void* wrapper) {
  const std::lock_guard lock(mutex_);
  auto& image = images_.emplace_back(std::make_unique<LoadedImage>());
  image->source = wrapper;
  return image.get();
}

void Modules::remove(LoadedImage* image) {
  const std::lock_guard lock(mutex_);
  const auto place = std::ranges::find(images_, image, [](const auto& p) { return p.get(); });
  if (place == images_.end()) return;
  std::erase_if(functions_, [&](const auto& entry) { return entry.second->image == image; });
  std::erase_if(variables_, [&](const auto& entry) { return entry.second->image == image; });
  // Work in flight keeps its code: a program that ends does not wait for its kernels, and
  // unregisters before they do.
  if (image->program && runtime().scheduler.all_idle()) runtime().engine.unload(image->program);
  images_.erase(place);
}

// A template instantiated in two units registers one host stub twice; the first registration serves
// both.
void Modules::add_function(LoadedImage* image, const void* host, std::string name) {
  const std::lock_guard lock(mutex_);
  auto& function = image->functions.emplace_back(std::make_unique<KernelHandle>());
  function->image = image;
  function->name = std::move(name);
  functions_.try_emplace(host, function.get());
  functions_.try_emplace(function.get(), function.get());
}

void Modules::add_variable(LoadedImage* image, const void* host, DeviceVariable variable) {
  const std::lock_guard lock(mutex_);
  variable.image = image;
  auto& entry =
      image->variables.emplace_back(std::make_unique<DeviceVariable>(std::move(variable)));
  variables_.try_emplace(host, entry.get());
}

cudaError_t Modules::load(LoadedImage* image) {
  const std::lock_guard lock(mutex_);
  if (image->tried)
    return image->error ? fail(image->error, {.asked = {}, .why = image->why, .fix = {}})
                        : cudaSuccess;
  const cudaError_t error = load_now(image);  // throws when the host has no memory for it
  image->tried = error != cudaErrorMemoryAllocation;
  image->error = error;
  return error ? fail(error, {.asked = {}, .why = image->why, .fix = {}}) : cudaSuccess;
}

cudaError_t Modules::load_now(LoadedImage* image) {
  Expected<Text> text = text_of(image->source);
  if (!text) return refuse_module(*image, text.error(), cudaErrorInvalidPtx);
  const cudaError_t error = load_text(image, std::move(text->ptx), text->name);
  if (!error) runtime().engine.bring(image->program, std::move(text->machine_code));
  return error;
}

cudaError_t Modules::load_text(LoadedImage* image, std::string ptx, const std::string& name) {
  Engine& engine = runtime().engine;
  const auto program = engine.load(std::move(ptx), name, image->optimise);
  if (!program) return refuse_module(*image, program.error(), cudaErrorInvalidPtx);
  image->program = *program;
  for (const auto& variable : image->variables)
    if (variable->managed_pointer)
      *variable->managed_pointer =
          reinterpret_cast<void*>(engine.find_variable(*program, variable->name).address);
  return cudaSuccess;
}

KernelHandle* Modules::find_function(const void* host_or_handle) {
  const std::lock_guard lock(mutex_);
  const auto found = functions_.find(host_or_handle);
  return found == functions_.end() ? nullptr : found->second;
}

cudaError_t Modules::resolve(KernelHandle* function, Kernel** kernel) {
  const std::lock_guard lock(mutex_);
  if (!function->kernel) {
    if (const cudaError_t error = load(function->image)) return error;
    function->kernel = runtime().engine.find_kernel(function->image->program, function->name);
    if (!function->kernel)
      return fail(cudaErrorInvalidDeviceFunction,
                  {.asked = {},
                   .why = "there is no kernel " + function->name + " in the program's PTX",
                   .fix = {}});
  }
  *kernel = function->kernel;
  return cudaSuccess;
}

// A __managed__ variable is named by the address it has, which its pointer holds; others by their
// host shadow.
const DeviceVariable* Modules::find_variable(const void* host) const {
  const auto found = variables_.find(host);
  if (found != variables_.end()) return found->second;
  for (const auto& [key, variable] : variables_)
    if (host && variable->managed_pointer && *variable->managed_pointer == host) return variable;
  return nullptr;
}

cudaError_t Modules::find_symbol(const void* host, Engine::Symbol* symbol) {
  const std::lock_guard lock(mutex_);
  const DeviceVariable* variable = find_variable(host);
  if (!variable) return cudaErrorInvalidSymbol;
  if (const cudaError_t error = load(variable->image)) return error;
  *symbol = runtime().engine.find_variable(variable->image->program, variable->name);
  return symbol->address ? cudaSuccess : cudaErrorInvalidSymbol;
}

void Modules::reset() {
  const std::lock_guard lock(mutex_);
  std::vector<LoadedImage*> libraries;
  for (const auto& image : images_)
    if (image->library) libraries.push_back(image.get());
  for (LoadedImage* library : libraries) remove(library);
  for (const auto& image : images_) {
    if (image->program) runtime().engine.unload(image->program);
    image->program = nullptr;
    image->tried = false;
    image->error = cudaSuccess;
    for (const auto& function : image->functions) function->kernel = nullptr;
  }
}

}  // namespace ridge::vm::cudart
