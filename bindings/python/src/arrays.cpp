#include "arrays.h"

#include <array>
#include <cstring>
#include <unordered_map>

#include "library.h"

namespace ridge::python {
namespace {

// The formats of Ridge that array libraries have. DLPack's code and bits; the buffer protocol's
// letters, which differ between machines for the same size.
struct Format {
  std::uint8_t dtype;
  const char* name;
  std::uint8_t code, bits;
  const char* letters;  // with an element of this many bits
};
constexpr Format kFormats[] = {
    {RIDGE_F32, "f32", dlpack::kFloat, 32, "f"},
    {RIDGE_F16, "f16", dlpack::kFloat, 16, "e"},
    {RIDGE_BF16, "bf16", dlpack::kBfloat, 16, ""},
    {RIDGE_F64, "f64", dlpack::kFloat, 64, "d"},
    {RIDGE_I32, "i32", dlpack::kInt, 32, "il"},
    {RIDGE_I64, "i64", dlpack::kInt, 64, "lq"},
    {RIDGE_U32, "u32", dlpack::kUint, 32, "IL"},
    {RIDGE_U8, "u8", dlpack::kUint, 8, "B"},
    {RIDGE_I8, "i8", dlpack::kInt, 8, "b"},
    {RIDGE_E4M3, "e4m3", dlpack::kE4m3, 8, ""},
    {RIDGE_E5M2, "e5m2", dlpack::kE5m2, 8, ""},
    {RIDGE_UE8M0, "ue8m0", dlpack::kE8m0, 8, ""},
    // Only from bytes, and from what see_as() knows: no library has them in a byte each.
    {RIDGE_UE4M3, "ue4m3", dlpack::kE4m3, 8, ""},
    {RIDGE_E2M1, "e2m1", dlpack::kUint, 4, ""},
    {RIDGE_NF4, "nf4", dlpack::kUint, 4, ""},
};
// NumPy's names of formats that its buffers cannot show, and what they can be seen as.
struct Renamed {
  const char* name;
  const char* as;
  std::uint8_t dtype;
};
constexpr Renamed kRenamed[] = {{"bfloat16", "uint16", RIDGE_BF16},
                                {"float8_e4m3fn", "uint8", RIDGE_E4M3},
                                {"float8_e5m2", "uint8", RIDGE_E5M2},
                                {"float8_e8m0fnu", "uint8", RIDGE_UE8M0}};

const Format* find(std::uint8_t dtype) {
  for (const Format& f : kFormats)
    if (f.dtype == dtype) return &f;
  return nullptr;
}

const char* known_formats() {
  return "f32, f16, bf16, f64, i64, i32, u32, i8, u8, bool, e4m3, e5m2 and ue8m0";
}

[[noreturn]] void wrong(const std::string& what, const std::string& why) {
  throw Failure("ArgumentError", what + " " + why);
}

std::string type_name(PyObject* object) { return Py_TYPE(object)->tp_name; }

}  // namespace

std::size_t bits_of(std::uint8_t dtype) {
  const Format* const f = find(dtype);
  return f ? f->bits : 0;
}
bool find_dtype(const std::string& name, std::uint8_t& dtype) {
  for (const Format& f : kFormats)
    if (name == f.name) {
      dtype = f.dtype;
      return true;
    }
  return false;
}
const char* name_of(std::uint8_t dtype) {
  const Format* const f = find(dtype);
  return f ? f->name : "?";
}
dlpack::DataType dlpack_type(std::uint8_t dtype) {
  const Format* const f = find(dtype);
  if (f && f->bits == 4) return {dlpack::kUint, 8, 1};
  return f ? dlpack::DataType{f->code, f->bits, 1} : dlpack::DataType{};
}
RidgeTensor in_bytes(const RidgeTensor& tensor) {
  RidgeTensor bytes = tensor;
  if (bits_of(tensor.dtype) != 4 || tensor.rank == 0) return bytes;
  bytes.dtype = RIDGE_U8;
  std::int64_t stride = 1;
  for (int d = bytes.rank; --d >= 0;) {
    if (d == bytes.rank - 1) bytes.shape[d] = (bytes.shape[d] + 1) / 2;
    bytes.strides[d] = stride;
    stride *= bytes.shape[d];
  }
  return bytes;
}

const dlpack::ExchangeApi* exchange_api(PyTypeObject* type) {
  static std::unordered_map<PyTypeObject*, const dlpack::ExchangeApi*> known;
  if (const auto at = known.find(type); at != known.end()) return at->second;
  const dlpack::ExchangeApi* api = nullptr;
  const Object capsule = Object::taken(
      PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__dlpack_c_exchange_api__"));
  if (capsule && PyCapsule_IsValid(capsule.get(), "dlpack_exchange_api"))
    api = static_cast<const dlpack::ExchangeApi*>(
        PyCapsule_GetPointer(capsule.get(), "dlpack_exchange_api"));
  PyErr_Clear();
  while (api && api->version.major > 1) api = api->older;
  if (api && !api->view_of) api = nullptr;
  Py_INCREF(type);  // the map keeps it
  known.emplace(type, api);
  return api;
}

Torch& torch() {
  static Torch known;
  return known;
}

Array::~Array() {
  if (buffer_.obj) PyBuffer_Release(&buffer_);
}

void Array::take(PyObject* object, const std::string& what, bool written) {
  if (take_exchange(object, what) || take_buffer(object, what, written) ||
      take_renamed(object, what, written) || take_dlpack(object, what, written))
    return;
  wrong(what, "is a " + type_name(object) +
                  "; it has to be an array: of NumPy, of PyTorch, or anything with __dlpack__ or a "
                  "buffer");
}

void Array::see_as(std::uint8_t dtype, const std::string& what) {
  const bool is_unsigned = dtype == RIDGE_UE4M3 && tensor.dtype == RIDGE_E4M3;
  const bool is_bytes = tensor.dtype == RIDGE_U8 && !was_bool;
  if (!is_bytes && !is_unsigned) return;
  if (bits_of(dtype) == 4) {
    if (tensor.rank == 0) wrong(what, "has no dimension; bytes with two elements each have one");
    std::int64_t stride = 1;
    for (int d = tensor.rank; --d >= 0; stride *= tensor.shape[d])
      if (tensor.shape[d] != 1 && tensor.strides[d] != stride)
        wrong(what,
              "has gaps or another order; bytes with two elements each have to be contiguous");
    for (int d = 0; d < tensor.rank - 1; ++d) tensor.strides[d] *= 2;
    tensor.shape[tensor.rank - 1] *= 2;
  }
  tensor.dtype = dtype;
}

void Array::take(const dlpack::Tensor& from, const std::string& what) {
  const Format* format = nullptr;
  for (const Format& f : kFormats)
    if (!format && f.code == from.dtype.code && f.bits == from.dtype.bits && from.dtype.lanes == 1)
      format = &f;
  // PyTorch's float4_e2m1fn_x2: one element of it is a pair, and a byte.
  const bool are_pairs = from.dtype.code == dlpack::kE2m1 && from.dtype.lanes == 2;
  if (are_pairs) format = find(RIDGE_U8);
  was_bool = from.dtype.code == dlpack::kBool && from.dtype.bits == 8;
  if (was_bool) format = find(RIDGE_U8);
  if (!format)
    wrong(what, "has a format of numbers that Ridge does not have (DLPack code " +
                    std::to_string(from.dtype.code) + ", " + std::to_string(from.dtype.bits) +
                    " bits); it has " + known_formats());
  if (from.rank > RIDGE_MAX_RANK)
    wrong(what, "has " + std::to_string(from.rank) + " dimensions; up to " +
                    std::to_string(RIDGE_MAX_RANK) + " are possible");
  tensor.data = static_cast<char*>(from.data) + from.byte_offset;
  tensor.dtype = format->dtype;
  tensor.rank = from.rank;
  device = from.device;
  std::int64_t stride = 1;
  for (int d = from.rank; --d >= 0;) {
    tensor.shape[d] = from.shape[d];
    tensor.strides[d] = from.strides ? from.strides[d] : stride;
    stride *= from.shape[d];
  }
  if (are_pairs) see_as(RIDGE_E2M1, what);
}

bool Array::take_exchange(PyObject* object, const std::string& what) {
  api = exchange_api(Py_TYPE(object));
  if (!api) return false;
  dlpack::Tensor view;
  maker = torch().is_tensor(object) ? Maker::torch : Maker::exchange;
  if (api->view_of(object, &view)) {
    if (maker != Maker::torch) throw PythonError();
    PyErr_Clear();
    throw OnlyDispatched();
  }
  take(view, what);
  return true;
}

bool Array::take_buffer(PyObject* object, const std::string& what, bool written) {
  if (!PyObject_CheckBuffer(object)) return false;
  if (PyObject_GetBuffer(object, &buffer_, written ? PyBUF_RECORDS : PyBUF_RECORDS_RO)) {
    buffer_.obj = nullptr;
    PyErr_Clear();
    Py_buffer any = {};
    if (written && !PyObject_GetBuffer(object, &any, PyBUF_RECORDS_RO)) {
      PyBuffer_Release(&any);
      wrong(what, "is read-only, but the operator writes to it");
    }
    PyErr_Clear();
    return false;
  }
  const char* letter = buffer_.format ? buffer_.format : "B";
  while (*letter && std::strchr("@=<", *letter)) ++letter;
  const Format* format = nullptr;
  for (const Format& f : kFormats)
    if (f.bits == buffer_.itemsize * 8 && *letter && !letter[1] && std::strchr(f.letters, *letter))
      format = &f;
  was_bool = !std::strcmp(letter, "?");
  if (was_bool) format = find(RIDGE_U8);
  if (!format)
    wrong(what, std::string("has numbers of the format '") + buffer_.format +
                    "', which Ridge does not have; it has " + known_formats());
  if (buffer_.ndim > RIDGE_MAX_RANK)
    wrong(what, "has " + std::to_string(buffer_.ndim) + " dimensions; up to " +
                    std::to_string(RIDGE_MAX_RANK) + " are possible");
  tensor.data = buffer_.buf;
  tensor.dtype = format->dtype;
  tensor.rank = buffer_.ndim;
  for (int d = 0; d < buffer_.ndim; ++d) {
    if (buffer_.strides[d] % buffer_.itemsize)
      wrong(what, "has a stride of " + std::to_string(buffer_.strides[d]) +
                      " bytes, which is no multiple of its elements' " +
                      std::to_string(buffer_.itemsize) + "; copy it first");
    tensor.shape[d] = buffer_.shape[d];
    tensor.strides[d] = buffer_.strides[d] / buffer_.itemsize;
  }
  maker = Maker::buffer;
  return true;
}

bool Array::take_renamed(PyObject* object, const std::string& what, bool written) {
  const Object type = Object::taken(PyObject_GetAttrString(object, "dtype"));
  const Object name = Object::taken(type ? PyObject_GetAttrString(type.get(), "name") : nullptr);
  const char* const text = name && PyUnicode_Check(name.get()) ? PyUnicode_AsUTF8(name.get()) : "";
  PyErr_Clear();
  for (const Renamed& renamed : kRenamed) {
    if (std::strcmp(text, renamed.name)) continue;
    owner_ = or_throw(PyObject_CallMethod(object, "view", "s", renamed.as));
    // Not every name is a buffer's; these are, by their sizes.
    Py_buffer seen = {};
    if (PyObject_GetBuffer(owner_.get(), &seen, written ? PyBUF_RECORDS : PyBUF_RECORDS_RO)) {
      PyErr_Clear();
      wrong(what, "is read-only, but the operator writes to it");
    }
    buffer_ = seen;
    tensor.data = seen.buf;
    tensor.dtype = renamed.dtype;
    tensor.rank = seen.ndim;
    if (seen.ndim > RIDGE_MAX_RANK) wrong(what, "has too many dimensions");
    for (int d = 0; d < seen.ndim; ++d) {
      tensor.shape[d] = seen.shape[d];
      tensor.strides[d] = seen.strides[d] / seen.itemsize;
    }
    maker = Maker::buffer;
    return true;
  }
  return false;
}

bool Array::take_dlpack(PyObject* object, const std::string& what, bool written) {
  if (!PyObject_HasAttrString(object, "__dlpack__")) return false;
  Object empty = or_throw(PyTuple_New(0));
  Object options = or_throw(Py_BuildValue("{s:(ii)}", "max_version", 1, 3));
  Object method = or_throw(PyObject_GetAttrString(object, "__dlpack__"));
  owner_ = Object::taken(PyObject_Call(method.get(), empty.get(), options.get()));
  if (!owner_ && PyErr_ExceptionMatches(PyExc_TypeError)) {  // from before DLPack 1.0
    PyErr_Clear();
    owner_ = Object::taken(PyObject_CallNoArgs(method.get()));
  }
  if (!owner_) throw PythonError();
  // A capsule that nobody consumes frees its tensor when it goes: after the call, with owner_.
  if (PyCapsule_IsValid(owner_.get(), "dltensor_versioned")) {
    const auto* const managed = static_cast<dlpack::ManagedTensor*>(
        PyCapsule_GetPointer(owner_.get(), "dltensor_versioned"));
    if (written && managed->flags & dlpack::kReadOnly)
      wrong(what, "is read-only, but the operator writes to it");
    take(managed->tensor, what);
  } else if (PyCapsule_IsValid(owner_.get(), "dltensor")) {
    take(static_cast<dlpack::OldManagedTensor*>(PyCapsule_GetPointer(owner_.get(), "dltensor"))
             ->tensor,
         what);
  } else {
    wrong(what, "gives no DLPack capsule");
  }
  maker = Maker::dlpack;
  return true;
}

}  // namespace ridge::python
