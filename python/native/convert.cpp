#include "convert.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "assay/error.h"
#include "calls.h"

namespace assay::python {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are exchanged in little-endian order");

/// A reference that may be dropped by any thread.
struct Kept {
  explicit Kept(nb::handle object) : object(object.inc_ref()) {}
  ~Kept() {
    if (has_ended()) return;
    const Locked lock;
    object.dec_ref();
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  nb::handle object;
};

/// A view of an object's buffer, given back by any thread.
struct View {
  View() = default;
  ~View() {
    if (!is_held || has_ended()) return;
    const Locked lock;
    PyBuffer_Release(&buffer);
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  Py_buffer buffer = {};
  bool is_held = false;
};

std::string kind_of(nb::handle object) {
  return nb::cast<std::string>(nb::str(object.type().attr("__name__")));
}

struct ForeignName {
  DType dtype;
  std::string_view name;
};
constexpr ForeignName kForeignNames[] = {
    {DType::kFloat8E4M3FN, "float8_e4m3fn"}, {DType::kFloat8E4M3FNUZ, "float8_e4m3fnuz"},
    {DType::kFloat8E5M2, "float8_e5m2"},     {DType::kFloat8E5M2FNUZ, "float8_e5m2fnuz"},
    {DType::kFloat8E8M0, "float8_e8m0fnu"},  {DType::kFloat4E2M1, "float4_e2m1fn"},
    {DType::kFloat6E2M3, "float6_e2m3fn"},   {DType::kFloat6E3M2, "float6_e3m2fn"},
};

std::optional<DType> type_of_name(std::string_view name) {
  for (const ForeignName& f : kForeignNames)
    if (f.name == name) return f.dtype;
  return dtype_from_name(name);
}

nb::module_ numpy() {
  try {
    return nb::module_::import_("numpy");
  } catch (nb::python_error&) {
    throw Error(ErrorCode::kUnsupported, "arrays need NumPy, which cannot be imported")
        .set_remedy("Install it: pip install numpy.");
  }
}

/// Null where ml_dtypes is not installed, or does not have the type.
nb::object ml_dtype(DType dtype) {
  static PyObject* module = [] {
    PyObject* m = PyImport_ImportModule("ml_dtypes");
    if (m == nullptr) PyErr_Clear();
    return m;
  }();
  if (module == nullptr) return {};
  const std::string name(array_type_name(dtype));
  if (!nb::hasattr(nb::handle(module), name.c_str())) return {};
  return nb::handle(module).attr(name.c_str());
}

/// Types that NumPy does not have.
bool is_exotic(DType t) {
  switch (t) {
    case DType::kBFloat16:
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E4M3FNUZ:
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FNUZ:
    case DType::kFloat8E8M0:
      return true;
    default:
      return is_packed(t);
  }
}

// ---- in ----

DType signed_type(Py_ssize_t bytes) {
  return bytes == 1   ? DType::kInt8
         : bytes == 2 ? DType::kInt16
         : bytes == 4 ? DType::kInt32
         : bytes == 8 ? DType::kInt64
                      : DType::kUndefined;
}

DType unsigned_type(Py_ssize_t bytes) {
  return bytes == 1   ? DType::kUInt8
         : bytes == 2 ? DType::kUInt16
         : bytes == 4 ? DType::kUInt32
         : bytes == 8 ? DType::kUInt64
                      : DType::kUndefined;
}

DType complex_type(Py_ssize_t bytes) {
  return bytes == 8 ? DType::kComplex64 : bytes == 16 ? DType::kComplex128 : DType::kUndefined;
}

/// By struct's character and the element's bytes; kUndefined: none of ours.
DType plain_type(char kind, Py_ssize_t bytes, bool is_complex) {
  if (is_complex) return complex_type(bytes);
  if (std::string_view("bhilqn").find(kind) != std::string_view::npos) return signed_type(bytes);
  if (std::string_view("cBHILQN").find(kind) != std::string_view::npos) return unsigned_type(bytes);
  switch (kind) {
    case '?':
      return DType::kBool;
    case 'e':
      return DType::kFloat16;
    case 'f':
      return DType::kFloat32;
    case 'd':
      return DType::kFloat64;
    default:
      return DType::kUndefined;
  }
}

struct Format {
  DType dtype = DType::kUndefined;
  bool swapped = false;  ///< bytes in the other order
  bool is_text = false;  ///< NumPy's texts, bytes or objects
};

Format read_format(const Py_buffer& b) {
  std::string_view text = b.format == nullptr ? "B" : b.format;
  Format f;
  if (!text.empty() && std::string_view("@=<>!").find(text.front()) != std::string_view::npos) {
    f.swapped = (text.front() == '>' || text.front() == '!') && b.itemsize > 1;
    text.remove_prefix(1);
  }
  const bool is_complex = !text.empty() && text.front() == 'Z';
  if (is_complex) text.remove_prefix(1);
  if (text.size() == 1 && text != "O" && text != "s" && text != "w")
    f.dtype = plain_type(text.front(), b.itemsize, is_complex);
  f.is_text = !text.empty() && (text.back() == 's' || text.back() == 'w' || text == "O");
  return f;
}

void swap_elements(Tensor& t) {
  const size_t bytes = static_cast<size_t>(bit_width(t.dtype())) / 8 / (is_complex(t.dtype()) ? 2 : 1);
  auto* p = static_cast<char*>(t.mutable_data());
  for (char* end = p + t.nbytes(); p < end; p += bytes) std::reverse(p, p + bytes);
}

/// Element by element, of a buffer in whatever order.
Tensor copied(Py_buffer& b, const Format& format, Shape shape) {
  Tensor t = Tensor::allocate(format.dtype, std::move(shape));
  if (t.nbytes() > 0) {
    const int failed = PyBuffer_ToContiguous(t.mutable_data(), &b, b.len, 'C');
    if (failed != 0) throw nb::python_error();
    if (format.swapped) swap_elements(t);
  }
  return t;
}

void append_text(nb::handle element, std::vector<std::string>& out, const std::string& what) {
  if (PyUnicode_Check(element.ptr())) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(element.ptr(), &size);
    if (data == nullptr) throw nb::python_error();
    out.emplace_back(data, static_cast<size_t>(size));
  } else if (PyBytes_Check(element.ptr())) {
    const nb::bytes b = nb::borrow<nb::bytes>(element);
    out.emplace_back(b.c_str(), b.size());
  } else {
    fail(ErrorCode::kInvalidArgument, "{} holds a {} where a text was expected", what, kind_of(element));
  }
}

Tensor texts(nb::handle array, const std::string& what) {
  const Shape shape = to_shape(array.attr("shape"), what);
  std::vector<std::string> list;
  list.reserve(static_cast<size_t>(shape.numel()));
  for (nb::handle element : nb::object(array.attr("ravel")().attr("tolist")()))
    append_text(element, list, what);
  return Tensor::from<std::string>(shape, list);
}

Tensor from_buffer(nb::handle object, std::shared_ptr<View> view, const std::string& what) {
  Py_buffer& b = view->buffer;
  const Format format = read_format(b);
  if (format.is_text && nb::hasattr(object, "ravel")) return texts(object, what);
  if (format.dtype == DType::kUndefined)
    fail(ErrorCode::kInvalidArgument, "{} has elements of the type '{}', which no tensor can hold", what,
         b.format == nullptr ? "?" : b.format);
  Shape shape(b.shape, b.shape + b.ndim);
  if (format.swapped || PyBuffer_IsContiguous(&b, 'C') == 0 || !is_aligned_for(format.dtype, b.buf))
    return copied(b, format, std::move(shape));
  const void* data = b.buf;
  return Tensor::view(format.dtype, std::move(shape), data, std::move(view));
}

/// One element a byte to several.
Tensor packed(DType dtype, const Tensor& bytes) {
  Tensor t = Tensor::zeros(dtype, bytes.shape());
  const int width = bit_width(dtype);
  const auto* in = static_cast<const uint8_t*>(bytes.data());
  auto* out = static_cast<uint8_t*>(t.mutable_data());
  const auto mask = static_cast<uint8_t>((1 << width) - 1);
  for (int64_t i = 0; i < t.numel(); ++i) {
    const int64_t at = i * width;
    const int shifted = (in[i] & mask) << (at % 8);
    out[at / 8] |= static_cast<uint8_t>(shifted);
    if (shifted > 255) out[at / 8 + 1] |= static_cast<uint8_t>(shifted >> 8);
  }
  return t;
}

Tensor unpacked(const Tensor& t) {
  Tensor out = Tensor::allocate(DType::kUInt8, t.shape());
  const int width = bit_width(t.dtype());
  const auto* in = static_cast<const uint8_t*>(t.data());
  auto* bytes = static_cast<uint8_t*>(out.mutable_data());
  const int mask = (1 << width) - 1;
  for (int64_t i = 0; i < t.numel(); ++i) {
    const int64_t at = i * width;
    int bits = in[at / 8] >> (at % 8);
    if (at % 8 + width > 8) bits |= in[at / 8 + 1] << (8 - at % 8);
    bits &= mask;
    if (is_signed_integer(t.dtype()) && (bits >> (width - 1)) != 0) bits |= 0xff & ~mask;
    bytes[i] = static_cast<uint8_t>(bits);
  }
  return out;
}

std::shared_ptr<View> view_of(nb::handle object) {
  auto view = std::make_shared<View>();
  if (PyObject_GetBuffer(object.ptr(), &view->buffer, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
    PyErr_Clear();
    return nullptr;
  }
  view->is_held = true;
  return view;
}

/// An array of ml_dtypes, whose buffer NumPy does not show: by the integers of its bits.
std::optional<Tensor> from_exotic(nb::handle object, const std::string& what) {
  if (!nb::hasattr(object, "dtype") || !nb::hasattr(object, "view")) return std::nullopt;
  const nb::object name = nb::getattr(object.attr("dtype"), "name", nb::none());
  if (!nb::isinstance<nb::str>(name)) return std::nullopt;
  const std::optional<DType> dtype = type_of_name(nb::cast<std::string>(name));
  if (!dtype || !is_exotic(*dtype)) return std::nullopt;
  const nb::object bits = object.attr("view")(bit_width(*dtype) == 16 ? "uint16" : "uint8");
  const std::shared_ptr<View> view = view_of(bits);
  if (view == nullptr) return std::nullopt;
  const Tensor t = from_buffer(bits, view, what);
  return is_packed(*dtype) ? packed(*dtype, t) : t.bitcast(*dtype);
}

DType dlpack_type(nb::dlpack::dtype t) {
  if (t.lanes != 1) return DType::kUndefined;
  switch (static_cast<nb::dlpack::dtype_code>(t.code)) {
    case nb::dlpack::dtype_code::Bool:
      return DType::kBool;
    case nb::dlpack::dtype_code::Int:
      return plain_type('i', t.bits / 8, false);
    case nb::dlpack::dtype_code::UInt:
      return plain_type('B', t.bits / 8, false);
    case nb::dlpack::dtype_code::Float:
      return t.bits == 16   ? DType::kFloat16
             : t.bits == 32 ? DType::kFloat32
             : t.bits == 64 ? DType::kFloat64
                            : DType::kUndefined;
    case nb::dlpack::dtype_code::Complex:
      return plain_type(0, t.bits / 8, true);
    case nb::dlpack::dtype_code::Bfloat:
      return t.bits == 16 ? DType::kBFloat16 : DType::kUndefined;
    default:
      return DType::kUndefined;
  }
}

/// An array on the CPU, as DLPack describes it.
struct Exchanged {
  DType dtype = DType::kUndefined;
  Shape shape;
  bool is_row_major = true;
};

template <typename Array>
Exchanged read_exchanged(const Array& array, const std::string& what) {
  if (array.device_type() != nb::device::cpu::value)
    throw Error(ErrorCode::kInvalidArgument, what + " lies on a device, and the engine runs on the CPU")
        .set_remedy("Copy it first, as tensor.cpu() does.");
  Exchanged e{.dtype = dlpack_type(array.dtype()), .shape = {}, .is_row_major = true};
  require(e.dtype != DType::kUndefined, ErrorCode::kInvalidArgument,
          "{} has elements of a DLPack type (code {}, {} bits) that no tensor can hold", what,
          array.dtype().code, array.dtype().bits);
  for (size_t i = 0; i < array.ndim(); ++i) e.shape.push_back(static_cast<int64_t>(array.shape(i)));
  const std::vector<int64_t> strides = e.shape.strides();
  for (size_t i = 0; i < array.ndim(); ++i)
    e.is_row_major = e.is_row_major && (e.shape[i] <= 1 || array.stride(i) == strides[i]);
  return e;
}

/// The capsule of an object that exchanges by DLPack; of others the object itself. Once read, a capsule says
/// so: an object that gives the same one twice is refused, not freed twice.
nb::object capsule_of(nb::handle object, const std::string& what) {
  if (!nb::hasattr(object, "__dlpack__")) return nb::borrow(object);
  try {
    const nb::object give = object.attr("__dlpack__");
    try {
      return give(nb::arg("max_version") = nb::make_tuple(1, 1));
    } catch (nb::python_error& e) {
      if (!e.matches(PyExc_TypeError)) throw;
    }
    return give();  // an older producer
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_Exception)) throw;
    fail(ErrorCode::kInvalidArgument, "{}: a {} could not be read through DLPack: {}", what, kind_of(object),
         nb::cast<std::string>(nb::str(e.value())));
  }
}

/// Kept as long as the tensor, with the object that it is of; given back with the lock held.
template <typename Array>
std::shared_ptr<const void> keep_exchanged(Array array, nb::handle object, const void* data) {
  auto* kept = new std::pair<nb::object, Array>(nb::borrow(object), std::move(array));
  return {data, [kept](const void*) {
            if (has_ended()) return;
            const Locked lock;
            delete kept;
          }};
}

Tensor from_numbers(nb::handle object, const std::string& what, DType wanted);

Tensor from_dlpack(nb::handle object, const std::string& what, DType wanted) {
  nb::ndarray<nb::ro> array;
  if (!nb::try_cast(capsule_of(object, what), array)) {
    // Older releases of PyTorch do not exchange bool.
    if (nb::hasattr(object, "__array__")) return from_numbers(object, what, wanted);
    fail(ErrorCode::kInvalidArgument, "{}: a {} could not be read through DLPack", what, kind_of(object));
  }
  const Exchanged e = read_exchanged(array, what);
  if (!e.is_row_major) {
    nb::object copy = object.attr("contiguous")();  // torch; others fail with their own words
    return from_dlpack(copy, what, wanted);
  }
  if (e.shape.numel() == 0) return Tensor::allocate(e.dtype, e.shape);
  const void* data = array.data();
  require(is_aligned_for(e.dtype, data), ErrorCode::kInvalidArgument, "{} is misaligned for its type", what);
  return Tensor::view(e.dtype, e.shape, data, keep_exchanged(std::move(array), object, data));
}

Tensor memory_of_dlpack(nb::handle object, const std::string& what) {
  nb::ndarray<> array;
  Exchanged e;
  if (nb::try_cast(capsule_of(object, what), array)) e = read_exchanged(array, what);
  if (!array.is_valid() || !e.is_row_major)
    fail(ErrorCode::kInvalidArgument, "{} is not a writable, row-major array", what);
  const void* data = array.data();
  require(e.shape.numel() == 0 || is_aligned_for(e.dtype, data), ErrorCode::kInvalidArgument,
          "{} is misaligned, or in another byte order", what);
  return Tensor::view(e.dtype, e.shape, data, keep_exchanged(std::move(array), object, data));
}

nb::object numpy_name(DType dtype) {
  return nb::str(dtype == DType::kString ? "object" : std::string(array_type_name(dtype)).c_str());
}

/// Numbers, lists of them, and whatever NumPy makes an array of.
Tensor from_numbers(nb::handle object, const std::string& what, DType wanted) {
  nb::object array;
  try {
    const bool typed = wanted != DType::kUndefined && !is_container(wanted) && !is_exotic(wanted);
    array = typed ? numpy().attr("asarray")(object, nb::arg("dtype") = numpy_name(wanted))
                  : numpy().attr("asarray")(object);
    if (is_exotic(wanted) && ml_dtype(wanted).is_valid()) array = array.attr("astype")(ml_dtype(wanted));
  } catch (nb::python_error& e) {
    fail(ErrorCode::kInvalidArgument, "{}: a {} is no array: {}", what, kind_of(object),
         nb::cast<std::string>(nb::str(e.value())));
  }
  if (std::optional<Tensor> t = from_exotic(array, what)) return *std::move(t);
  if (std::shared_ptr<View> view = view_of(array)) return from_buffer(array, std::move(view), what);
  fail(ErrorCode::kInvalidArgument, "{} has elements of the type '{}', which no tensor can hold", what,
       nb::cast<std::string>(nb::str(array.attr("dtype"))));
}

// ---- out ----

nb::dlpack::dtype exported_type(DType t) {
  using Code = nb::dlpack::dtype_code;
  const auto bits = static_cast<uint8_t>(std::max(8, bit_width(t)));
  if (t == DType::kBool) return {static_cast<uint8_t>(Code::Bool), 8, 1};
  if (is_complex(t)) return {static_cast<uint8_t>(Code::Complex), bits, 1};
  if (is_exotic(t)) return {static_cast<uint8_t>(Code::UInt), bits, 1};
  if (is_float(t)) return {static_cast<uint8_t>(Code::Float), bits, 1};
  return {static_cast<uint8_t>(is_signed_integer(t) ? Code::Int : Code::UInt), bits, 1};
}

nb::object number_array(DType dtype, const Shape& shape, const void* data, nb::handle owner, bool read_only) {
  if (shape.numel() == 0) return numpy().attr("empty")(from_shape(shape), numpy_name(dtype));
  std::vector<size_t> extents(shape.begin(), shape.end());
  void* start = const_cast<void*>(data);  // `ro` keeps NumPy from writing
  try {
    if (read_only)
      return nb::cast(nb::ndarray<nb::numpy, nb::ro>(start, extents.size(), extents.data(), owner, nullptr,
                                                     exported_type(dtype)));
    return nb::cast(
        nb::ndarray<nb::numpy>(start, extents.size(), extents.data(), owner, nullptr, exported_type(dtype)));
  } catch (nb::python_error&) {
    numpy();  // says what is missing, if that is it
    throw;
  }
}

nb::object text_array(const Tensor& t) {
  nb::object array = numpy().attr("empty")(t.numel(), nb::str("object"));
  int64_t i = 0;
  for (const std::string& s : t.span<std::string>()) array[nb::int_(i++)] = to_text(s);
  return array.attr("reshape")(from_shape(t.shape()));
}

nb::object container(const Tensor& t) {
  const std::span<const Tensor> elements = t.elements();
  if (t.dtype() == DType::kOptional) return elements.empty() ? nb::none() : to_array(elements[0]);
  if (t.dtype() == DType::kSequence) {
    nb::list list;
    for (const Tensor& e : elements) list.append(to_array(e));
    return list;
  }
  nb::dict map;
  const nb::object keys = to_array(elements[0]), values = to_array(elements[1]);
  nb::list key_list(keys.attr("tolist")());
  for (size_t i = 0; i < key_list.size(); ++i) map[key_list[i]] = values[nb::int_(i)];
  return map;
}

nb::object exotic_array(const Tensor& t, nb::handle owner, bool read_only) {
  const Tensor bytes = is_packed(t.dtype()) ? unpacked(t) : Tensor();
  nb::object array =
      bytes.defined() ? to_array(bytes) : number_array(t.dtype(), t.shape(), t.data(), owner, read_only);
  const nb::object dtype = ml_dtype(t.dtype());
  return dtype.is_valid() ? array.attr("view")(dtype) : array;
}

template <typename T>
nb::capsule owner_of(const T& tensor) {
  return nb::capsule(new T(tensor), [](void* p) noexcept { delete static_cast<T*>(p); });
}

}  // namespace

