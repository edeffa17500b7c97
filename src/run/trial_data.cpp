#include "run/trial_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <span>

#include "backends/session_info.h"
#include "base/name_pattern.h"
#include "graph/read.h"
#include "tensor/convert.h"
#include "tensor/float_range.h"
#include "tensor/random.h"

namespace assay {
namespace {

/// Sizes of open extents: a list for each variant, from which each further symbol takes the next. The first
/// ones differ in all that rewriting rules may rest on (1, even, odd, larger); the later ones are for models
/// that require a certain size.
const std::vector<std::vector<int64_t>>& size_lists() {
  static const std::vector<std::vector<int64_t>> kLists = {{2, 1, 3, 5, 4, 7},
                                                           {1},
                                                           {3, 2, 5, 1, 7, 4},
                                                           {8, 6, 9, 4},
                                                           {2},
                                                           {4},
                                                           {8},
                                                           {16},
                                                           {32},
                                                           {3},
                                                           {64},
                                                           {5},
                                                           {128},
                                                           {224},
                                                           {256}};
  return kLists;
}

using RoleKind = InputRole::Kind;

template <typename T>
T pick(RandomState& random, std::span<const T> list) {
  return list[random.next() % list.size()];
}

/// Draws numbers of one kind for one input.
class Drawing {
 public:
  Drawing(RandomState& random, TrialKind kind, DType type, std::span<const double> constants)
      : random_(random), kind_(kind), type_(type), range_(float_range(type)), constants_(constants) {
    scale_ = std::pow(10.0, uniform(-4, 4));
    equal_ = uniform(-4, 4);
    equal_integer_ = static_cast<int64_t>(random_.next() % 7) - 2;
  }

  double number() {
    switch (kind_) {
      case TrialKind::kUnit:
        return random_.next_double();
      case TrialKind::kSigned:
        return uniform(-2, 2);
      case TrialKind::kNearConstants:
        return near_constant();
      case TrialKind::kScales:
        return uniform(-1, 1) * std::min(scale_, range_.largest / 4);
      case TrialKind::kEnds:
        return pick<double>(random_, std::array{range_.largest, -range_.largest, range_.largest / 2,
                                                range_.normal, -range_.normal, range_.smallest, 1.0, -1.0,
                                                0.0, uniform(-2, 2), uniform(-2, 2), uniform(-2, 2)});
      case TrialKind::kSpecial:
        return special();
      case TrialKind::kLarge:
        return sign() * magnitude(std::log2(range_.largest) * 0.3, std::log2(range_.largest) * 0.97);
      case TrialKind::kTiny:
        return sign() * magnitude(std::log2(range_.smallest), std::log2(range_.normal) * 0.4);
      case TrialKind::kTies:
        return (static_cast<double>(random_.next() % 33) - 16) / 2;
      case TrialKind::kEqual:
        return equal_;
    }
    return 0;
  }

  /// Within the type's range.
  int64_t integer(int64_t low, int64_t high) {
    const auto within = [&](double v) {
      return static_cast<int64_t>(
          std::clamp(v, static_cast<double>(low), static_cast<double>(high) * (1 - 1e-16)));
    };
    switch (kind_) {
      case TrialKind::kUnit:
        return random_.next() % 2;
      case TrialKind::kTiny:
        return std::min<int64_t>(high, random_.next() % 4);
      case TrialKind::kSpecial:
        return std::max(low, static_cast<int64_t>(random_.next() % 3) - 1);
      case TrialKind::kEqual:
        return std::clamp(equal_integer_, low, high);
      case TrialKind::kNearConstants:
        return within(std::round(near_constant()));
      case TrialKind::kScales:
        return within(sign() * std::exp2(uniform(0, std::log2(static_cast<double>(high)))));
      case TrialKind::kEnds:
        return pick<int64_t>(random_, std::array<int64_t, 8>{low, low + 1, high, high - 1, 0, 1,
                                                             std::max<int64_t>(low, -1), high / 2});
      case TrialKind::kLarge:
        return within(uniform(static_cast<double>(low), static_cast<double>(high)));
      default:
        return std::clamp(static_cast<int64_t>(random_.next() % 21) - 10, low, high);
    }
  }

