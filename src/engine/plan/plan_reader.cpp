// Reads engines from files.
#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "assay/io.h"
#include "base/bounds.h"
#include "base/hash.h"
#include "base/input_file.h"
#include "base/resident_memory.h"
#include "base/wording.h"
#include "engine/plan/file_bytes.h"
#include "engine/plan/plan_file.h"
#include "engine/plan/plan_generated.h"
#include "graph/type_message.h"

namespace assay::engine {
namespace {

/// Networks inside networks: bodies of control flow, as deep as ONNX's subgraphs, and what waits for shapes
/// in them.
constexpr int kMaxNetworkDepth = 80;
/// Of a step: looked up by going through them.
constexpr flatbuffers::uoffset_t kMaxParameters = 64;

template <typename... Args>
void check(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition)
    fail(ErrorCode::kInvalidModel, "{}",
         "the plan is damaged: " + fmt::format(format, std::forward<Args>(args)...));
}

class Reader {
 public:
  Reader(std::string_view blobs, std::shared_ptr<const void> owner, std::string name,
         const NetworkReader& read_network)
      : blobs_(blobs), owner_(std::move(owner)), name_(std::move(name)), read_network_(read_network) {}

  SavedEngine read(const file::File& f) {
    SavedEngine e;
    e.name = text(f.name());
    e.environment = text(f.environment());
    e.producer = text(f.producer());
    e.threads = f.threads();
    each(f.inputs(), [&](const file::Interface* i) { e.inputs.push_back(interface(*i)); });
    each(f.outputs(), [&](const file::Interface* i) { e.outputs.push_back(interface(*i)); });
    each(f.profiles(), [&](const file::Profile* p) {
      check(p->ranges() == nullptr || p->ranges()->size() <= e.inputs.size(),
            "a profile has more ranges than inputs");
      e.profiles.push_back(profile(*p));
    });
    e.is_refittable = f.is_refittable();
    e.rules = rules(*f.rules());
    e.is_stripped = f.is_stripped();
    each(f.plans(), [&](const file::SpecializedPlan* p) { e.plans.push_back(specialized(*p, e)); });
    e.preferences = preferences(f.preferences());
    each(f.near_misses(), [&](const file::NearMiss* m) {
      check(m->multiply_adds() >= 0, "the work of the layer '{}' is negative", text(m->layer()));
      e.near_misses.push_back({text(m->layer()), text(m->reason()), m->multiply_adds()});
    });
    if (f.model() != nullptr) e.model = model(*f.model());
    check(f.model() != nullptr || !(e.is_refittable || e.is_stripped),
          "it is said to be refittable, but the network is not in it");
    for (const SpecializedPlan& p : e.plans) check(p.plan != nullptr || e.is_stripped, "a plan is missing");
    check(f.model() != nullptr || !e.plans.empty(), "there is nothing in it to run");
    return e;
  }

 private:
  template <typename Vector, typename F>
  static void each(const Vector* v, F body) {
    if (v == nullptr) return;
    for (flatbuffers::uoffset_t i = 0; i < v->size(); ++i) body(v->Get(i));
  }
  static std::string text(const flatbuffers::String* s) { return s == nullptr ? std::string() : s->str(); }
  /// FlatBuffers' verifier looks at where a vector's length lies, not at where its elements do.
  template <typename Vector>
  static void check_aligned(const Vector* v, size_t alignment) {
    check(v == nullptr || reinterpret_cast<uintptr_t>(v->Data()) % alignment == 0,
          "a list of numbers is misaligned");
  }
  template <typename T>
  static std::vector<T> numbers(const flatbuffers::Vector<T>* v) {
    check_aligned(v, alignof(T));
    return v == nullptr ? std::vector<T>() : std::vector<T>(v->begin(), v->end());
  }
  static std::vector<std::string> texts(
      const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* v) {
    std::vector<std::string> out;
    each(v, [&](const flatbuffers::String* s) { out.push_back(s->str()); });
    return out;
  }

