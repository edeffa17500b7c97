#include "engine/planner/rehearsal.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace assay::engine {

void fill_with_activations(void* data, DType dtype, size_t bytes) {
  uint32_t state = 12345;
  const auto next = [&] {
    state = state * 1664525 + 1013904223;
    return static_cast<float>(static_cast<int32_t>(state) >> 8) * 0x1p-23F;
  };
  if (dtype == DType::kFloat32) {
    std::generate_n(static_cast<float*>(data), bytes / sizeof(float), next);
  } else if (dtype == DType::kBFloat16) {
    std::generate_n(static_cast<uint16_t*>(data), bytes / sizeof(uint16_t),
                    [&] { return static_cast<uint16_t>(std::bit_cast<uint32_t>(next()) >> 16); });
  } else {
    std::memset(data, 0, bytes);
  }
}

double lower_quartile(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 4];
}

/// The arena, inputs and outputs.
struct Rehearsal::Memory {
  Memory(const Target& target, const Plan& plan)
      : values(target.allocate(static_cast<size_t>(plan.arena_bytes))) {
    for (const auto* ids : {&plan.inputs, &plan.outputs}) {
      auto& blocks = ids == &plan.inputs ? inputs : outputs;
      for (const int32_t id : *ids) {
        const PlanValue& v = plan.values[static_cast<size_t>(id)];
        blocks.push_back(target.allocate(v.bytes()));
        if (v.bytes() > 0 && ids == &plan.inputs)
          fill_with_activations(blocks.back()->data(), v.dtype, v.bytes());
      }
    }
  }

  /// Null for what has no place known beforehand.
  void* place(const Plan& plan, int32_t id) const {
    if (id < 0) return nullptr;
    const PlanValue& v = plan.values[static_cast<size_t>(id)];
    const auto slot = static_cast<size_t>(v.slot);
    switch (v.storage) {
      case Storage::kArena:
        return values->data() + v.offset;
      case Storage::kInput:
        return v.has_shape ? inputs[slot]->data() + v.offset : nullptr;
      case Storage::kOutput:
        return outputs[slot]->data() + v.offset;
      case Storage::kConstant: {
        const Tensor& t = plan.constants[slot].tensor;
        if (t.dtype() == DType::kString) return nullptr;
        return const_cast<char*>(static_cast<const char*>(t.data()) + v.offset);
      }
      case Storage::kTensor:
      case Storage::kUnused:
        break;
    }
    return nullptr;
  }

  std::unique_ptr<MemoryBlock> values;
  std::vector<std::unique_ptr<MemoryBlock>> inputs, outputs;
};

struct Rehearsal::Call {
  std::unique_ptr<Kernel> kernel;  ///< null: left out
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  void* scratch = nullptr;
  /// Of a step that is left out: what others read of it.
  std::vector<const PlanValue*> made;
  std::vector<double> samples;
};

Rehearsal::Rehearsal(const Target& target, std::shared_ptr<const Plan> plan, const KernelLookup& lookup,
                     std::shared_ptr<ThreadPool> pool)
    : target_(target),
      plan_(std::move(plan)),
      pool_(std::move(pool)),
      memory_(std::make_unique<Memory>(target, *plan_)) {
  for (const Step& step : plan_->steps) {
    Call& call = calls_.emplace_back();
    const KernelFactory* factory = lookup(step.tactic);
    if (factory != nullptr && factory->makes_kernels()) call.kernel = factory->make(*plan_, step);
    for (const int32_t id : step.inputs) call.inputs.push_back(memory_->place(*plan_, id));
    for (const int32_t id : step.outputs) {
      call.outputs.push_back(memory_->place(*plan_, id));
      call.made.push_back(id < 0 ? nullptr : &plan_->values[static_cast<size_t>(id)]);
    }
    if (step.scratch_bytes > 0) call.scratch = memory_->values->data() + step.scratch_offset;
  }
}

Rehearsal::~Rehearsal() = default;

bool Rehearsal::run(bool counts) {
  const PoolScope scope(pool_);
  double total = 0;
  for (Call& call : calls_) {
    if (call.kernel == nullptr) {
      for (size_t i = 0; i < call.outputs.size(); ++i)
        if (call.outputs[i] != nullptr)
          fill_with_activations(call.outputs[i], call.made[i]->dtype, call.made[i]->bytes());
      continue;
    }
    const double start = target_.seconds();
    if (call.kernel->run({call.inputs, call.outputs, call.scratch}) != Status::kOk) return false;
    const double seconds = target_.seconds() - start;
    total += seconds;
    if (counts) call.samples.push_back(seconds);
  }
  if (counts) {
    totals_.push_back(total);
    spent_ += total;
  }
  return true;
}

double Rehearsal::seconds() const { return lower_quartile(totals_); }
double Rehearsal::step_seconds(size_t step) const {
  return calls_[step].samples.empty() ? 0 : lower_quartile(calls_[step].samples);
}

}  // namespace assay::engine
