// Layouts: functions from coordinates to offsets, written shape:stride, and their algebra.
//
// (4,8):(8,1) has 4 rows and 8 columns; (i, j) lies at 8 i + j. A mode may be made of parts, with
// the first one fastest: in ((4,2),8):((1,32),4) row 5 is (1,1) of (4,2), which is 1 + 32. A layout
// also takes one number, which counts its coordinates with the first mode fastest.
//
// All of it is constexpr: kernels compute tiles and swizzles at compile time. docs/layouts.md
// explains the operations. An operation that has no result, such as a composition whose sizes do
// not divide, is a programmer's error: it does not compile in a constant expression, and ends the
// process elsewhere. `can_compose`, `has_complement` and `can_divide` ask before.
#pragma once

#include <cstdint>
#include <cstdlib>

#ifdef __CUDACC__
#define RIDGE_ON_BOTH __host__ __device__
#else
#define RIDGE_ON_BOTH
#endif

namespace ridge::layouts {

struct Part {
  int64_t size = 1, stride = 0;
  friend constexpr bool operator==(const Part&, const Part&) = default;
};

namespace detail {
// Not constexpr: a constant expression that gets here does not compile.
RIDGE_ON_BOTH inline void no_such_layout() {
#ifdef __CUDA_ARCH__
  __trap();
#else
  std::abort();
#endif
}
RIDGE_ON_BOTH constexpr void require(bool holds) {
  if (!holds) no_such_layout();
}
RIDGE_ON_BOTH constexpr int64_t at_least_one(int64_t x) { return x > 1 ? x : 1; }
RIDGE_ON_BOTH constexpr int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
RIDGE_ON_BOTH constexpr int64_t over(int64_t a, int64_t b) { return (a + b - 1) / b; }  // up
}  // namespace detail

// Modes of parts. Nesting deeper than that means the same function, so it is not kept.
class Layout {
 public:
  static constexpr int kMostParts = 16;

  constexpr Layout() = default;
  // One mode of one part.
  RIDGE_ON_BOTH constexpr Layout(int64_t size, int64_t stride) {
    begin_mode();
    add({size, stride});
  }

  // --- Building ---
  RIDGE_ON_BOTH constexpr void begin_mode() {
    detail::require(rank_ < kMostParts);
    first_[++rank_] = parts_count_;
  }
  RIDGE_ON_BOTH constexpr void add(Part part) {  // to the last mode
    detail::require(parts_count_ < kMostParts && rank_ > 0);
    parts_[parts_count_++] = part;
    first_[rank_] = parts_count_;
  }
  RIDGE_ON_BOTH constexpr void append(const Layout& modes) {
    for (int m = 0; m < modes.rank(); ++m) {
      begin_mode();
      for (int p = modes.begin(m); p < modes.end(m); ++p) add(modes.part(p));
    }
  }

  // --- Looking ---
  RIDGE_ON_BOTH constexpr int rank() const { return rank_; }
  RIDGE_ON_BOTH constexpr int parts() const { return parts_count_; }
  RIDGE_ON_BOTH constexpr const Part& part(int p) const { return parts_[p]; }
  RIDGE_ON_BOTH constexpr int begin(int mode) const { return first_[mode]; }  // among the parts
  RIDGE_ON_BOTH constexpr int end(int mode) const { return first_[mode + 1]; }

  RIDGE_ON_BOTH constexpr int64_t size() const { return size_of(0, parts_count_); }
  RIDGE_ON_BOTH constexpr int64_t size(int mode) const { return size_of(begin(mode), end(mode)); }
  // One more than the largest offset; 0 for a layout without coordinates.
  RIDGE_ON_BOTH constexpr int64_t cosize() const {
    int64_t last = 0;
    for (int p = 0; p < parts_count_; ++p) {
      if (parts_[p].size == 0) return 0;
      if (parts_[p].stride > 0) last += (parts_[p].size - 1) * parts_[p].stride;
    }
    return last + 1;
  }
  RIDGE_ON_BOTH constexpr Layout mode(int m) const {
    Layout one;
    one.begin_mode();
    for (int p = begin(m); p < end(m); ++p) one.add(parts_[p]);
    return one;
  }

  // --- The function ---
  RIDGE_ON_BOTH constexpr int64_t operator()(int64_t index) const {
    return offset(0, parts_count_, index);
  }
  RIDGE_ON_BOTH constexpr int64_t operator()(int64_t i, int64_t j) const {
    detail::require(rank_ == 2);
    return offset(begin(0), end(0), i) + offset(begin(1), end(1), j);
  }

