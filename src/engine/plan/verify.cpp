// Whether a plan holds together.
#include <algorithm>

#include "engine/plan/plan_file.h"

namespace assay::engine {
namespace {

/// More than any machine has.
constexpr int64_t kMostBytes = int64_t{1} << 48;
constexpr int kMaxRank = 64;

class Verifier {
 public:
  explicit Verifier(const Plan& plan)
      : plan_(plan), written_(plan.values.size()), output_written_(plan.outputs.size()) {}

  void run() {
    check(plan_.arena_bytes >= 0 && plan_.arena_bytes <= kMostBytes, "its arena has {} bytes",
          plan_.arena_bytes);
    check(plan_.threads >= 1 && plan_.threads <= 1 << 16, "it is for {} threads", plan_.threads);
    interface(plan_.inputs, Storage::kInput, "input");
    outputs();
    for (const PlanValue& v : plan_.values) value(v);
    for (const int32_t id : plan_.inputs) written_[static_cast<size_t>(id)] = true;
    for (size_t i = 0; i < plan_.steps.size(); ++i)
      with_context([&] { return fmt::format("in step {} ({})", i, plan_.steps[i].tactic); },
                   [&] { step(plan_.steps[i]); });
    for (size_t i = 0; i < plan_.outputs.size(); ++i)
      check(output_written_[i] || written_[static_cast<size_t>(plan_.outputs[i])],
            "nothing writes its output '{}'", at(plan_.outputs[i]).name);
  }

 private:
  template <typename... Args>
  static void check(bool condition, fmt::format_string<Args...> format, Args&&... args) {
    if (!condition)
      fail(ErrorCode::kInvalidModel, "{}",
           "the plan is damaged: " + fmt::format(format, std::forward<Args>(args)...));
  }
  const PlanValue& at(int32_t id) const { return plan_.values[static_cast<size_t>(id)]; }
  bool is_value(int32_t id) const { return id >= 0 && static_cast<size_t>(id) < plan_.values.size(); }

  void interface(const std::vector<int32_t>& ids, Storage storage, const char* what) const {
    for (size_t i = 0; i < ids.size(); ++i) {
      check(is_value(ids[i]), "{} {} is value {} of {}", what, i, ids[i], plan_.values.size());
      const PlanValue& v = at(ids[i]);
      check(v.storage == storage && v.slot == static_cast<int32_t>(i) && v.offset == 0 && v.layout.is_row(),
            "{} {} is not kept as one", what, i);
    }
  }

  void outputs() const {
    for (size_t i = 0; i < plan_.outputs.size(); ++i) {
      const int32_t id = plan_.outputs[i];
      check(is_value(id), "output {} is value {} of {}", i, id, plan_.values.size());
      const PlanValue& v = at(id);
      if (v.storage == Storage::kTensor) continue;
      check(v.storage == Storage::kOutput && v.slot == static_cast<int32_t>(i) && v.offset == 0 &&
                v.layout.is_row() && v.has_shape,
            "output {} is not kept as one", i);
    }
  }

  /// Bytes of the memory that a value lies in; nothing is known of what is fed as a container.
  int64_t place_bytes(const PlanValue& v) const {
    const auto slot = static_cast<size_t>(v.slot);
    switch (v.storage) {
      case Storage::kArena:
        return plan_.arena_bytes;
      case Storage::kConstant: {
        check(v.slot >= 0 && slot < plan_.constants.size(), "the value '{}' is constant {} of {}", v.name,
              v.slot, plan_.constants.size());
        const Tensor& t = plan_.constants[slot].tensor;
        check(t.defined(), "the constant '{}' has no data", plan_.constants[slot].name);
        check((t.dtype() == DType::kString) == (v.dtype == DType::kString),
              "the constant '{}' has another type", v.name);
        if (t.dtype() == DType::kString)
          check(t.numel() == v.shape.numel(), "the constant '{}' has another size", v.name);
        return static_cast<int64_t>(t.nbytes());
      }
      case Storage::kInput:
        check(v.slot >= 0 && slot < plan_.inputs.size(), "the value '{}' is input {} of {}", v.name, v.slot,
              plan_.inputs.size());
        return static_cast<int64_t>(at(plan_.inputs[slot]).bytes());
      case Storage::kOutput:
        check(v.slot >= 0 && slot < plan_.outputs.size(), "the value '{}' is output {} of {}", v.name, v.slot,
              plan_.outputs.size());
        return static_cast<int64_t>(at(plan_.outputs[slot]).bytes());
      case Storage::kUnused:
      case Storage::kTensor:
        return 0;
    }
    return 0;
  }

