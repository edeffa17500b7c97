// Scan: runs a subgraph for each entry of its scan inputs along an axis. States are carried from one
// iteration to the next and keep their shape; the subgraph's other outputs are stacked along an axis. Before
// opset 9 all of that happens for every entry of a batch (axis 0, with the sequence on axis 1 and lengths of
// its own).
#include <algorithm>
#include <utility>

#include "ops/control/iterations.h"
#include "ops/control/stack.h"
#include "ops/op_context.h"
#include "ops/op_list.h"
#include "ops/tensor/axes.h"
#include "ops/tensor/strided_copy.h"
#include "ops/value_type.h"

namespace assay::op_onnx_Scan {
namespace {

bool is_batched(const OpContext& c) { return c.since() < 9; }

/// How the inputs and outputs divide.
struct Layout {
  size_t first = 0;  ///< of the states among the inputs: 1 after sequence_lens
  size_t states = 0, scan_inputs = 0, scan_outputs = 0;
};

Layout layout_of(const OpContext& c) {
  Layout l{.first = is_batched(c) ? size_t{1} : 0};
  const int64_t scans = c.attr_int("num_scan_inputs");
  c.check(scans > 0 && scans <= static_cast<int64_t>(c.input_count() - l.first),
          "num_scan_inputs is {} of {} inputs", scans, c.input_count() - l.first);
  l.scan_inputs = static_cast<size_t>(scans);
  l.states = c.input_count() - l.first - l.scan_inputs;
  c.check(l.states <= c.output_count(), "{} states, but {} outputs", l.states, c.output_count());
  l.scan_outputs = c.output_count() - l.states;
  return l;
}

/// One entry for each scan input or output; zeros when the node leaves the attribute out.
std::vector<int64_t> numbers(const OpContext& c, const char* name, size_t count) {
  std::vector<int64_t> list = c.attr_ints(name);
  if (list.empty()) list.assign(count, 0);
  c.check(list.size() == count, "{} has {} entries for {} tensors", name, list.size(), count);
  return list;
}

std::vector<int64_t> directions(const OpContext& c, const char* name, size_t count) {
  std::vector<int64_t> list = numbers(c, name, count);
  for (const int64_t d : list) c.check(d == 0 || d == 1, "{} has the entry {}", name, d);
  return list;
}

/// The axis of every scan input along which it is taken apart, in the tensor without batch.
std::vector<int64_t> input_axes(const OpContext& c, const Layout& l) {
  return is_batched(c) ? std::vector<int64_t>(l.scan_inputs, 0)
                       : numbers(c, "scan_input_axes", l.scan_inputs);
}
std::vector<int64_t> output_axes(const OpContext& c, const Layout& l) {
  return is_batched(c) ? std::vector<int64_t>(l.scan_outputs, 0)
                       : numbers(c, "scan_output_axes", l.scan_outputs);
}

Type drop_dim(Type type, size_t axis) {
  if (type.has_shape() && axis < type.dims->size())
    type.dims->erase(type.dims->begin() + static_cast<std::ptrdiff_t>(axis));
  return type;
}

Type insert_dim(Type type, int64_t axis, const Dim& dim) {
  if (type.has_shape())
    type.dims->insert(type.dims->begin() + normalize_axis(axis, static_cast<int>(type.dims->size()) + 1),
                      dim);
  return type;
}

/// A state before and after the body.
Type kept_state(const OpContext& c, size_t i, const Type& before, const Type& after) {
  if (after.kind == Type::Kind::kUnknown) return before;
  Type type = common_type(before, after);
  if (!type.is_tensor()) return type;
  if (type.dtype == DType::kUndefined) type.dtype = std::max(before.dtype, after.dtype);
  if (!before.has_shape() || !after.has_shape()) {
    type.dims = before.has_shape() ? before.dims : after.dims;
    return type;
  }
  c.check(before.dims->size() == after.dims->size(), "state {} of shape {} comes out of the body as {}", i,
          dims_str(*before.dims), dims_str(*after.dims));
  type.dims = before.dims;
  for (size_t d = 0; d < type.dims->size(); ++d)
    (*type.dims)[d] = merge_dim((*before.dims)[d], (*after.dims)[d]);
  return type;
}

void infer(InferContext& c) {
  const Layout l = layout_of(c);
  const bool batched = is_batched(c);
  const std::vector<int64_t> in_axes = input_axes(c, l), out_axes = output_axes(c, l);
  std::vector<Type> inputs;
  Dim batch, length;
  for (size_t i = 0; i < l.states; ++i) {
    const Type& state = c.input_type(l.first + i);
    if (batched && state.has_shape() && !state.dims->empty()) batch = merge_dim(batch, state.dims->front());
    inputs.push_back(batched ? drop_dim(state, 0) : state);
  }
  for (size_t i = 0; i < l.scan_inputs; ++i) {
    Type type = c.input_type(l.first + l.states + i);
    if (type.has_shape()) {
      if (batched && !type.dims->empty()) batch = merge_dim(batch, type.dims->front());
      if (batched) type = drop_dim(std::move(type), 0);
      const auto axis = static_cast<size_t>(normalize_axis(in_axes[i], static_cast<int>(type.dims->size())));
      length = merge_dim(length, (*type.dims)[axis]);
      type = drop_dim(std::move(type), axis);
    }
    inputs.push_back(std::move(type));
  }
  const std::vector<Type> body = c.infer_subgraph("body", inputs);
  c.check(body.size() == c.output_count(), "the body has {} outputs, the node has {}", body.size(),
          c.output_count());
  for (size_t i = 0; i < body.size(); ++i) {
    c.check(body[i].is_tensor() || body[i].kind == Type::Kind::kUnknown,
            "output {} of the body is of type {}, and only tensors stack up", i, body[i].str());
    Type type = i < l.states ? kept_state(c, i, inputs[i], body[i])
                             : insert_dim(body[i], out_axes[i - l.states], length);
    if (batched) type = insert_dim(std::move(type), 0, batch);
    c.set_output_type(i, std::move(type));
  }
}

/// Where the stacks of a run go: their axes in the results, and whether the last entry comes first.
struct Stacking {
  std::vector<int64_t> axes, reversed;
  int64_t length = 0;  ///< of the results at least; zeros fill them up
};

/// The order of axes that moves axis `from` to `to`.
std::vector<size_t> moved(size_t rank, size_t from, size_t to) {
  std::vector<size_t> order;
  for (size_t i = 0; i < rank; ++i)
    if (i != from) order.push_back(i);
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), from);
  return order;
}