  static std::vector<Preference> preferences(
      const flatbuffers::Vector<flatbuffers::Offset<file::Preference>>* v) {
    std::vector<Preference> all;
    each(v, [&](const file::Preference* p) { all.push_back({text(p->origin()), text(p->candidate())}); });
    return all;
  }
  static SavedRules rules(const file::Rules& r) {
    check(r.max_edits() >= 0 && r.most_scratch() >= 0, "its rules have negative limits");
    return {.precisions = {.float16 = r.float16(), .bfloat16 = r.bfloat16()},
            .optimize = r.optimize(),
            .disabled_passes = texts(r.disabled_passes()),
            .max_edits = r.max_edits(),
            .disabled_tactics = texts(r.disabled_tactics()),
            .pinned = preferences(r.pinned()),
            .most_scratch = r.most_scratch(),
            .quantization = quantization(r),
            .types = types(r)};
  }
  static TypeRules types(const file::Rules& r) {
    check(r.constraints() <= static_cast<uint8_t>(PrecisionConstraints::kObey),
          "its constraints on types are of kind {}", r.constraints());
    return {.constraints = static_cast<PrecisionConstraints>(r.constraints()),
            .layers = wishes(r.layer_types()),
            .tensors = wishes(r.tensor_types())};
  }
  static std::map<std::string, TypeRules::Wish> wishes(
      const flatbuffers::Vector<flatbuffers::Offset<file::TypeWish>>* v) {
    std::map<std::string, TypeRules::Wish> all;
    each(v, [&](const file::TypeWish* w) {
      const std::string name = text(w->name());
      all.emplace(name, TypeRules::Wish{dtype(w->dtype(), "the wish for '" + name + "'"), w->is_exact()});
    });
    return all;
  }
  static std::shared_ptr<const QuantizeOptions> quantization(const file::Rules& r) {
    if (!r.quantizes()) return nullptr;
    auto options = std::make_shared<QuantizeOptions>();
    each(r.scales(), [&](const file::Scale* s) {
      check(std::isfinite(s->step()) && s->step() >= 0, "the scale of '{}' is {}", s->tensor()->str(),
            s->step());
      options->scales.emplace(s->tensor()->str(), s->step());
    });
    for (std::string& name : texts(r.float_nodes())) options->float_nodes.insert(std::move(name));
    return options;
  }

  std::string_view blob(const file::Blob* b, const std::string& what) const {
    if (b == nullptr) return {};
    check(within(b->offset(), b->bytes(), blobs_.size()), "{} lies at bytes {} to {} of {}", what,
          b->offset(), b->offset() + b->bytes(), blobs_.size());
    check(b->offset() % kBlobAlignment == 0, "{} lies at byte {}, which is not a multiple of {}", what,
          b->offset(), kBlobAlignment);
    return blobs_.substr(b->offset(), b->bytes());
  }

  static Shape shape(const flatbuffers::Vector<int64_t>* v, const std::string& what) {
    const Shape s(numbers(v));
    uint64_t elements = 1;
    for (const int64_t d : s) {
      check(
          d >= 0 &&
              !__builtin_mul_overflow(elements, static_cast<uint64_t>(std::max<int64_t>(d, 1)), &elements) &&
              elements <= (uint64_t{1} << 56),
          "{} has the shape {}", what, s.dims().size() > 16 ? "of many extents" : s.str());
    }
    return s;
  }

  static DType dtype(uint8_t number, const std::string& what) {
    check(number == 0 || is_known_dtype(number), "{} has element type {}", what, number);
    return static_cast<DType>(number);
  }

  static Parameter parameter(const file::Parameter& p) {
    switch (p.kind()) {
      case 0:
        return p.integer();
      case 1:
        return p.real();
      case 2:
        return text(p.text());
      case 3:
        return numbers(p.integers());
      case 4:
        return numbers(p.reals());
      case 5:
        return texts(p.texts());
      default:
        fail(ErrorCode::kInvalidModel, "the plan is damaged: the parameter '{}' is of kind {}",
             text(p.name()), p.kind());
    }
  }

  static PlanValue value(const file::Value& v) {
    PlanValue out{.name = text(v.name())};
    const std::string what = "the value '" + out.name + "'";
    out.dtype = dtype(v.dtype(), what);
    out.has_shape = v.has_shape();
    out.shape = shape(v.shape(), what);
    out.layout = {v.block()};
    check(v.storage() <= static_cast<uint8_t>(Storage::kTensor), "{} is kept in place {}", what, v.storage());
    out.storage = static_cast<Storage>(v.storage());
    out.slot = v.slot();
    out.offset = v.offset();
    return out;
  }