  void value(const PlanValue& v) const {
    check(v.shape.rank() <= kMaxRank, "the value '{}' has {} dimensions", v.name, v.shape.rank());
    check(
        v.layout.is_row() ||
            (v.layout.is_channels_last() && v.has_shape && v.shape.rank() >= 2 && bit_width(v.dtype) >= 8) ||
            (v.has_shape && v.shape.rank() >= 2 && v.layout.block >= 2 && v.layout.block <= 64 &&
             v.dtype == DType::kFloat32),
        "the value '{}' lies in blocks of {}, which its type or shape cannot", v.name, v.layout.block);
    const int64_t place = place_bytes(v);
    if (v.storage == Storage::kUnused || v.storage == Storage::kTensor) return;
    if (v.storage == Storage::kInput && !v.has_shape) {
      check(v.offset == 0, "the value '{}' is part of an input of unknown shape", v.name);
      return;
    }
    if (v.dtype == DType::kString && v.storage != Storage::kArena && v.storage != Storage::kOutput) return;
    check(v.has_shape && bit_width(v.dtype) != 0, "the value '{}' has a place in memory, but no size",
          v.name);
    const auto bytes = static_cast<int64_t>(v.bytes());
    check(bytes <= kMostBytes && v.offset >= 0 && v.offset <= place && bytes <= place - v.offset,
          "the value '{}' takes bytes {} to {} of {}", v.name, v.offset, v.offset + bytes, place);
    check(v.offset % std::max(1, bit_width(v.dtype) / 8) == 0, "the value '{}' is misaligned", v.name);
  }

  bool is_written(int32_t id) const {
    return written_[static_cast<size_t>(id)] || at(id).storage == Storage::kConstant ||
           at(id).storage == Storage::kInput;
  }

  void step(const Step& s) {
    for (const int32_t id : s.inputs) {
      if (id == -1) continue;
      check(is_value(id), "it reads value {} of {}", id, plan_.values.size());
      // A view has no step of its own: it is written where what it looks at is.
      check(at(id).storage != Storage::kTensor || is_written(id), "it reads '{}' before anything writes it",
            at(id).name);
      check(at(id).storage != Storage::kUnused, "it reads '{}', which is not kept", at(id).name);
    }
    for (const int32_t id : s.outputs) {
      if (id == -1) continue;
      check(is_value(id), "it writes value {} of {}", id, plan_.values.size());
      check(at(id).storage != Storage::kConstant && at(id).storage != Storage::kInput,
            "it writes '{}', which is not to be changed", at(id).name);
      written_[static_cast<size_t>(id)] = true;
      // An output may be written through views of it.
      if (at(id).storage == Storage::kOutput) output_written_[static_cast<size_t>(at(id).slot)] = true;
    }
    check(s.scratch_bytes >= 0 && s.scratch_offset >= 0 && s.scratch_offset <= plan_.arena_bytes &&
              s.scratch_bytes <= plan_.arena_bytes - s.scratch_offset,
          "its scratch memory takes {} bytes from byte {} of {}", s.scratch_bytes, s.scratch_offset,
          plan_.arena_bytes);
    for (const auto& [output, input] : s.in_place)
      check(is_position(output, s.outputs) && is_position(input, s.inputs),
            "it computes output {} in the place of input {}", output, input);
    for (const Step::Placement& p : s.placements) {
      check(is_position(p.input, s.inputs) && is_position(0, s.outputs), "it places input {}", p.input);
      const auto bytes = static_cast<int64_t>(at(s.inputs[static_cast<size_t>(p.input)]).bytes());
      const auto room = static_cast<int64_t>(at(s.outputs[0]).bytes());
      check(p.offset >= 0 && p.offset <= room && bytes <= room - p.offset, "it places input {} at byte {}",
            p.input, p.offset);
    }
    for (const int32_t n : s.networks)
      check(n >= 0 && static_cast<size_t>(n) < plan_.networks.size(), "it runs network {} of {}", n,
            plan_.networks.size());
  }

  static bool is_position(int32_t position, const std::vector<int32_t>& ids) {
    return position >= 0 && static_cast<size_t>(position) < ids.size() &&
           ids[static_cast<size_t>(position)] >= 0;
  }

  const Plan& plan_;
  std::vector<bool> written_, output_written_;
};

}  // namespace

void verify(const Plan& plan) { Verifier(plan).run(); }

}  // namespace assay::engine