std::string_view array_type_name(DType dtype) {
  for (const ForeignName& f : kForeignNames)
    if (f.dtype == dtype) return f.name;
  return dtype_name(dtype);
}

Tensor to_tensor(nb::handle object, const std::string& what, DType wanted) {
  if (object.is_none()) fail(ErrorCode::kInvalidArgument, "{} is None", what);
  if (std::shared_ptr<View> view = view_of(object); view != nullptr && !PyBytes_Check(object.ptr()))
    return from_buffer(object, std::move(view), what);
  if (std::optional<Tensor> t = from_exotic(object, what)) return *std::move(t);
  if (!nb::hasattr(object, "__array_interface__") && nb::hasattr(object, "__dlpack__"))
    return from_dlpack(object, what, wanted);
  return from_numbers(object, what, wanted);
}

Tensor to_memory(nb::handle object, const std::string& what) {
  auto view = std::make_shared<View>();
  if (PyObject_GetBuffer(object.ptr(), &view->buffer, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS) != 0) {
    PyErr_Clear();
    return memory_of_dlpack(object, what);
  }
  view->is_held = true;
  const Tensor seen = to_tensor(object, what);
  require(seen.nbytes() == 0 || seen.data() == view->buffer.buf, ErrorCode::kInvalidArgument,
          "{} is misaligned, or in another byte order", what);
  const void* data = view->buffer.buf;
  return Tensor::view(seen.dtype(), seen.shape(), data, std::move(view));
}

