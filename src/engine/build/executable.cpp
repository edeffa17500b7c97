#include "engine/build/executable.h"

#include <algorithm>

#include "engine/tactics/tactic_list.h"

namespace assay::engine {
namespace {

/// Takes a run's outputs as tensors of their own.
class TensorOutputs final : public OutputBinding {
 public:
  explicit TensorOutputs(const Plan& plan) : plan_(plan), tensors_(plan.outputs.size()) {}
  void* memory(size_t i, size_t) noexcept override {
    try {
      const PlanValue& v = plan_.values[static_cast<size_t>(plan_.outputs[i])];
      tensors_[i] = Tensor::allocate(v.dtype, v.shape);
      return tensors_[i].mutable_data();
    } catch (const std::exception&) {
      return nullptr;
    }
  }
  void finished(size_t) noexcept override {}
  void released(size_t) noexcept override {}
  void computed(size_t i, const Tensor& tensor) noexcept override { tensors_[i] = tensor; }
  std::vector<Tensor> take() { return std::move(tensors_); }

 private:
  const Plan& plan_;
  std::vector<Tensor> tensors_;
};

/// A network of a plan, with executables of its own.
class PlanNetworkRunner final : public NetworkRunner {
 public:
  PlanNetworkRunner(const Model& model, const BuildConfig& config) : executable_(model, config) {}
  std::vector<Tensor> run(std::span<const Tensor> inputs) override {
    Context& context = executable_.context_for(inputs);
    TensorOutputs outputs(context.plan());
    const Status status = context.run(inputs, outputs);
    if (status != Status::kOk) fail(ErrorCode::kInvalidModel, "{}", context.error().empty() ? std::string(status_text(status)) : context.error());
    return outputs.take();
  }

 private:
  Executable executable_;
};

/// Networks are made ready when their first inputs come.
class LazyRunner final : public NetworkRunner {
 public:
  LazyRunner(std::shared_ptr<const Model> model, const BuildConfig& config) : model_(std::move(model)), config_(config) {}
  std::vector<Tensor> run(std::span<const Tensor> inputs) override {
    if (runner_ == nullptr) runner_ = std::make_unique<PlanNetworkRunner>(*model_, config_);
    return runner_->run(inputs);
  }

 private:
  std::shared_ptr<const Model> model_;
  const BuildConfig& config_;
  std::unique_ptr<PlanNetworkRunner> runner_;
};

class PlanNetworks final : public NetworkSource {
 public:
  PlanNetworks(const Plan& plan, const BuildConfig& config) : plan_(plan), config_(config) {}
  std::unique_ptr<NetworkRunner> runner(int32_t network) override {
    return std::make_unique<LazyRunner>(plan_.networks.at(static_cast<size_t>(network)).model, config_);
  }

 private:
  const Plan& plan_;
  const BuildConfig& config_;
};

size_t bytes_of(const Plan& plan) {
  size_t bytes = static_cast<size_t>(plan.arena_bytes);
  for (const PlanConstant& c : plan.constants)
    if (!c.packing.empty()) bytes += c.tensor.nbytes();
  return bytes;
}

}  // namespace

struct Executable::Entry {
  Entry(Key k, std::shared_ptr<const Plan> plan, const BuildConfig& config)
      : key(std::move(k)), networks(*plan, config), bytes(bytes_of(*plan)), context(std::move(plan), find_kernel, networks, config.pool) {}
  Key key;
  PlanNetworks networks;
  size_t bytes;
  Context context;
};

Executable::Executable(const Model& model, const BuildConfig& config) : builder_(model, config) {}
Executable::~Executable() = default;

bool Executable::has_shapes(const Key& key, std::span<const Tensor> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].is_container() && inputs[i].shape() != key.shapes[i]) return false;
  return true;
}

bool Executable::matches(const Key& key, std::span<const Tensor> inputs) const {
  if (!has_shapes(key, inputs)) return false;
  for (size_t k = 0; k < key.values.size(); ++k)
    if (!inputs[value_inputs_[k]].identical(key.values[k])) return false;
  return true;
}

void Executable::prepare(const std::vector<Shape>& shapes) {
  std::shared_ptr<const Plan> plan = builder_.build(shapes);
  const bool waits = std::any_of(plan->steps.begin(), plan->steps.end(), [](const Step& s) { return s.tactic == tactic_network.name; });
  if (!waits) entries_.emplace_front(Key{shapes, {}}, std::move(plan), builder_.config());
}

Context& Executable::context_for(std::span<const Tensor> inputs) {
  const auto it = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return matches(e.key, inputs); });
  if (it != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, it);
    return entries_.front().context;
  }
  Key key;
  for (const Tensor& t : inputs) key.shapes.push_back(t.is_container() ? Shape() : t.shape());
  const bool other_values = std::any_of(entries_.begin(), entries_.end(), [&](const Entry& e) { return has_shapes(e.key, inputs); });
  if (other_values && ++value_misses_ > kMaxValueMisses && !ignores_values_) {
    ignores_values_ = true;
    value_inputs_.clear();
    entries_.clear();
  }
  std::vector<size_t> found = value_inputs_;
  std::shared_ptr<const Plan> plan = ignores_values_ ? builder_.build(key.shapes) : builder_.build(key.shapes, inputs, found);
  if (found != value_inputs_) {
    // Plans made before did not look at all that matters.
    entries_.clear();
    value_inputs_ = std::move(found);
  }
  for (const size_t i : value_inputs_) key.values.push_back(inputs[i]);
  entries_.emplace_front(std::move(key), std::move(plan), builder_.config());
  size_t bytes = 0;
  for (const Entry& e : entries_) bytes += e.bytes;
  while (entries_.size() > 1 && (entries_.size() > kMaxContexts || bytes > kMaxBytes)) {
    bytes -= entries_.back().bytes;
    entries_.pop_back();
  }
  return entries_.front().context;
}

}  // namespace assay::engine