  UnalignedTensor tensor(const file::Constant& c, const std::string& what) const {
    const DType type = dtype(c.dtype(), what);
    const Shape extents = shape(c.shape(), what);
    if (type == DType::kUndefined) return {};
    if (type == DType::kString) {
      const std::vector<std::string> elements = texts(c.texts());
      check(static_cast<int64_t>(elements.size()) == extents.numel(), "{} has {} elements for the shape {}",
            what, elements.size(), extents.str());
      return Tensor::from<std::string>(extents, elements);
    }
    const std::string_view bytes = blob(c.data(), what);
    check(bytes.size() == storage_bytes(type, extents.numel()), "{} has {} bytes for {}{}", what,
          bytes.size(), dtype_name(type), extents.str());
    if (type == DType::kBool)
      for (const char b : bytes) check(b == 0 || b == 1, "{} holds a truth value of {}", what, b);
    return UnalignedTensor::view(type, extents, bytes.data(), owner_);
  }

  PlanConstant constant(const file::Constant& c) const {
    PlanConstant out{.name = text(c.name()), .packing = text(c.packing())};
    out.tensor = tensor(c, "the constant '" + out.name + "'").aligned();
    return out;
  }

  static Step step(const file::Step& s) {
    Step out;
    out.tactic = text(s.tactic());
    out.variant = text(s.variant());
    out.inputs = numbers(s.inputs());
    out.outputs = numbers(s.outputs());
    if (s.parameters() != nullptr)
      check(s.parameters()->size() <= kMaxParameters, "a step has {} parameters", s.parameters()->size());
    each(s.parameters(),
         [&](const file::Parameter* p) { out.parameters.set(text(p->name()), parameter(*p)); });
    out.scratch_bytes = s.scratch_bytes();
    out.scratch_offset = s.scratch_offset();
    check_aligned(s.in_place(), alignof(file::Pair));
    check_aligned(s.placements(), alignof(file::Placement));
    each(s.in_place(), [&](const file::Pair* p) { out.in_place.emplace_back(p->first(), p->second()); });
    each(s.placements(), [&](const file::Placement* p) {
      out.placements.push_back({p->input(), p->offset(), p->done()});
    });
    out.origins = texts(s.origins());
    out.networks = numbers(s.networks());
    out.computes = dtype(s.computes(), "a step");
    out.why = text(s.why());
    return out;
  }

  std::shared_ptr<const Plan> plan(const file::Plan& p) {
    check(++depth_ <= kMaxNetworkDepth, "networks lie more than {} deep in each other", kMaxNetworkDepth);
    auto out = std::make_shared<Plan>();
    each(p.values(), [&](const file::Value* v) { out->values.push_back(value(*v)); });
    each(p.constants(), [&](const file::Constant* c) { out->constants.push_back(constant(*c)); });
    each(p.steps(), [&](const file::Step* s) { out->steps.push_back(step(*s)); });
    each(p.networks(), [&](const file::Network* n) {
      PlanNetwork network;
      if (n->model() != nullptr) network.model = model(*n->model());
      if (n->plan() != nullptr) network.plan = plan(*n->plan());
      check(n->model() != nullptr || network.plan != nullptr, "one of its networks is empty");
      out->networks.push_back(std::move(network));
    });
    out->inputs = numbers(p.inputs());
    out->outputs = numbers(p.outputs());
    out->arena_bytes = p.arena_bytes();
    out->threads = p.threads();
    verify(*out);
    --depth_;
    return out;
  }

  std::shared_ptr<const Model> model(const file::Model& m) {
    NetworkBytes network{
        .message = blob(m.message(), "a network"), .weights = {}, .owner = owner_, .file = name_};
    each(m.weights(), [&](const file::Constant* c) {
      const std::string name = text(c->name());
      network.weights.emplace_back(name, tensor(*c, "the weight '" + name + "'"));
    });
    return read_network_(network);
  }

