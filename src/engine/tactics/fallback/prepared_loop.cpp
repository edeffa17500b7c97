#include "engine/tactics/fallback/prepared_loop.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

#include "assay/graph.h"
#include "engine/runtime/arena.h"
#include "engine/runtime/context.h"
#include "ops/tensor/elements.h"
#include "ops/tensor/strided_copy.h"

namespace assay::engine {
namespace {

/// Outputs of a body: each in the place where it is to be.
class Places final : public OutputBinding {
 public:
  explicit Places(size_t count) : places(count) {}
  void* memory(size_t i, size_t) noexcept override { return places[i]; }
  void finished(size_t) noexcept override {}
  void released(size_t) noexcept override {}
  void computed(size_t, const Tensor&) noexcept override {}

  std::vector<void*> places;
};

bool has_bytes(DType dtype) {
  return dtype != DType::kUndefined && dtype != DType::kString && !is_container(dtype);
}

/// What the body takes entries of. Those that lie scattered are brought together some at a time, in so little
/// memory that it stays in the cache.
class Entries {
 public:
  Entries(const Iterations::Taken& taken, int64_t trips) : taken_(taken), trips_(trips) {
    const Shape& shape = taken.all.shape();
    entry_ = shape;
    entry_.erase_at(taken.axis);
    bytes_ = storage_bytes(taken.all.dtype(), entry_.numel());
    strides_ = shape.strides();
    step_ = strides_[taken.axis];
    strides_.erase(strides_.begin() + static_cast<std::ptrdiff_t>(taken.axis));
    strides_.insert(strides_.begin(), step_);
    is_scattered_ = trips > 1 && shape.numel(0, taken.axis) > 1;
  }

  const Shape& shape() const { return entry_; }
  const void* first() const { return taken_.all.data(); }

  void allocate() {
    if (!is_scattered_) return;
    constexpr size_t kWindowBytes = size_t{768} << 10;
    const auto fitting = static_cast<int64_t>(kWindowBytes / std::max<size_t>(bytes_, 1));
    count_ = std::min(trips_, std::clamp<int64_t>(fitting, 1, kMaxTogether));
    Shape shape = entry_;
    shape.insert_at(0, count_);
    window_ = Tensor::allocate(taken_.all.dtype(), std::move(shape));
  }

  const void* at(int64_t trip) {
    const int64_t index = taken_.backwards ? trips_ - 1 - trip : trip;
    if (!is_scattered_)
      return static_cast<const char*>(taken_.all.data()) + static_cast<size_t>(index) * bytes_;
    if (index < begin_ || index - begin_ >= count_) fill(index / count_ * count_);
    return static_cast<const char*>(window_.data()) + static_cast<size_t>(index - begin_) * bytes_;
  }

 private:
  /// More would not make the pieces of memory that are read together much longer.
  static constexpr int64_t kMaxTogether = 64;

  void fill(int64_t begin) {
    begin_ = begin;
    Shape extents = window_.shape();
    extents[0] = std::min(count_, trips_ - begin);
    strided_copy(taken_.all, {begin * step_, strides_}, window_, {0, window_.shape().strides()}, extents);
  }

  const Iterations::Taken& taken_;
  int64_t trips_;
  Shape entry_;
  size_t bytes_ = 0;
  std::vector<int64_t> strides_;  ///< in elements, of the axis first
  int64_t step_ = 0;
  bool is_scattered_ = false;
  Tensor window_;
  int64_t begin_ = INT64_MAX, count_ = 0;  ///< of the entries that the window holds
};

/// Memory for what is carried. It is read in one place and written in the other.
struct Carried {
  Tensor next, last;
  void* write = nullptr;  ///< where the iteration writes
  void* other = nullptr;
};

/// Entries of a stack.
struct Stacked {
  char* begin = nullptr;
  size_t bytes = 0;  ///< of an entry
  Tensor entry;      ///< where it is written first, unless every entry begins at a multiple of kAlignment
  bool backwards = false;

  char* place(int64_t trip, int64_t trips) const {
    return begin + static_cast<size_t>(backwards ? trips - 1 - trip : trip) * bytes;
  }
};

class PreparedLoop {
 public:
  PreparedLoop(const Graph& body, Iterations& iterations)
      : body_(body), it_(iterations), leading_(it_.is_loop ? 2 : 0), conditions_(it_.is_loop ? 1 : 0) {}

  bool prepare(NetworkRunner& runner, std::span<const Tensor> captured) {
    // Nobody knows how long the stacks will be.
    if (it_.is_asking && !it_.stacked.empty()) return false;
    if (body_.outputs.size() != conditions_ + it_.carried.size() + it_.stacked.size() ||
        body_.inputs.size() != leading_ + it_.carried.size() + it_.taken.size())
      return false;
    for (const Value* v : body_.inputs)
      if (!v->type.is_tensor()) return false;
    std::vector<Tensor> inputs;
    if (it_.is_loop) inputs = {Tensor::scalar(int64_t{0}), Tensor::scalar(true)};
    inputs.insert(inputs.end(), it_.carried.begin(), it_.carried.end());
    for (const Iterations::Taken& t : it_.taken) {
      if (!t.all.defined() || !has_bytes(t.all.dtype()) || bit_width(t.all.dtype()) < 8) return false;
      const Entries& e = entries_.emplace_back(t, it_.trips);
      inputs.push_back(Tensor::view(t.all.dtype(), e.shape(), e.first(), nullptr));
    }
    inputs.insert(inputs.end(), captured.begin(), captured.end());
    if (!std::all_of(inputs.begin(), inputs.end(),
                     [](const Tensor& t) { return t.defined() && has_bytes(t.dtype()); }))
      return false;
    context_ = runner.context_for(inputs, inputs.size() - captured.size());
    if (context_ == nullptr || !is_fixed()) return false;
    for (size_t i = 0; i < captured.size(); ++i)
      context_->bind_input(inputs.size() - captured.size() + i, captured[i].data());
    return true;
  }

