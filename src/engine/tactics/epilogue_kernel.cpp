#include "engine/tactics/epilogue_kernel.h"

namespace assay::engine {

using kernels::PointwiseOp;

void EpilogueFields::fields(FieldVisitor& visit) {
  if (!visit.is_present("epilogue", !names.empty())) return;
  visit("epilogue", names);
  StepReader::check(names.size() <= kMaxInstructions, "it has {} instructions", names.size());
  visit("epilogue_a", as, names.size());
  visit("epilogue_b", bs, names.size());
  visit("epilogue_operands", operands, names.size(), {-1});
}

EpilogueSpec epilogue_spec(const StepReader& r, size_t inputs, bool any_type) {
  EpilogueSpec spec;
  const auto f = r.read<EpilogueFields>();
  for (size_t i = 0; i < f.names.size(); ++i) {
    const std::optional<PointwiseOp> op = kernels::find_pointwise(f.names[i]);
    StepReader::check(op.has_value(), "'{}' is not a pointwise instruction", f.names[i]);
    StepReader::check(kernels::pointwise_arity(*op) == (f.operands[i] >= 0 ? 2 : 1),
                      "{} has another number of operands", f.names[i]);
    EpilogueSpec::Entry entry{.op = *op, .a = static_cast<float>(f.as[i]), .b = static_cast<float>(f.bs[i])};
    if (f.operands[i] >= 0) {
      const auto position = static_cast<size_t>(f.operands[i]);
      StepReader::check(position >= inputs, "{} takes input {}", f.names[i], position);
      const PlanValue& v = any_type ? r.any_input(position) : r.input(position);
      entry.position = static_cast<int32_t>(position);
      entry.shape = v.shape;
      entry.format = v.layout;
      entry.may_accumulate = *op == PointwiseOp::kAdd;
    }
    spec.entries.push_back(std::move(entry));
  }
  return spec;
}

int append_checked(kernels::PointwiseProgram& program, PointwiseOp op, const std::array<int, 3>& args,
                   float a, float b) {
  std::array<DType, 3> types = {};
  for (size_t i = 0; i < static_cast<size_t>(kernels::pointwise_arity(op)); ++i) {
    StepReader::check(args[i] >= 0 && args[i] < program.registers(),
                      "{} reads register {} before anything writes it", kernels::pointwise_name(op), args[i]);
    types[i] = program.type(args[i]);
  }
  StepReader::check(kernels::pointwise_result(op, types).has_value(), "{} does not take its operands' types",
                    kernels::pointwise_name(op));
  return program.append(op, args, a, b);
}

kernels::PointwiseLoop checked_loop(const kernels::PointwiseProgram& program, const Shape& domain,
                                    std::vector<kernels::PointwiseOperand> operands,
                                    std::vector<DType> results) {
  for (size_t i = 0; i < operands.size(); ++i)
    StepReader::check(kernels::fits_register(operands[i].type, program.type(static_cast<int>(i))),
                      "its operand {} does not fit its register", i);
  for (size_t i = 0; i < results.size(); ++i)
    StepReader::check(kernels::fits_register(results[i], program.type(program.results()[i])),
                      "its result {} does not fit its register", i);
  kernels::PointwiseProgram allocated = program;
  allocated.allocate_registers();
  const int registers = allocated.registers() + static_cast<int>(results.size());
  StepReader::check(registers <= kernels::kMaxPointwiseRegisters, "its program needs {} registers",
                    registers);
  return {program, domain, std::move(operands), std::move(results)};
}

RowEpilogue::RowEpilogue(const StepReader& r, size_t inputs) {
  const EpilogueSpec spec = epilogue_spec(r, inputs);
  if (spec.entries.empty()) return;
  const Shape& domain = r.row_output(0).shape;
  std::vector<kernels::PointwiseOperand> operands{{.strides = domain.strides()}};
  for (const EpilogueSpec::Entry& e : spec.entries) {
    if (e.position < 0) continue;
    positions_.push_back(static_cast<size_t>(e.position));
    const PlanValue& v = r.row_input(positions_.back());
    Shape aligned = e.shape;
    while (aligned.size() < domain.size()) aligned.insert_at(0, 1);
    StepReader::check(aligned.size() == domain.size(), "'{}' has more axes than the result", v.name);
    operands.push_back({.strides = aligned.strides()});
    for (size_t d = 0; d < domain.size(); ++d)
      if (aligned[d] == 1) operands.back().strides[d] = 0;
    r.check_walk(v, domain, operands.back().strides);
  }
  kernels::PointwiseProgram program(static_cast<int>(operands.size()));
  int running = 0, next = 1;
  for (const EpilogueSpec::Entry& e : spec.entries)
    running = append_checked(program, e.op, {running, e.position >= 0 ? next++ : -1, -1}, e.a, e.b);
  program.add_result(running);
  operands_.resize(operands.size());
  loop_.emplace(checked_loop(program, domain, std::move(operands), {DType::kFloat32}));
}

void RowEpilogue::run(std::span<const void* const> inputs, float* result) noexcept {
  if (!loop_) return;
  operands_[0] = result;
  for (size_t i = 0; i < positions_.size(); ++i) operands_[i + 1] = inputs[positions_[i]];
  void* results[] = {result};
  loop_->run(operands_, results);
}

}  // namespace assay::engine
