#include "kernels/embedding/embedding.h"
#include "ladder/family.h"
#include "operator/memory_order.h"

namespace ridge::embedding {

// One launch for each run of tokens that lie one after another.
Status bind(const Call& call, Launch<Args>& launch) {
  const bool backward = call.op().name == "embedding_backward";
  const Tensor& tokens = call["tokens"];
  const char* const table_name = backward ? "dtable" : "table";
  const Tensor &table = call[table_name], &rows = call[backward ? "dy" : "out"];
  if (rows.elements() == 0) return Status::ok();

  Tensor heads = rows;  // the first element of each row
  heads.rank = tokens.rank;
  const auto t = ops::in_memory_order<2>({&tokens, &heads}, 0);
  const int last = t[0].rank - 1;
  ops::Check check(call.op().name.c_str());
  check.that(table.shape[0] > 0, [&] { return std::string(table_name) + " has no rows"; });
  check.that(last < 0 || t[0].strides[size_t(last)] == 1, [&] {
    return "tokens has strides " + ops::strides_text(tokens) +
           "; it must have a dimension in which its stride is 1";
  });
  if (!check) return check.status();

  const int64_t dim = table.shape[1];
  Args args = {.backward = backward,
               .count = last < 0 ? 1 : t[0].shape[size_t(last)],
               .vocab = table.shape[0],
               .dim = dim,
               .table_stride = table.strides[0],
               .row_stride = last < 0 ? dim : t[1].strides[size_t(last)],
               .dtype = rows.dtype};
  if (backward) args.dtable = static_cast<float*>(table.data);
  else args.table = table.data;
  return ops::each_outer<2>(t, 1, [&](const std::array<void*, 2>& data) {
    args.tokens = static_cast<const int32_t*>(data[0]);
    if (backward) args.dy = data[1];
    else args.out = data[1];
    return launch(args);
  });
}

}  // namespace ridge::embedding
