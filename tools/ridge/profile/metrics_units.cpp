// Metrics of units that only some kernels use. docs/hopper_facts.md says how each was measured.
#include <algorithm>

#include "profile/metrics.h"
#include "profile/time.h"

namespace ridge::tools::profile {
namespace {

using Value = std::optional<double>;
constexpr double kSector = 32;

template <class Which>
double of(const Kernel& kernel, uint64_t Counters::*field, Which which) {
  double total = 0;
  for (const Instruction& one : kernel.instructions)
    if (which(one)) total += double(one.counters.*field);
  return total;
}

// --- tensor cores ---

bool is_float(const Instruction& one) {
  return one.source == Source::f16 || one.source == Source::bf16 || one.source == Source::tf32 ||
         one.source == Source::fp8;
}
bool is_integer(const Instruction& one) {
  return one.source == Source::int8 || one.source == Source::int1;
}
bool is_double(const Instruction& one) { return one.source == Source::f64; }
bool is_of_warpgroup(const Instruction& one) { return one.warpgroup; }

template <bool (*which)(const Instruction&)>
Value tensor_instructions(const Kernel& kernel) {
  return of(kernel, &Counters::tensor_instructions, which);
}

template <Source source>
Value operations(const Kernel& kernel) {
  return of(kernel, &Counters::tensor_ops,
            [](const Instruction& one) { return one.source == source; });
}
template <Source source, bool sparse>
Value operations_by_sparsity(const Kernel& kernel) {
  return of(kernel, &Counters::tensor_ops,
            [](const Instruction& one) { return one.source == source && one.sparse == sparse; });
}
Value half_operations_of_warpgroups(const Kernel& kernel) {
  return of(kernel, &Counters::tensor_ops,
            [](const Instruction& one) { return one.warpgroup && one.source == Source::f16; });
}
template <bool sparse>
Value half_operations_of_warpgroups_by_sparsity(const Kernel& kernel) {
  return of(kernel, &Counters::tensor_ops, [](const Instruction& one) {
    return one.warpgroup && one.source == Source::f16 && one.sparse == sparse;
  });
}

// Measured for wgmma on an H200: a product of 64 rows, N columns and 32 bytes of depth takes N / 2
// cycles, whatever the type. A sparse product has twice the depth in the same time. This counts the
// tensor cores' cycles as Nsight Compute does, without the gaps that make a rate.
double counted_per_cycle(const Instruction& one) {
  constexpr double kHalf = 4096;
  const double each = one.sparse ? 2 : 1;
  switch (one.source) {
    case Source::tf32: return each * kHalf / 2;
    case Source::fp8:
    case Source::int8: return each * kHalf * 2;
    case Source::int1: return each * kHalf * 16;
    case Source::f64: return 256;
    default: return each * kHalf;
  }
}

// Cycles of the four tensor cores of an SM together; only wgmma's were measured.
template <bool (*which)(const Instruction&)>
Value tensor_cycles(const Kernel& kernel) {
  double cycles = 0;
  for (const Instruction& one : kernel.instructions) {
    if (one.source == Source::none || !which(one)) continue;
    if (!one.warpgroup) return std::nullopt;
    cycles += 4 * double(one.counters.tensor_ops) / counted_per_cycle(one);
  }
  return cycles;
}
bool is_any(const Instruction&) { return true; }

template <uint64_t Counters::*field>
Value operands(const Kernel& kernel) {
  return sum(kernel, Reach::shared, Action::operand, field);
}

// --- matrices ---

template <Action action, uint64_t Counters::*field>
Value moved(const Kernel& kernel) {
  return matrices(kernel, action, field);
}
Value shared_bytes(const Kernel& kernel) { return double(kernel.total.shared_bytes); }

// --- the copy engine ---

template <Action action>
double copies(const Kernel& kernel) {
  return sum(kernel, Reach::bulk, action, &Counters::requests);
}
double copies_to_peers(const Kernel& kernel) {
  return of(kernel, &Counters::peer_requests, [](const Instruction& one) { return one.bulk; });
}
template <Action action>
Value copied(const Kernel& kernel) {
  return copies<action>(kernel);
}
// Copies to other blocks are stores, and so are reductions.
Value stores(const Kernel& kernel) {
  return copies<Action::store>(kernel) + copies<Action::reduction>(kernel) +
         copies_to_peers(kernel);
}
Value all_copies(const Kernel& kernel) { return copies<Action::load>(kernel) + *stores(kernel); }
Value requests_of_engine(const Kernel& kernel) {
  return *all_copies(kernel) + copies<Action::prefetch>(kernel) + double(kernel.total.bulk_commits);
}

template <Action action>
Value sectors(const Kernel& kernel) {
  return sum(kernel, Reach::bulk, action, &Counters::sectors);
}
template <Action action>
Value bytes(const Kernel& kernel) {
  return kSector * *sectors<action>(kernel);
}
Value multicast_bytes(const Kernel& kernel) {
  return kSector * double(kernel.total.multicast_sectors);
}
Value own_bytes(const Kernel& kernel) {
  return *bytes<Action::load>(kernel) - *multicast_bytes(kernel);
}

// --- other blocks of the cluster ---

enum class Peer : uint8_t { load, store, atomic, store_async, reduce_async, copy, reduce };

bool is(Peer kind, const Instruction& one) {
  const bool adds = one.action == Action::reduction || one.action == Action::atomic;
  const bool registers = one.reach == Reach::cluster && !one.bulk;
  const bool by_lanes = one.reach != Reach::cluster;
  switch (kind) {
    case Peer::load: return by_lanes && one.action == Action::load;
    case Peer::store: return by_lanes && one.action == Action::store;
    case Peer::atomic: return by_lanes && adds;
    case Peer::store_async: return registers && !adds;
    case Peer::reduce_async: return registers && adds;
    case Peer::copy: return one.bulk && !adds;
    case Peer::reduce: return one.bulk && adds;
  }
  return false;
}
template <uint64_t Counters::*field, Peer... kinds>
Value peers(const Kernel& kernel) {
  return of(kernel, field, [](const Instruction& one) { return (is(kinds, one) || ...); });
}
template <uint64_t Counters::*field>
Value all_peers(const Kernel& kernel) {
  return double(kernel.total.*field);
}
Value peer_sector_bytes_loaded(const Kernel& kernel) {
  return kSector * *peers<&Counters::peer_sectors, Peer::load>(kernel);
}
Value peer_sector_bytes_stored(const Kernel& kernel) {
  return kSector * *peers<&Counters::peer_sectors, Peer::store, Peer::store_async>(kernel);
}
// A reduction in another block is answered to the copy engine, a copy is not.
Value read_by_engine(const Kernel& kernel) {
  return *bytes<Action::load>(kernel) + *peers<&Counters::peer_bytes, Peer::reduce>(kernel);
}
Value written_by_engine(const Kernel& kernel) {
  return *bytes<Action::store>(kernel) + *bytes<Action::reduction>(kernel) +
         *peers<&Counters::peer_bytes, Peer::copy, Peer::reduce>(kernel);
}

// --- textures and surfaces ---

template <Reach reach, Action action>
Value images(const Kernel& kernel) {
  return sum(kernel, reach, action, &Counters::image_requests);
}

#define RIDGE_PEERS "l1tex__t_requests_pipe_lsu_mem_dshared_op_"
#define RIDGE_SENT "l1tex__m_l1tex2xbar_write_bytes_mem_dshared"
#define RIDGE_RECEIVED "l1tex__m_xbar2l1tex_read_bytes_mem_dshared"
#define RIDGE_LOADED "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld"
#define RIDGE_LINE "sm__sass_l1tex_data_"
constexpr Metric kUnits[] = {
    {"sm__inst_executed_pipe_tensor_op_gmma.sum", tensor_instructions<is_of_warpgroup>},
    {"sm__inst_executed_pipe_tensor_op_hmma.sum", tensor_instructions<is_float>},
    {"sm__inst_executed_pipe_tensor_op_imma.sum", tensor_instructions<is_integer>},
    {"sm__inst_executed_pipe_tensor_op_dmma.sum", tensor_instructions<is_double>},
    {"sm__ops_path_tensor_src_fp16.sum", operations<Source::f16>},
    {"sm__ops_path_tensor_src_bf16_dst_fp32.sum", operations<Source::bf16>},
    {"sm__ops_path_tensor_src_tf32_dst_fp32.sum", operations<Source::tf32>},
    {"sm__ops_path_tensor_src_fp8.sum", operations<Source::fp8>},
    {"sm__ops_path_tensor_src_int8.sum", operations<Source::int8>},
    {"sm__ops_path_tensor_src_int1.sum", operations<Source::int1>},
    {"sm__ops_path_tensor_src_fp64.sum", operations<Source::f64>},
    {"sm__ops_path_tensor_src_fp8_sparsity_on.sum", operations_by_sparsity<Source::fp8, true>},
    {"sm__ops_path_tensor_op_hgmma_src_fp16.sum", half_operations_of_warpgroups},
    {"sm__ops_path_tensor_op_hgmma_src_fp16_sparsity_on.sum",
     half_operations_of_warpgroups_by_sparsity<true>},
    {"sm__ops_path_tensor_op_hgmma_src_fp16_sparsity_off.sum",
     half_operations_of_warpgroups_by_sparsity<false>},
    {"sm__pipe_tensor_cycles_active.sum", tensor_cycles<is_any>},
    {"sm__pipe_tensor_op_hmma_cycles_active.sum", tensor_cycles<is_float>},
    {"sm__pipe_tensor_op_imma_cycles_active.sum", tensor_cycles<is_integer>},

    {"sm__sass_inst_executed_op_shared_gmma.sum", operands<&Counters::shared_requests>},
    {"l1tex__lsuin_requests_op_gmma.sum", operands<&Counters::shared_requests>},
    {"sm__sass_data_bytes_mem_shared_op_gmma.sum", operands<&Counters::shared_bytes>},
    {RIDGE_LINE "pipe_lsu_wavefronts_mem_shared_op_gmma.sum", operands<&Counters::wavefronts>},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_gmma.sum", operands<&Counters::wavefronts>},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_gmma.sum", operands<&Counters::conflicts>},

