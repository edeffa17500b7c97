// Checks the consistency of a plan.
#include <algorithm>
#include <map>

#include "engine/plan/plan_file.h"

namespace assay::engine {
namespace {

/// More than any machine has.
constexpr int64_t kMaxBytes = int64_t{1} << 48;
constexpr int kMaxRank = 64;
/// Of scratch memory in the arena, as memory is planned.
constexpr int64_t kScratchAlignment = 64;

bool is_channels_last(const PlanValue& v) {
  return v.layout.is_channels_last() && v.has_shape && v.shape.rank() >= 2 && bit_width(v.dtype) >= 8;
}

/// Blocks of channels, as kernels for images of float32 read and write them.
bool is_in_blocks(const PlanValue& v) {
  return v.has_shape && v.shape.rank() >= 3 && v.shape.rank() <= 5 &&
         (v.layout.block == 8 || v.layout.block == 16) && v.dtype == DType::kFloat32;
}

/// Text outside the memory of steps has no bytes that could be counted.
bool is_text_of_caller(const PlanValue& v) {
  return v.dtype == DType::kString && v.storage != Storage::kArena && v.storage != Storage::kOutput;
}

/// A stretch of memory that steps write: the arena, or an output.
struct Stretch {
  int32_t space = -1;  ///< 0: the arena; else 1 + the output; -1: memory that no step writes
  int64_t begin = 0, end = 0;

  bool is_empty() const { return space < 0 || begin == end; }
  bool overlaps(const Stretch& other) const {
    return space == other.space && begin < other.end && other.begin < end;
  }
  auto operator<=>(const Stretch&) const = default;
};

/// Which bytes of the arena and of the outputs steps have written so far, and as what.
class Written {
 public:
  void forget(const Stretch& s) {
    if (s.is_empty()) return;
    auto& pieces = spaces_[s.space];
    auto it = pieces.lower_bound(s.begin);
    if (it != pieces.begin() && std::prev(it)->second.end > s.begin) {
      const auto before = std::prev(it);
      const Piece whole = before->second;
      before->second.end = s.begin;
      if (whole.end > s.end) pieces.emplace(s.end, whole);
    }
    while (it != pieces.end() && it->first < s.end) {
      const Piece piece = it->second;
      it = pieces.erase(it);
      if (piece.end > s.end) pieces.emplace(s.end, piece);
    }
  }
  void add(const Stretch& s, DType dtype) {
    if (s.is_empty()) return;
    forget(s);
    spaces_[s.space].emplace(s.begin, Piece{s.end, dtype});
  }
  bool holds(const Stretch& s, DType dtype) const {
    if (s.is_empty()) return true;
    const auto space = spaces_.find(s.space);
    if (space == spaces_.end()) return false;
    auto it = space->second.upper_bound(s.begin);
    if (it == space->second.begin()) return false;
    int64_t at = s.begin;
    for (--it; it != space->second.end() && it->first <= at; ++it) {
      if (it->second.end > at && it->second.dtype != dtype) return false;
      at = std::max(at, it->second.end);
      if (at >= s.end) return true;
    }
    return false;
  }

 private:
  struct Piece {
    int64_t end;
    DType dtype;
  };
  std::map<int32_t, std::map<int64_t, Piece>> spaces_;  // pieces by where they begin
};

class Verifier {
 public:
  explicit Verifier(const Plan& plan)
      : plan_(plan), written_(plan.values.size()), output_written_(plan.outputs.size()) {}

  void run() {
    check(plan_.arena_bytes >= 0 && plan_.arena_bytes <= kMaxBytes, "its arena has {} bytes",
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
        check(t.dtype() == v.dtype, "the constant '{}' is {}, not {}", v.name, dtype_name(t.dtype()),
              dtype_name(v.dtype));
        if (t.dtype() == DType::kString)
          check(v.has_shape && v.offset == 0 && t.numel() == v.shape.numel(),
                "the constant '{}' has another size", v.name);
        return static_cast<int64_t>(t.nbytes());
      }
      case Storage::kInput:
        check(v.slot >= 0 && slot < plan_.inputs.size(), "the value '{}' is input {} of {}", v.name, v.slot,
              plan_.inputs.size());
        same_type(v, at(plan_.inputs[slot]));
        return static_cast<int64_t>(at(plan_.inputs[slot]).bytes());
      case Storage::kOutput:
        check(v.slot >= 0 && slot < plan_.outputs.size(), "the value '{}' is output {} of {}", v.name, v.slot,
              plan_.outputs.size());
        check(at(plan_.outputs[slot]).storage == Storage::kOutput, "output {} has no memory of its own",
              slot);
        same_type(v, at(plan_.outputs[slot]));
        return static_cast<int64_t>(at(plan_.outputs[slot]).bytes());
      case Storage::kUnused:
      case Storage::kTensor:
        return 0;
    }
    return 0;
  }