 private:
  double uniform(double low, double high) { return low + (high - low) * random_.next_double(); }
  double sign() { return random_.next() % 2 == 0 ? 1 : -1; }
  double magnitude(double low, double high) { return std::exp2(uniform(low, high)); }

  double near_constant() {
    if (constants_.empty() || random_.next() % 4 == 0) return uniform(-8, 8);
    const double c = pick<double>(random_, constants_);
    // A few units in the last place of the narrower types.
    const double step = std::abs(c) * std::exp2(-static_cast<double>(random_.next() % 24));
    switch (random_.next() % 8) {
      case 0:
      case 1:
        return c;
      case 2:
        return c + step;
      case 3:
        return c - step;
      case 4:
        return -c;
      case 5:
        return c * (static_cast<double>(random_.next() % 9) - 4);
      case 6:
        return c != 0 ? 1 / c : 0;
      default:
        return c * uniform(-2, 2);
    }
  }

  double special() {
    switch (random_.next() % 12) {
      case 0:
        return std::numeric_limits<double>::quiet_NaN();
      case 1:
        return std::numeric_limits<double>::infinity();
      case 2:
        return -std::numeric_limits<double>::infinity();
      case 3:
        return -0.0;
      case 4:
        return 0.0;
      default:
        return uniform(-3, 3);
    }
  }

