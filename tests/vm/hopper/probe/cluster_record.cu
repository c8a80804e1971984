// Clusters: special registers, addresses of peers, what occupancy queries answer.
//
//   cluster_record FILE
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <vector>

struct Seen {
  uint32_t ctaid[3], cluster_ctaid[3], cluster_nctaid[3], clusterid[3], nclusterid[3];
  uint32_t rank, nrank, explicit_cluster, shared_address, mapped[4], rank_of[4];
  uint32_t in_cta[4], in_cluster[4], total_smem, dynamic_smem, aggr_smem;
  uint64_t generic, generic_mapped[4];
};

#define REGISTER3(to, name)                                  \
  asm volatile("mov.u32 %0, %%" name ".x;" : "=r"((to)[0])); \
  asm volatile("mov.u32 %0, %%" name ".y;" : "=r"((to)[1])); \
  asm volatile("mov.u32 %0, %%" name ".z;" : "=r"((to)[2]))

__global__ void look(Seen* out) {
  __shared__ uint32_t place[32];
  if (threadIdx.x) return;
  Seen s;
  REGISTER3(s.ctaid, "ctaid");
  REGISTER3(s.cluster_ctaid, "cluster_ctaid");
  REGISTER3(s.cluster_nctaid, "cluster_nctaid");
  REGISTER3(s.clusterid, "clusterid");
  REGISTER3(s.nclusterid, "nclusterid");
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(s.rank));
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(s.nrank));
  asm volatile("{.reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p;}"
               : "=r"(s.explicit_cluster));
  asm volatile("mov.u32 %0, %%total_smem_size;" : "=r"(s.total_smem));
  asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(s.dynamic_smem));
  asm volatile("mov.u32 %0, %%aggr_smem_size;" : "=r"(s.aggr_smem));
  s.shared_address = uint32_t(__cvta_generic_to_shared(place));
  s.generic = reinterpret_cast<uint64_t>(place);
  for (uint32_t r = 0; r < 4; ++r) {
    const uint32_t peer = r < s.nrank ? r : s.nrank - 1;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(s.mapped[r])
                 : "r"(s.shared_address), "r"(peer));
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(s.generic_mapped[r]) : "l"(s.generic), "r"(peer));
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(s.rank_of[r]) : "r"(s.mapped[r]));
    asm volatile("{.reg .pred p; isspacep.shared::cta p, %1; selp.u32 %0, 1, 0, p;}"
                 : "=r"(s.in_cta[r])
                 : "l"(s.generic_mapped[r]));
    asm volatile("{.reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p;}"
                 : "=r"(s.in_cluster[r])
                 : "l"(s.generic_mapped[r]));
  }
  out[blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)] = s;
}

__global__ void __launch_bounds__(1024, 1) plain(int* x) {
  extern __shared__ int dynamic[];
  if (x) x[0] = dynamic[threadIdx.x];
}

__global__ void __cluster_dims__(2, 1, 1) fixed(int* x) {
  if (x) x[0] = 1;
}

static cudaError_t launch_fixed(unsigned grid, unsigned cluster) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(grid);
  config.blockDim = dim3(32);
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster, 1, 1};
  config.attrs = &attribute;
  config.numAttrs = cluster ? 1 : 0;
  cudaError_t error = cudaLaunchKernelEx(&config, fixed, (int*)nullptr);
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  cudaGetLastError();
  return error;
}