nb::object to_array(const Tensor& t, bool read_only) {
  if (!t.defined()) return nb::none();
  if (t.is_container()) return container(t);
  if (t.dtype() == DType::kString) return text_array(t);
  if (is_exotic(t.dtype())) return exotic_array(t, owner_of(t), read_only);
  return number_array(t.dtype(), t.shape(), t.data(), owner_of(t), read_only);
}

nb::object to_array(const UnalignedTensor& t) {
  if (const Tensor* aligned = t.if_aligned()) return to_array(*aligned, /*read_only=*/true);
  if (is_exotic(t.dtype())) return to_array(t.aligned(), /*read_only=*/true);
  // NumPy reads from any address.
  return number_array(t.dtype(), t.shape(), t.data(), owner_of(t), /*read_only=*/true);
}

TensorList to_tensors(nb::handle dict, const std::string& what) {
  if (!nb::isinstance<nb::dict>(dict))
    fail(ErrorCode::kInvalidArgument, "{} is a {} instead of a dict of arrays by name", what, kind_of(dict));
  TensorList list;
  for (auto [key, value] : nb::borrow<nb::dict>(dict)) {
    std::string name = nb::cast<std::string>(nb::str(key));
    Tensor t = to_tensor(value, what + " '" + name + "'");
    list.push_back({std::move(name), std::move(t)});
  }
  return list;
}

