#include "kernels/pointwise/program.h"

#include <algorithm>

namespace assay::kernels {
namespace {

struct Entry {
  std::string_view name;
  int arity;
};
constexpr Entry kEntries[] = {
#define ASSAY_POINTWISE(name, arity) {#name, arity},
#include "kernels/pointwise/pointwise_ops.def"
#undef ASSAY_POINTWISE
};

}  // namespace

std::string_view pointwise_name(PointwiseOp op) { return kEntries[static_cast<size_t>(op)].name; }
int pointwise_arity(PointwiseOp op) { return kEntries[static_cast<size_t>(op)].arity; }

std::optional<PointwiseOp> find_pointwise(std::string_view name) {
  for (size_t i = 0; i < std::size(kEntries); ++i)
    if (kEntries[i].name == name) return static_cast<PointwiseOp>(i);
  return std::nullopt;
}

int PointwiseProgram::append(PointwiseOp op, std::array<int, 3> args, float a, float b) {
  PointwiseInstruction instruction{.op = op, .result = static_cast<int16_t>(registers_), .a = a, .b = b};
  for (int i = 0; i < pointwise_arity(op); ++i) instruction.args[i] = static_cast<int16_t>(args[i]);
  code_.push_back(instruction);
  return registers_++;
}

void PointwiseProgram::remove_dead_code() {
  std::vector<bool> live(static_cast<size_t>(registers_), false);
  for (const int16_t r : results_) live[r] = true;
  for (auto in = code_.rbegin(); in != code_.rend(); ++in)
    if (live[in->result])
      for (const int16_t r : in->args)
        if (r >= 0) live[r] = true;
  std::erase_if(code_, [&](const PointwiseInstruction& in) { return !live[in.result]; });
}

void PointwiseProgram::allocate_registers() {
  remove_dead_code();
  const int values = registers_, end = static_cast<int>(code_.size());
  std::vector<int> last_use(values, -1);
  for (int i = 0; i < end; ++i)
    for (const int16_t r : code_[i].args)
      if (r >= 0) last_use[r] = i;
  for (const int16_t r : results_) last_use[r] = end;
  std::vector<int16_t> home(values, -1);
  for (int r = 0; r < operands_; ++r) home[r] = static_cast<int16_t>(r);
  std::vector<int16_t> unused;
  registers_ = operands_;
  for (int i = 0; i < end; ++i) {
    PointwiseInstruction& instruction = code_[i];
    for (int16_t& r : instruction.args) {
      if (r < 0) continue;
      const int16_t value = r;
      r = home[value];
      // An operand used twice by one instruction is freed once.
      if (value >= operands_ && last_use[value] == i) {
        unused.push_back(home[value]);
        last_use[value] = -1;
      }
    }
    const int16_t value = instruction.result;
    if (unused.empty() || last_use[value] == end) {
      home[value] = static_cast<int16_t>(registers_++);
    } else {
      home[value] = unused.back();
      unused.pop_back();
    }
    instruction.result = home[value];
  }
  for (int16_t& r : results_) r = home[r];
}

}  // namespace assay::kernels
