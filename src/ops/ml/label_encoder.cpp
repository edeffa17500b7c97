// LabelEncoder: every element looked up among keys, and replaced by the value at that position, or by a
// default. Of a repeated key the last counts (in version 2 the first, as in ONNX Runtime); from version 4 on
// NaN finds NaN. Version 1 has one list of strings, whose positions are the integers.
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "ops/eval_util.h"
#include "ops/ml/row_scorer.h"
#include "ops/op_context.h"
#include "ops/op_list.h"
#include "ops/tensor/elements.h"
#include "tensor/convert.h"

namespace assay::op_ml_LabelEncoder {
namespace {

Tensor floats(const std::vector<double>& v) { return Tensor::vector(std::vector<float>(v.begin(), v.end())); }

/// The one of the lists keys_* (or values_*) that the node has.
Tensor read_list(const OpContext& c, const std::string& prefix) {
  std::vector<Tensor> lists;
  if (c.has_attr(prefix + "_strings")) lists.push_back(Tensor::vector(c.attr_strings(prefix + "_strings")));
  if (c.has_attr(prefix + "_int64s")) lists.push_back(Tensor::vector(c.attr_ints(prefix + "_int64s")));
  if (c.has_attr(prefix + "_floats")) lists.push_back(floats(c.attr_floats(prefix + "_floats")));
  if (c.since() >= 4 && c.has_attr(prefix + "_tensor"))
    lists.push_back(c.attr_tensor(prefix + "_tensor").aligned());
  c.check(lists.size() == 1, "exactly one of the attributes {}_* must be given, not {}", prefix,
          lists.size());
  const DType dtype = lists[0].dtype();
  c.check(dtype == DType::kString || ((is_float(dtype) || is_integer(dtype)) && !is_packed(dtype)),
          "the {} are {}; they must be strings or numbers", prefix, dtype_name(dtype));
  return lists[0];
}

/// One element of the values' type for what no key matches.
Tensor read_default(const OpContext& c, const Tensor& values) {
  if (c.since() >= 4 && c.has_attr("default_tensor")) {
    const Tensor t = c.attr_tensor("default_tensor").aligned();
    c.check(t.numel() == 1 && t.dtype() == values.dtype(),
            "default_tensor is {} of type {}; it must be one {}", t.shape().str(), dtype_name(t.dtype()),
            dtype_name(values.dtype()));
    return t;
  }
  if (values.dtype() == DType::kString) return Tensor::scalar(c.attr_string("default_string"));
  if (is_integer(values.dtype())) return convert(Tensor::scalar(c.attr_int("default_int64")), values.dtype());
  return convert(Tensor::scalar(c.attr_float("default_float")), values.dtype());
}

/// Keys, their values, and the value for everything else.
struct Table {
  Tensor keys, values, otherwise;
  bool first_counts = false;  ///< of equal keys
  bool nan_is_key = false;
};

Table read_table(const OpContext& c, DType input) {
  if (c.since() > 1) {
    Table t{.keys = read_list(c, "keys"), .values = read_list(c, "values"), .otherwise = {}};
    c.check(t.keys.numel() == t.values.numel(), "{} keys for {} values", t.keys.numel(), t.values.numel());
    t.otherwise = read_default(c, t.values);
    t.first_counts = c.since() == 2;
    t.nan_is_key = c.since() >= 4;
    return t;
  }
  const Tensor words = Tensor::vector(c.attr_strings("classes_strings"));
  std::vector<int64_t> places(static_cast<size_t>(words.numel()));
  std::iota(places.begin(), places.end(), int64_t{0});
  if (input == DType::kString)
    return {words, Tensor::vector(places), Tensor::scalar(c.attr_int("default_int64"))};
  return {Tensor::vector(places), words, Tensor::scalar(c.attr_string("default_string"))};
}

void infer(InferContext& c) {
  const DType in = c.input_dtype(0);
  if (in == DType::kUndefined && c.since() == 1) return;
  const Table t = read_table(c, in);
  c.check(in == DType::kUndefined || in == t.keys.dtype(), "the keys are {}, but the input is {}",
          dtype_name(t.keys.dtype()), dtype_name(in));
  if (c.input_dims(0) != nullptr)
    c.set_output(0, t.values.dtype(), *c.input_dims(0));
  else
    c.set_output(0, t.values.dtype());
}

/// The position of each of a set of numbers: a table with room for twice as many, searched from a number's
/// hash on.
class NumberPlaces {
 public:
  explicit NumberPlaces(size_t count) : slots_(std::bit_ceil(2 * count + 1)) {}

  /// Of equal numbers the last one's position stays, or the first one's.
  void put(int64_t key, int64_t place, bool first_counts) {
    Slot& s = slots_[find(key)];
    if (s.place < 0 || !first_counts) s = {key, place};
  }
  /// -1: not found.
  int64_t place_of(int64_t key) const { return slots_[find(key)].place; }