DType to_dtype(nb::handle object) {
  std::string name;
  if (nb::isinstance<nb::str>(object)) {
    name = nb::cast<std::string>(object);
  } else if (nb::isinstance<nb::int_>(object)) {
    const auto number = nb::cast<int64_t>(object);
    if (is_known_dtype(number)) return static_cast<DType>(number);
    fail(ErrorCode::kInvalidArgument, "{} is no number of an ONNX element type", number);
  } else if (nb::hasattr(object, "name")) {
    name = nb::cast<std::string>(nb::str(object.attr("name")));
  } else {
    name = nb::cast<std::string>(nb::str(nb::getattr(object, "__name__", nb::str(object))));
  }
  if (name == "object" || name == "str" || name.starts_with("str")) return DType::kString;
  if (const std::optional<DType> t = type_of_name(name)) return *t;
  throw Error(ErrorCode::kInvalidArgument, "'" + name + "' is no element type")
      .set_remedy("Such names are float32, float16, bfloat16, int64, int8, bool, string.");
}

Dims to_dims(nb::handle object, const std::string& what) {
  Dims dims;
  if (!nb::hasattr(object, "__iter__") || nb::isinstance<nb::str>(object))
    fail(ErrorCode::kInvalidArgument, "{}: a {} is no shape", what, kind_of(object));
  for (nb::handle d : nb::iter(object)) {
    if (d.is_none()) {
      dims.emplace_back();
    } else if (nb::isinstance<nb::str>(d)) {
      dims.push_back(Dim::symbol(nb::cast<std::string>(d)));
    } else {
      const nb::object number = nb::steal(PyNumber_Index(d.ptr()));
      if (!number.is_valid()) {
        PyErr_Clear();
        fail(ErrorCode::kInvalidArgument, "{}: a shape holds a {}", what, kind_of(d));
      }
      const auto value = nb::cast<int64_t>(number);
      dims.push_back(value < 0 ? Dim() : Dim(value));
    }
  }
  return dims;
}