static cudaError_t launch(dim3 grid, dim3 cluster, bool with_attribute, Seen* out,
                          size_t dynamic = 0) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(32);
  config.dynamicSmemBytes = dynamic;
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster.x, cluster.y, cluster.z};
  config.attrs = &attribute;
  config.numAttrs = with_attribute ? 1 : 0;
  cudaError_t error = cudaLaunchKernelEx(&config, look, out);
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  cudaGetLastError();
  return error;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::FILE* f = std::fopen(argv[1], "w");
  Seen* out;
  cudaMallocHost(&out, sizeof(Seen) * 4096);
  struct Shape {
    dim3 grid, cluster;
    bool attribute;
  };
  for (const Shape& s : {Shape{{2, 1, 1}, {1, 1, 1}, false},
                         {{2, 1, 1}, {1, 1, 1}, true},
                         {{4, 1, 1}, {2, 1, 1}, true},
                         {{4, 4, 1}, {2, 2, 1}, true},
                         {{4, 2, 2}, {2, 1, 2}, true},
                         {{2, 4, 2}, {1, 4, 2}, true},
                         {{2, 2, 4}, {2, 2, 2}, true},
                         {{6, 3, 1}, {3, 1, 1}, true}}) {
    const cudaError_t error = launch(s.grid, s.cluster, s.attribute, out);
    std::fprintf(f, "grid %u,%u,%u cluster %u,%u,%u attribute=%d: %s\n", s.grid.x, s.grid.y,
                 s.grid.z, s.cluster.x, s.cluster.y, s.cluster.z, s.attribute,
                 cudaGetErrorName(error));
    for (unsigned i = 0; i < s.grid.x * s.grid.y * s.grid.z; ++i) {
      const Seen& x = out[i];
      std::fprintf(f,
                   "  cta %u,%u,%u in_cluster %u,%u,%u of %u,%u,%u cluster %u,%u,%u of %u,%u,%u "
                   "rank %u of %u explicit %u",
                   x.ctaid[0], x.ctaid[1], x.ctaid[2], x.cluster_ctaid[0], x.cluster_ctaid[1],
                   x.cluster_ctaid[2], x.cluster_nctaid[0], x.cluster_nctaid[1],
                   x.cluster_nctaid[2], x.clusterid[0], x.clusterid[1], x.clusterid[2],
                   x.nclusterid[0], x.nclusterid[1], x.nclusterid[2], x.rank, x.nrank,
                   x.explicit_cluster);
      if (i < 4) {
        std::fprintf(f, " shared %08x generic %016llx smem total %u dynamic %u aggr %u mapa",
                     x.shared_address, (unsigned long long)x.generic, x.total_smem, x.dynamic_smem,
                     x.aggr_smem);
        for (int r = 0; r < 4; ++r)
          std::fprintf(f, " %08x/%016llx(rank %u cta %u cluster %u)", x.mapped[r],
                       (unsigned long long)x.generic_mapped[r], x.rank_of[r], x.in_cta[r],
                       x.in_cluster[r]);
      }
      std::fprintf(f, "\n");
    }
  }
  // What launches answer.
  const auto try_launch = [&](dim3 grid, dim3 cluster, const char* note, size_t dynamic = 0) {
    std::fprintf(f, "launch grid %u,%u,%u cluster %u,%u,%u %s: %s\n", grid.x, grid.y, grid.z,
                 cluster.x, cluster.y, cluster.z, note,
                 cudaGetErrorName(launch(grid, cluster, true, out, dynamic)));
  };
  for (unsigned n : {0u, 3u, 5u, 7u, 8u, 9u, 12u, 16u, 17u, 32u})
    try_launch({n ? n : 1, 1, 1}, {n, 1, 1}, "portable");
  try_launch({5, 1, 1}, {2, 1, 1}, "grid is no multiple");
  try_launch({4, 3, 1}, {2, 2, 1}, "grid is no multiple in y");
  try_launch({16, 16, 16}, {2, 2, 2}, "portable");
  try_launch({4, 4, 4}, {4, 2, 2}, "portable");
  cudaFuncAttributes a;
  cudaFuncGetAttributes(&a, fixed);
  std::fprintf(f,
               "attributes of __cluster_dims__(2,1,1): set %d width %d height %d depth %d policy "
               "%d non-portable %d\n",
               a.clusterDimMustBeSet, a.requiredClusterWidth, a.requiredClusterHeight,
               a.requiredClusterDepth, a.clusterSchedulingPolicyPreference,
               a.nonPortableClusterSizeAllowed);
  cudaFuncGetAttributes(&a, look);
  std::fprintf(
      f, "attributes without: set %d width %d height %d depth %d policy %d non-portable %d\n",
      a.clusterDimMustBeSet, a.requiredClusterWidth, a.requiredClusterHeight,
      a.requiredClusterDepth, a.clusterSchedulingPolicyPreference, a.nonPortableClusterSizeAllowed);
  for (unsigned cluster : {0u, 1u, 2u, 4u})
    std::fprintf(f, "__cluster_dims__(2,1,1) launched with attribute %u, grid 4: %s\n", cluster,
                 cudaGetErrorName(launch_fixed(4, cluster)));
  std::fprintf(f, "__cluster_dims__(2,1,1) launched without attribute, grid 3: %s\n",
               cudaGetErrorName(launch_fixed(3, 0)));
  cudaFuncSetAttribute(look, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  for (unsigned n : {8u, 9u, 10u, 12u, 15u, 16u, 17u, 32u})
    try_launch({n, 1, 1}, {n, 1, 1}, "non-portable");
  cudaFuncSetAttribute(look, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024 - 1024);
  for (unsigned n : {2u, 8u, 12u, 16u})
    try_launch({n, 1, 1}, {n, 1, 1}, "non-portable, 226 KiB", 226 * 1024);

  for (bool portable : {true, false}) {
    cudaFuncSetAttribute(plain, cudaFuncAttributeNonPortableClusterSizeAllowed, !portable);
    cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024);
    for (int threads : {32, 128, 256, 512, 1024})
      for (int kib : {0, 16, 32, 48, 64, 75, 100, 113, 114, 150, 200, 227}) {
        cudaLaunchConfig_t config{};
        config.gridDim = dim3(1024);
        config.blockDim = dim3(unsigned(threads));
        config.dynamicSmemBytes = size_t(kib) * 1024;
        int potential = -1;
        const cudaError_t e = cudaOccupancyMaxPotentialClusterSize(&potential, plain, &config);
        std::fprintf(f, "occupancy %s threads %d dynamic %d KiB: potential %s %d; active",
                     portable ? "portable" : "non-portable", threads, kib, cudaGetErrorName(e),
                     potential);
        for (unsigned size : {1u, 2u, 3u, 4u, 6u, 8u, 12u, 16u}) {
          cudaLaunchAttribute attribute;
          attribute.id = cudaLaunchAttributeClusterDimension;
          attribute.val.clusterDim = {size, 1, 1};
          config.attrs = &attribute;
          config.numAttrs = 1;
          config.gridDim = dim3(size * 64);
          int clusters = -1;
          const cudaError_t error = cudaOccupancyMaxActiveClusters(&clusters, plain, &config);
          if (error == cudaSuccess) std::fprintf(f, " %u:%d", size, clusters);
          else std::fprintf(f, " %u:%s", size, cudaGetErrorName(error));
          cudaGetLastError();
        }
        std::fprintf(f, "\n");
      }
  }
  // Active clusters for every size and number of blocks per multiprocessor.
  cudaFuncSetAttribute(plain, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  for (int blocks = 1; blocks <= 8; ++blocks) {
    cudaLaunchConfig_t config{};
    config.blockDim = dim3(32);
    config.dynamicSmemBytes = size_t(228 * 1024 / blocks - 1024) / 128 * 128;
    std::fprintf(f, "table %d blocks per multiprocessor:", blocks);
    for (unsigned size = 1; size <= 16; ++size) {
      cudaLaunchAttribute attribute;
      attribute.id = cudaLaunchAttributeClusterDimension;
      attribute.val.clusterDim = {size, 1, 1};
      config.attrs = &attribute;
      config.numAttrs = 1;
      config.gridDim = dim3(size * 64);
      int clusters = -1;
      cudaOccupancyMaxActiveClusters(&clusters, plain, &config);
      std::fprintf(f, " %d", clusters);
    }
    std::fprintf(f, "\n");
  }
  std::fclose(f);
}
