// Pointwise operators and chains of them through the vector interpreter, in whatever layout the largest
// operand has.
#include <algorithm>
#include <unordered_map>

#include "analysis/quantization.h"
#include "engine/tactics/dnnl/dnnl_epilogue.h"
#include "engine/tactics/pointwise/pointwise.h"
#include "engine/tactics/pointwise/pointwise_kernel.h"
#include "engine/tactics/tactic_list.h"
#include "ops/eval_util.h"
#include "passes/pointwise_form.h"

namespace assay::engine::tactic_pointwise {
namespace {

using kernels::PointwiseOp;
using kernels::PointwiseProgram;

/// Idioms; operators say themselves that they have an instruction.
constexpr std::string_view kOperators[] = {"assay.Silu", "assay.HardSwish", "assay.Mish", "assay.Gelu",
                                           "assay.GeluTanh"};

bool serves(const OpFacts& facts) { return facts.pointwise.op.has_value() || facts.recodes; }

/// A program under construction: registers of operands and results.
struct Chain {
  std::vector<const Value*> operands;  // of the graph, in register order
  std::vector<DType> registers;        // of the operands
  std::vector<PointwiseForm> forms;
  std::vector<const Value*> made;  // what each form computes
  std::vector<const Value*> results;
};

DType dtype_of_value(const Value* v) { return v->type.is_tensor() ? v->type.dtype : DType::kUndefined; }

/// The type in which a form takes or gives a value.
std::optional<DType> register_type(const Value* v, const PointwiseForm& f) {
  return register_of(dtype_of_value(v), f.bytes_as_float);
}

/// The chain of a region; nothing when a node in it has no form, or takes bytes as something else than
/// another.
std::optional<Chain> chain_of(const Region& region, const Model& model) {
  Chain chain;
  std::unordered_map<const Value*, DType> types;
  chain.results.push_back(region.output());
  for (const Node* inner : region.nodes) {
    std::optional<PointwiseForm> form = pointwise_form(*inner, model);
    if (!form) return std::nullopt;
    for (const Value* v : form->operands) {
      const std::optional<DType> wanted = register_type(v, *form);
      if (!wanted) return std::nullopt;
      const auto [known, is_new] = types.try_emplace(v, *wanted);
      if (known->second != *wanted) return std::nullopt;
      if (!is_new) continue;
      chain.operands.push_back(v);
      chain.registers.push_back(*wanted);
    }
    const std::optional<DType> given = register_type(inner->output(0), *form);
    if (!given) return std::nullopt;
    types[inner->output(0)] = *given;
    chain.made.push_back(inner->output(0));
    chain.forms.push_back(std::move(*form));
  }
  return chain;
}

/// How a plan names a type of registers.
int64_t register_number(DType type) {
  return std::ranges::find(kernels::kRegisterTypes, type) - std::begin(kernels::kRegisterTypes);
}

/// `formats`: of the operands. What is stored in 8 bits is brought back first.
PointwiseProgram program_of(const Chain& chain, const std::vector<Format>& formats) {
  PointwiseProgram program(chain.registers);
  std::unordered_map<const Value*, int> registers;
  for (size_t i = 0; i < chain.operands.size(); ++i) {
    int& reg = registers[chain.operands[i]] = static_cast<int>(i);
    if (formats[i].dtype == DType::kUndefined || formats[i].dtype == DType::kBFloat16) continue;
    const Quantization q = *quantization_of(chain.operands[i]);
    reg = program.append(PointwiseOp::kDequantize, {reg, -1, -1}, q.scale, static_cast<float>(q.zero_point));
  }
  for (size_t i = 0; i < chain.forms.size(); ++i) {
    const PointwiseForm& f = chain.forms[i];
    std::array<int, 3> args = {-1, -1, -1};
    for (size_t k = 0; k < f.operands.size(); ++k) args[k] = registers.at(f.operands[k]);
    registers[chain.made[i]] = program.append(f.op, args, f.a, f.b);
  }
  for (const Value* v : chain.results) program.add_result(registers.at(v));
  return program;
}

std::string supports(const Problem& p) {
  const Shape* domain = p.output_shape(0);
  if (domain == nullptr) return "the shape is not known before the run";
  const std::optional<Chain> chain = chain_of(p.region(), p.model());
  if (!chain) return "there is no vector form for these types or attributes";
  for (const Value* v : chain->operands)
    if (p.shape(v) == nullptr) return "the shape of an operand is not known before the run";
  // Every operand may need one more, where it is stored in 8 bits.
  PointwiseProgram program = program_of(*chain, std::vector<Format>(chain->operands.size()));
  program.allocate_registers();
  // Results may need a register of their own besides.
  if (program.registers() + static_cast<int>(chain->results.size()) > kernels::kMaxPointwiseRegisters)
    return "it needs too many registers";
  return {};
}

/// Strides that walk a value, which lies in `own`, over the memory domain.
std::vector<int64_t> memory_strides(const Shape& shape, const Shape& domain, Layout layout,
                                    Layout own_layout) {
  Shape aligned = shape;
  while (aligned.size() < domain.size()) aligned.insert_at(0, 1);
  if (layout.is_channels_last())
    return own_layout.is_channels_last()
               ? broadcast_strides(memory_domain(aligned, layout), memory_domain(domain, layout))
               : channels_moved_last(broadcast_strides(aligned, domain));
  if (!layout.is_blocked()) return broadcast_strides(aligned, domain);
  // [N, C / block, spatial..., block] of the value itself, then broadcast axis by axis.
  Shape own = memory_domain(aligned, layout);
  if (aligned[1] == 1) own[own.size() - 1] = 1;
  std::vector<int64_t> strides = own.strides();
  const Shape whole = memory_domain(domain, layout);
  for (size_t a = 0; a < strides.size(); ++a)
    if (own[a] == 1 && whole[a] != 1) strides[a] = 0;
  return strides;
}

/// Whether the work can be done in a blocked layout.
bool fits_blocks(const Problem& p, const Chain& chain, const Shape& domain, Layout layout) {
  bool covers = false;
  for (const Value* v : chain.operands) {
    const Shape& s = *p.shape(v);
    covers = covers || s == domain;
    if (s.numel() == 1) continue;
    // Other types, and channel vectors that end inside a block, need row-major memory.
    if (dtype_of_value(v) != DType::kFloat32) return false;
    const bool vector = s.rank() == domain.rank() - 1 && s[0] != 1;
    if (vector && domain[1] % layout.block != 0) return false;
    // Such a constant of more than channels, [C, H, W], would have to lie in blocks, too.
    if (vector && s.numel() != s[0]) return false;
  }
  return covers && p.output_dtype(0) == DType::kFloat32;
}

/// The layout in which an operand is wanted when the work is done in `layout`.
Layout operand_layout(const Shape& shape, const Shape& domain, Layout layout) {
  // Row-major memory can be walked in any order; only what is as large as the result should be in its order.
  if (layout.is_channels_last()) return shape == domain ? layout : Layout();
  if (!layout.is_blocked() || shape.numel() == 1 || shape.rank() < domain.rank()) return {};
  // A single channel repeats over the block: it is read row-major.
  return shape[1] == 1 ? Layout() : layout;
}

/// Of a program with one result.
StepFields fields_of(const PointwiseProgram& program, const Shape& domain, std::vector<int64_t> strides) {
  StepFields f{.result = {program.results()[0]}, .domain = domain.dims(), .strides = std::move(strides)};
  for (int r = 0; r < program.operands(); ++r) f.registers.push_back(register_number(program.type(r)));
  for (const kernels::PointwiseInstruction& in : program.code()) {
    f.names.emplace_back(kernels::pointwise_name(in.op));
    for (const int16_t r : in.args) f.arguments.push_back(r);
    f.numbers.push_back(in.a);
    f.numbers.push_back(in.b);
  }
  return f;
}

/// Conversions from 8 bits are part of reading, whether they are in the chain or before it.
double estimate_of(const Chain& chain, const Shape& domain) {
  const auto computed = std::ranges::count_if(
      chain.forms, [](const PointwiseForm& f) { return f.op != PointwiseOp::kDequantize; });
  const auto steps = static_cast<double>(std::max<int64_t>(1, computed));
  return estimate_seconds(4 * static_cast<double>(domain.numel()) * steps, 0, 0.2);
}

/// What a candidate has in memory in another type than its own.
enum class Stores : uint8_t {
  kNothing,
  kInt8,            ///< operands that a DequantizeLinear gives are read as they are stored
  kBfloat16,        ///< operands as large as the result, and the result
  kBfloat16Inputs,  ///< only these operands
};

std::string_view suffix_of(Stores stores) {
  switch (stores) {
    case Stores::kInt8:
      return "_int8";
    case Stores::kBfloat16:
      return "_bfloat16";
    case Stores::kBfloat16Inputs:
      return "_bfloat16_reads";
    case Stores::kNothing:
      break;
  }
  return "";
}

void add_candidate(const Problem& p, const Chain& chain, Layout layout, Stores stores, Proposals& proposals) {
  const Shape& domain = *p.output_shape(0);
  const bool reads_stored = stores == Stores::kInt8,
             reads_narrow = stores == Stores::kBfloat16 || stores == Stores::kBfloat16Inputs;
  const Format result(layout, stores == Stores::kBfloat16 ? DType::kBFloat16 : DType::kUndefined);
  Candidate& b = proposals.add(layout.str() + std::string(suffix_of(stores)),
                               reads_narrow ? NumericsClass::kLowered : NumericsClass::kReassociated);
  std::vector<int64_t> strides;
  std::vector<Format> formats;
  for (size_t i = 0; i < chain.operands.size(); ++i) {
    const Value* outer = chain.operands[i];
    const Shape& shape = *p.shape(outer);
    Format& format = formats.emplace_back(operand_layout(shape, domain, layout));
    if (const auto q = quantization_of(outer); reads_stored && q) format.dtype = q->dtype;
    if (reads_narrow && shape == domain && may_be_stored_in(p, outer, DType::kBFloat16))
      format.dtype = DType::kBFloat16;
    b.add_input(outer, format);
    Shape aligned = shape;
    while (aligned.size() < domain.size()) aligned.insert_at(0, 1);
    // A channel vector [C, 1, 1] lies the same way in both layouts when its blocks are full.
    const std::vector<int64_t> s = memory_strides(aligned, domain, layout, format.layout);
    strides.insert(strides.end(), s.begin(), s.end());
    if (shape == domain && format.layout == layout &&
        stored_type(outer, format) == stored_type(p.region().output(), result) && chain.results.size() == 1)
      b.step.in_place.emplace_back(0, static_cast<int32_t>(i));
  }
  b.add_output(p.region().output(), result);
  b.write(fields_of(program_of(chain, formats), memory_domain(domain, layout), std::move(strides)));
  b.estimate = estimate_of(chain, domain);
  if (reads_narrow) b.estimate *= 1.02;  // conversions, of which others have the gain
}

/// Where an operand as large as the result may be stored in bfloat16.
void propose_bfloat16(const Problem& p, const Chain& chain, Proposals& proposals) {
  const Shape& domain = *p.output_shape(0);
  const auto may_narrow = [&](const Value* v) {
    return *p.shape(v) == domain && may_be_stored_in(p, v, DType::kBFloat16);
  };
  if (!p.stores_bfloat16() || p.output_dtype(0) != DType::kFloat32 ||
      std::none_of(chain.operands.begin(), chain.operands.end(), may_narrow))
    return;
  for (const Layout layout : p.layouts(DType::kFloat32, domain)) {
    if (layout.is_blocked()) continue;
    if (may_narrow(p.region().output())) add_candidate(p, chain, layout, Stores::kBfloat16, proposals);
    add_candidate(p, chain, layout, Stores::kBfloat16Inputs, proposals);
  }
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  const Chain chain = *chain_of(p.region(), p.model());
  const Shape& domain = *p.output_shape(0);
  for (const Layout layout : p.layouts(DType::kFloat32, domain))
    if (!layout.is_blocked() || fits_blocks(p, chain, domain, layout))
      add_candidate(p, chain, layout, Stores::kNothing, proposals);
  propose_bfloat16(p, chain, proposals);
  const auto is_narrow = [](const Value* v) { return bit_width(dtype_of_value(v)) < 32; };
  const bool any_stored = std::any_of(chain.operands.begin(), chain.operands.end(),
                                      [](const Value* v) { return quantization_of(v).has_value(); });
  const bool any_narrow =
      is_narrow(p.region().output()) || std::any_of(chain.operands.begin(), chain.operands.end(), is_narrow);
  if (any_stored) add_candidate(p, chain, {}, Stores::kInt8, proposals);
  const std::vector<Layout> layouts = p.layouts(DType::kFloat32, domain);
  const bool has_plain = std::find(layouts.begin(), layouts.end(), Layout::channels_last()) != layouts.end();
  if ((any_stored || (any_narrow && !has_plain)) && domain.rank() >= 3)
    add_candidate(p, chain, Layout::channels_last(), any_stored ? Stores::kInt8 : Stores::kNothing,
                  proposals);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "pointwise",
    .summary = "chains of elementwise operators, in one walk over memory",
    .version = 6,
    .operators = kOperators,
    .serves = serves,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_pointwise

namespace assay::engine {

Candidate make_conversion(const Value& v, const Shape& shape, Format from, Format to) {
  using namespace tactic_pointwise;
  Candidate b;
  b.add_input(&v, from);
  b.add_output(&v, to);
  PointwiseProgram program(1);
  int reg = 0;
  const auto q = quantization_of(&v);
  const auto is_stored = [&](Format f) { return q && f.dtype == q->dtype; };
  if (is_stored(from) && !is_stored(to))
    reg = program.append(PointwiseOp::kDequantize, {0, -1, -1}, q->scale, static_cast<float>(q->zero_point));
  else if (is_stored(to) && !is_stored(from))
    reg = program.append(q->dtype == DType::kUInt8 ? PointwiseOp::kQuantizeUint8 : PointwiseOp::kQuantizeInt8,
                         {0, -1, -1}, q->scale, static_cast<float>(q->zero_point));
  else
    reg = program.append(PointwiseOp::kCopy, {0, -1, -1});
  program.add_result(reg);
  // Both layouts are the same memory.
  const Shape domain = memory_domain(shape, to.layout);
  b.write(fields_of(program, domain, domain.strides()));
  return b;
}

}  // namespace assay::engine