  friend constexpr bool operator==(const Layout& a, const Layout& b) {
    if (a.rank_ != b.rank_ || a.parts_count_ != b.parts_count_) return false;
    for (int m = 0; m <= a.rank_; ++m)
      if (a.first_[m] != b.first_[m]) return false;
    for (int p = 0; p < a.parts_count_; ++p)
      if (a.parts_[p] != b.parts_[p]) return false;
    return true;
  }

 private:
  RIDGE_ON_BOTH constexpr int64_t size_of(int from, int to) const {
    int64_t size = 1;
    for (int p = from; p < to; ++p) size *= parts_[p].size;
    return size;
  }
  RIDGE_ON_BOTH constexpr int64_t offset(int from, int to, int64_t index) const {
    int64_t sum = 0;
    for (int p = from; p < to; ++p) {
      // The last part takes what is left: one division less, with the same result up to the size.
      const int64_t at = p + 1 < to ? index % parts_[p].size : index;
      sum += at * parts_[p].stride;
      if (p + 1 < to) index /= parts_[p].size;
    }
    return sum;
  }

  Part parts_[kMostParts] = {};
  int first_[kMostParts + 1] = {};  // of each mode, and the end of the last one
  int parts_count_ = 0, rank_ = 0;
};

// --- Making layouts ---

// (rows, cols) with neighbouring columns, or neighbouring rows, one after another.
RIDGE_ON_BOTH constexpr Layout joined(const Layout& a, const Layout& b) {
  Layout both = a;
  both.append(b);
  return both;
}
RIDGE_ON_BOTH constexpr Layout row_major(int64_t rows, int64_t cols) {
  return joined(Layout(rows, cols), Layout(cols, 1));
}
RIDGE_ON_BOTH constexpr Layout column_major(int64_t rows, int64_t cols) {
  return joined(Layout(rows, 1), Layout(cols, rows));
}

// --- The algebra ---

// The same function of one index, with as few parts as possible, each of them a mode.
RIDGE_ON_BOTH constexpr Layout coalesce(const Layout& of) {
  Part merged[Layout::kMostParts] = {};
  int count = 0;
  for (int p = 0; p < of.parts(); ++p) {
    const Part& next = of.part(p);
    if (next.size == 1) continue;
    Part* const last = count > 0 ? &merged[count - 1] : nullptr;
    if (last && next.stride == last->size * last->stride) last->size *= next.size;
    else merged[count++] = next;
  }
  if (count == 0) return Layout(1, 0);
  Layout all;
  for (int p = 0; p < count; ++p) {
    all.begin_mode();
    all.add(merged[p]);
  }
  return all;
}

namespace detail {
// How far inner parts together reach in each part of the outer layout. Where they reach beyond its
// size, their sum carries over to the next part, and no layout says what comes out.
struct Reach {
  int64_t of_part[Layout::kMostParts] = {};
  RIDGE_ON_BOTH constexpr bool extend(int p, int64_t by, int64_t size) {
    of_part[p] += by;
    return of_part[p] < size;
  }
};

// Appends outer o part to the last mode of `to`; false if it is no layout. `outer` is coalesced.
RIDGE_ON_BOTH constexpr bool compose_part(const Layout& outer, Part inner, Reach& reach,
                                          Layout& to) {
  if (inner.stride == 0 || inner.size == 1) {
    to.add({inner.size, 0});
    return true;
  }
  int64_t size = inner.size, stride = inner.stride;
  for (int p = 0; p < outer.parts() && size > 1; ++p) {
    const Part& here = outer.part(p);
    const bool is_last = p + 1 == outer.parts();
    if (!is_last && here.size % stride != 0 && stride % here.size != 0) return false;
    const int64_t taken = is_last ? size : least(at_least_one(here.size / stride), size);
    if (size % taken != 0 || !reach.extend(p, (taken - 1) * stride, here.size)) return false;
    if (taken > 1) to.add({taken, stride * here.stride});
    size /= taken;
    stride = over(stride, here.size);
  }
  return true;
}
RIDGE_ON_BOTH constexpr bool compose_into(const Layout& outer, const Layout& inner, Layout& to) {
  const Layout flat = coalesce(outer);
  Reach reach;
  for (int m = 0; m < inner.rank(); ++m) {
    to.begin_mode();
    for (int p = inner.begin(m); p < inner.end(m); ++p)
      if (!compose_part(flat, inner.part(p), reach, to)) return false;
  }
  return true;
}
}  // namespace detail

RIDGE_ON_BOTH constexpr bool can_compose(const Layout& outer, const Layout& inner) {
  Layout ignored;
  return detail::compose_into(outer, inner, ignored);
}
// outer(inner(i)), with the modes of `inner`.
RIDGE_ON_BOTH constexpr Layout compose(const Layout& outer, const Layout& inner) {
  Layout composed;
  detail::require(detail::compose_into(outer, inner, composed));
  return composed;
}

namespace detail {
RIDGE_ON_BOTH constexpr bool complement_into(const Layout& of, int64_t size, Layout& to) {
  Part sorted[Layout::kMostParts] = {};  // by stride
  int count = 0;
  for (int p = 0; p < of.parts(); ++p) {
    if (of.part(p).size == 1 || of.part(p).stride == 0) continue;
    int at = count++;
    for (; at > 0 && sorted[at - 1].stride > of.part(p).stride; --at) sorted[at] = sorted[at - 1];
    sorted[at] = of.part(p);
  }
  Layout gaps;
  gaps.begin_mode();
  int64_t covered = 1;  // offsets under this are taken care of
  for (int p = 0; p < count; ++p) {
    if (sorted[p].stride < covered || sorted[p].stride % covered != 0) return false;
    gaps.add({sorted[p].stride / covered, covered});
    covered = sorted[p].size * sorted[p].stride;
  }
  gaps.add({over(size, covered), covered});
  to = coalesce(gaps);
  return true;
}
}  // namespace detail

RIDGE_ON_BOTH constexpr bool has_complement(const Layout& of, int64_t size) {
  Layout ignored;
  return detail::complement_into(of, size, ignored);
}
// The offsets that `of` leaves out: where copies of it go so that, together, they fill 0 … size - 1
// without overlaps.
RIDGE_ON_BOTH constexpr Layout complement(const Layout& of, int64_t size) {
  Layout rest;
  detail::require(detail::complement_into(of, size, rest));
  return rest;
}

namespace detail {
RIDGE_ON_BOTH constexpr Layout as_one_mode(const Layout& of) {
  Layout one;
  one.begin_mode();
  for (int p = 0; p < of.parts(); ++p) one.add(of.part(p));
  return one;
}
}  // namespace detail

// (tile, rest): mode 0 walks within a tile, mode 1 from tile to tile.
RIDGE_ON_BOTH constexpr bool can_divide(const Layout& of, const Layout& tile) {
  Layout rest;
  if (!detail::complement_into(tile, of.size(), rest)) return false;
  return can_compose(of, joined(detail::as_one_mode(tile), detail::as_one_mode(rest)));
}
RIDGE_ON_BOTH constexpr Layout divide(const Layout& of, const Layout& tile) {
  const Layout rest = complement(tile, of.size());
  return compose(of, joined(detail::as_one_mode(tile), detail::as_one_mode(rest)));
}
// A matrix in tiles: ((rows of a tile, columns of a tile), (tiles down, tiles across)).
RIDGE_ON_BOTH constexpr Layout tiled(const Layout& matrix, const Layout& rows, const Layout& cols) {
  const Layout down = divide(matrix.mode(0), rows), across = divide(matrix.mode(1), cols);
  Layout all;
  for (int m = 0; m < 2; ++m) {
    all.begin_mode();
    for (int p = down.begin(m); p < down.end(m); ++p) all.add(down.part(p));
    for (int p = across.begin(m); p < across.end(m); ++p) all.add(across.part(p));
  }
  return all;
}

// (tile, copies): mode 0 is `tile`, mode 1 repeats it, in the order of `by`, where it leaves room.
RIDGE_ON_BOTH constexpr Layout product(const Layout& tile, const Layout& by) {
  const Layout room = complement(tile, tile.size() * by.cosize());
  return joined(detail::as_one_mode(tile), detail::as_one_mode(compose(room, by)));
}

// --- Swizzles ---

// Exclusive-ors `bits` bits of an offset, `shift` further up, into those from bit `base` on. Each
// offset keeps its place in a piece of 2^base, and pieces of 2^(base + bits) only exchange theirs.
// Swizzle{3, 4, 3} on bytes is the 128-byte swizzle of tensor maps and wgmma: the 16-byte chunk of
// a 128-byte row is exclusive-ored with the row's number modulo 8.
struct Swizzle {
  int bits = 0, base = 0, shift = 0;

  RIDGE_ON_BOTH constexpr int64_t operator()(int64_t offset) const {
    const int64_t mask = ((int64_t(1) << bits) - 1) << (base + shift);
    return offset ^ ((offset & mask) >> shift);
  }
  friend constexpr bool operator==(const Swizzle&, const Swizzle&) = default;
};
inline constexpr Swizzle kSwizzle128 = {3, 4, 3}, kSwizzle64 = {2, 4, 3}, kSwizzle32 = {1, 4, 3};

}  // namespace ridge::layouts

#undef RIDGE_ON_BOTH
