/* Native scripts: functions that make inputs, change outputs or compare them, for options such as
 * --data-loader-script FILE:FUNCTION, where FILE is a .cpp (compiled on first use) or a .so.
 *
 * A plain C interface, and below it what makes it short in C++17:
 *
 *   #include "assay/script.h"
 *
 *   std::optional<assay_script::Tensors> load_data(int64_t iteration) {
 *     if (iteration == 10) return std::nullopt;
 *     return assay_script::Tensors{assay_script::Tensor::of<float>("x", {1, 3}, {1, 2, 3})};
 *   }
 *   ASSAY_SCRIPT(ASSAY_DATA(load_data))
 *
 * Needs nothing but this file. */
#ifndef ASSAY_SCRIPT_H
#define ASSAY_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of the structures below. A script for another version is refused. */
#define ASSAY_SCRIPT_ABI 1

/* A tensor, row-major and without gaps. */
typedef struct assay_script_tensor {
  const char* name;
  int32_t dtype;       /* ONNX's number (TensorProto.DataType): 1 float32, 7 int64, 9 bool, ... */
  int32_t rank;        /* 0 for a scalar */
  const int64_t* dims; /* `rank` extents */
  const void*
      data; /* strings (8): assay_script_string per element; types below 8 bits: packed, low bits first */
} assay_script_tensor;

typedef struct assay_script_string {
  const char* data; /* UTF-8, not ended by 0 */
  size_t size;
} assay_script_string;

/* The outputs of one inference, valid during the call. */
typedef struct assay_script_result {
  const char* runner_name;
  double runtime; /* seconds; NaN when unknown */
  size_t count;
  const assay_script_tensor* outputs;
} assay_script_result;

/* A number that a verdict carries, such as the largest difference. */
typedef struct assay_script_figure {
  const char* name;
  double value;
} assay_script_figure;

/* What a function answers to. Everything given is copied. Newer versions add members at the end. */
typedef struct assay_script_host {
  uint32_t abi; /* ASSAY_SCRIPT_ABI of the program */
  void* context;
  /* A tensor of the feed, or of the outputs; each name once. */
  void (*emit)(struct assay_script_host* host, const assay_script_tensor* tensor);
  /* Of a compare function, for one output. */
  void (*verdict)(struct assay_script_host* host, const char* output, int32_t passed,
                  const assay_script_figure* figures, size_t count);
  /* One sentence about what is wrong; the function then returns ASSAY_SCRIPT_ERROR. */
  void (*error)(struct assay_script_host* host, const char* message);
} assay_script_host;

enum {
  ASSAY_SCRIPT_OK = 0,
  ASSAY_SCRIPT_END = 1, /* of a data function: there is no such iteration */
  ASSAY_SCRIPT_ERROR = 2
};

enum { ASSAY_SCRIPT_DATA = 1, ASSAY_SCRIPT_POSTPROCESS = 2, ASSAY_SCRIPT_COMPARE = 3 };

typedef struct assay_script_function {
  int32_t kind;     /* ASSAY_SCRIPT_DATA, ... */
  const char* name; /* FUNCTION of FILE:FUNCTION */
  union {
    int32_t (*data)(assay_script_host* host, int64_t iteration); /* from 0 on, in order */
    int32_t (*postprocess)(assay_script_host* host, const assay_script_result* result);
    int32_t (*compare)(assay_script_host* host, const assay_script_result* result0,
                       const assay_script_result* result1);
  } call;
} assay_script_function;

typedef struct assay_script_table {
  uint32_t abi; /* ASSAY_SCRIPT_ABI of the script */
  uint32_t count;
  const assay_script_function* functions;
} assay_script_table;

#if defined(__GNUC__)
#define ASSAY_SCRIPT_EXPORT __attribute__((visibility("default")))
#else
#define ASSAY_SCRIPT_EXPORT
#endif

/* What a script exports. In C: const assay_script_table assay_script = {ASSAY_SCRIPT_ABI, 1, functions}; */
extern ASSAY_SCRIPT_EXPORT const assay_script_table assay_script_functions;

#ifdef __cplusplus
}

#include <cmath>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace assay_script {

