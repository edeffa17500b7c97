#include "fuzz/targets/plans.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>

#include "assay/builder.h"
#include "base/bounds.h"
#include "base/hash.h"
#include "engine/objects/state.h"
#include "engine/plan/file_bytes.h"
#include "engine/tactics/tactic_set.h"
#include "engine/target/target.h"
#include "fuzz/targets/plan_networks.h"
#include "graph/import.h"
#include "kernels/rnn/recurrence.h"
#include "ops/infer.h"

extern "C" {
void __asan_poison_memory_region(void const volatile*, size_t) __attribute__((weak));
void __asan_unpoison_memory_region(void const volatile*, size_t) __attribute__((weak));
}

namespace assay::fuzz {
namespace {

using engine::Plan;
using engine::PlanValue;
using engine::Step;

/// Multiplications, or elements moved, that the steps of a plan may take together.
constexpr double kMaxPlanWork = 1 << 22;
constexpr int64_t kMaxBytes = int64_t{4} << 20;

const Runtime& runtime() {
  static const auto* const one = new Runtime({.threads = 1, .on_warning = [](const std::string&) {}});
  return *one;
}

void collect_tactics(const Plan& plan, std::set<std::string>& names) {
  for (const Step& s : plan.steps) names.insert(s.tactic);
  for (const engine::PlanNetwork& n : plan.networks)
    if (n.plan != nullptr) collect_tactics(*n.plan, names);
}

/// Tactics of an engine, with their ways.
std::set<std::string> ways_of(const Engine& e) {
  std::set<std::string> ways;
  for (const engine::SpecializedPlan& p : e.state().saved.plans)
    if (p.plan != nullptr)
      for (const Step& s : p.plan->steps)
        if (engine::built_in_tactics().find(s.tactic) != nullptr &&
            engine::built_in_tactics().find(s.tactic)->propose != nullptr)
          ways.insert(tactic_text(s));
  return ways;
}

class SeedMaker {
 public:
  std::vector<std::string> make() {
    for (const std::string& text : plan_networks()) {
      const std::shared_ptr<Model> model = parse_text(text, "a network");
      infer_shapes(*model);
      BuilderConfig config{.optimization_level = 0};
      OptimizationProfile profile;
      for (const Value* v : model->graph->inputs)
        if (v->type.is_tensor() && !known_shape(*v->type.dims))
          profile.set_shape(v->name(), {1, 4}, {2, 4}, {3, 4});
      if (!profile.ranges().empty()) config.profiles = {profile};
      add(model, config, 2);
      config.optimize = false;
      add(model, config, 0);
      config.is_refittable = true;
      add(model, config, 0);
    }
    std::set<std::string> used;
    for (const std::string& bytes : plans_)
      for (const engine::SpecializedPlan& p :
           engine::parse_engine(bytes, nullptr, "a seed", plan_environment_here()).plans)
        if (p.plan != nullptr) collect_tactics(*p.plan, used);
    for (const engine::TacticDef* t : engine::built_in_tactics().all())
      require(used.contains(std::string(t->name)) || is_beyond_this_processor(*t) ||
                  (t->factory.create == nullptr && t->factory.create_tensor == nullptr),
              ErrorCode::kInternal, "no seed uses the tactic {}: add a network to plan_networks.cpp",
              t->name);
    return std::move(plans_);
  }

 private:
  /// Fuzzing builds have vectors of the baseline alone, which are too short for it.
  static bool is_beyond_this_processor(const engine::TacticDef& t) {
    return t.name == "quantized_lstm" && !kernels::takes_quantized({.gates = 4, .units = 1, .k = 1});
  }

