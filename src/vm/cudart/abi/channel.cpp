// Channel descriptors: plain values, needed by headers even where no texture is used.
#include "vm/cudart/api.h"

extern "C" {

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                            cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

}  // extern "C"
