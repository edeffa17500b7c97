#include "engine/objects/state.h"

namespace assay {

Engine::Engine(std::unique_ptr<State> state) : state_(std::move(state)) {}
Engine::~Engine() = default;

const std::string& Engine::name() const { return state_->saved.name; }
const std::vector<IoTensor>& Engine::io_tensors() const { return state_->io; }

std::vector<IoTensor> Engine::inputs() const {
  return {state_->io.begin(), state_->io.begin() + static_cast<std::ptrdiff_t>(state_->input_count)};
}
std::vector<IoTensor> Engine::outputs() const {
  return {state_->io.begin() + static_cast<std::ptrdiff_t>(state_->input_count), state_->io.end()};
}

const IoTensor* Engine::find_tensor(std::string_view name) const {
  for (const IoTensor& t : state_->io)
    if (t.name == name) return &t;
  return nullptr;
}

const std::vector<OptimizationProfile>& Engine::profiles() const { return state_->saved.profiles; }
bool Engine::is_refittable() const { return state_->saved.is_refittable; }

bool Engine::lacks_weights() const {
  const std::lock_guard lock(state_->mutex);
  return state_->saved.is_stripped;
}

size_t Engine::device_memory_size() const {
  const std::lock_guard lock(state_->mutex);
  size_t bytes = 0;
  for (const engine::SpecializedPlan& p : state_->saved.plans)
    if (p.plan != nullptr) bytes = std::max(bytes, static_cast<size_t>(p.plan->arena_bytes));
  return bytes;
}

std::unique_ptr<ExecutionContext> Engine::create_execution_context() {
  require(!lacks_weights(), ErrorCode::kInvalidArgument,
          "the engine '{}' has been stripped of its weights: a Refitter must give them first", name());
  return std::make_unique<ExecutionContext>(shared_from_this());
}

namespace {

void require_plan(const engine::SavedEngine& saved) {
  require(!saved.plans.empty(), ErrorCode::kInvalidArgument,
          "the engine '{}' has no plan that could be saved: it was built to make one when shapes come. Build "
          "it with a profile",
          saved.name);
}

}  // namespace

void Engine::save(const std::string& path) const {
  const std::lock_guard lock(state_->mutex);
  require_plan(state_->saved);
  engine::save_engine(state_->saved, path);
}

std::string Engine::serialize() const {
  const std::lock_guard lock(state_->mutex);
  require_plan(state_->saved);
  return engine::serialize_engine(state_->saved);
}

}  // namespace assay
