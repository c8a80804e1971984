#include "profile/metrics.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace ridge::tools::profile {

double sum(const Kernel& kernel, Reach reach, Action action, uint64_t Counters::*field) {
  double total = 0;
  for (const Instruction& one : kernel.instructions)
    if (one.reach == reach && one.action == action) total += double(one.counters.*field);
  return total;
}

double matrices(const Kernel& kernel, Action action, uint64_t Counters::*field) {
  double total = 0;
  for (const Instruction& one : kernel.instructions)
    if (one.matrices && one.action == action) total += double(one.counters.*field);
  return total;
}

namespace {

using Value = std::optional<double>;

// What an asynchronous copy reads counts with the loads.
template <Action action, uint64_t Counters::*field>
Value global(const Kernel& kernel) {
  const double own = sum(kernel, Reach::global, action, field);
  return action == Action::load ? own + sum(kernel, Reach::global, Action::copy, field) : own;
}
template <Action action, uint64_t Counters::*field>
Value local(const Kernel& kernel) {
  return sum(kernel, Reach::local, action, field);
}

// Shared atomics are one kind of machine instruction, whether their result is used or not.
template <Action action>
double shared_sum(const Kernel& kernel, uint64_t Counters::*field) {
  const double own = sum(kernel, Reach::shared, action, field);
  return action == Action::atomic ? own + sum(kernel, Reach::shared, Action::reduction, field)
                                  : own;
}

template <Action action>
Value wavefronts(const Kernel& kernel) {
  const double own = shared_sum<action>(kernel, &Counters::wavefronts);
  return action == Action::atomic ? own + double(kernel.total.probes) : own;
}

template <Action action>
Value conflicts(const Kernel& kernel) {
  return shared_sum<action>(kernel, &Counters::conflicts);
}

// Machine instructions: those that warps pass with no lane switched on count as well; those of
// matrices and generic ones do not.
template <Reach reach, Action action>
Value executed(const Kernel& kernel) {
  double total = 0;
  for (const Instruction& one : kernel.instructions) {
    if (reach == Reach::shared && action == Action::load) total += double(one.counters.fillers);
    if (one.reach != reach || one.action != action) continue;
    if (one.matrices || one.generic || one.peers) continue;
    const Counters& c = one.counters;
    total += double((reach == Reach::shared ? c.shared_requests : c.requests) + c.switched_off);
  }
  return total;
}

template <uint64_t Counters::*field>
Value total(const Kernel& kernel) {
  return double(kernel.total.*field);
}

Value unknown(const Kernel&) { return std::nullopt; }

Value registers(const Kernel& kernel) {
  if (!kernel.resources.from_ptxas) return std::nullopt;
  return kernel.resources.allocated;
}
Value static_shared(const Kernel& kernel) { return kernel.resources.static_shared; }

// Nsight Compute's names. What follows from them by reach and action has a function above; the
// totals of single counters stand in counters.def.
constexpr Metric kNsight[] = {
    {"smsp__inst_executed.sum", unknown},  // machine instructions; ours are PTX's, below
    {"smsp__thread_inst_executed.sum", unknown},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", global<kLoad, &Counters::requests>},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", global<kLoad, &Counters::sectors>},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", global<kStore, &Counters::requests>},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", global<kStore, &Counters::sectors>},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", global<kRed, &Counters::requests>},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", global<kRed, &Counters::sectors>},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", global<kAtom, &Counters::requests>},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", wavefronts<kLoad>},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", wavefronts<kStore>},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum", wavefronts<kAtom>},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", conflicts<kLoad>},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", conflicts<kStore>},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum", conflicts<kAtom>},
    {"smsp__inst_executed_op_shared_ld.sum", executed<Reach::shared, kLoad>},
    {"smsp__inst_executed_op_shared_st.sum", executed<Reach::shared, kStore>},
    {"smsp__inst_executed_op_global_ld.sum", executed<Reach::global, kLoad>},
    {"smsp__inst_executed_op_global_st.sum", executed<Reach::global, kStore>},
    {"smsp__sass_branch_targets.sum", unknown},
    {"smsp__sass_branch_targets_threads_divergent.sum", unknown},
    {"smsp__inst_executed_pipe_fma.sum", unknown},
    {"dram__bytes_read.sum", unknown},
    {"dram__bytes_write.sum", unknown},
    {"launch__registers_per_thread", registers},
    {"launch__shared_mem_per_block_static", static_shared},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", unknown},
    {"gpu__time_duration.sum", unknown},
};
constexpr Metric kMoreOfNsight[] = {
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", global<kAtom, &Counters::sectors>},
    {"l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", local<kLoad, &Counters::requests>},
    {"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", local<kLoad, &Counters::sectors>},
    {"l1tex__t_requests_pipe_lsu_mem_local_op_st.sum", local<kStore, &Counters::requests>},
    {"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", local<kStore, &Counters::sectors>},
    {"smsp__inst_executed_op_ldsm.sum",
     [](const Kernel& k) -> Value {
       return matrices(k, Action::load, &Counters::shared_requests);
     }},
    {"smsp__inst_executed_op_ldgsts.sum",
     [](const Kernel& k) -> Value {
       return sum(k, Reach::global, Action::copy, &Counters::warps);
     }},
};
constexpr Metric kTotals[] = {
#define RIDGE_COUNTER(name, label, shown, column, meaning) {column, total<&Counters::name>},
#include "vm/observe/counters.def"
#undef RIDGE_COUNTER
};
constexpr Metric kOccupancy = {"ridge__occupancy_percent",
                               [](const Kernel& k) -> Value { return 100 * k.occupancy.fraction; }};

// Whoever reads columns by number finds them where they were: each group grows at its end only.
std::vector<Metric> columns() {
  std::vector<Metric> all(std::begin(kNsight), std::end(kNsight));
  const auto add_totals = [&](bool of_nsight) {
    for (const Metric& total : kTotals)
      if (total.name && of_nsight != std::string_view(total.name).starts_with("ridge__"))
        all.push_back(total);
  };
  add_totals(true);
  all.insert(all.end(), std::begin(kMoreOfNsight), std::end(kMoreOfNsight));
  all.insert(all.end(), unit_metrics().begin(), unit_metrics().end());
  add_totals(false);  // our own: counted in PTX, or not counted by Nsight Compute
  all.push_back(kOccupancy);
  return all;
}

// A name with commas (template arguments) is quoted.
std::string cell(const std::string& text) {
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

}  // namespace

std::span<const Metric> all_metrics() {
  static const std::vector<Metric> all = columns();
  return all;
}

std::string to_csv(const Profile& profile) {
  std::string csv = "kernel";
  for (const Metric& metric : all_metrics()) csv += fmt::format(",{}", metric.name);
  csv += '\n';
  for (const Kernel& kernel : profile.kernels) {
    csv += cell(kernel.name);
    for (const Metric& metric : all_metrics()) {
      const Value value = metric.of(kernel);
      csv += value ? fmt::format(",{:.15g}", *value) : ",";
    }
    csv += '\n';
  }
  return csv;
}

}  // namespace ridge::tools::profile
