#include "engine/tactics/attention/attention_kernel.h"

#include "engine/runtime/step_reader.h"

namespace assay::engine::tactic_attention {
namespace {

std::vector<int64_t> numbers_of(const AttentionRows& r) { return {r.batch, r.head, r.row, r.element}; }

class AttentionKernel final : public Kernel {
 public:
  explicit AttentionKernel(const StepReader& r) : threads_(std::max(r.plan().threads, 1)) {
    StepFields p;
    p.a.masks.resize(r.step().inputs.size() - 3);
    p = r.read(std::move(p));
    a_ = p.a;
    offsets_ = p.offsets;
    StepReader::check(a_.heads % a_.groups == 0, "{} heads share {} heads of keys", a_.heads, a_.groups);
    StepReader::check(
        (a_.size == 1 || a_.query.element == 1) && (a_.value_size == 1 || a_.result.element == 1),
        "the elements of its queries or results lie apart");
    a_.query.element = a_.result.element = 1;
    check_walk(r, 0, a_.query, {a_.batch, a_.heads, a_.queries, a_.size});
    check_walk(r, 1, a_.key, {a_.batch, a_.groups, a_.keys, a_.size});
    check_walk(r, 2, a_.value, {a_.batch, a_.groups, a_.keys, a_.value_size});
    check_result(r);
    check_masks(r);
    r.product({a_.batch, a_.heads, a_.queries, a_.keys});
    r.product({a_.keys + kernels::kMaxAttentionPadding,
               a_.size + a_.value_size + kernels::kMaxAttentionPadding, threads_,
               static_cast<int64_t>(sizeof(float))});
    r.check_scratch(kernels::attention_scratch(a_, threads_));
  }

  Status run(const KernelArgs& args) noexcept override {
    const float* operands[3];
    for (size_t i = 0; i < 3; ++i) operands[i] = static_cast<const float*>(args.inputs[i]) + offsets_[i];
    kernels::attention(a_, operands[0], operands[1], operands[2], args.inputs.subspan(3),
                       static_cast<float*>(args.outputs[0]), args.scratch, threads_);
    return Status::kOk;
  }

 private:
  void check_walk(const StepReader& r, size_t input, const AttentionRows& rows, const Shape& extents) const {
    r.check_walk(r.row_input(input), extents, numbers_of(rows), offsets_[input]);
  }
  /// Every element of the result is written, once.
  void check_result(const StepReader& r) const {
    const Shape extents{a_.batch, a_.heads, a_.queries, a_.value_size};
    const PlanValue& out = r.row_output(0);
    r.check_elements(out, {a_.batch, a_.heads, a_.queries, a_.value_size});
    r.check_walk(out, extents, numbers_of(a_.result));
    std::vector<std::pair<int64_t, int64_t>> order;
    const std::vector<int64_t> strides = numbers_of(a_.result);
    for (size_t d = 0; d < 4; ++d)
      if (extents[d] != 1) order.emplace_back(strides[d], extents[d]);
    std::sort(order.begin(), order.end());
    int64_t next = 1;
    for (const auto& [stride, extent] : order) {
      StepReader::check(stride == next, "its result is not written whole");
      next *= extent;
    }
  }
  void check_masks(const StepReader& r) const {
    for (size_t i = 0; i < a_.masks.size(); ++i) {
      const AttentionMask& m = a_.masks[i];
      StepReader::check(m.key <= 1, "a mask's keys lie {} elements apart", m.key);
      const DType dtype = m.kind == AttentionMask::Kind::kAdded ? DType::kFloat32 : DType::kBool;
      const int64_t own = m.period > 0 ? std::min(m.period, a_.batch) : a_.batch;
      r.check_walk(r.row_input(3 + i, dtype), {own, a_.heads, a_.queries, a_.keys},
                   std::vector<int64_t>{m.batch, m.head, m.query, m.key});
    }
  }

  int64_t threads_;
  Attention a_;
  std::array<int64_t, 3> offsets_ = {};
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<AttentionKernel>(StepReader(plan, step, 3, 3 + kMaxMasks));
}

}  // namespace assay::engine::tactic_attention