class Scanner {
 public:
  explicit Scanner(EvalContext& c)
      : c_(c),
        layout_(layout_of(c)),
        body_(c.attr_graph("body")),
        axes_(input_axes(c, layout_)),
        backwards_(
            directions(c, is_batched(c) ? "directions" : "scan_input_directions", layout_.scan_inputs)) {
    c.check(body_.outputs.size() == c.output_count(), "the body has {} outputs, the node has {}",
            body_.outputs.size(), c.output_count());
  }

  const Layout& layout() const { return layout_; }

  /// The extent of all scan inputs along their axes.
  int64_t length(const std::vector<Tensor>& scans) const {
    int64_t length = -1;
    for (size_t i = 0; i < scans.size(); ++i) {
      const int64_t extent = scans[i].dim(axis(scans[i], i));
      c_.check(length < 0 || extent == length, "the scan inputs have {} and {} entries", length, extent);
      length = extent;
    }
    return length;
  }

  /// States in; states and stacks out.
  std::vector<Tensor> run(std::vector<Tensor> states, std::vector<Tensor> scans, int64_t length,
                          const Stacking& stacking) {
    if (length > 0 && stacking.length <= length && iterate(states, scans, length, stacking)) return states;
    // Scattered entries are gathered once, in the order of memory, rather than step by step.
    std::vector<size_t> axes;
    for (size_t i = 0; i < scans.size(); ++i) {
      axes.push_back(axis(scans[i], i));
      if (length > 1 && scans[i].shape().numel(0, axes[i]) > 1)
        scans[i] =
            permuted(scans[i], moved(static_cast<size_t>(scans[i].rank()), std::exchange(axes[i], 0), 0));
    }
    std::vector<Stack> stacks;
    for (size_t i = 0; i < layout_.scan_outputs; ++i)
      stacks.emplace_back(entry_type(c_, body_, layout_.states + i));
    for (int64_t t = 0; t < length; ++t) {
      std::vector<Tensor> inputs = states;
      for (size_t i = 0; i < scans.size(); ++i)
        inputs.push_back(slice_at(scans[i], axes[i], backwards_[i] != 0 ? length - 1 - t : t));
      std::vector<Tensor> outputs = c_.subgraphs().run(body_, std::move(inputs));
      for (size_t i = 0; i < layout_.states; ++i) {
        c_.check(outputs[i].shape() == states[i].shape(), "state {} of shape {} comes out of the body as {}",
                 i, states[i].shape().str(), outputs[i].shape().str());
        states[i] = std::move(outputs[i]);
      }
      for (size_t i = 0; i < stacks.size(); ++i) stacks[i].push(std::move(outputs[layout_.states + i]));
    }
    for (size_t i = 0; i < stacks.size(); ++i)
      states.push_back(stacks[i].joined(stacking.axes[i], stacking.reversed[i] != 0, stacking.length));
    return states;
  }

