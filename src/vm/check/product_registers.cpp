// Registers of products of wgmma: accumulators that are touched before the wait, fragments of A
// that are overwritten before it, and either written without a wgmma.fence behind.
#include <algorithm>
#include <utility>

#include "vm/check/checker.h"
#include "vm/check/describe.h"
#include "vm/check/say.h"
#include "vm/isa/lane.h"

namespace ridge::vm::check {
namespace {

using Place = Products::Place;

// The later of two numbers of fences; kNever is before all.
uint32_t later(uint32_t x, uint32_t y) { return std::max(x + 1, y + 1) - 1; }

// A move gives one more part of a value.
void join(Place& to, const Place& from, const Products& p, uint32_t site) {
  if (p.is_under_way(from.sum_of)) to.copy_of = from.sum_of, to.copy_site = site;
  else if (from.copy_of) to.copy_of = from.copy_of, to.copy_site = from.copy_site;
  if (later(to.written, from.written) == to.written) return;
  to.written = from.written;
  to.write_site = from.write_site;
}

}  // namespace

Products& Checker::products_of(const Access& a) {
  if (!a.ws.products) a.ws.products = std::make_unique<Products>();
  Products& p = *a.ws.products;
  if (p.code != a.w.frame->code) {
    p.code = a.w.frame->code;
    p.places.assign(a.b.touches->places(), {});
  }
  return p;
}

void Checker::start_in_registers(const Access& a, Products& p, const Products::Product& product,
                                 bool adds) {
  const ProductPlaces& registers = a.b.touches->product(size_t(a.inst - a.b.first_inst));
  bool fenced = p.fences != 0;
  uint32_t writer = 0;  // a site
  const auto take_value = [&](Place& place) {
    if (place.copy_of) report_copied(a, p, place);
    if (place.written != p.fences) return;
    fenced = false;
    writer = place.write_site;
  };
  for (const uint32_t k : registers.a) {
    if (p.is_under_way(p.places[k].sum_of)) report_touched(a, p, p.places[k].sum_of, false);
    if (p.is_under_way(p.places[k].late_for)) report_fragment(a, p, p.places[k]);
    take_value(p.places[k]);
  }
  for (const uint32_t k : registers.d) {
    Place& place = p.places[k];
    // Products of one shape add to their accumulator one after the other.
    if (p.is_under_way(place.sum_of) && p[place.sum_of].inst->d != a.inst->d)
      report_touched(a, p, place.sum_of, false);
    if (adds) take_value(place);
  }
  if (!fenced) {
    report_no_product_fence(a, writer);
    ++p.fences;  // one is enough for the products that follow
  }
  p.under_way.push_back(product);
  ++p.last;
  for (const uint32_t k : registers.a) {
    p.places[k].read_by = p.last;
    p.places[k].used = p.fences;
  }
  for (const uint32_t k : registers.d) p.places[k] = {.sum_of = p.last, .used = p.fences};
}

void Checker::on_touch(const Access& a) {
  Products& p = products_of(a);
  for (const Touch& touch : a.b.touches->of(size_t(a.inst - a.b.first_inst))) {
    Place& place = p.places[touch.place];
    switch (touch.how) {
      case Touch::How::reads:
        if (p.is_under_way(place.sum_of)) report_touched(a, p, place.sum_of, false);
        if (place.copy_of) report_copied(a, p, place);
        place.used = p.fences;
        break;
      case Touch::How::writes: overwrite(a, p, place); break;
      case Touch::How::sets:
        // nvcc puts a constant into a register late; the machine may do so as soon as the register
        // is free.
        overwrite(a, p, place);
        place.written = place.used;
        break;
      case Touch::How::moves: {
        const Place& from = p.places[touch.from];
        const bool passes_on = p.is_under_way(from.sum_of) || from.copy_of;
        // Accumulators that change places are judged where somebody reads them.
        if (passes_on) place.sum_of = 0;
        overwrite(a, p, place);
        place.written = Products::kNever;
        if (from.write_site) place.late_site = from.write_site;
        join(place, from, p, a.s.id);
        break;
      }
      case Touch::How::moves_also: join(place, p.places[touch.from], p, a.s.id); break;
    }
  }
}

void Checker::overwrite(const Access& a, Products& p, Place& place) {
  if (p.is_under_way(place.sum_of)) report_touched(a, p, place.sum_of, true);
  const uint32_t late = p.is_under_way(place.read_by) ? place.read_by : 0;
  place = {.late_for = late,
           .late_site = a.s.id,
           .written = p.fences,
           .write_site = a.s.id,
           .used = place.used};
}

namespace {

const char* const kWait = "wgmma.commit_group and wgmma.wait_group";

}  // namespace

void Checker::report_touched(const Access& a, Products& p, uint32_t product, bool writes) {
  const uint32_t site = p[product].site;
  p.told = std::max(p.told, product);  // one wait is missing, not one for each register
  if (!findings_.is_new("wgmma", site, a.s.id)) return;
  const GridRun& grid = *a.w.worker->grid;
  const std::string warp = warp_text(*grid.launch, a.w.index, a.b.index);
  const bool by_product = a.s.act == Act::product;
  Finding f;
  f.kind = "wgmma";
  f.kernel = kernel_name(grid);
  f.first = {site, "wgmma", warp};
  f.second = {a.s.id, by_product ? "wgmma" : writes ? "write" : "read", warp};
  f.what = by_product ? "a register of the accumulator is used by another kind of wgmma before the "
                        "first one was waited for"
           : writes   ? "a register of the accumulator is written before the wgmma was waited for"
                      : "a register of the accumulator is read before the wgmma was waited for";
  f.fix = say("put ", kWait, " between ", place(sites_.info(site)), " and ",
              place(sites_.info(a.s.id)), ", with a number that covers this product");
  add_with_callers(f);
}

// A move between two registers costs nothing where both can be one. These two cannot.
void Checker::report_copied(const Access& a, Products& p, Place& copy) {
  const uint32_t site = copy.copy_site;
  p.told = std::max(p.told, std::exchange(copy.copy_of, 0));
  if (!findings_.is_new("wgmma", site, a.s.id)) return;
  const GridRun& grid = *a.w.worker->grid;
  const std::string warp = warp_text(*grid.launch, a.w.index, a.b.index);
  Finding f;
  f.kind = "wgmma";
  f.kernel = kernel_name(grid);
  f.first = {site, "copy of the accumulator", warp};
  f.second = {a.s.id, "read of the copy", warp};
  f.what =
      "an accumulator was copied to another register before its wgmma was waited for, and the copy "
      "is used";
  f.fix = say("put ", kWait, " before ", place(sites_.info(site)),
              "; if the source has them, nvcc has moved the use of the sums behind the next "
              "product: hold them with asm volatile(\"\" : \"+f\"(sum) :: \"memory\") behind the "
              "wait");
  add_with_callers(f);
}

void Checker::report_fragment(const Access& a, Products& p, const Place& fragment) {
  const uint32_t site = p[fragment.late_for].site;
  p.told = std::max(p.told, fragment.late_for);
  if (!findings_.is_new("wgmma", site, fragment.late_site)) return;
  const GridRun& grid = *a.w.worker->grid;
  const std::string warp = warp_text(*grid.launch, a.w.index, a.b.index);
  Finding f;
  f.kind = "wgmma";
  f.kernel = kernel_name(grid);
  f.first = {site, "wgmma that reads it", warp};
  f.second = {fragment.late_site, "write", warp};
  f.what =
      "a register with a fragment of A is overwritten, and used by the next wgmma, before the "
      "first "
      "one was waited for";
  f.fix = say("put ", kWait, " between ", place(sites_.info(site)), " and ",
              place(sites_.info(fragment.late_site)),
              ", or load the next fragment into other registers");
  add_with_callers(f);
}

void Checker::report_no_product_fence(const Access& a, uint32_t writer) {
  if (!findings_.is_new("wgmma", writer, a.s.id)) return;
  const GridRun& grid = *a.w.worker->grid;
  const std::string warp = warp_text(*grid.launch, a.w.index, a.b.index);
  Finding f;
  f.kind = "wgmma";
  f.kernel = kernel_name(grid);
  if (writer) f.first = {writer, "write of a register", warp};
  f.second = {a.s.id, "wgmma", warp};
  f.what = writer ? "a wgmma uses a register that was written, without wgmma.fence between"
                  : "the first wgmma of a warp comes without wgmma.fence before it";
  f.fix = say("put wgmma.fence.sync.aligned before ", place(sites_.info(a.s.id)),
              ", behind everything that writes the accumulator or A in registers");
  add_with_callers(f);
}

}  // namespace ridge::vm::check