 private:
  struct Slot {
    int64_t key = 0, place = -1;
  };
  size_t find(int64_t key) const {
    size_t at =
        static_cast<size_t>(static_cast<uint64_t>(key) * 0x9e3779b97f4a7c15U >> 20) & (slots_.size() - 1);
    while (slots_[at].place >= 0 && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  std::vector<Slot> slots_;
};

/// A table prepared for lookups of elements of one of the three kinds.
class LabelLookup {
 public:
  explicit LabelLookup(Table table)
      : table_(std::move(table)), places_(static_cast<size_t>(table_.keys.numel())) {
    const int64_t count = table_.keys.numel();
    if (kind(table_.keys.dtype()) == Kind::kString) {
      for (int64_t i = 0; i < count; ++i) {
        const auto [it, fresh] = words_.emplace(table_.keys.data<std::string>()[i], i);
        if (!fresh && !table_.first_counts) it->second = i;
      }
    } else if (kind(table_.keys.dtype()) == Kind::kFloat) {
      const Tensor keys = to_float64(table_.keys);
      for (int64_t i = 0; i < count; ++i) {
        const double key = keys.data<double>()[i];
        if (!std::isnan(key))
          places_.put(bits_of(key), i, table_.first_counts);
        else if (table_.nan_is_key)
          nan_place_ = i;
      }
    } else {
      const std::vector<int64_t> keys = table_.keys.to_int64();
      for (int64_t i = 0; i < count; ++i) places_.put(keys[static_cast<size_t>(i)], i, table_.first_counts);
    }
  }

  Tensor values_of(const OpContext& c, const Tensor& x) const {
    c.check(kind(x.dtype()) == kind(table_.keys.dtype()), "the keys are {}, but the input is {}",
            dtype_name(table_.keys.dtype()), dtype_name(x.dtype()));
    switch (kind(x.dtype())) {
      case Kind::kString:
        return gather(x.shape(), [&, words = x.data<std::string>()](int64_t i) {
          const auto it = words_.find(words[i]);
          return it == words_.end() ? -1 : it->second;
        });
      case Kind::kFloat: {
        const Tensor wide = to_float64(x);
        return gather(x.shape(), [&, numbers = wide.data<double>()](int64_t i) {
          return std::isnan(numbers[i]) ? nan_place_ : places_.place_of(bits_of(numbers[i]));
        });
      }
      case Kind::kInteger:
        break;
    }
    const Tensor wide = convert(x, DType::kInt64);
    return gather(x.shape(),
                  [&, numbers = wide.data<int64_t>()](int64_t i) { return places_.place_of(numbers[i]); });
  }

 private:
  enum class Kind : uint8_t { kString, kFloat, kInteger };
  static Kind kind(DType d) {
    return d == DType::kString ? Kind::kString : is_float(d) ? Kind::kFloat : Kind::kInteger;
  }
  /// Both zeros have one pattern.
  static int64_t bits_of(double x) { return std::bit_cast<int64_t>(x + 0.0); }

  template <typename PlaceOf>
  Tensor gather(const Shape& shape, PlaceOf place_of) const {
    Tensor y = Tensor::allocate(table_.values.dtype(), shape);
    visit_elements(y.dtype(), [&]<typename E>() {
      const E *values = elements<E>(table_.values), *otherwise = elements<E>(table_.otherwise);
      E* out = mutable_elements<E>(y);
      parallel_for(shape.numel(), kElementGrain / 4, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          const int64_t place = place_of(i);
          out[i] = place < 0 ? *otherwise : values[place];
        }
      });
    });
    return y;
  }

  Table table_;
  NumberPlaces places_;
  int64_t nan_place_ = -1;
  std::unordered_map<std::string, int64_t> words_;
};

void eval(EvalContext& c) {
  c.set_output(0, LabelLookup(read_table(c, c.input(0).dtype())).values_of(c, c.input(0)));
}

/// The table is read once; in version 1 the input's type decides the direction.
class LabelScorer final : public RowScorer {
 public:
  explicit LabelScorer(const OpContext& c) : c_(c) {}
  void prepare(DType dtype) override {
    lookup_.emplace(read_table(c_, dtype));
    prepared_ = dtype;
  }
  std::vector<Tensor> run(const Tensor& x) override {
    if (prepared_ != x.dtype()) prepare(x.dtype());
    return {lookup_->values_of(c_, x)};
  }

 private:
  OpContext c_;
  std::optional<LabelLookup> lookup_;
  DType prepared_ = DType::kUndefined;
};

std::unique_ptr<RowScorer> scorer(const OpContext& c) { return std::make_unique<LabelScorer>(c); }

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T1
out Y: T2
attr default_string: string = "_Unused"
attr default_int64: int = -1
attr classes_strings: strings
type T1: string int64
type T2: string int64)",
     infer, eval},
    {2, R"(
in  X: T1
out Y: T2
attr default_int64: int = -1
attr default_float: float = -0
attr default_string: string = "_Unused"
attr values_int64s: ints
attr values_strings: strings
attr keys_floats: floats
attr values_floats: floats
attr keys_int64s: ints
attr keys_strings: strings
type T1: string int64 float
type T2: string int64 float)",
     infer, eval},
    {4, R"(
in  X: T1
out Y: T2
attr default_tensor: tensor
attr default_int64: int = -1
attr default_float: float = -0
attr default_string: string = "_Unused"
attr values_int64s: ints
attr values_strings: strings
attr values_tensor: tensor
attr keys_floats: floats
attr keys_strings: strings
attr values_floats: floats
attr keys_int64s: ints
attr keys_tensor: tensor
type T1: string int64 float int32 int16 double
type T2: string int64 float int32 int16 double)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "ai.onnx.ml",
    .name = "LabelEncoder",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .scorer = scorer,
};

}  // namespace assay::op_ml_LabelEncoder