  void run() {
    allocate();
    int64_t number = 0;
    bool condition = true;
    if (it_.is_loop) {
      context_->bind_input(0, &number);
      context_->bind_input(1, &condition);
    }
    for (size_t i = 0; i < carried_.size(); ++i) context_->bind_input(leading_ + i, it_.carried[i].data());
    for (; number < it_.trips && condition; ++number) {
      bind(number);
      const Status status = context_->run_bound(outputs_);
      if (status != Status::kOk)
        fail(ErrorCode::kInvalidModel, "{}",
             context_->error().empty() ? std::string(status_text(status)) : context_->error());
      if (it_.is_asking) condition = *static_cast<const unsigned char*>(condition_.data()) != 0;
      advance(number);
    }
    for (size_t i = 0; i < carried_.size(); ++i) {
      Carried& c = carried_[i];
      it_.carried[i] = std::move(c.other == c.last.data() ? c.last : c.next);
    }
  }

 private:
  const PlanValue& input(size_t i) const {
    return context_->plan().values[static_cast<size_t>(context_->plan().inputs[i])];
  }
  const PlanValue& output(size_t i) const {
    return context_->plan().values[static_cast<size_t>(context_->plan().outputs[i])];
  }

  bool is_fixed() const {
    const Plan& plan = context_->plan();
    for (size_t i = 0; i < plan.inputs.size(); ++i)
      if (!input(i).has_shape || !has_bytes(input(i).dtype)) return false;
    for (size_t i = 0; i < plan.outputs.size(); ++i) {
      const PlanValue& v = output(i);
      const Type& declared = body_.outputs[i]->type;
      if (v.storage != Storage::kOutput || !has_bytes(v.dtype) ||
          (declared.is_tensor() && declared.dtype != DType::kUndefined && declared.dtype != v.dtype))
        return false;
      if (i >= conditions_ + it_.carried.size() && bit_width(v.dtype) < 8) return false;
    }
    for (size_t i = 0; i < it_.carried.size(); ++i) {
      const PlanValue &before = input(leading_ + i), &after = output(conditions_ + i);
      if (before.dtype != after.dtype || before.shape != after.shape) return false;
    }
    return !it_.is_asking || (output(0).dtype == DType::kBool && output(0).shape.numel() == 1);
  }

  void allocate() {
    for (Entries& e : entries_) e.allocate();
    outputs_.places.resize(body_.outputs.size());
    if (it_.is_loop) {
      condition_ = Tensor::allocate(output(0).dtype, output(0).shape);
      outputs_.places[0] = condition_.mutable_data();
    }
    for (size_t i = 0; i < it_.carried.size(); ++i) {
      const PlanValue& v = output(conditions_ + i);
      Carried& c = carried_.emplace_back();
      c.next = Tensor::allocate(v.dtype, v.shape);
      c.write = c.next.mutable_data();
      if (it_.trips == 1) continue;
      c.last = Tensor::allocate(v.dtype, v.shape);
      c.other = c.last.mutable_data();
    }
    for (size_t i = 0; i < it_.stacked.size(); ++i) {
      const PlanValue& v = output(conditions_ + it_.carried.size() + i);
      Stacked& s = stacked_.emplace_back();
      Shape shape = v.shape;
      shape.insert_at(0, it_.trips);
      it_.stacked[i].all = checked_allocation(v.dtype, std::move(shape));
      s.begin = static_cast<char*>(it_.stacked[i].all.mutable_data());
      s.bytes = v.bytes();
      s.backwards = it_.stacked[i].backwards;
      if (s.bytes % kAlignment != 0) s.entry = Tensor::allocate(v.dtype, v.shape);
    }
  }

  void bind(int64_t trip) {
    for (size_t i = 0; i < entries_.size(); ++i)
      context_->bind_input(leading_ + carried_.size() + i, entries_[i].at(trip));
    void** places = outputs_.places.data() + conditions_;
    for (size_t i = 0; i < carried_.size(); ++i) places[i] = carried_[i].write;
    places += carried_.size();
    for (size_t i = 0; i < stacked_.size(); ++i)
      places[i] = stacked_[i].entry.defined() ? const_cast<void*>(stacked_[i].entry.data())
                                              : stacked_[i].place(trip, it_.trips);
  }

  /// What was written is read next.
  void advance(int64_t trip) {
    for (size_t i = 0; i < carried_.size(); ++i) {
      Carried& c = carried_[i];
      context_->bind_input(leading_ + i, c.write);
      std::swap(c.write, c.other);
    }
    for (const Stacked& s : stacked_)
      if (s.entry.defined()) std::memcpy(s.place(trip, it_.trips), s.entry.data(), s.bytes);
  }

  const Graph& body_;
  Iterations& it_;
  size_t leading_, conditions_;
  Context* context_ = nullptr;
  Places outputs_{0};
  Tensor condition_;
  std::vector<Entries> entries_;
  std::vector<Carried> carried_;
  std::vector<Stacked> stacked_;
};

}  // namespace

bool run_prepared(const Graph& body, NetworkRunner& runner, std::span<const Tensor> captured,
                  Iterations& iterations) {
  PreparedLoop loop(body, iterations);
  if (!loop.prepare(runner, captured)) return false;
  loop.run();
  return true;
}

}  // namespace assay::engine