 private:
  /// All iterations in one call, where the runner supports it.
  bool iterate(std::vector<Tensor>& states, const std::vector<Tensor>& scans, int64_t length,
               const Stacking& stacking) {
    Iterations all{.trips = length, .carried = states, .taken = {}, .stacked = {}};
    for (size_t i = 0; i < scans.size(); ++i)
      all.taken.push_back({scans[i], axis(scans[i], i), backwards_[i] != 0});
    for (const int64_t reversed : stacking.reversed) all.stacked.push_back({{}, reversed != 0});
    if (!c_.subgraphs().iterate(body_, all)) return false;
    states = std::move(all.carried);
    for (size_t i = 0; i < all.stacked.size(); ++i) {
      Tensor& stack = all.stacked[i].all;
      const auto to = static_cast<size_t>(normalize_axis(stacking.axes[i], stack.rank()));
      states.push_back(to == 0 ? std::move(stack)
                               : permuted(stack, moved(static_cast<size_t>(stack.rank()), 0, to)));
    }
    return true;
  }

  size_t axis(const Tensor& t, size_t i) const {
    return static_cast<size_t>(normalize_axis(axes_[i], t.rank()));
  }

  EvalContext& c_;
  Layout layout_;
  const Graph& body_;
  std::vector<int64_t> axes_, backwards_;
};

void eval(EvalContext& c) {
  Scanner scanner(c);
  const Layout& l = scanner.layout();
  const auto scans_at = c.inputs().begin() + static_cast<std::ptrdiff_t>(l.states);
  const std::vector<Tensor> scans(scans_at, c.inputs().end());
  const Stacking stacking{output_axes(c, l), directions(c, "scan_output_directions", l.scan_outputs)};
  std::vector<Tensor> outputs =
      scanner.run({c.inputs().begin(), scans_at}, scans, scanner.length(scans), stacking);
  for (size_t i = 0; i < outputs.size(); ++i) c.set_output(i, std::move(outputs[i]));
}

/// Entry `batch` of some inputs.
std::vector<Tensor> batch_entry(const EvalContext& c, size_t first, size_t count, int64_t batch) {
  std::vector<Tensor> entries;
  for (size_t i = first; i < first + count; ++i) {
    c.check(c.input(i).rank() > 0 && batch < c.input(i).dim(0),
            "input {} of shape {} has no entry {} of the batch", i, c.shape(i).str(), batch);
    entries.push_back(slice_at(c.input(i), 0, batch));
  }
  return entries;
}