  static SavedEngine::Interface interface(const file::Interface& i) {
    SavedEngine::Interface out{.name = text(i.name()), .type = {}};
    if (i.type() != nullptr)
      out.type =
          to_type(onnx::read_type({reinterpret_cast<const char*>(i.type()->data()), i.type()->size()}));
    out.type.source = nullptr;  // its bytes are not kept
    return out;
  }

  static OptimizationProfile profile(const file::Profile& p) {
    OptimizationProfile out;
    each(p.ranges(), [&](const file::Range* r) {
      if (r->holds_values())
        out.set_shape_values(text(r->input()), numbers(r->min()), numbers(r->opt()), numbers(r->max()));
      else
        out.set_shape(text(r->input()), Shape(numbers(r->min())), Shape(numbers(r->opt())),
                      Shape(numbers(r->max())));
    });
    return out;
  }

  SpecializedPlan specialized(const file::SpecializedPlan& s, const SavedEngine& e) {
    SpecializedPlan out;
    each(s.shapes(),
         [&](const file::Extents* x) { out.key.shapes.push_back(shape(x->extents(), "an input")); });
    each(s.values(), [&](const file::InputValue* v) {
      check(v->input() >= 0 && static_cast<size_t>(v->input()) < e.inputs.size(),
            "it is for values of input {}", v->input());
      check(v->value() != nullptr, "it is for values that are missing");
      check(out.key.values.empty() || out.key.values.back().first < static_cast<size_t>(v->input()),
            "it is for values of input {} twice", v->input());
      out.key.values.emplace_back(static_cast<size_t>(v->input()),
                                  tensor(*v->value(), "an input's value").aligned());
    });
    check(out.key.shapes.size() == e.inputs.size(), "a plan is for {} inputs, but the network has {}",
          out.key.shapes.size(), e.inputs.size());
    if (s.plan() == nullptr) return out;
    out.plan = plan(*s.plan());
    check(out.plan->inputs.size() == e.inputs.size() && out.plan->outputs.size() == e.outputs.size(),
          "a plan has {} inputs and {} outputs, but the network {} and {}", out.plan->inputs.size(),
          out.plan->outputs.size(), e.inputs.size(), e.outputs.size());
    for (size_t i = 0; i < out.key.shapes.size(); ++i) {
      const PlanValue& v = out.plan->values[static_cast<size_t>(out.plan->inputs[i])];
      check(!v.has_shape || (v.shape == out.key.shapes[i] && e.inputs[i].type.is_tensor()),
            "input '{}' has two shapes", e.inputs[i].name);
      check(!e.inputs[i].type.is_tensor() || v.dtype == e.inputs[i].type.dtype, "input '{}' has two types",
            e.inputs[i].name);
    }
    for (size_t i = 0; i < e.outputs.size(); ++i) {
      const PlanValue& v = out.plan->values[static_cast<size_t>(out.plan->outputs[i])];
      check(!v.has_shape || !e.outputs[i].type.is_tensor() || v.dtype == e.outputs[i].type.dtype,
            "output '{}' has two types", e.outputs[i].name);
    }
    return out;
  }

  std::string_view blobs_;
  std::shared_ptr<const void> owner_;
  std::string name_;
  const NetworkReader& read_network_;
  int depth_ = 0;
};

/// Where large weights lie that a run reads little of, or nothing: tables, and networks that wait for shapes.
class RarelyRead {
 public:
  explicit RarelyRead(const file::File& f) {
    if (f.model() != nullptr) add(*f.model());
    if (f.plans() != nullptr)
      for (const file::SpecializedPlan* p : *f.plans())
        if (p->plan() != nullptr) add(*p->plan());
    std::sort(ranges_.begin(), ranges_.end());
  }

  /// The hash of all blobs; pages of those weights leave as soon as they have been read.
  uint64_t hash_of(std::string_view blobs) const {
    constexpr uint64_t kPiece = uint64_t{16} << 20;
    HashStream hash;
    uint64_t at = 0;
    const auto add_until = [&](uint64_t end, bool drops) {
      for (end = std::min<uint64_t>(end, blobs.size()); at < end;) {
        const std::string_view piece = blobs.substr(at, std::min(kPiece, end - at));
        hash.add(piece);
        if (drops) drop_after_use(piece.data(), piece.size());
        at += piece.size();
      }
    };
    for (const auto& [begin, bytes] : ranges_) {
      add_until(begin, false);
      add_until(checked_sum({begin, bytes}).value_or(begin), true);
    }
    add_until(blobs.size(), false);
    return hash.value();
  }

