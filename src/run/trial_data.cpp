#include "run/trial_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <unordered_set>

#include "arbiter/float_range.h"
#include "backends/session_info.h"
#include "base/name_pattern.h"
#include "graph/read.h"
#include "ops/node_facts.h"
#include "tensor/convert.h"
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

/// The axis of indices, with its extent if known.
int64_t indexed_extent(const Node& n, const InputUse& use) {
  const Value* data = n.input(use.of);
  if (data == nullptr || !data->type.has_shape() || data->type.dims->empty()) return 0;
  const Dims& dims = *data->type.dims;
  const auto rank = static_cast<int64_t>(dims.size());
  const bool loss = n.op_type.ends_with("Loss");
  int64_t axis = int_attribute(n, "axis", loss ? 1 : 0);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return 0;
  if (!n.op_type.ends_with("ND")) {
    const Dim& d = dims[static_cast<size_t>(axis)];
    return d.is_known() ? d.value() : 0;
  }
  // For several axes: valid for all of them.
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const Dim& d : dims) least = std::min(least, d.is_known() ? d.value() : 1);
  return least;
}

/// True when it passes on elements of its inputs.
bool passes_on(const Node& n, const Model& model) {
  const OpFacts& facts = facts_of(n, model);
  return hands_on(n, model) || facts.recodes || (facts.moves == Moves::kSelected && facts.elementwise != 0);
}

/// True when elements of input `i` are passed on.
bool is_passed_on(const Node& n, size_t i, const Model& model) {
  return i == 0 || facts_of(n, model).elementwise == kEveryInput || is_op(n, "Concat");
}

RoleKind kind_of(InputUse::Kind kind) {
  switch (kind) {
    case InputUse::Kind::kIndex:
      return RoleKind::kIndex;
    case InputUse::Kind::kCount:
      return RoleKind::kCount;
    case InputUse::Kind::kShape:
      return RoleKind::kShape;
    case InputUse::Kind::kAxis:
      return RoleKind::kAxis;
    case InputUse::Kind::kNumbers:
      break;
  }
  return RoleKind::kAny;
}

InputRole role_in(const Node& n, size_t slot, bool whole, const Model& model) {
  for (const InputUse& use : facts_of(n, model).uses) {
    if (use.kind == InputUse::Kind::kNumbers || use.input != slot) continue;
    const int64_t extent = use.kind == InputUse::Kind::kIndex  ? indexed_extent(n, use)
                           : use.kind == InputUse::Kind::kAxis ? std::max(1, rank_of(n.input(0)))
                                                               : 0;
    const bool is_distance = is_op(n, "Pad") || is_op(n, "BitShift") || is_op(n, "Trilu");
    return {kind_of(use.kind), is_distance ? 2 : extent, n.label()};
  }
  if (whole && slot == 1 && (is_op(n, "Div") || is_op(n, "Mod"))) return {RoleKind::kDivisor, 0, n.label()};
  return {};
}

/// Role of a value by its readers, including those after nodes that pass it on.
class RoleSearch {
 public:
  explicit RoleSearch(const Model& model) : model_(model) {}
  InputRole find(const Value& v, int depth = 0) {
    constexpr int kDeepest = 8;
    if (!seen_.insert(&v).second) return {};
    const bool is_whole = is_integer(dtype_of(&v));
    for (const Node* n : v.consumers())
      for (size_t i = 0; i < n->inputs().size(); ++i) {
        if (n->input(i) != &v) continue;
        if (const InputRole role = role_in(*n, i, is_whole, model_); role.kind != RoleKind::kAny) return role;
        if (!is_passed_on(*n, i, model_) || !passes_on(*n, model_) || depth == kDeepest) continue;
        for (const Value* y : n->outputs())
          if (y != nullptr)
            if (const InputRole role = find(*y, depth + 1); role.kind != RoleKind::kAny) return role;
      }
    return {};
  }

 private:
  const Model& model_;
  std::unordered_set<const Value*> seen_;
};

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