Shape to_shape(nb::handle object, const std::string& what) {
  const Dims dims = to_dims(object, what);
  std::optional<Shape> shape = known_shape(dims);
  if (!shape)
    fail(ErrorCode::kInvalidArgument, "{}: the shape {} has extents that are not numbers from 0 on", what,
         dims_str(dims));
  return *std::move(shape);
}

nb::object from_dims(const std::optional<Dims>& dims) {
  if (!dims) return nb::none();
  nb::list list;
  for (const Dim& d : *dims) {
    if (d.is_known())
      list.append(d.value());
    else if (d.is_symbol())
      list.append(to_text(d.symbol()));
    else
      list.append(nb::none());
  }
  return nb::tuple(list);
}

nb::tuple from_shape(const Shape& shape) {
  nb::list list;
  for (const int64_t d : shape) list.append(d);
  return nb::tuple(list);
}

nb::tuple describe_value(const std::string& name, const Type& type) {
  nb::object dtype =
      type.dtype == DType::kUndefined ? nb::none() : nb::object(to_text(array_type_name(type.dtype)));
  return nb::make_tuple(to_text(name), to_text(type.str()), dtype,
                        type.is_tensor() ? from_dims(type.dims) : nb::none());
}

nb::list describe_values(const std::vector<TensorInfo>& infos) {
  nb::list list;
  for (const TensorInfo& i : infos) list.append(describe_value(i.name, i.type));
  return list;
}

