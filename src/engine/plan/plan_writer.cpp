// Writes engines to files.
#include <flatbuffers/flatbuffers.h>

#include "base/atomic_file.h"
#include "base/hash.h"
#include "engine/plan/file_bytes.h"
#include "engine/plan/plan_file.h"
#include "engine/plan/plan_generated.h"
#include "graph/export.h"
#include "graph/type_message.h"

namespace assay::engine {
namespace {

namespace fb = flatbuffers;

/// Initializers above this size lie outside the model's message: aligned, and shared with constants of plans.
constexpr int64_t kDetachAbove = 256;

class Writer {
 public:
  explicit Writer(BlobList& blobs) : blobs_(blobs) {}

  std::string write(const SavedEngine& e) {
    const auto environment = text(e.environment), producer = text(e.producer), name = text(e.name);
    const auto inputs = list<file::Interface>(e.inputs, [&](const auto& i) { return interface(i); });
    const auto outputs = list<file::Interface>(e.outputs, [&](const auto& i) { return interface(i); });
    const auto profiles = list<file::Profile>(e.profiles, [&](const auto& p) { return profile(p); });
    const auto plans = list<file::SpecializedPlan>(e.plans, [&](const auto& p) { return specialized(p); });
    const auto preferences = this->preferences(e.preferences);
    const auto rules = this->rules(e.rules);
    const auto near_misses = this->near_misses(e.near_misses);
    const auto network = e.model != nullptr ? model(*e.model, !e.is_stripped) : 0;
    file::FileBuilder out(b_);
    out.add_environment(environment);
    out.add_producer(producer);
    out.add_name(name);
    out.add_threads(e.threads);
    out.add_inputs(inputs);
    out.add_outputs(outputs);
    out.add_profiles(profiles);
    out.add_plans(plans);
    out.add_preferences(preferences);
    out.add_near_misses(near_misses);
    if (e.model != nullptr) out.add_model(network);
    out.add_is_refittable(e.is_refittable);
    out.add_rules(rules);
    out.add_is_stripped(e.is_stripped);
    b_.Finish(out.Finish());
    return {reinterpret_cast<const char*>(b_.GetBufferPointer()), b_.GetSize()};
  }

 private:
  fb::Offset<fb::String> text(const std::string& s) { return b_.CreateSharedString(s); }
  template <typename T>
  fb::Offset<fb::Vector<T>> numbers(const std::vector<T>& v) {
    return v.empty() ? 0 : b_.CreateVector(v);
  }
  auto texts(const std::vector<std::string>& v) {
    std::vector<fb::Offset<fb::String>> offsets;
    for (const std::string& s : v) offsets.push_back(text(s));
    return v.empty() ? fb::Offset<fb::Vector<fb::Offset<fb::String>>>() : b_.CreateVector(offsets);
  }
  template <typename Table, typename Items, typename Make>
  fb::Offset<fb::Vector<fb::Offset<Table>>> list(const Items& items, Make make) {
    std::vector<fb::Offset<Table>> offsets;
    offsets.reserve(items.size());
    for (const auto& item : items) offsets.push_back(make(item));
    return offsets.empty() ? 0 : b_.CreateVector(offsets);
  }
  fb::Offset<fb::Vector<fb::Offset<file::Preference>>> preferences(const std::vector<Preference>& all) {
    return list<file::Preference>(all, [&](const Preference& p) {
      return file::CreatePreference(b_, text(p.origin), text(p.candidate));
    });
  }
  fb::Offset<fb::Vector<fb::Offset<file::NearMiss>>> near_misses(const std::vector<NearMiss>& all) {
    return list<file::NearMiss>(all, [&](const NearMiss& m) {
      return file::CreateNearMiss(b_, text(m.layer), text(m.reason), m.multiply_adds);
    });
  }
  fb::Offset<file::Rules> rules(const SavedRules& r) {
    const QuantizeOptions none;
    const QuantizeOptions& q = r.quantization != nullptr ? *r.quantization : none;
    const auto scales = list<file::Scale>(
        q.scales, [&](const auto& scale) { return file::CreateScale(b_, text(scale.first), scale.second); });
    return file::CreateRules(
        b_, r.precisions.float16, r.precisions.bfloat16, r.optimize, texts(r.disabled_passes), r.max_edits,
        texts(r.disabled_tactics), preferences(r.pinned), r.most_scratch, r.quantization != nullptr, scales,
        texts({q.float_nodes.begin(), q.float_nodes.end()}), static_cast<uint8_t>(r.types.constraints),
        wishes(r.types.layers), wishes(r.types.tensors));
  }
  fb::Offset<fb::Vector<fb::Offset<file::TypeWish>>> wishes(
      const std::map<std::string, TypeRules::Wish>& all) {
    return list<file::TypeWish>(all, [&](const auto& entry) {
      return file::CreateTypeWish(b_, text(entry.first), static_cast<uint8_t>(entry.second.dtype),
                                  entry.second.is_exact);
    });
  }
  static file::Blob blob(const BlobList::Place& place) { return {place.offset, place.bytes}; }

