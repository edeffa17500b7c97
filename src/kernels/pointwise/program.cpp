#include "kernels/pointwise/program.h"

#include <algorithm>

#include "assay/error.h"

namespace assay::kernels {
namespace {

/// Types of operands that an instruction takes.
enum class Takes : uint8_t { kFloat32, kFloat, kInteger, kNumber, kLogic, kAny, kChoice };
/// The type that it gives: that of its operands, or always the same.
struct Gives {
  static constexpr std::optional<DType> kSame = std::nullopt;
  using enum DType;
};

struct Entry {
  std::string_view name;
  int arity;
  Takes takes;
  std::optional<DType> gives;
};
constexpr Entry kEntries[] = {
#define ASSAY_POINTWISE(name, arity, takes, gives) {#name, arity, Takes::k##takes, Gives::k##gives},
#include "kernels/pointwise/pointwise_ops.def"
#undef ASSAY_POINTWISE
};

bool takes(Takes what, DType type) {
  const bool is_float = type == DType::kFloat32 || type == DType::kFloat64;
  switch (what) {
    case Takes::kFloat32:
      return type == DType::kFloat32;
    case Takes::kFloat:
      return is_float;
    case Takes::kInteger:
      return !is_float && type != DType::kBool;
    case Takes::kNumber:
      return type != DType::kBool;
    case Takes::kLogic:
      return type == DType::kBool;
    case Takes::kAny:
    case Takes::kChoice:
      return true;
  }
  return false;
}

}  // namespace

std::optional<DType> pointwise_result(PointwiseOp op, const std::array<DType, 3>& args) {
  const Entry& entry = kEntries[static_cast<size_t>(op)];
  const bool chooses = entry.takes == Takes::kChoice;
  if (chooses && args[0] != DType::kBool) return std::nullopt;
  const DType type = args[chooses ? 1 : 0];
  for (int i = chooses ? 1 : 0; i < entry.arity; ++i)
    if (args[static_cast<size_t>(i)] != type || !takes(entry.takes, type)) return std::nullopt;
  return entry.gives.value_or(type);
}

std::string_view pointwise_name(PointwiseOp op) { return kEntries[static_cast<size_t>(op)].name; }
int pointwise_arity(PointwiseOp op) { return kEntries[static_cast<size_t>(op)].arity; }

std::optional<PointwiseOp> find_pointwise(std::string_view name) {
  for (size_t i = 0; i < std::size(kEntries); ++i)
    if (kEntries[i].name == name) return static_cast<PointwiseOp>(i);
  return std::nullopt;
}

int PointwiseProgram::append(PointwiseOp op, std::array<int, 3> args, float a, float b) {
  PointwiseInstruction instruction{.op = op, .result = static_cast<int16_t>(registers()), .a = a, .b = b};
  std::array<DType, 3> types = {};
  for (size_t i = 0; i < static_cast<size_t>(pointwise_arity(op)); ++i) {
    require(args[i] >= 0 && args[i] < registers(), ErrorCode::kInternal, "{} reads register {} of {}",
            pointwise_name(op), args[i], registers());
    instruction.args[i] = static_cast<int16_t>(args[i]);
    types[i] = type(args[i]);
  }
  const std::optional<DType> result = pointwise_result(op, types);
  require(result.has_value(), ErrorCode::kInternal, "{} does not take operands of these types",
          pointwise_name(op));
  instruction.type = types[pointwise_arity(op) == 3 ? 1 : 0];
  code_.push_back(instruction);
  types_.push_back(*result);
  return registers() - 1;
}

void PointwiseProgram::remove_dead_code() {
  std::vector<bool> live(types_.size(), false);
  for (const int16_t r : results_) live[r] = true;
  for (auto in = code_.rbegin(); in != code_.rend(); ++in)
    if (live[in->result])
      for (const int16_t r : in->args)
        if (r >= 0) live[r] = true;
  std::erase_if(code_, [&](const PointwiseInstruction& in) { return !live[in.result]; });
}

void PointwiseProgram::allocate_registers() {
  remove_dead_code();
  const std::vector<DType> types = std::move(types_);
  const int values = static_cast<int>(types.size()), end = static_cast<int>(code_.size());
  std::vector<int> last_use(values, -1);
  for (int i = 0; i < end; ++i)
    for (const int16_t r : code_[i].args)
      if (r >= 0) last_use[r] = i;
  for (const int16_t r : results_) last_use[r] = end;
  std::vector<int16_t> home(values, -1);
  for (int r = 0; r < operands_; ++r) home[r] = static_cast<int16_t>(r);
  // What an instruction writes may lie where it reads: so the elements must be of one size.
  std::array<std::vector<int16_t>, 9> unused;
  types_.assign(types.begin(), types.begin() + operands_);
  for (int i = 0; i < end; ++i) {
    PointwiseInstruction& instruction = code_[i];
    for (int16_t& r : instruction.args) {
      if (r < 0) continue;
      const int16_t value = r;
      r = home[value];
      // An operand used twice by one instruction is freed once.
      if (value >= operands_ && last_use[value] == i) {
        unused[element_size(types[value])].push_back(home[value]);
        last_use[value] = -1;
      }
    }
    const int16_t value = instruction.result;
    std::vector<int16_t>& fitting = unused[element_size(types[value])];
    if (fitting.empty() || last_use[value] == end) {
      home[value] = static_cast<int16_t>(types_.size());
      types_.push_back(types[value]);
    } else {
      home[value] = fitting.back();
      fitting.pop_back();
      types_[static_cast<size_t>(home[value])] = types[value];
    }
    instruction.result = home[value];
  }
  for (int16_t& r : results_) r = home[r];
}

}  // namespace assay::kernels