  /// Of a value that lies in an input or output.
  static void same_type(const PlanValue& v, const PlanValue& whole) {
    check(v.dtype == whole.dtype && (v.dtype != DType::kString || !v.has_shape || !whole.has_shape ||
                                     (v.offset == 0 && v.shape.numel() == whole.shape.numel())),
          "the value '{}' is something else than '{}', in which it lies", v.name, whole.name);
  }

  void value(const PlanValue& v) const {
    check(v.shape.rank() <= kMaxRank, "the value '{}' has {} dimensions", v.name, v.shape.rank());
    check(v.layout.is_row() || is_channels_last(v) || is_in_blocks(v), "the value '{}' lies in blocks of {}",
          v.name, v.layout.block);
    const int64_t place = place_bytes(v);
    if (v.storage == Storage::kUnused || v.storage == Storage::kTensor) return;
    if (v.storage == Storage::kInput && !v.has_shape) {
      check(v.offset == 0, "the value '{}' is part of an input of unknown shape", v.name);
      return;
    }
    if (is_text_of_caller(v)) return;
    check(v.has_shape && bit_width(v.dtype) != 0, "the value '{}' has a place in memory, but no size",
          v.name);
    const auto bytes = static_cast<int64_t>(v.bytes());
    check(bytes <= kMaxBytes && v.offset >= 0 && v.offset <= place && bytes <= place - v.offset,
          "the value '{}' takes {} bytes from byte {} of {}", v.name, bytes, v.offset, place);
    check(v.offset % std::max(1, bit_width(v.dtype) / 8) == 0, "the value '{}' is misaligned", v.name);
  }

  bool is_written(int32_t id) const {
    return written_[static_cast<size_t>(id)] || at(id).storage == Storage::kConstant ||
           at(id).storage == Storage::kInput;
  }

  void step(const Step& s) {
    reads(s);
    writes(s);
    scratch_memory(s);
    in_place(s);
    placements(s);
    no_overlap(s);
    memory_.forget(scratch(s));
    for (const int32_t id : s.outputs)
      if (id >= 0) memory_.add(stretch(at(id)), at(id).dtype);
    for (const int32_t n : s.networks)
      check(n >= 0 && static_cast<size_t>(n) < plan_.networks.size(), "it runs network {} of {}", n,
            plan_.networks.size());
  }

  /// What a step reads has been written, and not been overwritten.
  void reads(const Step& s) const {
    for (const int32_t id : s.inputs) {
      if (id == -1) continue;
      check(is_value(id), "it reads value {} of {}", id, plan_.values.size());
      // A view has no step of its own: it is written where what it looks at is.
      check(at(id).storage != Storage::kTensor || is_written(id), "it reads '{}' before anything writes it",
            at(id).name);
      check(at(id).storage != Storage::kUnused, "it reads '{}', which is not kept", at(id).name);
      check(memory_.holds(stretch(at(id)), at(id).dtype),
            "it reads '{}' from memory that holds something else", at(id).name);
    }
  }

  /// A step writes only what may change. From here on it counts as written.
  void writes(const Step& s) {
    for (const int32_t id : s.outputs) {
      if (id == -1) continue;
      check(is_value(id), "it writes value {} of {}", id, plan_.values.size());
      check(at(id).storage != Storage::kConstant && at(id).storage != Storage::kInput,
            "it writes '{}', which is not to be changed", at(id).name);
      written_[static_cast<size_t>(id)] = true;
      // An output may be written through views of it.
      if (at(id).storage == Storage::kOutput) output_written_[static_cast<size_t>(at(id).slot)] = true;
    }
  }

  void scratch_memory(const Step& s) const {
    check(s.scratch_bytes >= 0 && s.scratch_offset >= 0 && s.scratch_offset <= plan_.arena_bytes &&
              s.scratch_bytes <= plan_.arena_bytes - s.scratch_offset,
          "its scratch memory takes {} bytes from byte {} of {}", s.scratch_bytes, s.scratch_offset,
          plan_.arena_bytes);
    check(s.scratch_offset % kScratchAlignment == 0, "its scratch memory is misaligned");
  }