  fb::Offset<file::Parameter> parameter(const std::string& name, const Parameter& value) {
    const auto key = text(name);
    fb::Offset<fb::String> string;
    fb::Offset<fb::Vector<int64_t>> integers;
    fb::Offset<fb::Vector<double>> reals;
    fb::Offset<fb::Vector<fb::Offset<fb::String>>> strings;
    if (const auto* s = std::get_if<std::string>(&value)) string = text(*s);
    if (const auto* v = std::get_if<std::vector<int64_t>>(&value)) integers = numbers(*v);
    if (const auto* v = std::get_if<std::vector<double>>(&value)) reals = numbers(*v);
    if (const auto* v = std::get_if<std::vector<std::string>>(&value)) strings = texts(*v);
    file::ParameterBuilder out(b_);
    out.add_name(key);
    out.add_kind(static_cast<uint8_t>(value.index()));
    if (const auto* i = std::get_if<int64_t>(&value)) out.add_integer(*i);
    if (const auto* r = std::get_if<double>(&value)) out.add_real(*r);
    out.add_text(string);
    out.add_integers(integers);
    out.add_reals(reals);
    out.add_texts(strings);
    return out.Finish();
  }

  fb::Offset<file::Value> value(const PlanValue& v) {
    return file::CreateValue(b_, text(v.name), static_cast<uint8_t>(v.dtype), v.has_shape,
                             numbers(v.shape.dims()), v.layout.block, static_cast<uint8_t>(v.storage), v.slot,
                             v.offset);
  }

  fb::Offset<file::Constant> constant(const std::string& name, const UnalignedTensor& t,
                                      const std::string& packing) {
    require(!t.is_container(), ErrorCode::kUnsupported,
            "the constant '{}' is a container, which a plan file cannot hold", name);
    const auto key = text(name), how = text(packing);
    const auto shape = numbers(t.shape().dims());
    fb::Offset<fb::Vector<fb::Offset<fb::String>>> strings;
    file::Blob data;
    if (t.dtype() == DType::kString) {
      const Tensor elements = t.aligned();
      strings = texts({elements.data<std::string>(), elements.data<std::string>() + elements.numel()});
    } else if (t.defined()) {
      data = blob(blobs_.add({static_cast<const char*>(t.data()), t.nbytes()}));
    }
    return file::CreateConstant(b_, key, static_cast<uint8_t>(t.dtype()), shape, &data, strings, how);
  }

  fb::Offset<file::Step> step(const Step& s) {
    const auto tactic = text(s.tactic), variant = text(s.variant);
    const auto inputs = numbers(s.inputs), outputs = numbers(s.outputs), networks = numbers(s.networks);
    const auto parameters = list<file::Parameter>(
        s.parameters.entries(), [&](const auto& entry) { return parameter(entry.first, entry.second); });
    std::vector<file::Pair> pairs;
    for (const auto& [output, input] : s.in_place) pairs.emplace_back(output, input);
    std::vector<file::Placement> placements;
    for (const Step::Placement& p : s.placements) placements.emplace_back(p.input, p.done, p.offset);
    const auto in_place = pairs.empty() ? 0 : b_.CreateVectorOfStructs(pairs);
    const auto placed = placements.empty() ? 0 : b_.CreateVectorOfStructs(placements);
    const auto origins = texts(s.origins);
    const auto why = s.why.empty() ? fb::Offset<fb::String>() : text(s.why);
    return file::CreateStep(b_, tactic, variant, inputs, outputs, parameters, s.scratch_bytes,
                            s.scratch_offset, in_place, placed, origins, networks,
                            static_cast<uint8_t>(s.computes), why);
  }

