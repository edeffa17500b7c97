#include "engine/specialize/executable.h"

#include <algorithm>

#include "engine/runtime/tensor_outputs.h"

namespace assay::engine {
namespace {

/// Sets of shapes whose runs are counted.
constexpr size_t kMaxCounted = 4096;

/// A network is made ready when its first inputs come.
class LazyRunner final : public NetworkRunner {
 public:
  explicit LazyRunner(std::shared_ptr<Executable> executable) : executable_(std::move(executable)) {}
  std::vector<Tensor> run(std::span<const Tensor> inputs) override {
    Context& context = executable_->context_for(inputs);
    check_inputs(context.plan(), inputs);
    TensorOutputs outputs(context.plan(), &blocks_);
    const Status status = context.run(inputs, outputs);
    if (status != Status::kOk)
      fail(ErrorCode::kInvalidModel, "{}",
           context.error().empty() ? std::string(status_text(status)) : context.error());
    return outputs.take();
  }

  Context* context_for(std::span<const Tensor> inputs, size_t changing) override {
    Context& context = executable_->context_for(inputs);
    check_inputs(context.plan(), inputs);
    const auto& values = executable_->key().values;
    const bool depends =
        std::any_of(values.begin(), values.end(), [&](const auto& value) { return value.first < changing; });
    return depends ? nullptr : &context;
  }

 private:
  /// The shapes are the plan's; what is around it, which may come from a file, has said what the elements
  /// are.
  static void check_inputs(const Plan& plan, std::span<const Tensor> inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const PlanValue& v = plan.values[static_cast<size_t>(plan.inputs[i])];
      if (v.has_shape &&
          (inputs[i].is_container() || inputs[i].dtype() != v.dtype || inputs[i].shape() != v.shape))
        fail(ErrorCode::kInvalidModel, "the network's input '{}' is {}, not {}{}", v.name,
             dtype_name(inputs[i].dtype()), dtype_name(v.dtype), v.shape.str());
    }
  }

  std::shared_ptr<Executable> executable_;
  OutputBlocks blocks_;
};

/// Shapes that grow from run to run, as a cache does, are not to need other memory in each: with room, unless
/// the memory for that is refused.
std::unique_ptr<MemoryBlock> allocate_arena(const Target& target, size_t bytes, bool grows) {
  if (grows) try {
      return target.allocate(bytes + bytes / 4);
    } catch (const Error&) {
      // There may be as much as is needed.
    }
  return target.allocate(bytes);
}

class PlanNetworks final : public NetworkSource {
 public:
  explicit PlanNetworks(const ReadyPlan& plan) : plan_(plan), executables_(plan.networks.size()) {}
  std::unique_ptr<NetworkRunner> runner(int32_t network) override {
    return std::make_unique<LazyRunner>(
        std::make_shared<Executable>(plan_.networks.at(static_cast<size_t>(network))));
  }
  std::unique_ptr<NetworkRunner> shared_runner(int32_t network) override {
    std::shared_ptr<Executable>& executable = executables_.at(static_cast<size_t>(network));
    if (executable == nullptr)
      executable = std::make_shared<Executable>(plan_.networks[static_cast<size_t>(network)]);
    return std::make_unique<LazyRunner>(executable);
  }

 private:
  const ReadyPlan& plan_;
  std::vector<std::shared_ptr<Executable>> executables_;
};

}  // namespace

struct Executable::Entry {
  Entry(std::shared_ptr<const ReadyPlan> plan, const BuildConfig& config)
      : ready(std::move(plan)),
        networks(*ready),
        context(
            ready->plan,
            [&](std::string_view tactic) { return tactics_of(config.tactics).find_kernel(tactic); }, networks,
            config.pool) {}
  std::shared_ptr<const ReadyPlan> ready;
  PlanNetworks networks;
  Context context;
};

const ReadyPlan& plan_in(const Executable::Entry& entry) { return *entry.ready; }

Executable::Executable(std::shared_ptr<Specializer> plans)
    : plans_(std::move(plans)), entries_(std::make_unique<PlanCache<Entry>>()) {}
Executable::~Executable() = default;

Context& Executable::add(std::shared_ptr<const ReadyPlan> plan) {
  Entry& entry = entries_->emplace(std::move(plan), plans_->config());
  entry.context.set_cancel_flag(cancel_);
  return entry.context;
}

const PlanKey& Executable::key() const { return entries_->front().ready->key; }

void Executable::set_memory(char* memory, size_t bytes) {
  given_ = memory;
  given_bytes_ = bytes;
}

void Executable::give_memory(Context& context) {
  const auto bytes = static_cast<size_t>(context.plan().arena_bytes);
  char* memory = given_;
  if (memory != nullptr) {
    require(bytes <= given_bytes_, ErrorCode::kInvalidArgument,
            "these shapes need {} bytes of device memory, {} are given", bytes, given_bytes_);
  } else {
    if (arena_ == nullptr || arena_->size() < bytes) {
      const bool grows = arena_ != nullptr && arena_->size() >= bytes / 2;
      arena_.reset();
      arena_ = allocate_arena(*plans_->config().target, bytes, grows);
    }
    memory = arena_->data();
  }
  if (context.memory() != memory) context.set_memory(memory);
}

Executable::Entry* Executable::find_open(std::span<const Tensor> inputs) {
  std::vector<const Shape*> shapes;
  for (const Tensor& t : inputs) shapes.push_back(t.is_container() ? nullptr : &t.shape());
  return entries_->find_open(shapes, inputs);
}

/// Counts.
bool Executable::is_often(std::span<const Tensor> inputs) {
  if (runs_.size() >= kMaxCounted) runs_.clear();
  return ++runs_[hash_of_shapes(inputs)] >= kOften;
}

Context& Executable::context_for(std::span<const Tensor> inputs, bool alone) {
  Entry* entry = entries_->find(inputs);
  if (entry == nullptr && !alone) {
    entry = find_open(inputs);
    if (entry != nullptr && is_often(inputs)) {
      entry = nullptr;
      alone = true;
    }
  }
  Context& context = entry != nullptr ? entry->context : add(plans_->plan_for(inputs, alone));
  give_memory(context);
  return context;
}

}  // namespace assay::engine