 private:
  void add(const file::Constant& c) {
    constexpr uint64_t kLarge = uint64_t{1} << 20;
    if (c.data() != nullptr && c.data()->bytes() >= kLarge)
      ranges_.emplace_back(c.data()->offset(), c.data()->bytes());
  }
  void add(const file::Model& m) {
    if (m.weights() == nullptr) return;
    for (const file::Constant* c : *m.weights()) add(*c);
  }
  void add(const file::Plan& p) {
    if (p.constants() != nullptr)
      for (const file::Constant* c : *p.constants())
        if (c->packing() != nullptr && c->packing()->string_view() == PlanConstant::kAsBytes) add(*c);
    if (p.networks() == nullptr) return;
    for (const file::Network* n : *p.networks()) {
      if (n->model() != nullptr) add(*n->model());
      if (n->plan() != nullptr) add(*n->plan());
    }
  }

  std::vector<std::pair<uint64_t, uint64_t>> ranges_;
};

SavedEngine parse(std::string_view bytes, const std::shared_ptr<const void>& owner, const std::string& name,
                  std::string_view environment, const NetworkReader& read_network) {
  FileHeader h;
  require(bytes.size() >= sizeof h && std::memcmp(bytes.data(), kMagic, sizeof kMagic) == 0,
          ErrorCode::kInvalidModel, "not a plan file");
  std::memcpy(&h, bytes.data(), sizeof h);
  require(h.byte_order == kByteOrder, ErrorCode::kUnsupported,
          "the plan was built on a machine with another byte order");
  require(h.version == kPlanFileVersion, ErrorCode::kUnsupported,
          "the plan is of version {} of the format, this program reads version {}", h.version,
          kPlanFileVersion);
  check(h.header_hash == header_hash_of(h), "the checksum of its header is wrong");
  check(within(sizeof h, h.structure_bytes, h.blob_offset) && h.blob_offset % kBlobPartAlignment == 0 &&
            h.blob_offset <= bytes.size() && h.blob_bytes == bytes.size() - h.blob_offset,
        "it has {} bytes, its header counts on {}", bytes.size(),
        checked_sum({h.blob_offset, h.blob_bytes}).value_or(0));
  const std::string_view structure = bytes.substr(sizeof h, h.structure_bytes),
                         blobs = bytes.substr(h.blob_offset);
  check(hash_of(structure) == h.structure_hash, "the checksum of its structure is wrong");
  // A table takes at least 4 bytes, so more of them than that are one table many times.
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(structure.data()), structure.size(),
                                 4 * kMaxNetworkDepth,
                                 static_cast<flatbuffers::uoffset_t>(structure.size() / 4 + 1));
  check(structure.size() < FLATBUFFERS_MAX_BUFFER_SIZE && file::VerifyFileBuffer(verifier),
        "its structure points outside itself");
  const file::File& f = *file::GetFile(structure.data());
  require(f.environment()->string_view() == environment, ErrorCode::kUnsupported,
          "the plan was built for {}, but this is {}", f.environment()->str(), environment);
  check(RarelyRead(f).hash_of(blobs) == h.blob_hash, "the checksum of its weights is wrong");
  return Reader(blobs, owner, name, read_network).read(f);
}

}  // namespace

SavedEngine parse_engine(std::string_view bytes, std::shared_ptr<const void> owner, const std::string& name,
                         std::string_view environment, const NetworkReader& read_network) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kBlobAlignment != 0) {
    Tensor copy = Tensor::allocate(DType::kUInt8, Shape{static_cast<int64_t>(bytes.size())});
    std::memcpy(copy.mutable_data(), bytes.data(), bytes.size());
    const auto kept = std::make_shared<const Tensor>(std::move(copy));
    return parse_engine({static_cast<const char*>(kept->data()), bytes.size()}, kept, name, environment,
                        read_network);
  }
  try {
    return parse(bytes, owner, name, environment, read_network);
  } catch (Error& e) {
    throw set_remedy(e.add_context(file_place(name)), Say::kRebuildPlan);
  }
}

}  // namespace assay::engine