/// A number that the role allows.
int64_t number_for(const InputRole& role, RandomState& random, int64_t drawn, int taming, int64_t at,
                   const IntegerRange& range) {
  switch (role.kind) {
    case RoleKind::kAny:
      return drawn;
    case RoleKind::kDivisor:
      if (drawn == 0 || (drawn == -1 && range.low < 0 && taming > 0)) return 1 + random.next() % 7;
      return drawn;
    case RoleKind::kIndex: {
      const int64_t extent = std::max<int64_t>(role.extent, 1);
      const int64_t index = static_cast<int64_t>(random.next()) % extent;
      const bool from_end = taming == 0 && range.low < 0 && role.extent > 0 && random.next() % 4 == 0;
      return from_end ? index - extent : index;
    }
    case RoleKind::kShape:
      return at == 0 && range.low < 0 && taming < 2 ? -1 : 1;
    case RoleKind::kCount:
      return taming == 0 ? 1 + random.next() % 3 : 1;
    case RoleKind::kAxis:
      return taming == 0   ? static_cast<int64_t>(random.next()) % std::max<int64_t>(role.extent, 1)
             : taming == 1 ? 1
                           : 0;
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

bool has_user_range(const DataLoaderOptions& options, const Value& input) {
  const bool is_whole = is_integer(input.type.dtype) || input.type.dtype == DType::kBool;
  if (is_whole ? options.integer_range.has_value() : options.float_range.has_value()) return true;
  return std::any_of(options.ranges.begin(), options.ranges.end(), [&](const auto& r) {
    return r.first.empty() || NamePattern(r.first).matches(input.name());
  });
}

/// The number, if the role allows it, else one that it allows.
int64_t allowed(const InputRole& role, int64_t v, int64_t at) {
  switch (role.kind) {
    case RoleKind::kDivisor:
      return v == 0 ? 1 : v;
    case RoleKind::kIndex:
      return role.extent > 0 && (v >= role.extent || v < -role.extent) ? 0 : v;
    case RoleKind::kShape:
      return at == 0 ? -1 : 1;
    case RoleKind::kCount:
      return std::max<int64_t>(v, 1);
    case RoleKind::kAxis:
      return std::min(v, role.extent - 1);
    case RoleKind::kAny:
      return v;
  }
  return v;
}

}  // namespace

void obey_roles(const Model& model, const DataLoaderOptions& given, TensorList& feed) {
  for (const Value* v : model.graph->inputs) {
    const InputRole role = RoleSearch(model).find(*v);
    if (role.kind == RoleKind::kAny || !is_integer(dtype_of(v)) || has_user_range(given, *v)) continue;
    for (NamedTensor& t : feed) {
      if (t.name != v->name() || !is_integer(t.tensor.dtype())) continue;
      Tensor whole = Tensor::vector(t.tensor.to_int64());
      int64_t at = 0;
      for (int64_t& x : whole.mutable_span<int64_t>()) x = allowed(role, x, at++);
      t.tensor = convert(whole.reshaped(t.tensor.shape()), t.tensor.dtype());
    }
  }
}

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
    roles_[v->name()] = RoleSearch(model).find(*v);
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

TensorList TrialData::draw(TrialKind kind, int trial, int variant, int taming) const {
  DataLoaderOptions options = options_;
  options.seed += trial;
  options.shapes = {};
  const std::vector<InputShape> shapes = close_shapes(variant);
  std::vector<TensorInfo> infos = tensor_infos(graph_.inputs);
  for (TensorInfo& info : infos)
    for (const InputShape& s : shapes)
      if (NamePattern(s.name).matches(info.name) && info.type.is_tensor() &&
          (!info.type.has_shape() || info.type.dims->size() == s.dims.size()))
        info.type.dims = s.dims;
  // A shape for a tensor with that many integers specifies its elements.
  for (const Value* v : graph_.inputs)
    if (const InputShape* given = given_shape(*v); given != nullptr && gives_elements(*v, *given))
      options.shapes.push_back(*given);
  std::vector<TensorInfo> drawable = infos;
  for (TensorInfo& info : drawable)
    if (info.type.is_tensor() && info.type.dtype == DType::kString) info.type.dtype = DType::kBool;
  TensorList feed = DataLoader(std::move(options)).load(0, drawable, DataLoader::Report::kNo);
  RandomState random(static_cast<uint32_t>(options_.seed * 977 + trial * 131 + static_cast<int>(kind)));
  for (size_t i = 0; i < feed.size(); ++i) {
    const Value& v = *graph_.inputs[i];
    const DType type = infos[i].type.dtype;
    const InputRole& role = roles_.at(v.name());
    Tensor& t = feed[i].tensor;
    if (!infos[i].type.is_tensor() || (has_user_range(options_, v) && type != DType::kString)) continue;
    if (const InputShape* given = given_shape(v); given != nullptr && gives_elements(v, *given)) continue;
    Drawing drawing(random, kind, type, constants_);
    if (type == DType::kString)
      t = draw_strings(random, t.shape());
    else if (is_float(type) && (kind != TrialKind::kUnit || role.kind != RoleKind::kAny))
      t = draw_floats(drawing, role, random, type, t.shape(), taming);
    else if (!is_float(type) && (kind != TrialKind::kUnit || role.kind != RoleKind::kAny || taming > 0))
      t = draw_whole(drawing, role, random, type, t.shape(), taming);
  }
  return feed;
}

}  // namespace assay
