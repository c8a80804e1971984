// wgmma: from the instruction until the wait for its group nobody may touch the accumulator's
// registers, or overwrite what it reads: fragments of A in registers, matrices in shared memory.
//
// A matrix that a product reads has records of a read that is not over (Record::kNotOver) until the
// first warp of the warpgroup has waited for the product. Each warp sees to its own rows of A and
// to a quarter of B, which all four share.
#include "vm/check/products.h"

#include "vm/check/checker.h"
#include "vm/check/describe.h"
#include "vm/check/knowledge.h"
#include "vm/check/say.h"
#include "vm/isa/shared_operand.h"
#include "vm/isa/wgmma.h"

namespace ridge::vm::check {
namespace {

// The instructions of wgmma are executed when all lanes have come.
bool is_whole(const Warp& w) { return w.mask == kAllLanes; }

struct Matrix {
  SharedOperand where;
  uint32_t row, rows, bytes;
  uint64_t descriptor;
};
// The part of the matrices that is one warp's, as a quarter of the warpgroup; kWarps: all four's.
template <class F>
void each_matrix(const Products::Product& product, uint32_t quarter, F f) {
  const WgmmaOperands o(product.inst);
  constexpr uint32_t kWarps = Warpgroup::kWarps;
  const bool all = quarter == kWarps;
  if (!o.a_in_registers())
    f(Matrix{SharedOperand(product.a, o.transposed_a), all ? 0 : 16 * quarter, all ? 64u : 16u,
             WgmmaForm::kBytesOfA, product.a});
  const uint32_t groups = o.form.n / 8;  // eight rows lie together
  const uint32_t begin = all ? 0 : groups * quarter / kWarps,
                 end = all ? groups : groups * (quarter + 1) / kWarps;
  if (begin < end)
    f(Matrix{SharedOperand(product.b, o.transposed_b), 8 * begin, 8 * (end - begin),
             o.form.bytes_of_b(), product.b});
}

uint32_t first_thread(uint32_t warp) {
  return warp / Warpgroup::kWarps * Warpgroup::kWarps * kWarpSize;
}

}  // namespace

WarpgroupProducts& Checker::warpgroup_of(BlockState& b, uint32_t warp) {
  if (b.warpgroups.empty())
    b.warpgroups.resize((b.warps.size() + Warpgroup::kWarps - 1) / Warpgroup::kWarps);
  WarpgroupProducts& group = b.warpgroups[warp / Warpgroup::kWarps];
  if (!group.column) {
    add_columns(b, 1);
    group.column = b.columns - 1;
  }
  return group;
}

void Checker::on_product(const Access& a) {
  if (!is_whole(a.w)) return;
  Products& p = products_of(a);
  const WgmmaOperands o(a.inst);
  const Products::Product product{.inst = a.inst,
                                  .site = a.s.id,
                                  .group = p.group,
                                  .a = o.a_in_registers() ? 0 : a.w.src<uint64_t>(o.a[0])[0],
                                  .b = a.w.src<uint64_t>(o.b)[0]};
  start_in_registers(a, p, product, a.w.pred(o.adds) & 1);
  read_matrices(a, product);
}

void Checker::read_matrices(const Access& a, const Products::Product& product) {
  BlockState& b = a.b;
  const bool is_over = warpgroup_of(b, a.w.index).done >= a.ws.products->last;
  const uint64_t mine =
      Record::of(Record::kNotOver, Record::kMany, 15, first_thread(a.w.index), a.s.id).bits;
  each_matrix(product, a.w.index % Warpgroup::kWarps, [&](const Matrix& m) {
    m.where.each_piece(m.row, m.rows, m.bytes, [&](uint32_t at) {
      if (at + 16ull > a.w.shared_size) return;  // it faults
      async_proxy_reads(a, a.base, at, 16);
      for (uint32_t k = 0; k < 4 && !is_over; ++k) b.cells[at / 4 + k].read = mine;
    });
  });
}

void Checker::on_product_fence(const Access& a) {
  if (is_whole(a.w)) ++products_of(a).fences;
}
void Checker::on_product_commit(const Access& a) {
  if (is_whole(a.w)) ++products_of(a).group;
}

void Checker::on_product_wait(const Access& a) {
  if (!is_whole(a.w)) return;
  Products& p = products_of(a);
  BlockState& b = a.b;
  WarpgroupProducts& group = warpgroup_of(b, a.w.index);
  const uint32_t newest = a.w.src<uint32_t>(a.inst->a)[0];
  while (!p.under_way.empty() && p.under_way.front().group + newest < p.group) {
    const Products::Product product = p.under_way.front();
    p.under_way.pop_front();
    if (++p.done <= group.done) continue;
    group.done = p.done;
    const uint32_t segment = new_segment(b);
    segments_[segment] = {b.launch->id, b.index, b.interval, group.column, p.done, 0};
    end_reads(b, a.w.index, p, product, segment);
  }
  uint32_t& known = b.row(a.w.index)[group.column];
  known = std::max(known, p.done + 1);
  a.ws.told = {};
  b.fine = true;
}

// What the product has read was read in this segment; 0: it is forgotten. What a later product
// reads as well is left to that.
void Checker::end_reads(BlockState& b, uint32_t warp, const Products& p,
                        const Products::Product& product, uint32_t segment) {
  const uint32_t thread = first_thread(warp);
  const uint64_t now = segment ? Record::of(segment, 0, 15, thread, product.site).bits : 0;
  each_matrix(product, Warpgroup::kWarps, [&](const Matrix& m) {
    for (const Products::Product& other : p.under_way)
      if (segment && (other.a == m.descriptor || other.b == m.descriptor)) return;
    m.where.each_piece(m.row, m.rows, m.bytes, [&](uint32_t at) {
      if (at / 4 + 4 > b.cells.size()) return;
      for (Cell* cell = b.cells.data() + at / 4; cell < b.cells.data() + at / 4 + 4; ++cell) {
        const Record read{cell->read};
        if (read.segment() == Record::kNotOver && read.thread() == thread) cell->read = now;
      }
    });
  });
}

void Checker::forget_products(BlockState& b) {
  for (uint32_t w = 0; w < b.warps.size(); ++w)
    if (const auto& p = b.warps[w].products)
      for (const Products::Product& product : p->under_way) end_reads(b, w, *p, product, 0);
}

void Checker::report_operand(const Access& a, const Word& word, Record read) {
  if (!findings_.is_new("wgmma", read.site(), a.s.id)) return;
  const GridRun& grid = *a.w.worker->grid;
  const SiteInfo product = sites_.info(read.site()), now = sites_.info(a.s.id);
  Finding f;
  f.kind = "wgmma";
  f.space = "shared";
  f.kernel = kernel_name(grid);
  const uint32_t warp = read.thread() / kWarpSize;
  f.first = {
      read.site(), "wgmma that reads it",
      say("warps ", warp, " to ", warp + 3, " of ", block_text(grid.launch->grid, a.b.index))};
  f.second = {a.s.id, verb_of(now.act, true), thread_text(*grid.launch, word.thread, a.b.index)};
  f.address = word.address;
  f.bytes = uint32_t(__builtin_popcount(word.mask));
  f.memory = memory_name(a, word);
  f.what = "a matrix in shared memory is overwritten while a wgmma may still read it";
  f.fix = say("let the warps that execute ", place(product),
              " wait for it (wgmma.commit_group, then wgmma.wait_group) and synchronise with the "
              "writer before ",
              place(now));
  add_with_callers(f);
}

}  // namespace ridge::vm::check
