// The catalogue: all families of operators, existing and planned, in the order of teaching. `ridge
// list` shows it, and lists families that are missing from it last.
#pragma once

#include <string_view>
#include <vector>

namespace ridge::tools {

struct CatalogueGroup {
  std::string_view name;
  std::vector<std::string_view> families;
};

inline const std::vector<CatalogueGroup>& catalogue() {
  static const std::vector<CatalogueGroup> groups = {
      {"Elementwise",
       {"vector_add", "vector_add_streamed", "matrix_copy", "activation", "glu", "dyt", "rope",
        "dropout", "adamw", "rearrange", "image", "colour_pattern", "rainbow_table", "embedding"}},
      {"Movement", {"transpose", "stream_compaction"}},
      {"Reduce", {"reduce", "axis_reduce", "segmented_reduce", "normalize"}},
      {"Scan", {"scan", "segmented_scan", "recurrence", "selective_scan"}},
      {"Histograms, graphs, sorting",
       {"histogram", "graph_degree", "graph_paths", "radix_sort", "merge", "bitonic_sort", "topk",
        "token_sampling", "monte_carlo", "kmeans", "spmv", "nearest_neighbour", "n_body"}},
      {"Warp-level studies",
       {"warp_sum", "warp_scan", "vote", "match_redux", "matmul_by_shuffles", "occupancy_vs_ilp",
        "launch_overhead"}},
      {"Convolution and stencils",
       {"conv", "conv_backward", "causal_conv1d", "pool", "jacobi", "fft"}},
      {"Matrix times vector", {"gemv", "gemv_t", "gemv_quantised"}},
      {"Matrix times matrix",
       {"gemm", "gemm_epilogues", "gemm_int8", "gemm_fp8", "gemm_weight_only", "gemm_block_scaled",
        "gemm_grouped", "einsum"}},
      {"Softmax, norms, losses",
       {"softmax", "layer_norm", "rms_norm", "batch_norm", "group_norm", "cross_entropy",
        "linear_cross_entropy", "pointwise_loss", "policy_losses"}},
      {"Attention",
       {"attention", "attention_bwd", "decode_attention", "paged_kv_cache", "quantised_kv_cache",
        "linear_attention", "mla_decode"}},
      {"Quantisation", {"quantisation", "fake_quantise"}},
      {"Mixture of experts", {"router", "permute", "experts", "load_balance", "block_sparse"}},
  };
  return groups;
}

// The families of the tour, which `ridge climb` makes without a name: the well-known ladders, one
// per idea, few enough to be climbed in a minute. `ridge climb --all` climbs all families.
inline const std::vector<std::string_view>& tour_families() {
  static const std::vector<std::string_view> names = {
      "vector_add", "transpose", "reduce", "softmax", "layer_norm",
      "scan",       "histogram", "topk",   "gemv",    "gemm"};
  return names;
}

}  // namespace ridge::tools