  fb::Offset<file::Plan> plan(const Plan& p) {
    const auto values = list<file::Value>(p.values, [&](const PlanValue& v) { return value(v); });
    const auto constants = list<file::Constant>(
        p.constants, [&](const PlanConstant& c) { return constant(c.name, c.tensor, c.packing); });
    const auto steps = list<file::Step>(p.steps, [&](const Step& s) { return step(s); });
    const auto networks = list<file::Network>(p.networks, [&](const PlanNetwork& n) {
      const auto made = n.plan != nullptr ? plan(*n.plan) : 0;
      // What is made ready for the only shapes there are needs no model.
      const auto as_model = n.plan == nullptr ? model(*n.model, true) : 0;
      return file::CreateNetwork(b_, as_model, made);
    });
    const auto inputs = numbers(p.inputs), outputs = numbers(p.outputs);
    return file::CreatePlan(b_, values, constants, steps, networks, inputs, outputs, p.arena_bytes,
                            p.threads);
  }

  fb::Offset<file::Model> model(const Model& m, bool with_weights) {
    const DetachedModel detached = detach_initializers(m, kDetachAbove);
    const file::Blob message = blob(blobs_.add_owned(detached.bytes));
    const auto weights =
        with_weights
            ? list<file::Constant>(detached.detached,
                                   [&](const Value* v) { return constant(v->name(), v->tensor(), ""); })
            : fb::Offset<fb::Vector<fb::Offset<file::Constant>>>();
    return file::CreateModel(b_, &message, weights);
  }

  fb::Offset<file::Interface> interface(const SavedEngine::Interface& i) {
    const std::string bytes = type_message(i.type).bytes();
    const auto name = text(i.name);
    return file::CreateInterface(
        b_, name, b_.CreateVector(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
  }

  fb::Offset<file::Profile> profile(const OptimizationProfile& p) {
    return file::CreateProfile(b_, list<file::Range>(p.ranges(), [&](const OptimizationProfile::Range& r) {
                                 const auto input = text(r.input);
                                 const auto min = numbers(r.min), opt = numbers(r.opt), max = numbers(r.max);
                                 return file::CreateRange(b_, input, r.holds_values, min, opt, max);
                               }));
  }

  fb::Offset<file::SpecializedPlan> specialized(const SpecializedPlan& s) {
    const auto shapes = list<file::Extents>(
        s.key.shapes, [&](const Shape& shape) { return file::CreateExtents(b_, numbers(shape.dims())); });
    const auto values = list<file::InputValue>(s.key.values, [&](const auto& v) {
      return file::CreateInputValue(b_, static_cast<int32_t>(v.first), constant("input", v.second, ""));
    });
    return file::CreateSpecializedPlan(b_, shapes, values, s.plan != nullptr ? plan(*s.plan) : 0);
  }

  BlobList& blobs_;
  fb::FlatBufferBuilder b_{1 << 16};
};

/// Calls sink(std::string_view) with all bytes of the file.
template <typename Sink>
void write_file(const SavedEngine& engine, Sink sink) {
  BlobList blobs;
  const std::string structure = Writer(blobs).write(engine);
  FileHeader header{};
  std::copy(std::begin(kMagic), std::end(kMagic), header.magic);
  header.byte_order = kByteOrder;
  header.version = kPlanFileVersion;
  header.structure_bytes = structure.size();
  header.blob_offset =
      (sizeof header + structure.size() + kBlobPartAlignment - 1) / kBlobPartAlignment * kBlobPartAlignment;
  header.blob_bytes = blobs.size();
  header.structure_hash = hash_of(structure);
  HashStream hash;
  blobs.write_to([&](std::string_view piece) { hash.add(piece); });
  header.blob_hash = hash.value();
  header.header_hash = header_hash_of(header);
  sink(std::string_view(reinterpret_cast<const char*>(&header), sizeof header));
  sink(std::string_view(structure));
  sink(std::string_view(std::string(header.blob_offset - sizeof header - structure.size(), '\0')));
  blobs.write_to(sink);
}

}  // namespace

void save_engine(const SavedEngine& engine, const std::string& path) {
  AtomicFile file(path);
  write_file(engine, [&](std::string_view piece) { file.write(piece); });
  file.commit();
}

std::string serialize_engine(const SavedEngine& engine) {
  std::string bytes;
  write_file(engine, [&](std::string_view piece) { bytes += piece; });
  return bytes;
}

}  // namespace assay::engine
