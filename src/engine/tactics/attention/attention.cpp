// Attention in one pass over blocks of rows: the scores of all rows never lie in memory, and queries, keys,
// values and the result are read and written where they lie, in whatever order of axes.
#include "kernels/attention/attention.h"

#include <algorithm>

#include "engine/tactics/attention/attention_form.h"
#include "engine/tactics/step_reader.h"
#include "engine/tactics/tactic_list.h"
#include "passes/region.h"

namespace assay::engine::tactic_attention {
namespace {

using kernels::Attention;
using kernels::AttentionMask;
using kernels::AttentionRows;

constexpr std::string_view kOperators[] = {"Softmax", "assay.Softmax"};
constexpr size_t kMaxMasks = 16;

/// More than any machine has room for.
constexpr int64_t kMaxAttentionExtent = int64_t{1} << 40;

/// The problem, and at which element of its value each of queries, keys and values begins.
struct StepFields {
  Attention a;  ///< with as many masks as the step has
  std::array<int64_t, 3> offsets = {};

  void fields(FieldVisitor& visit) {
    const Bounds extent{1, kMaxAttentionExtent};
    visit("extents", {&a.batch, &a.heads, &a.groups, &a.queries, &a.keys, &a.size, &a.value_size}, extent);
    visit("offsets", offsets, {0});
    rows(visit, "query", a.query);
    rows(visit, "key", a.key);
    rows(visit, "value", a.value);
    rows(visit, "result", a.result);
    visit("scale", a.scale);
    masks(visit);
  }

 private:
  static void rows(FieldVisitor& visit, std::string_view name, AttentionRows& r) {
    visit(name, {&r.batch, &r.head, &r.row, &r.element}, {0});
  }
  void masks(FieldVisitor& visit) {
    const size_t count = a.masks.size();
    std::vector<int64_t> kinds, whens, strides, periods;
    std::vector<double> fills;
    for (const AttentionMask& m : a.masks) {
      kinds.push_back(static_cast<int64_t>(m.kind));
      whens.push_back(int64_t{m.when});
      fills.push_back(m.fill);
      strides.insert(strides.end(), {m.batch, m.head, m.query, m.key});
      periods.push_back(m.period);
    }
    visit("mask_kinds", kinds, count, {0, 1});
    visit("mask_whens", whens, count, {0, 1});
    visit("mask_fills", fills, count);
    visit("mask_strides", strides, 4 * count, {0});
    visit("mask_periods", periods, count, {0, kMaxAttentionExtent});
    for (size_t i = 0; i < count; ++i)
      a.masks[i] = {.kind = static_cast<AttentionMask::Kind>(kinds[i]),
                    .when = whens[i] != 0,
                    .fill = static_cast<float>(fills[i]),
                    .batch = strides[4 * i],
                    .head = strides[4 * i + 1],
                    .query = strides[4 * i + 2],
                    .key = strides[4 * i + 3],
                    .period = periods[i]};
  }
};

std::vector<int64_t> numbers_of(const AttentionRows& r) { return {r.batch, r.head, r.row, r.element}; }

std::string propose(const Problem& problem, Proposals& proposals) {
  if (problem.region().kind != RegionKind::kAttention) return "it runs a softmax between two products";
  const AttentionForm& form = *problem.region().attention;
  const Attention& a = form.problem;
  if (a.masks.size() > kMaxMasks) return "it has more than 16 masks";
  Candidate& b = proposals.add({}, NumericsClass::kReassociated);
  for (const AttentionOperand& o : {form.query, form.key, form.value}) b.add_input(o.value);
  for (const Value* mask : form.masks) b.add_input(mask);
  b.add_output(problem.region().output());
  b.write(StepFields{.a = a, .offsets = {form.query.offset, form.key.offset, form.value.offset}});
  b.step.scratch_bytes = kernels::attention_scratch(a, problem.config().threads);
  const auto pairs = static_cast<double>(a.batch * a.heads * a.queries) * static_cast<double>(a.keys);
  // An exponential and its kin take as long as some 16 multiplications.
  b.estimate =
      estimate_seconds(pairs * (2.0 * static_cast<double>(a.size + a.value_size) + 32),
                       4.0 * static_cast<double>(a.batch * a.groups * a.keys * (a.size + a.value_size)), 0.8);
  return {};
}

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

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<AttentionKernel>(StepReader(plan, step, 3, 3 + kMaxMasks));
}

}  // namespace

constinit const TacticDef def = {
    .name = "attention",
    .summary = "softmax(queries keys^T) values in one pass, with scale and masks",
    .version = 5,
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_attention