  /// The network as the engine would run it; then without one after the other of the ways that it chose.
  void add(const std::shared_ptr<Model>& model, const BuilderConfig& config, int depth) {
    std::shared_ptr<Engine> e;
    try {
      e = Builder(runtime()).build_engine(model, config);
    } catch (const Error&) {  // nothing is left that could run it
      return;
    }
    std::string bytes = e->serialize();
    if (std::find(plans_.begin(), plans_.end(), bytes) != plans_.end()) return;
    plans_.push_back(std::move(bytes));
    for (const std::string& way : depth > 0 ? ways_of(*e) : std::set<std::string>()) {
      BuilderConfig other = config;
      other.disabled_tactics.push_back(way);
      add(model, other, depth - 1);
    }
  }

  std::vector<std::string> plans_;
};

/// A block for one operand of a kernel, with walls on both sides.
class Block {
 public:
  explicit Block(size_t bytes)
      : bytes_(bytes), memory_(Tensor::allocate(DType::kUInt8, {static_cast<int64_t>(2 * kWall + bytes)})) {
    std::memset(begin(), kFill, kWall);
    std::memset(end(), kFill, kWall);
    std::memset(data(), 0, bytes);
    if (__asan_poison_memory_region == nullptr) return;
    __asan_poison_memory_region(begin(), kWall);
    __asan_poison_memory_region(end(), kWall);
  }
  /// Code that is made while it runs knows nothing of poison: what it wrote is found here.
  ~Block() {
    if (__asan_unpoison_memory_region != nullptr) {
      __asan_unpoison_memory_region(begin(), kWall);
      __asan_unpoison_memory_region(end(), kWall);
    }
    const auto is_whole = [](const char* wall) {
      return std::all_of(wall, wall + kWall, [](char c) { return c == kFill; });
    };
    if (is_whole(begin()) && is_whole(end())) return;
    std::fprintf(stderr, "a kernel wrote beside its operand of %zu bytes\n", bytes_);
    std::abort();
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  char* data() { return begin() + kWall; }

 private:
  static constexpr size_t kWall = 128;
  static constexpr char kFill = 0x5a;
  char* begin() { return static_cast<char*>(memory_.mutable_data()); }
  char* end() { return data() + bytes_; }

  size_t bytes_;
  Tensor memory_;
};

double elements(const Plan& plan, const std::vector<int32_t>& ids) {
  double most = 1;
  for (const int32_t id : ids)
    if (id >= 0) most = std::max(most, static_cast<double>(plan.values[static_cast<size_t>(id)].bytes()));
  return most;
}

/// About what a step does: every element of the result with all of every operand.
double work_of(const Plan& plan, const Step& s) {
  double work = elements(plan, s.outputs);
  if (s.tactic.starts_with("dnnl") || s.tactic == "recurrent" || s.tactic == "gemv" ||
      s.tactic == "group_conv")
    work *= elements(plan, s.inputs);
  for (const char* name : {"kernel", "sizes"})
    if (const auto* numbers = s.parameters.find<std::vector<int64_t>>(name))
      for (const int64_t n : *numbers) work *= std::max(1.0, static_cast<double>(n));
  if (const auto* points = s.parameters.find<int64_t>("ratio"); s.tactic == "roi_align" && points != nullptr)
    work *= std::max(1.0, static_cast<double>(*points) * static_cast<double>(*points));
  return work;
}

/// Loops that end when their condition says so may turn for ever.
bool is_quick(const Plan& plan) {
  if (plan.arena_bytes > kMaxBytes) return false;
  double work = 0;
  for (const Step& s : plan.steps) {
    work += work_of(plan, s);
    if (s.tactic == "control" && !s.inputs.empty() && s.inputs[0] < 0) return false;
  }
  for (const engine::PlanNetwork& n : plan.networks)
    if (n.plan != nullptr && !is_quick(*n.plan)) return false;
  return work <= kMaxPlanWork;
}

/// Runs the kernels of a plan one by one, each on blocks of its own.
void run_kernels(const Plan& plan) {
  for (const Step& s : plan.steps) {
    const engine::KernelFactory* factory = engine::built_in_tactics().find_kernel(s.tactic);
    if (factory == nullptr || factory->create == nullptr) continue;
    const std::unique_ptr<engine::Kernel> kernel = factory->create(plan, s);
    std::vector<std::unique_ptr<Block>> blocks;
    const auto block = [&](size_t bytes) {
      blocks.push_back(std::make_unique<Block>(bytes));
      return blocks.back()->data();
    };
    std::vector<void*> outputs;
    std::vector<const void*> inputs;
    for (const int32_t id : s.outputs)
      outputs.push_back(id < 0 ? nullptr : block(plan.values[static_cast<size_t>(id)].bytes()));
    for (size_t i = 0; i < s.inputs.size(); ++i) {
      inputs.push_back(nullptr);
      if (s.inputs[i] < 0) continue;
      const PlanValue& v = plan.values[static_cast<size_t>(s.inputs[i])];
      char* data = block(v.bytes());
      if (v.storage == engine::Storage::kConstant)
        std::memcpy(
            data,
            static_cast<const char*>(plan.constants[static_cast<size_t>(v.slot)].tensor.data()) + v.offset,
            v.bytes());
      inputs.back() = data;
      for (const auto& [out, in] : s.in_place)
        if (static_cast<size_t>(in) == i) inputs.back() = outputs[static_cast<size_t>(out)];
    }
    kernel->run(
        {inputs, outputs, s.scratch_bytes > 0 ? block(static_cast<size_t>(s.scratch_bytes)) : nullptr});
  }
  for (const engine::PlanNetwork& n : plan.networks)
    if (n.plan != nullptr) run_kernels(*n.plan);
}

}  // namespace

const std::vector<std::string>& plan_seeds() {
  static const auto* const seeds = new std::vector<std::string>(SeedMaker().make());
  return *seeds;
}

const std::string& plan_environment_here() {
  static const auto* const text = new std::string(engine::cpu_target()->fingerprint());
  return *text;
}

void run_plan(std::string_view bytes) {
  const auto copy =
      std::make_shared<Tensor>(Tensor::allocate(DType::kUInt8, {static_cast<int64_t>(bytes.size())}));
  std::memcpy(copy->mutable_data(), bytes.data(), bytes.size());
  const std::shared_ptr<Engine> e =
      runtime().deserialize_engine({static_cast<const char*>(copy->data()), bytes.size()}, copy);
  const engine::SavedEngine& saved = e->state().saved;
  for (const engine::SpecializedPlan& p : saved.plans) {
    if (p.plan == nullptr) continue;
    require(is_quick(*p.plan), ErrorCode::kUnsupported, "it may take long");
    run_kernels(*p.plan);
  }
  if (saved.plans.empty() || e->lacks_weights()) return;
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < saved.inputs.size(); ++i) {
    const Type& type = saved.inputs[i].type;
    const Shape& shape = saved.plans[0].key.shapes[i];
    require(type.is_tensor() && shape.numel() <= kMaxBytes, ErrorCode::kUnsupported,
            "it takes a container, or much");
    if (type.dtype == DType::kString)
      inputs.push_back(Tensor::from<std::string>(
          shape, std::vector<std::string>(static_cast<size_t>(shape.numel()), "s")));
    else
      inputs.push_back(Tensor::zeros(type.dtype, shape));
  }
  e->create_execution_context()->infer(inputs);
}

void repair_checksums(std::string& plan) {
  engine::FileHeader h;
  if (plan.size() < sizeof h) return;
  std::memcpy(&h, plan.data(), sizeof h);
  const std::string_view bytes = plan;
  if (within(sizeof h, h.structure_bytes, bytes.size()))
    h.structure_hash = hash_of(bytes.substr(sizeof h, h.structure_bytes));
  if (h.blob_offset <= bytes.size()) {
    h.blob_bytes = bytes.size() - h.blob_offset;
    h.blob_hash = hash_of(bytes.substr(h.blob_offset));
  }
  h.header_hash = engine::header_hash_of(h);
  std::memcpy(plan.data(), &h, sizeof h);
}

}  // namespace assay::fuzz
