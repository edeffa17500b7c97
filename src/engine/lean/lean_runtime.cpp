#include "assay/lean_runtime.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/mapped_file.h"
#include "base/thread_pool.h"
#include "engine/plan/plan_file.h"
#include "engine/runtime/arena.h"
#include "engine/runtime/tensor_outputs.h"
#include "engine/tactics/find_kernel.h"

namespace assay {
namespace {

using engine::Context;
using engine::Plan;
using engine::Step;

/// Networks inside of plans are for steps that are refused: they are left where they are.
std::shared_ptr<const Model> leave_network(const engine::NetworkBytes&) { return nullptr; }

class NoNetworks final : public engine::NetworkSource {
 public:
  std::unique_ptr<engine::NetworkRunner> runner(int32_t) override { refuse(); }
  std::unique_ptr<engine::NetworkRunner> shared_runner(int32_t) override { refuse(); }

 private:
  [[noreturn]] static void refuse() {
    fail(ErrorCode::kUnsupported, "the lean runtime runs no networks inside of steps");
  }
};

/// Throws Error (kUnsupported) naming the steps that have no kernel here.
void check_steps(const Plan& plan) {
  constexpr size_t kNamed = 3;
  std::string names;
  size_t count = 0;
  for (const Step& s : plan.steps) {
    if (engine::find_kernel(s.tactic) != nullptr) continue;
    if (++count <= kNamed) names += fmt::format("{}'{}' ({})", count > 1 ? ", " : "", step_name(s), s.tactic);
  }
  if (count == 0) return;
  if (count > kNamed) names += fmt::format(" and {} more", count - kNamed);
  Error e(ErrorCode::kUnsupported, fmt::format("the lean runtime has no kernels for these steps: {}", names));
  e.set_remedy("Run it with the whole library (assay/runtime.h), which has the operators' own evaluation.");
  throw e;
}

LeanEngine::Io io_of(const engine::SavedEngine::Interface& i) {
  LeanEngine::Io io{
      .name = i.name, .dtype = i.type.is_tensor() ? i.type.dtype : DType::kUndefined, .dims = {}};
  if (i.type.dims)
    for (const Dim& d : *i.type.dims) io.dims.push_back(d.is_known() ? d.value() : -1);
  return io;
}

std::string text_of(std::span<const Shape> shapes) {
  std::string text;
  for (const Shape& s : shapes) text += (text.empty() ? "" : ", ") + s.str();
  return text;
}

}  // namespace

struct LeanEngine::State {
  State(engine::SavedEngine read, int threads)
      : saved(std::move(read)), pool(std::make_shared<ThreadPool>(threads)) {
    require(!saved.is_stripped, ErrorCode::kUnsupported,
            "its weights have been left out, and the lean runtime cannot give it others");
    require(!saved.plans.empty(), ErrorCode::kUnsupported,
            "it holds the network alone, and the lean runtime plans nothing");
    for (const engine::SpecializedPlan& p : saved.plans) check_steps(*p.plan);
    for (const auto& i : saved.inputs) inputs.push_back(io_of(i));
    for (const auto& o : saved.outputs) outputs.push_back(io_of(o));
  }

  void check_inputs(std::span<const Tensor> given) const {
    require(given.size() == inputs.size(), ErrorCode::kInvalidArgument, "{} inputs are given, '{}' has {}",
            given.size(), saved.name, inputs.size());
    for (size_t i = 0; i < given.size(); ++i) {
      require(given[i].defined() && !given[i].is_container(), ErrorCode::kInvalidArgument,
              "the input '{}' is no tensor", inputs[i].name);
      require(given[i].dtype() == inputs[i].dtype, ErrorCode::kInvalidArgument,
              "the input '{}' is {}, not {}", inputs[i].name, dtype_name(given[i].dtype()),
              dtype_name(inputs[i].dtype));
    }
  }

  const engine::SpecializedPlan& plan_for(std::span<const Tensor> given) const {
    const auto found = std::ranges::find_if(saved.plans, [&](const auto& p) { return p.key.matches(given); });
    if (found != saved.plans.end()) return *found;
    std::vector<Shape> shapes;
    for (const Tensor& t : given) shapes.push_back(t.shape());
    std::string known;
    for (const engine::SpecializedPlan& p : saved.plans)
      known += (known.empty() ? "" : "; ") + text_of(p.key.shapes);
    Error e(ErrorCode::kInvalidArgument, fmt::format("'{}' has no plan for inputs of {}; it has plans for {}",
                                                     saved.name, text_of(shapes), known));
    e.set_remedy(
        "Build it for these shapes, too, or run it with the whole library, which plans what is missing.");
    throw e;
  }

  Context& context_for(const std::shared_ptr<const Plan>& plan) {
    std::unique_ptr<Context>& context = contexts[plan.get()];
    if (context == nullptr)
      context = std::make_unique<Context>(
          plan, [](std::string_view tactic) { return engine::find_kernel(tactic); }, networks, pool);
    const auto bytes = static_cast<size_t>(plan->arena_bytes);
    if (arena == nullptr || arena->size() < bytes) {
      arena.reset();
      arena = std::make_unique<engine::Arena>(bytes);
    }
    if (context->memory() != arena->data()) context->set_memory(arena->data());
    return *context;
  }

  engine::SavedEngine saved;
  std::vector<Io> inputs, outputs;
  std::shared_ptr<ThreadPool> pool;
  NoNetworks networks;
  std::map<const Plan*, std::unique_ptr<Context>> contexts;
  std::unique_ptr<engine::Arena> arena;  ///< of whichever runs
};

LeanEngine::LeanEngine(std::unique_ptr<State> state) : state_(std::move(state)) {}
LeanEngine::~LeanEngine() = default;

std::unique_ptr<LeanEngine> LeanEngine::load(const std::string& path, int threads) {
  const std::shared_ptr<const MappedFile> mapped = MappedFile::open(path);
  return with_context(
      [&] { return "in " + path; },
      [&] {
        return std::unique_ptr<LeanEngine>(new LeanEngine(std::make_unique<State>(
            engine::parse_engine(mapped->bytes(), mapped, path, engine::plan_environment(), leave_network),
            threads)));
      });
}

std::unique_ptr<LeanEngine> LeanEngine::parse(std::string_view plan, std::shared_ptr<const void> owner,
                                              int threads) {
  if (owner == nullptr) {
    const auto copy = std::make_shared<const std::string>(plan);
    return parse(*copy, copy, threads);
  }
  return std::unique_ptr<LeanEngine>(new LeanEngine(std::make_unique<State>(
      engine::parse_engine(plan, std::move(owner), "the plan", engine::plan_environment(), leave_network),
      threads)));
}

const std::string& LeanEngine::name() const { return state_->saved.name; }
const std::vector<LeanEngine::Io>& LeanEngine::inputs() const { return state_->inputs; }
const std::vector<LeanEngine::Io>& LeanEngine::outputs() const { return state_->outputs; }

std::vector<Tensor> LeanEngine::infer(std::span<const Tensor> inputs) {
  state_->check_inputs(inputs);
  const std::shared_ptr<const Plan>& plan = state_->plan_for(inputs).plan;
  Context& context = state_->context_for(plan);
  engine::TensorOutputs outputs(*plan);
  const engine::Status status = context.run(inputs, outputs);
  if (status != engine::Status::kOk) throw engine::run_error(context, status);
  return outputs.take();
}

}  // namespace assay