nb::tuple to_parts(nb::handle object, size_t least, const std::string& expected) {
  const bool is_sequence = nb::isinstance<nb::tuple>(object) || nb::isinstance<nb::list>(object);
  if (!is_sequence) fail(ErrorCode::kInvalidArgument, "a {} is no {}", kind_of(object), expected);
  if (nb::len(object) < least)
    fail(ErrorCode::kInvalidArgument, "a {} of {} is no {}", kind_of(object), nb::len(object), expected);
  return nb::tuple(nb::borrow(object));
}

std::vector<std::string> to_names(nb::handle object, const std::string& what) {
  std::vector<std::string> names;
  if (object.is_none()) return names;
  if (nb::isinstance<nb::str>(object)) return {nb::cast<std::string>(object)};
  if (!nb::hasattr(object, "__iter__"))
    fail(ErrorCode::kInvalidArgument, "{}: a {} is no list of names", what, kind_of(object));
  for (nb::handle name : nb::iter(object)) {
    if (!nb::isinstance<nb::str>(name))
      fail(ErrorCode::kInvalidArgument, "{}: a {} is no name", what, kind_of(name));
    names.push_back(nb::cast<std::string>(name));
  }
  return names;
}

std::string to_path(nb::handle object) {
  nb::object path = nb::steal(PyOS_FSPath(object.ptr()));
  if (!path.is_valid()) throw nb::python_error();
  if (PyUnicode_Check(path.ptr())) {
    path = nb::steal(PyUnicode_EncodeFSDefault(path.ptr()));
    if (!path.is_valid()) throw nb::python_error();
  }
  const nb::bytes bytes = nb::borrow<nb::bytes>(path);
  std::string text(bytes.c_str(), bytes.size());
  require(text.find('\0') == std::string::npos, ErrorCode::kInvalidArgument, "a path holds a null character");
  return text;
}