  void in_place(const Step& s) const {
    check(s.in_place.size() <= 1, "it computes in the place of {} inputs", s.in_place.size());
    for (const auto& [output, input] : s.in_place)
      check(is_position(output, s.outputs) && is_position(input, s.inputs) &&
                stretch(at(s.outputs[static_cast<size_t>(output)])) ==
                    stretch(at(s.inputs[static_cast<size_t>(input)])),
            "it computes output {} in the place of input {}", output, input);
  }

  /// Inputs that lie, or are to be copied, within the first output.
  void placements(const Step& s) const {
    check(s.placements.size() <= s.inputs.size(), "it places {} of {} inputs", s.placements.size(),
          s.inputs.size());
    for (const Step::Placement& p : s.placements) {
      check(is_position(p.input, s.inputs) && is_position(0, s.outputs), "it places input {}", p.input);
      const auto bytes = static_cast<int64_t>(at(s.inputs[static_cast<size_t>(p.input)]).bytes());
      const auto room = static_cast<int64_t>(at(s.outputs[0]).bytes());
      check(p.offset >= 0 && p.offset <= room && bytes <= room - p.offset, "it places input {} at byte {}",
            p.input, p.offset);
      if (!p.done) continue;
      const Stretch part = stretch(at(s.inputs[static_cast<size_t>(p.input)])),
                    whole = stretch(at(s.outputs[0]));
      check(part.is_empty() || (part.space == whole.space && part.begin == whole.begin + p.offset),
            "its input {} does not lie where it is said to", p.input);
    }
  }

  static Stretch stretch(const PlanValue& v) {
    if (v.storage != Storage::kArena && v.storage != Storage::kOutput) return {};
    return {v.storage == Storage::kArena ? 0 : 1 + v.slot, v.offset,
            v.offset + static_cast<int64_t>(v.bytes())};
  }
  static Stretch scratch(const Step& s) { return {0, s.scratch_offset, s.scratch_offset + s.scratch_bytes}; }

  /// What a step writes lies apart, and apart from what it reads but for what it computes in place.
  void no_overlap(const Step& s) const {
    std::vector<Stretch> writes, placed;
    const auto add = [](std::vector<Stretch>& list, const Stretch& stretch) {
      if (!stretch.is_empty()) list.push_back(stretch);
    };
    add(writes, scratch(s));
    for (const int32_t id : s.outputs)
      if (id >= 0) add(writes, stretch(at(id)));
    std::sort(writes.begin(), writes.end());
    for (size_t i = 0; i + 1 < writes.size(); ++i)
      check(!writes[i].overlaps(writes[i + 1]), "two of its outputs overlap");
    for (const Step::Placement& p : s.placements)
      if (p.done) add(placed, stretch(at(s.inputs[static_cast<size_t>(p.input)])));
    std::sort(placed.begin(), placed.end());
    for (size_t i = 0; i < s.inputs.size(); ++i) {
      if (s.inputs[i] < 0) continue;
      const Stretch read = stretch(at(s.inputs[i]));
      if (read.is_empty()) continue;
      // The first write that does not end before the read begins: writes do not overlap each other.
      const auto write = std::partition_point(writes.begin(), writes.end(), [&](const Stretch& w) {
        return w.space < read.space || (w.space == read.space && w.end <= read.begin);
      });
      if (write == writes.end() || !write->overlaps(read)) continue;
      const bool in_place = std::any_of(s.in_place.begin(), s.in_place.end(), [&](const auto& pair) {
        return static_cast<size_t>(pair.second) == i;
      });
      check(in_place || std::binary_search(placed.begin(), placed.end(), read),
            "its input '{}' lies in memory that it writes", at(s.inputs[i]).name);
    }
  }

  static bool is_position(int32_t position, const std::vector<int32_t>& ids) {
    return position >= 0 && static_cast<size_t>(position) < ids.size() &&
           ids[static_cast<size_t>(position)] >= 0;
  }

  const Plan& plan_;
  std::vector<bool> written_, output_written_;
  Written memory_;
};

}  // namespace

void verify(const Plan& plan) { Verifier(plan).run(); }

}  // namespace assay::engine