/// ONNX's number of a C++ type.
template <typename T>
constexpr int32_t dtype_of() {
  if constexpr (std::is_same_v<T, float>) return 1;
  if constexpr (std::is_same_v<T, uint8_t>) return 2;
  if constexpr (std::is_same_v<T, int8_t>) return 3;
  if constexpr (std::is_same_v<T, uint16_t>) return 4;
  if constexpr (std::is_same_v<T, int16_t>) return 5;
  if constexpr (std::is_same_v<T, int32_t>) return 6;
  if constexpr (std::is_same_v<T, int64_t>) return 7;
  if constexpr (std::is_same_v<T, std::string>) return 8;
  if constexpr (std::is_same_v<T, bool>) return 9;
  if constexpr (std::is_same_v<T, double>) return 11;
  if constexpr (std::is_same_v<T, uint32_t>) return 12;
  if constexpr (std::is_same_v<T, uint64_t>) return 13;
  return 0;
}

/// A named tensor that owns its elements.
struct Tensor {
  std::string name;
  int32_t dtype = 0;  ///< ONNX's number
  std::vector<int64_t> dims;
  std::vector<unsigned char> bytes;  ///< as ONNX's raw_data; unused for strings
  std::vector<std::string> strings;

  /// Throws std::runtime_error when the number of values is not that of the shape.
  template <typename T>
  static Tensor of(std::string name, std::vector<int64_t> dims, const std::vector<T>& values) {
    static_assert(dtype_of<T>() != 0, "no tensor has elements of this type");
    Tensor t{std::move(name), dtype_of<T>(), std::move(dims), {}, {}};
    if (values.size() != t.numel())
      throw std::runtime_error("tensor '" + t.name + "': " + std::to_string(values.size()) +
                               " values for a shape of " + std::to_string(t.numel()) + " elements");
    if constexpr (std::is_same_v<T, std::string>) {
      t.strings = values;
    } else {
      t.bytes.resize(values.size() * sizeof(T));
      if constexpr (std::is_same_v<T, bool>)
        for (size_t i = 0; i < values.size(); ++i) t.bytes[i] = values[i];
      else if (!values.empty())
        std::memcpy(t.bytes.data(), values.data(), t.bytes.size());
    }
    return t;
  }

  size_t numel() const {
    size_t n = 1;
    for (const int64_t d : dims) n *= static_cast<size_t>(d);
    return n;
  }
  /// The elements; throws std::runtime_error when T is not their type.
  template <typename T>
  T* data() {
    check<T>();
    if constexpr (std::is_same_v<T, std::string>)
      return strings.data();
    else
      return reinterpret_cast<T*>(bytes.data());
  }
  template <typename T>
  const T* data() const {
    return const_cast<Tensor*>(this)->data<T>();
  }

 private:
  template <typename T>
  void check() const {
    if (dtype_of<T>() != dtype)
      throw std::runtime_error("tensor '" + name + "' has the ONNX type " + std::to_string(dtype) + ", not " +
                               std::to_string(dtype_of<T>()));
  }
};
using Tensors = std::vector<Tensor>;

/// The result of one inference.
struct Result {
  std::string runner_name;
  std::optional<double> runtime;  ///< seconds
  Tensors outputs;

  /// Throws std::runtime_error when there is none of that name.
  const Tensor& at(const std::string& name) const {
    for (const Tensor& t : outputs)
      if (t.name == name) return t;
    throw std::runtime_error("runner '" + runner_name + "' has no output '" + name + "'");
  }
};

/// Whether one output of two inferences agrees.
struct Verdict {
  std::string output;
  bool passed = false;
  std::vector<std::pair<std::string, double>> figures = {};
};
using Verdicts = std::vector<Verdict>;