    {"smsp__inst_executed_op_shared_stsm.sum", moved<kStore, &Counters::shared_requests>},
    {"sm__sass_data_bytes_mem_shared.sum", shared_bytes},
    {"sm__sass_data_bytes_mem_shared_op_ldsm.sum", moved<kLoad, &Counters::shared_bytes>},
    {"sm__sass_data_bytes_mem_shared_op_stsm.sum", moved<kStore, &Counters::shared_bytes>},
    {RIDGE_LINE "pipe_lsu_wavefronts_mem_shared_op_ldsm.sum", moved<kLoad, &Counters::wavefronts>},
    {RIDGE_LINE "pipe_lsu_wavefronts_mem_shared_op_stsm.sum", moved<kStore, &Counters::wavefronts>},
    {RIDGE_LINE "bank_conflicts_pipe_lsu_mem_shared_op_ldsm.sum",
     moved<kLoad, &Counters::conflicts>},
    {RIDGE_LINE "bank_conflicts_pipe_lsu_mem_shared_op_stsm.sum",
     moved<kStore, &Counters::conflicts>},

    {"sm__sass_inst_executed_op_tma.sum", all_copies},
    {"sm__sass_inst_executed_op_tma_ld.sum", copied<kLoad>},
    {"sm__sass_inst_executed_op_tma_st.sum", copied<kStore>},
    {"sm__sass_inst_executed_op_tma_red.sum", copied<kRed>},
    {"smsp__inst_executed_op_tma_ld.sum", copied<kLoad>},
    {"smsp__inst_executed_op_tma_st.sum", stores},
    {"sm__inst_executed_pipe_tma.sum", requests_of_engine},
    {"l1tex__tmain_requests.sum", requests_of_engine},
    {RIDGE_LOADED ".sum", bytes<kLoad>},
    {RIDGE_LOADED "_dest_multicast.sum", multicast_bytes},
    {RIDGE_LOADED "_dest_self.sum", own_bytes},
    {"l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum", sectors<kLoad>},
    {"l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum", bytes<kStore>},
    {"l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st.sum", sectors<kStore>},
    {"l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_red.sum", bytes<kRed>},
    {"l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_red.sum", sectors<kRed>},
    {"l1tex__m_xbar2l1tex_read_bytes_pipe_tma.sum", read_by_engine},
    {"l1tex__m_l1tex2xbar_write_bytes_pipe_tma.sum", written_by_engine},

#define RIDGE_BYTES(direction)                                                                \
  {direction ".sum", all_peers<&Counters::peer_bytes>},                                       \
      {direction "_op_ld.sum", peers<&Counters::peer_bytes, Peer::load>},                     \
      {direction "_op_st.sum", peers<&Counters::peer_bytes, Peer::store, Peer::store_async>}, \
      {direction "_op_atom.sum", peers<&Counters::peer_bytes, Peer::atomic>},                 \
      {direction "_op_redas.sum", peers<&Counters::peer_bytes, Peer::reduce_async>},          \
      {direction "_op_tma_st.sum", peers<&Counters::peer_bytes, Peer::copy>}, {               \
    direction "_op_tma_red.sum", peers<&Counters::peer_bytes, Peer::reduce>                   \
  }
    RIDGE_BYTES(RIDGE_SENT),
    RIDGE_BYTES(RIDGE_RECEIVED),
#undef RIDGE_BYTES
#define RIDGE_EXECUTED(op, kind) \
  { "sm__sass_inst_executed_op_dshared" op ".sum", peers<&Counters::peer_requests, kind> }
    {"sm__sass_inst_executed_op_dshared.sum", all_peers<&Counters::peer_requests>},
    RIDGE_EXECUTED("_ld", Peer::load),
    RIDGE_EXECUTED("_st", Peer::store),
    RIDGE_EXECUTED("_atom", Peer::atomic),
    RIDGE_EXECUTED("_stas", Peer::store_async),
    RIDGE_EXECUTED("_redas", Peer::reduce_async),
    RIDGE_EXECUTED("_tma_st", Peer::copy),
    RIDGE_EXECUTED("_tma_red", Peer::reduce),
#undef RIDGE_EXECUTED
    {RIDGE_PEERS "ld.sum", peers<&Counters::peer_requests, Peer::load>},
    {RIDGE_PEERS "st.sum", peers<&Counters::peer_requests, Peer::store, Peer::store_async>},
    {RIDGE_PEERS "atom.sum", peers<&Counters::peer_requests, Peer::atomic>},
    {RIDGE_PEERS "redas.sum", peers<&Counters::peer_requests, Peer::reduce_async>},
    {"l1tex__t_sectors_pipe_lsu_mem_dshared_op_ld.sum", peers<&Counters::peer_sectors, Peer::load>},
    {"l1tex__t_sectors_pipe_lsu_mem_dshared_op_st.sum",
     peers<&Counters::peer_sectors, Peer::store, Peer::store_async>},
    {"l1tex__t_bytes_pipe_lsu_mem_dshared_op_ld.sum", peer_sector_bytes_loaded},
    {"l1tex__t_bytes_pipe_lsu_mem_dshared_op_st.sum", peer_sector_bytes_stored},
    {"l1tex__t_output_wavefronts_pipe_lsu_mem_dshared_op_ld.sum",
     peers<&Counters::peer_wavefronts, Peer::load>},
    {"l1tex__t_output_wavefronts_pipe_lsu_mem_dshared_op_st.sum",
     peers<&Counters::peer_wavefronts, Peer::store, Peer::store_async>},

    {"smsp__inst_executed_op_texture.sum", images<Reach::texture, kLoad>},
    {"smsp__inst_executed_op_surface_ld.sum", images<Reach::surface, kLoad>},
    {"smsp__inst_executed_op_surface_st.sum", images<Reach::surface, kStore>},
    {"smsp__inst_executed_op_surface_red.sum", images<Reach::surface, kRed>},
};
#undef RIDGE_PEERS
#undef RIDGE_SENT
#undef RIDGE_RECEIVED
#undef RIDGE_LOADED
#undef RIDGE_LINE

}  // namespace

std::span<const Metric> unit_metrics() { return kUnits; }

}  // namespace ridge::tools::profile
