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
  EpilogueFields fields;
  for (size_t i = 0; i < epilogue.size(); ++i) {
    const EpilogueSpec::Entry& e = spec.entries[i];
    fields.names.emplace_back(kernels::pointwise_name(e.op));
    fields.as.push_back(e.a);
    fields.bs.push_back(e.b);
    fields.operands.push_back(e.position);
    if (e.position >= 0) b.add_input(epilogue[i].operand, e.format);
    if (e.may_accumulate) b.step.in_place.emplace_back(0, e.position);
  }
  b.write(std::move(fields));
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

}  // namespace assay::engine