std::vector<std::string> to_paths(nb::handle object, const std::string& what) {
  const auto is_path = [](nb::handle o) {
    return nb::isinstance<nb::str>(o) || nb::isinstance<nb::bytes>(o) || nb::hasattr(o, "__fspath__");
  };
  if (object.is_none()) return {};
  if (is_path(object)) return {to_path(object)};
  if (!nb::hasattr(object, "__iter__"))
    fail(ErrorCode::kInvalidArgument, "{}: a {} is no list of paths", what, kind_of(object));
  std::vector<std::string> paths;
  for (nb::handle path : nb::iter(object)) {
    if (!is_path(path)) fail(ErrorCode::kInvalidArgument, "{}: a {} is no path", what, kind_of(path));
    paths.push_back(to_path(path));
  }
  return paths;
}

nb::str to_text(std::string_view text) {
  nb::object s =
      nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
  if (!s.is_valid()) throw nb::python_error();
  return nb::borrow<nb::str>(s);
}

std::shared_ptr<const void> keep(nb::handle object) { return std::make_shared<const Kept>(object); }

BorrowedBytes borrow_bytes(nb::handle object, const std::string& what) {
  auto view = std::make_shared<View>();
  if (PyObject_GetBuffer(object.ptr(), &view->buffer, PyBUF_SIMPLE) != 0) {
    PyErr_Clear();
    fail(ErrorCode::kInvalidArgument, "{}: a {} holds no contiguous bytes", what, kind_of(object));
  }
  view->is_held = true;
  const std::string_view bytes(static_cast<const char*>(view->buffer.buf),
                               static_cast<size_t>(view->buffer.len));
  return {bytes, std::move(view)};
}

}  // namespace assay::python
