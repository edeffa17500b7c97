#include "engine/tactics/epilogue.h"

#include "ops/eval_util.h"

namespace assay::engine {

using kernels::PointwiseOp;

EpilogueSpec epilogue_spec(const Problem& p, const std::vector<EpilogueStep>& epilogue, Layout layout,
                           size_t inputs) {
  EpilogueSpec spec;
  const Shape& out = *p.output_shape(0);
  for (const EpilogueStep& s : epilogue) {
    EpilogueSpec::Entry entry{.op = s.form.op, .a = s.form.a, .b = s.form.b};
    if (s.operand != nullptr) {
      entry.shape = *p.shape(s.operand);
      entry.position = static_cast<int32_t>(inputs++);
      const bool whole = entry.shape.numel() == out.numel();
      if (whole && entry.shape.rank() == out.rank()) entry.format = layout;
      entry.may_accumulate = whole && s.form.op == PointwiseOp::kAdd;
    }
    spec.entries.push_back(std::move(entry));
  }
  return spec;
}

void write_epilogue(const std::vector<EpilogueStep>& epilogue, const EpilogueSpec& spec, Candidate& b) {
  if (epilogue.empty()) return;
  std::vector<std::string> names;
  std::vector<double> as, bs;
  std::vector<int64_t> operands;
  for (size_t i = 0; i < epilogue.size(); ++i) {
    const EpilogueSpec::Entry& e = spec.entries[i];
    names.emplace_back(kernels::pointwise_name(e.op));
    as.push_back(e.a);
    bs.push_back(e.b);
    operands.push_back(e.position);
    if (e.position >= 0) b.add_input(epilogue[i].operand, e.format);
    if (e.may_accumulate) b.step.in_place.emplace_back(0, e.position);
  }
  b.step.parameters.set("epilogue", std::move(names));
  b.step.parameters.set("epilogue_a", std::move(as));
  b.step.parameters.set("epilogue_b", std::move(bs));
  b.step.parameters.set("epilogue_operands", std::move(operands));
}

EpilogueSpec epilogue_spec(const Plan& plan, const Step& step) {
  EpilogueSpec spec;
  const auto* names = step.parameters.find<std::vector<std::string>>("epilogue");
  if (names == nullptr) return spec;
  const auto& as = step.parameters.get<std::vector<double>>("epilogue_a");
  const auto& bs = step.parameters.get<std::vector<double>>("epilogue_b");
  const auto& operands = step.parameters.numbers("epilogue_operands");
  for (size_t i = 0; i < names->size(); ++i) {
    const std::optional<PointwiseOp> op = kernels::find_pointwise((*names)[i]);
    require(op.has_value(), ErrorCode::kInternal, "'{}' is not a pointwise instruction", (*names)[i]);
    EpilogueSpec::Entry entry{.op = *op, .a = static_cast<float>(as[i]), .b = static_cast<float>(bs[i])};
    if (operands[i] >= 0) {
      entry.position = static_cast<int32_t>(operands[i]);
      const PlanValue& v = plan.values[static_cast<size_t>(step.inputs[static_cast<size_t>(entry.position)])];
      entry.shape = v.shape;
      entry.format = v.layout;
      entry.may_accumulate = *op == PointwiseOp::kAdd;
    }
    spec.entries.push_back(std::move(entry));
  }
  return spec;
}

std::string row_epilogue_refusal(const Problem& p, const std::vector<EpilogueStep>& epilogue) {
  if (p.output_dtype(0) != DType::kFloat32) return "the result is not float32";
  for (const EpilogueStep& s : epilogue) {
    if (s.operand == nullptr) continue;
    const Value* v = s.operand;
    if (p.shape(v) == nullptr) return "the shape of an operand is not known before the run";
    if (v->type.dtype != DType::kFloat32) return "an operand is not float32";
  }
  return {};
}

void write_row_epilogue(const Problem& p, const std::vector<EpilogueStep>& epilogue, size_t inputs,
                        Candidate& b) {
  EpilogueSpec spec = epilogue_spec(p, epilogue, {}, inputs);
  for (EpilogueSpec::Entry& e : spec.entries) e.may_accumulate = false;
  write_epilogue(epilogue, spec, b);
}

RowEpilogue::RowEpilogue(const Plan& plan, const Step& step) {
  const EpilogueSpec spec = epilogue_spec(plan, step);
  if (spec.entries.empty()) return;
  const Shape& domain = plan.values[static_cast<size_t>(step.outputs[0])].shape;
  std::vector<kernels::PointwiseOperand> operands{{.strides = domain.strides()}};
  for (const EpilogueSpec::Entry& e : spec.entries) {
    if (e.position < 0) continue;
    positions_.push_back(static_cast<size_t>(e.position));
    Shape aligned = e.shape;
    while (aligned.size() < domain.size()) aligned.insert_at(0, 1);
    operands.push_back({.strides = broadcast_strides(aligned, domain)});
  }
  kernels::PointwiseProgram program(static_cast<int>(operands.size()));
  int running = 0, next = 1;
  for (const EpilogueSpec::Entry& e : spec.entries)
    running = program.append(e.op, {running, e.position >= 0 ? next++ : -1, -1}, e.a, e.b);
  program.add_result(running);
  operands_.resize(operands.size());
  loop_.emplace(std::move(program), domain, std::move(operands),
                std::vector{kernels::PointwiseType::kFloat32});
}

void RowEpilogue::run(std::span<const void* const> inputs, float* result) noexcept {
  if (!loop_) return;
  operands_[0] = result;
  for (size_t i = 0; i < positions_.size(); ++i) operands_[i + 1] = inputs[positions_[i]];
  void* results[] = {result};
  loop_->run(operands_, results);
}

}  // namespace assay::engine