namespace detail {

inline size_t bytes_of(const assay_script_tensor& t, size_t numel) {
  static const unsigned char bits[] = {0,   32, 8, 8, 16, 16, 32, 64, 0, 8, 16, 64, 32, 64, 64,
                                       128, 16, 8, 8, 8,  8,  4,  4,  4, 8, 2,  2,  6,  6};
  return (numel * bits[t.dtype] + 7) / 8;
}

inline Result result_of(const assay_script_result& r) {
  Result out{r.runner_name, std::isnan(r.runtime) ? std::nullopt : std::optional<double>(r.runtime), {}};
  for (size_t i = 0; i < r.count; ++i) {
    const assay_script_tensor& t = r.outputs[i];
    Tensor made{t.name, t.dtype, {t.dims, t.dims + t.rank}, {}, {}};
    const size_t numel = made.numel();
    if (t.dtype == dtype_of<std::string>()) {
      const auto* strings = static_cast<const assay_script_string*>(t.data);
      for (size_t k = 0; k < numel; ++k) made.strings.emplace_back(strings[k].data, strings[k].size);
    } else {
      const auto* bytes = static_cast<const unsigned char*>(t.data);
      made.bytes.assign(bytes, bytes + bytes_of(t, numel));
    }
    out.outputs.push_back(std::move(made));
  }
  return out;
}

inline void emit(assay_script_host* host, const Tensors& tensors) {
  for (const Tensor& t : tensors) {
    std::vector<assay_script_string> strings;
    for (const std::string& s : t.strings) strings.push_back({s.data(), s.size()});
    const void* data =
        t.dtype == dtype_of<std::string>() ? static_cast<const void*>(strings.data()) : t.bytes.data();
    const assay_script_tensor plain = {t.name.c_str(), t.dtype, static_cast<int32_t>(t.dims.size()),
                                       t.dims.data(), data};
    host->emit(host, &plain);
  }
}

/// No exception crosses the C interface.
template <typename Body>
int32_t guarded(assay_script_host* host, Body&& body) noexcept {
  try {
    return body();
  } catch (const std::exception& e) {
    host->error(host, e.what());
  } catch (...) {
    host->error(host, "an exception that is no std::exception");
  }
  return ASSAY_SCRIPT_ERROR;
}

template <auto kFunction>
int32_t data(assay_script_host* host, int64_t iteration) {
  return guarded(host, [&]() -> int32_t {
    const std::optional<Tensors> feed = kFunction(iteration);
    if (!feed) return ASSAY_SCRIPT_END;
    emit(host, *feed);
    return ASSAY_SCRIPT_OK;
  });
}

template <auto kFunction>
int32_t postprocess(assay_script_host* host, const assay_script_result* result) {
  return guarded(host, [&]() -> int32_t {
    emit(host, kFunction(result_of(*result)));
    return ASSAY_SCRIPT_OK;
  });
}

template <auto kFunction>
int32_t compare(assay_script_host* host, const assay_script_result* result0,
                const assay_script_result* result1) {
  return guarded(host, [&]() -> int32_t {
    const Verdicts verdicts = kFunction(result_of(*result0), result_of(*result1));
    for (const Verdict& v : verdicts) {
      std::vector<assay_script_figure> figures;
      for (const auto& [name, value] : v.figures) figures.push_back({name.c_str(), value});
      host->verdict(host, v.output.c_str(), v.passed ? 1 : 0, figures.data(), figures.size());
    }
    return ASSAY_SCRIPT_OK;
  });
}

template <auto kFunction>
assay_script_function data_function(const char* name) {
  assay_script_function f{ASSAY_SCRIPT_DATA, name, {}};
  f.call.data = data<kFunction>;
  return f;
}
template <auto kFunction>
assay_script_function postprocess_function(const char* name) {
  assay_script_function f{ASSAY_SCRIPT_POSTPROCESS, name, {}};
  f.call.postprocess = postprocess<kFunction>;
  return f;
}
template <auto kFunction>
assay_script_function compare_function(const char* name) {
  assay_script_function f{ASSAY_SCRIPT_COMPARE, name, {}};
  f.call.compare = compare<kFunction>;
  return f;
}

template <size_t kCount>
constexpr assay_script_table table(const assay_script_function (&functions)[kCount]) {
  return {ASSAY_SCRIPT_ABI, static_cast<uint32_t>(kCount), functions};
}

}  // namespace detail
}  // namespace assay_script

/// std::optional<Tensors> f(int64_t iteration): the inputs of an iteration, from 0 on; nothing when there are
/// no more.
#define ASSAY_DATA(f) assay_script::detail::data_function<f>(#f)
/// Tensors f(const Result&): the new outputs.
#define ASSAY_POSTPROCESS(f) assay_script::detail::postprocess_function<f>(#f)
/// Verdicts f(const Result&, const Result&).
#define ASSAY_COMPARE(f) assay_script::detail::compare_function<f>(#f)
/// Exports the file's functions; once, at namespace scope.
#define ASSAY_SCRIPT(...)                                                          \
  static const assay_script_function assay_script_list[] = {__VA_ARGS__};          \
  extern "C" ASSAY_SCRIPT_EXPORT const assay_script_table assay_script_functions = \
      assay_script::detail::table(assay_script_list)

#endif /* __cplusplus */
#endif /* ASSAY_SCRIPT_H */