void eval_batched(EvalContext& c) {
  Scanner scanner(c);
  const Layout& l = scanner.layout();
  const size_t first_scan = l.first + l.states;
  c.check(c.input(first_scan).rank() >= 2, "a scan input must have rank 2 or more, it has shape {}",
          c.shape(first_scan).str());
  const int64_t batches = c.input(first_scan).dim(0), longest = c.input(first_scan).dim(1);
  std::vector<int64_t> lengths(static_cast<size_t>(batches), longest);
  if (c.has_input(0)) lengths = integer_list(c, 0);
  c.check(static_cast<int64_t>(lengths.size()) == batches, "{} sequence_lens for a batch of {}",
          lengths.size(), batches);
  const Stacking stacking{output_axes(c, l), std::vector<int64_t>(l.scan_outputs, 0), longest};
  std::vector<Stack> outputs;
  for (size_t i = 0; i < c.output_count(); ++i) outputs.emplace_back(Type());
  for (int64_t b = 0; b < batches; ++b) {
    const std::vector<Tensor> scans = batch_entry(c, first_scan, l.scan_inputs, b);
    const int64_t length = lengths[static_cast<size_t>(b)];
    c.check(length >= 0 && length <= scanner.length(scans),
            "a sequence length is {}, the sequences have {} entries", length, longest);
    std::vector<Tensor> results = scanner.run(batch_entry(c, l.first, l.states, b), scans, length, stacking);
    for (size_t i = 0; i < outputs.size(); ++i) outputs[i].push(std::move(results[i]));
  }
  for (size_t i = 0; i < outputs.size(); ++i) c.set_output(i, outputs[i].joined());
}

constexpr OpVersion kVersions[] = {
    {8, R"(
in  sequence_lens: I ?
in  initial_state_and_scan_inputs: V ...any
out final_state_and_scan_outputs: V ...any
attr directions: ints
attr num_scan_inputs: int required
attr body: graph required
type I: int64
type V: @all)",
     infer, eval_batched},
    {9, R"(
in  initial_state_and_scan_inputs: V ...any
out final_state_and_scan_outputs: V ...any
attr scan_input_axes: ints
attr scan_output_axes: ints
attr scan_output_directions: ints
attr scan_input_directions: ints
attr num_scan_inputs: int required
attr body: graph required
type V: @all)",
     infer, eval},
    {11, "same as Scan-9", infer, eval},
    {16, R"(
in  initial_state_and_scan_inputs: V ...any
out final_state_and_scan_outputs: V ...any
attr scan_input_axes: ints
attr scan_output_axes: ints
attr scan_output_directions: ints
attr scan_input_directions: ints
attr num_scan_inputs: int required
attr body: graph required
type V: @all_ir4)",
     infer, eval},
    {19, R"(
in  initial_state_and_scan_inputs: V ...any
out final_state_and_scan_outputs: V ...any
attr scan_input_axes: ints
attr scan_output_axes: ints
attr scan_output_directions: ints
attr scan_input_directions: ints
attr num_scan_inputs: int required
attr body: graph required
type V: @all_ir9)",
     infer, eval},
    {21, R"(
in  initial_state_and_scan_inputs: V ...any
out final_state_and_scan_outputs: V ...any
attr scan_input_axes: ints
attr scan_output_axes: ints
attr scan_output_directions: ints
attr scan_input_directions: ints
attr num_scan_inputs: int required
attr body: graph required
type V: @all_ir10)",
     infer, eval},
    {23, R"(
in  initial_state_and_scan_inputs: V ...any
out final_state_and_scan_outputs: V ...any
attr scan_input_axes: ints
attr scan_output_axes: ints
attr scan_output_directions: ints
attr scan_input_directions: ints
attr num_scan_inputs: int required
attr body: graph required
type V: @all_ir11)",
     infer, eval},
    {24, R"(
in  initial_state_and_scan_inputs: V ...any
out final_state_and_scan_outputs: V ...any
attr scan_input_axes: ints
attr scan_output_axes: ints
attr scan_output_directions: ints
attr scan_input_directions: ints
attr num_scan_inputs: int required
attr body: graph required
type V: @all_ir12)",
     infer, eval},
    {25, R"(
in  initial_state_and_scan_inputs: V ...any
out final_state_and_scan_outputs: V ...any
attr scan_input_axes: ints
attr scan_output_axes: ints
attr scan_output_directions: ints
attr scan_input_directions: ints
attr num_scan_inputs: int required
attr body: graph required
type V: @all_ir13)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Scan",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
};

}  // namespace assay::op_onnx_Scan