  RandomState& random_;
  TrialKind kind_;
  DType type_;
  FloatRange range_;
  std::span<const double> constants_;
  double scale_ = 1, equal_ = 0;
  int64_t equal_integer_ = 0;
};

struct IntegerRange {
  int64_t low, high;
};

IntegerRange integer_range(DType t) {
  switch (t) {
    case DType::kInt2:
      return {-2, 1};
    case DType::kUInt2:
      return {0, 3};
    case DType::kInt4:
      return {-8, 7};
    case DType::kUInt4:
      return {0, 15};
    case DType::kInt8:
      return {INT8_MIN, INT8_MAX};
    case DType::kUInt8:
      return {0, UINT8_MAX};
    case DType::kInt16:
      return {INT16_MIN, INT16_MAX};
    case DType::kUInt16:
      return {0, UINT16_MAX};
    case DType::kInt32:
      return {INT32_MIN, INT32_MAX};
    case DType::kUInt32:
      return {0, UINT32_MAX};
    case DType::kUInt64:
      return {0, INT64_MAX};
    default:
      return {INT64_MIN, INT64_MAX};
  }
}

/// An index along the role's axis; as long as it is not tamed, one from its end at times.
int64_t draw_index(const InputRole& role, RandomState& random, int taming, const IntegerRange& range) {
  const int64_t extent = std::max<int64_t>(role.extent, 1);
  const int64_t index = static_cast<int64_t>(random.next()) % extent;
  const bool from_end = taming == 0 && range.low < 0 && role.extent > 0 && random.next() % 4 == 0;
  return from_end ? index - extent : index;
}

int64_t draw_axis(const InputRole& role, RandomState& random, int taming) {
  if (taming == 0) return static_cast<int64_t>(random.next()) % std::max<int64_t>(role.extent, 1);
  return taming == 1 ? 1 : 0;
}

/// A number that the role allows.
int64_t number_for(const InputRole& role, RandomState& random, int64_t drawn, int taming, int64_t at,
                   const IntegerRange& range) {
  switch (role.kind) {
    case RoleKind::kAny:
      return drawn;
    case RoleKind::kDivisor:
      if (drawn == 0 || (drawn == -1 && range.low < 0 && taming > 0)) return 1 + random.next() % 7;
      return drawn;
    case RoleKind::kIndex:
      return draw_index(role, random, taming, range);
    case RoleKind::kShape:
      return at == 0 && range.low < 0 && taming < 2 ? -1 : 1;
    case RoleKind::kCount:
      return taming == 0 ? 1 + random.next() % 3 : 1;
    case RoleKind::kAxis:
      return draw_axis(role, random, taming);
  }
  return drawn;
}

Tensor draw_floats(Drawing& drawing, const InputRole& role, RandomState& random, DType type,
                   const Shape& shape, int taming) {
  Tensor numbers = Tensor::allocate(DType::kFloat64, shape);
  int64_t at = 0;
  for (double& v : numbers.mutable_span<double>()) {
    v = drawing.number();
    if (role.kind == RoleKind::kDivisor)
      v = std::abs(v) < 1 ? 1 : v;
    else if (role.kind != RoleKind::kAny)
      v = static_cast<double>(number_for(role, random, 0, taming, at, {INT64_MIN, INT64_MAX}));
    ++at;
  }
  return convert(numbers, type, /*saturate=*/false);
}

Tensor draw_whole(Drawing& drawing, const InputRole& role, RandomState& random, DType type,
                  const Shape& shape, int taming) {
  if (type == DType::kBool) {
    Tensor t = Tensor::allocate(type, shape);
    for (bool& v : t.mutable_span<bool>()) v = drawing.integer(0, 1) > 0;
    return t;
  }
  const IntegerRange range = integer_range(type);
  Tensor t = Tensor::allocate(DType::kInt64, shape);
  int64_t at = 0;
  for (int64_t& v : t.mutable_span<int64_t>()) {
    const int64_t drawn = taming == 0   ? drawing.integer(range.low, range.high)
                          : taming == 1 ? static_cast<int64_t>(random.next() % 2)
                          : taming == 2 ? 1
                                        : 0;
    v = number_for(role, random, drawn, taming, at++, range);
  }
  return convert(t, type);
}

/// True when a given shape specifies an input's elements, as in DataLoader.
bool gives_elements(const Value& input, const InputShape& given) {
  const std::optional<Shape> shape = shape_of(&input);
  return is_integer(input.type.dtype) && shape && shape->rank() == 1 && given.dims.size() != 1 &&
         (*shape)[0] == static_cast<int64_t>(given.dims.size()) && known_shape(given.dims).has_value();
}

Tensor draw_strings(RandomState& random, const Shape& shape) {
  static const std::vector<std::string> kWords = {"a", "b", "abc", "", "A b", "1", "2.5"};
  Tensor t = Tensor::allocate(DType::kString, shape);
  for (std::string& s : t.mutable_span<std::string>()) s = pick<std::string>(random, kWords);
  return t;
}

/// The inputs with these shapes, where their ranks allow it.
std::vector<TensorInfo> with_shapes(std::vector<TensorInfo> infos, const std::vector<InputShape>& shapes) {
  for (TensorInfo& info : infos)
    for (const InputShape& s : shapes)
      if (NamePattern(s.name).matches(info.name) && info.type.is_tensor() &&
          (!info.type.has_shape() || info.type.dims->size() == s.dims.size()))
        info.type.dims = s.dims;
  return infos;
}

/// The inputs, with a type that DataLoader can generate in place of strings.
std::vector<TensorInfo> loadable(std::vector<TensorInfo> infos) {
  for (TensorInfo& info : infos)
    if (info.type.is_tensor() && info.type.dtype == DType::kString) info.type.dtype = DType::kBool;
  return infos;
}

}  // namespace

std::string_view trial_kind_name(TrialKind kind) {
  constexpr std::string_view kNames[kTrialKinds] = {"numbers in [0, 1)",
                                                    "negative and positive numbers",
                                                    "numbers near constants",
                                                    "inputs of different scales",
                                                    "ends of the types",
                                                    "NaN, infinities and signed zeros",
                                                    "large numbers",
                                                    "tiny and subnormal numbers",
                                                    "whole numbers and halves",
                                                    "equal elements"};
  return kNames[static_cast<size_t>(kind)];
}

bool is_moderate(TrialKind kind) {
  return kind == TrialKind::kUnit || kind == TrialKind::kSigned || kind == TrialKind::kTies;
}

TrialData::TrialData(const Model& model, DataLoaderOptions options, std::vector<double> constants)
    : graph_(*model.graph), options_(std::move(options)), constants_(std::move(constants)) {
  for (const Value* v : graph_.inputs) {
    roles_[v->name()] = find_role(model, *v);
    if (given_shape(*v) != nullptr) continue;
    has_open_ |= !v->type.has_shape() || std::any_of(v->type.dims->begin(), v->type.dims->end(),
                                                     [](const Dim& d) { return !d.is_known(); });
  }
}

int TrialData::shape_variants() { return static_cast<int>(size_lists().size()); }

const InputShape* TrialData::given_shape(const Value& input) const {
  const InputShape* found = nullptr;
  for (const InputShape& s : options_.shapes)
    if (NamePattern(s.name).matches(input.name())) found = &s;
  return found;
}

std::vector<InputShape> TrialData::close_shapes(int variant) const {
  const std::vector<int64_t>& sizes = size_lists()[static_cast<size_t>(variant)];
  std::map<std::string, int64_t> symbols;
  // Values of the input's symbols by a given shape: other inputs share them.
  for (const Value* v : graph_.inputs) {
    const InputShape* given = given_shape(*v);
    if (given == nullptr || !v->type.has_shape()) continue;
    const Dims& declared = *v->type.dims;
    for (size_t i = 0; i < declared.size() && i < given->dims.size(); ++i)
      if (declared[i].is_symbol() && given->dims[i].is_known())
        symbols.emplace(declared[i].symbol(), given->dims[i].value());
  }
  std::vector<InputShape> shapes;
  size_t next = 0;
  for (const Value* v : graph_.inputs) {
    if (!v->type.is_tensor() || given_shape(*v) != nullptr) continue;
    InputShape shape{.name = v->name(), .dims = {}};
    // If the rank is open, too, a few are tried.
    const Dims open(static_cast<size_t>(variant % 5), Dim());
    for (const Dim& d : v->type.has_shape() ? *v->type.dims : open) {
      if (d.is_known()) {
        shape.dims.push_back(d);
        continue;
      }
      const std::string symbol =
          d.is_symbol() ? d.symbol() : fmt::format("{}#{}", v->name(), shape.dims.size());
      const auto [it, is_new] = symbols.emplace(symbol, sizes[next % sizes.size()]);
      if (is_new) ++next;
      shape.dims.emplace_back(it->second);
    }
    shapes.push_back(std::move(shape));
  }
  shapes.insert(shapes.end(), options_.shapes.begin(), options_.shapes.end());
  return shapes;
}

DataLoaderOptions TrialData::loader_options(int trial) const {
  DataLoaderOptions options = options_;
  options.seed += trial;
  options.shapes = {};
  // A shape for a tensor of that many integers gives its elements.
  for (const Value* v : graph_.inputs)
    if (const InputShape* given = given_shape(*v); given != nullptr && gives_elements(*v, *given))
      options.shapes.push_back(*given);
  return options;
}

bool TrialData::is_given(const Value& input, const Type& type) const {
  if (!type.is_tensor() || (has_user_range(options_, input) && type.dtype != DType::kString)) return true;
  const InputShape* given = given_shape(input);
  return given != nullptr && gives_elements(input, *given);
}

TensorList TrialData::draw(TrialKind kind, int trial, int variant, int taming) const {
  const std::vector<TensorInfo> infos = with_shapes(tensor_infos(graph_.inputs), close_shapes(variant));
  TensorList feed = DataLoader(loader_options(trial)).load(0, loadable(infos), DataLoader::Report::kNo);
  RandomState random(static_cast<uint32_t>(options_.seed * 977 + trial * 131 + static_cast<int>(kind)));
  for (size_t i = 0; i < feed.size(); ++i) {
    const Value& v = *graph_.inputs[i];
    if (is_given(v, infos[i].type)) continue;
    const DType type = infos[i].type.dtype;
    const InputRole& role = roles_.at(v.name());
    Tensor& t = feed[i].tensor;
    Drawing drawing(random, kind, type, constants_);
    const bool is_loaded = kind == TrialKind::kUnit && role.kind == RoleKind::kAny;
    if (type == DType::kString)
      t = draw_strings(random, t.shape());
    else if (is_float(type) && !is_loaded)
      t = draw_floats(drawing, role, random, type, t.shape(), taming);
    else if (!is_float(type) && (!is_loaded || taming > 0))
      t = draw_whole(drawing, role, random, type, t.shape(), taming);
  }
  return feed;
}

}  // namespace assay
