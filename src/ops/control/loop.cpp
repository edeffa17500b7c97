// Loop: runs a subgraph up to M times, as long as its condition holds. Values are carried from one iteration
// to the next; the subgraph's other outputs are stacked. Without the input `cond` the subgraph's condition is
// ignored.
#include <algorithm>

#include "ops/control/iterations.h"
#include "ops/control/stack.h"
#include "ops/op_context.h"
#include "ops/op_list.h"
#include "ops/value_type.h"

namespace assay::op_onnx_Loop {
namespace {

/// The inputs before the carried values: M and cond, of which the subgraph gets the iteration's number and
/// condition.
constexpr size_t kLeadingInputs = 2;

size_t carried_count(const OpContext& c) {
  return c.input_count() > kLeadingInputs ? c.input_count() - kLeadingInputs : 0;
}

/// The part of a value's type that holds both before an iteration and, by `after`, after it.
Type kept_type(const Type& before, const Type& after) {
  if (!before.has_shape() || !after.has_shape() || before.dims->size() != after.dims->size())
    return without_dims(before);
  Type type = before;
  for (size_t d = 0; d < type.dims->size(); ++d)
    if (!(*before.dims)[d].same_as((*after.dims)[d])) (*type.dims)[d] = Dim();
  return type;
}

/// The types of the body's inputs. A carried value keeps those of its extents that an iteration is known to
/// leave as they are, which holds for all iterations when it holds for one.
std::vector<Type> body_inputs(InferContext& c, size_t carried) {
  constexpr int kMaxTrials = 3;
  std::vector<Type> inputs = {Type::tensor(DType::kInt64, Dims()), Type::tensor(DType::kBool, Dims())};
  for (size_t i = 0; i < carried; ++i) inputs.push_back(c.input_type(kLeadingInputs + i));
  for (int trial = 0; trial < kMaxTrials; ++trial) {
    const std::optional<std::vector<Type>> outputs = c.try_subgraph("body", inputs);
    if (!outputs || outputs->size() < carried + 1) break;
    bool same = true;
    for (size_t i = 0; i < carried; ++i) {
      Type& type = inputs[kLeadingInputs + i];
      Type kept = kept_type(type, (*outputs)[i + 1]);
      if (kept == type) continue;
      same = false;
      type = std::move(kept);
    }
    if (same) return inputs;
  }
  for (size_t i = 0; i < carried; ++i)
    inputs[kLeadingInputs + i] = without_dims(c.input_type(kLeadingInputs + i));
  return inputs;
}

/// The number of iterations, where only `M` decides it.
Dim known_trips(const InferContext& c) {
  const Tensor* trips = c.has_input(0) && !c.has_input(1) ? c.input_value(0) : nullptr;
  if (trips == nullptr || trips->numel() != 1 || trips->dtype() != DType::kInt64) return {};
  return Dim(std::max<int64_t>(trips->data<int64_t>()[0], 0));
}

void infer(InferContext& c) {
  const size_t carried = carried_count(c);
  const std::vector<Type> body = c.infer_subgraph("body", body_inputs(c, carried));
  c.check(body.size() == c.output_count() + 1 && carried <= c.output_count(),
          "the body has {} outputs; {} carried values and {} outputs of the node need {}", body.size(),
          carried, c.output_count(), c.output_count() + 1);
  const Dim trips = known_trips(c);
  for (size_t i = 0; i < c.output_count(); ++i) {
    Type type = body[i + 1];
    if (i < carried) {
      // It may run no iteration at all.
      type = common_type(type, c.input_type(kLeadingInputs + i));
    } else {
      c.check(type.is_tensor() || type.kind == Type::Kind::kUnknown,
              "output {} of the body is of type {}, and only tensors stack up", i + 1, type.str());
      if (type.dims) type.dims->insert(type.dims->begin(), trips);
    }
    c.set_output_type(i, std::move(type));
  }
}

void eval(EvalContext& c) {
  const bool counts = c.has_input(0), asks = c.has_input(1);
  c.check(counts || asks, "a Loop with neither trip count nor condition never ends");
  const int64_t trips = counts ? single(c.input(0), "M").to_int64()[0] : INT64_MAX;
  bool condition = !asks || single(c.input(1), "cond").data<bool>()[0];
  const Graph& body = c.attr_graph("body");
  const size_t carried = carried_count(c);
  c.check(body.outputs.size() == c.output_count() + 1 && carried <= c.output_count(),
          "the body has {} outputs, the node has {}", body.outputs.size(), c.output_count());
  std::vector<Tensor> values(c.inputs().begin() + static_cast<std::ptrdiff_t>(c.input_count() - carried),
                             c.inputs().end());
  Iterations all{
      .trips = trips, .is_loop = true, .is_asking = asks, .carried = values, .taken = {}, .stacked = {}};
  all.stacked.resize(c.output_count() - carried);
  if (trips > 0 && condition && c.subgraphs().iterate(body, all)) {
    for (size_t i = 0; i < carried; ++i) c.set_output(i, std::move(all.carried[i]));
    for (size_t i = 0; i < all.stacked.size(); ++i) c.set_output(carried + i, std::move(all.stacked[i].all));
    return;
  }
  std::vector<Stack> stacks;
  for (size_t i = carried; i < c.output_count(); ++i) stacks.emplace_back(entry_type(c, body, i + 1));
  for (int64_t trip = 0; trip < trips && condition; ++trip) {
    std::vector<Tensor> inputs = {Tensor::scalar(trip), Tensor::scalar(condition)};
    inputs.insert(inputs.end(), values.begin(), values.end());
    std::vector<Tensor> outputs = c.subgraphs().run(body, std::move(inputs));
    if (asks) condition = single(outputs[0], "the body's condition").data<bool>()[0];
    for (size_t i = 0; i < carried; ++i) values[i] = std::move(outputs[i + 1]);
    for (size_t i = 0; i < stacks.size(); ++i) stacks[i].push(std::move(outputs[carried + 1 + i]));
  }
  for (size_t i = 0; i < carried; ++i) c.set_output(i, std::move(values[i]));
  for (size_t i = 0; i < stacks.size(); ++i)
    if (c.wants_output(carried + i)) c.set_output(carried + i, stacks[i].joined());
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  M: I ?
in  cond: B ?
in  v_initial: V ...any
out v_final_and_scan_outputs: V ...any
attr body: graph required
type V: @all
type I: int64
type B: bool)",
     infer, eval},
    {11, R"(
in  M: I ?
in  cond: B ?
in  v_initial: V ...any0
out v_final_and_scan_outputs: V ...any
attr body: graph required
type V: @all
type I: int64
type B: bool)",
     infer, eval},
    {13, R"(
in  M: I ?
in  cond: B ?
in  v_initial: V ...any0
out v_final_and_scan_outputs: V ...any
attr body: graph required
type V: @all seq(tensor(@all))
type I: int64
type B: bool)",
     infer, eval},
    {16, R"(
in  M: I ?
in  cond: B ?
in  v_initial: V ...any0
out v_final_and_scan_outputs: V ...any
attr body: graph required
type V: @all_ir4 seq(tensor(@all_ir4)) optional(tensor(@all_ir4)) optional(seq(tensor(@all_ir4)))
type I: int64
type B: bool)",
     infer, eval},
    {19, R"(
in  M: I ?
in  cond: B ?
in  v_initial: V ...any0
out v_final_and_scan_outputs: V ...any
attr body: graph required
type V: @all_ir9 seq(tensor(@all_ir9)) optional(tensor(@all_ir9)) optional(seq(tensor(@all_ir4)))
type I: int64
type B: bool)",
     infer, eval},
    {21, R"(
in  M: I ?
in  cond: B ?
in  v_initial: V ...any0
out v_final_and_scan_outputs: V ...any
attr body: graph required
type V: @all_ir10 seq(tensor(@all_ir10)) optional(tensor(@all_ir10)) optional(seq(tensor(@all_ir4)))
type I: int64
type B: bool)",
     infer, eval},
    {23, R"(
in  M: I ?
in  cond: B ?
in  v_initial: V ...any0
out v_final_and_scan_outputs: V ...any
attr body: graph required
type V: @all_ir11 seq(tensor(@all_ir11)) optional(tensor(@all_ir11)) optional(seq(tensor(@all_ir4)))
type I: int64
type B: bool)",
     infer, eval},
    {24, R"(
in  M: I ?
in  cond: B ?
in  v_initial: V ...any0
out v_final_and_scan_outputs: V ...any
attr body: graph required
type V: @all_ir12 seq(tensor(@all_ir12)) optional(tensor(@all_ir12)) optional(seq(tensor(@all_ir4)))
type I: int64
type B: bool)",
     infer, eval},
    {25, R"(
in  M: I ?
in  cond: B ?
in  v_initial: V ...any0
out v_final_and_scan_outputs: V ...any
attr body: graph required
type V: @all_ir13 seq(tensor(@all_ir13)) optional(tensor(@all_ir13)) optional(seq(tensor(@all_ir4)))
type I: int64
type B: bool)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Loop",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .uses = {{{.kind = InputUse::Kind::kCount, .input = 0}}},
        },
};

}  // namespace assay::op_onnx_Loop
