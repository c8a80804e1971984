// wgmma: from the instruction until the wait for its group nobody may touch the accumulator's
// registers, or overwrite what it reads: fragments of A in registers, matrices in shared memory.
//
// A matrix that a product reads has records of a read that is not over (Record::kNotOver) until the
// wait. The four warps of a warpgroup share B: each notes a quarter of it.
#include "vm/check/products.h"

#include "vm/check/checker.h"
#include "vm/check/describe.h"
#include "vm/check/say.h"
#include "vm/isa/shared_operand.h"
#include "vm/isa/wgmma.h"

namespace ridge::vm::check {
namespace {

// The instructions of wgmma are executed when all lanes have come.
bool is_whole(const Warp& w) { return w.mask == kAllLanes; }

struct Matrix {
  SharedOperand where;
  uint32_t row, rows, bytes;  // this warp's part
};
template <class F>
void each_matrix(const Products::Product& product, uint32_t warp, F f) {
  const WgmmaOperands o(product.inst);
  const uint32_t quarter = warp % Warpgroup::kWarps;
  if (!o.a_in_registers())
    f(Matrix{SharedOperand(product.a, o.transposed_a), 16 * quarter, 16, WgmmaForm::kBytesOfA},
      product.a);
  // Eight rows lie together.
  const uint32_t groups = o.form.n / 8, begin = groups * quarter / Warpgroup::kWarps,
                 end = groups * (quarter + 1) / Warpgroup::kWarps;
  if (begin < end)
    f(Matrix{SharedOperand(product.b, o.transposed_b), 8 * begin, 8 * (end - begin),
             o.form.bytes_of_b()},
      product.b);
}

}  // namespace

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

// A lane of the warp reads it, and has not done so until the wait.
void Checker::read_matrices(const Access& a, const Products::Product& product) {
  BlockState& b = a.b;
  const uint64_t mine = Record::of(Record::kNotOver, Record::kMany, 15, a.base, a.s.id).bits;
  each_matrix(product, a.w.index, [&](const Matrix& m, uint64_t) {
    m.where.each_piece(m.row, m.rows, m.bytes, [&](uint32_t at) {
      if (at + 16ull > a.w.shared_size) return;  // it faults
      Cell* cell = b.cells.data() + at / 4;
      for (uint32_t k = 0; k < 4; ++k, ++cell) {
        const Record write{cell->write};
        if (write.segment() - b.first >= b.bound - b.first || write.bytes() != 15) [[unlikely]]
          read_shared(a, at / 4 + k, 15, a.base, k);
        cell->read = mine;
      }
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
  const uint32_t newest = a.w.src<uint32_t>(a.inst->a)[0];
  while (!p.under_way.empty() && p.under_way.front().group + newest < p.group) {
    const Products::Product product = p.under_way.front();
    p.under_way.pop_front();
    ++p.done;
    end_reads(a.b, a.w.index, p, product, a.segment);
  }
  meet(a.b, a.w, a.w.mask);
}

// What the product has read was read in this segment; 0: it is forgotten. What a later product of
// the warp reads as well is left to that.
void Checker::end_reads(BlockState& b, uint32_t warp, const Products& p,
                        const Products::Product& product, uint32_t segment) {
  const uint32_t thread = warp * kWarpSize;
  const uint64_t now =
      segment ? Record::of(segment, Record::kMany, 15, thread, product.site).bits : 0;
  each_matrix(product, warp, [&](const Matrix& m, uint64_t descriptor) {
    for (const Products::Product& other : p.under_way)
      if (segment && (other.a == descriptor || other.b == descriptor)) return;
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
  f.first = {read.site(), "wgmma that reads it",
             warp_text(*grid.launch, read.thread() / kWarpSize, a.b.index)};
  f.second = {a.s.id, verb_of(now.act, true), thread_text(*grid.launch, word.thread, a.b.index)};
  f.address = word.address;
  f.bytes = uint32_t(__builtin_popcount(word.mask));
  f.memory = memory_name(a, word);
  f.what = "a matrix in shared memory is overwritten while a wgmma may still read it";
  f.fix = say("let the warps that execute ", place(product),
              " wait for it (wgmma.commit_group, then wgmma.wait_group) and synchronise with the "
              "writer before ",
              place(now));
  findings_.add(f);
}

}  // namespace ridge::vm::check
