// The linker: PTX in, linked PTX out. What cuLinkComplete hands over is a fat binary's worth of
// text that cuModuleLoadData takes; there is no machine code.
#include <cstring>
#include <string>
#include <vector>

#include "vm/cudart/code_file.h"
#include "vm/cudart/fatbin.h"
#include "vm/cudart/handles.h"
#include "vm/cudart/ptx_link.h"
#include "vm/cudart/runtime.h"
#include "vm/driver/loading.h"

using namespace ridge::vm::driver;
using namespace ridge::vm::cudart;

namespace {

struct LinkState {
  JitOptions options;
  std::vector<std::string> units;
  std::string errors;
  std::string linked;  // what cuLinkComplete handed out lives here
};
using LinkRef = std::shared_ptr<LinkState>;

Handles<LinkState>& states() {
  static auto& all = *new Handles<LinkState>;
  return all;
}

template <class Body>
CUresult with_state(CUlinkState handle, Body&& body) {
  return context_call([&] {
    const LinkRef state = states().find(handle);
    return state ? body(*state) : kInvalidHandle;
  });
}

cudaError_t fail(LinkState& state, const std::string& why, cudaError_t error) {
  state.errors += why + "\n";
  state.options.finish(state.errors, "");
  return error;
}

cudaError_t add_ptx(LinkState& state, std::string_view text) {
  const auto& gpu = runtime().gpu();
  text = text.substr(0, text.find('\0'));
  if (const auto fits = check_target(text, gpu.major, gpu.minor); !fits)
    return fail(state, fits.error().message, cudaError_t(fits.error().code));
  state.units.emplace_back(text);
  return cudaSuccess;
}

cudaError_t add_fat_binary(LinkState& state, std::string_view bytes) {
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  const auto images = read_container({data, bytes.size()});
  if (!images) return fail(state, images.error().message, cudaError_t(images.error().code));
  const auto& gpu = runtime().gpu();
  const auto chosen = choose_ptx(*images, gpu.major, gpu.minor);
  if (!chosen) return fail(state, chosen.error().message, cudaError_t(chosen.error().code));
  const auto text = unpack(**chosen);
  if (!text) return fail(state, text.error().message, cudaError_t(text.error().code));
  return add_ptx(state, *text);
}

cudaError_t add(LinkState& state, CUjitInputType type, std::string_view bytes) {
  switch (type) {
    case CU_JIT_INPUT_PTX: return add_ptx(state, bytes);
    case CU_JIT_INPUT_FATBINARY: return add_fat_binary(state, bytes);
    case CU_JIT_INPUT_CUBIN:
      return fail(state, "machine code (a cubin) cannot run on the software GPU; link PTX",
                  cudaErrorNoKernelImageForDevice);
    case CU_JIT_INPUT_OBJECT:
    case CU_JIT_INPUT_LIBRARY:
    case CU_JIT_INPUT_NVVM:
      return refuse_call("linking host objects, libraries or NVVM code", "linking");
    default: return cudaErrorInvalidValue;
  }
}

}  // namespace

extern "C" {

CUresult cuLinkCreate_v2(unsigned count, CUjit_option* options, void** values, CUlinkState* out) {
  return context_call([&] {
    auto state = std::make_shared<LinkState>();
    if (!out) return cudaErrorInvalidValue;
    if (const cudaError_t error = state->options.read(count, options, values)) return error;
    *out = static_cast<CUlinkState>(states().add(std::move(state)));
    return cudaSuccess;
  });
}
CUresult cuLinkCreate(unsigned count, CUjit_option* options, void** values, CUlinkState* out) {
  return cuLinkCreate_v2(count, options, values, out);
}

CUresult cuLinkAddData_v2(CUlinkState handle, CUjitInputType type, void* data, size_t size,
                          const char*, unsigned count, CUjit_option* options, void** values) {
  return with_state(handle, [&](LinkState& state) {
    JitOptions own;
    if (!data || !size) return cudaErrorInvalidValue;
    if (const cudaError_t error = own.read(count, options, values)) return error;
    return add(state, type, {static_cast<const char*>(data), size});
  });
}
CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, size_t size,
                       const char* name, unsigned count, CUjit_option* options, void** values) {
  return cuLinkAddData_v2(state, type, data, size, name, count, options, values);
}

CUresult cuLinkAddFile_v2(CUlinkState handle, CUjitInputType type, const char* path, unsigned count,
                          CUjit_option* options, void** values) {
  return with_state(handle, [&](LinkState& state) {
    JitOptions own;
    std::string bytes;
    if (const cudaError_t error = own.read(count, options, values)) return error;
    if (const cudaError_t error = read_file(path, &bytes)) return error;
    return add(state, type, bytes);
  });
}
CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned count,
                       CUjit_option* options, void** values) {
  return cuLinkAddFile_v2(state, type, path, count, options, values);
}

// Loads the result once: what does not fit together is this call's error, with the log filled.
CUresult cuLinkComplete(CUlinkState handle, void** out, size_t* size) {
  return with_state(handle, [&](LinkState& state) {
    if (!out) return cudaErrorInvalidValue;
    if (state.units.empty())
      return fail(state, "there is nothing to link", cudaErrorInvalidKernelImage);
    state.linked = link_ptx(state.units);
    LoadedImage* image = nullptr;
    std::string errors;
    if (const cudaError_t error =
            registrations().load_library(state.linked.c_str(), true, &image, &errors))
      return fail(state, errors, error);
    (void)registrations().unload_library(image);
    state.options.finish(state.errors, "");
    *out = state.linked.data();
    if (size) *size = state.linked.size() + 1;
    return cudaSuccess;
  });
}

CUresult cuLinkDestroy(CUlinkState handle) {
  return context_call([&] { return states().take(handle) ? cudaSuccess : kInvalidHandle; });
}

}  // extern "C"
