#include "vm/isa/wgmma_columns.h"

#include <algorithm>

namespace ridge::vm {
namespace {

using namespace tensor;

template <Type K>
void convert_dense(ConvertedColumns& b) {
  const size_t count = b.tiles.size() / 2;
  b.dense.resize(count);
  b.ordinary.resize(count);
  for (size_t t = 0; t < count; ++t) {
    const uint32_t* pair[] = {b.tiles[2 * t].at, b.tiles[2 * t + 1].at};
    b.ordinary[t] = load_dense<K>(b.dense[t], pair);
  }
}
void convert_groups(ConvertedColumns& b, Element e) {
  const uint32_t count = uint32_t(b.tiles.size() / 2);
  b.groups.resize((count + kGroupTiles - 1) / kGroupTiles);
  b.ordinary.resize(b.groups.size());
  for (uint32_t g = 0; g < b.groups.size(); ++g) {
    const uint32_t first = kGroupTiles * g;
    b.ordinary[g] =
        load_factors(b.groups[g], e, b.tiles[2 * first].at, std::min(kGroupTiles, count - first));
  }
}
void convert(ConvertedColumns& b, Element e) {
  b.dense.clear();
  b.groups.clear();
  if (!can_multiply_dense() || bits_of(e) != 16) convert_groups(b, e);
  else if (e == Element::f16) convert_dense<Type::f16>(b);
  else convert_dense<Type::bf16>(b);
}

class Cache {
 public:
  const ConvertedColumns& find(const uint8_t* shared, uint64_t descriptor, const WgmmaOperands& o) {
    const uint32_t tiles = o.form.n / 8;
    const uint32_t key = tiles << 5 | uint32_t(o.form.b) << 1 | uint32_t(o.transposed_b);
    Entry* found = nullptr;
    for (Entry& entry : entries_)
      if (entry.key == key && entry.descriptor == descriptor) found = &entry;
    const bool known = found;
    if (!found) found = &entries_[next_++ % entries_.size()];
    ConvertedColumns& columns = found->columns;
    columns.tiles.resize(2 * tiles);
    const SharedOperand b(descriptor, o.transposed_b);
    if (!b.read_pairs(shared, tiles, columns.tiles[0].at) && known) return columns;
    found->descriptor = descriptor;
    found->key = key;
    convert(columns, o.form.b);
    return columns;
  }

 private:
  struct Entry {
    uint64_t descriptor = 0;
    uint32_t key = 0;  // of the form; 0: nothing yet
    ConvertedColumns columns;
  };
  // A warp may be a whole pipeline of tiles ahead of the others: eight stages of four steps of K.
  // Not in the object itself: a library that is loaded late gets little thread-local memory.
  std::vector<Entry> entries_ = std::vector<Entry>(32);
  size_t next_ = 0;
};

}  // namespace

const ConvertedColumns& convert_columns(const uint8_t* shared, uint64_t descriptor,
                                        const WgmmaOperands& operands) {
  thread_local Cache cache;
  return cache.find(shared, descriptor, operands);
}

}  // namespace ridge::vm
