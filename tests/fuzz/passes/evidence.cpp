#include "fuzz/passes/evidence.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>

#include "assay/error.h"
#include "graph/clone.h"
#include "graph/order.h"
#include "graph/read.h"
#include "ops/infer.h"
#include "reference/interpreter.h"
#include "tensor/convert.h"

namespace assay::fuzz {
namespace {

/// Roundings by which inputs are moved.
constexpr double kMoved = 4;
/// Products of five numbers within this range stay within float64's.
constexpr double kFarOut = 0x1p200;

using Change = std::function<double(double x, const Arithmetic&)>;

Tensor changed(const Tensor& t, const Change& change) {
  Tensor wide = to_float64(t);
  Tensor copy = Tensor::allocate(DType::kFloat64, wide.shape());
  const Arithmetic a = arithmetic_of(t.dtype());
  std::transform(wide.span<double>().begin(), wide.span<double>().end(), copy.mutable_data<double>(),
                 [&](double x) { return change(x, a); });
  return convert(copy, t.dtype());
}

std::vector<Tensor> changed_feed(const std::vector<Tensor>& feed, const Change& change) {
  std::vector<Tensor> other;
  for (const Tensor& t : feed)
    other.push_back(!t.is_container() && is_float(t.dtype()) ? changed(t, change) : t);
  return other;
}

void change_constants(Model& model, const Change& change) {
  for (const auto& v : model.graph->values())
    if (v->tensor().defined() && is_float(v->tensor().dtype()))
      v->set_tensor(changed(v->tensor().aligned(), change));
}

double finite_or_zero(double x, const Arithmetic&) { return std::isfinite(x) ? x : 0; }
double magnitude(double x, const Arithmetic&) { return std::isfinite(x) ? std::abs(x) : 0; }

/// Nothing where the model cannot be evaluated on that feed.
OutputNumbers evaluate(const std::shared_ptr<const Model>& model, const std::vector<Tensor>& feed,
                       ReferencePrecision precision) {
  OutputNumbers numbers(model->graph->outputs.size());
  try {
    Interpreter(model, {.precision = precision, .max_work = kMaxWork})
        .run(feed, [&](const Value& v, std::span<const Tensor> all) {
          for (size_t i = 0; i < numbers.size(); ++i)
            if (model->graph->outputs[i] == &v && !all[0].is_container() && is_float(all[0].dtype()))
              numbers[i] = numbers_of(all[0]);
        });
  } catch (const Error&) {
    return OutputNumbers(model->graph->outputs.size());
  }
  return numbers;
}

/// Operators whose result on magnitudes is the sum of the magnitudes of their terms.
bool adds_magnitudes(const Node& n) {
  for (const char* op : {"Abs",       "Add",      "BatchNormalization",
                         "Concat",    "Conv",     "ConvTranspose",
                         "Expand",    "Flatten",  "Gemm",
                         "Identity",  "MatMul",   "Mean",
                         "Mul",       "Neg",      "Relu",
                         "ReduceSum", "Reshape",  "Split",
                         "Squeeze",   "Sub",      "Sum",
                         "Transpose", "Unsqueeze"})
    if (is_op(n, op)) return true;
  return is_op(n, "Div") && n.input(1) != nullptr && n.input(1)->is_constant();
}

/// The graph of magnitudes; null when there is an operator of another kind.
std::shared_ptr<Model> graph_of_magnitudes(const Model& model) {
  const auto& nodes = model.graph->nodes();
  if (!std::all_of(nodes.begin(), nodes.end(), [](const auto& n) { return adds_magnitudes(*n); }))
    return nullptr;
  std::shared_ptr<Model> twin = clone_model(model);
  change_constants(*twin, magnitude);
  for (const auto& n : twin->graph->nodes()) {
    if (is_op(*n, "Sub")) n->op_type = "Add";
    if (is_op(*n, "Neg")) n->op_type = "Abs";
    if (!is_op(*n, "BatchNormalization")) continue;
    // A number subtracted there is to be added.
    Value* mean = n->input(3);
    n->set_input(3, twin->graph->add_constant(
                        twin->graph->unique_name("mean"),
                        changed(mean->tensor().aligned(), [](double x, const Arithmetic&) { return -x; })));
  }
  infer_shapes(*twin);
  return twin;
}

/// The original, in which a little is added to each value that the edited graph has, too: below the smallest
/// normal number their last digit is a matter of rounding.
std::shared_ptr<Model> moved_between(const Model& original, const Model& edited, double by) {
  std::shared_ptr<Model> moved = clone_model(original);
  Graph& g = *moved->graph;
  std::vector<Value*> values;
  for (const auto& n : g.nodes())
    for (Value* v : n->outputs())
      if (v != nullptr && is_float(v->type.dtype) && edited.graph->find_value(v->name()) != nullptr)
        values.push_back(v);
  for (Value* v : values) {
    const std::vector<Node*> users = v->consumers();
    const std::vector<double> number = {by * arithmetic_of(v->type.dtype).least};
    Value* const term = g.add_constant(g.unique_name("moved"),
                                       convert(Tensor::vector(number).reshaped(Shape{}), v->type.dtype));
    Value* const sum = g.add_value(g.unique_name(v->name()), v->type);
    for (Node* user : users)
      for (size_t i = 0; i < user->inputs().size(); ++i)
        if (user->input(i) == v) user->set_input(i, sum);
    g.add_node("Add", {v, term}, {sum});
  }
  sort_topologically(g);
  infer_shapes(*moved);
  return moved;
}

bool is_far_out(const Tensor& t) {
  if (t.is_container() || !is_float(t.dtype())) return false;
  const std::vector<double> all = numbers_of(t);
  return std::any_of(all.begin(), all.end(), [](double x) {
    return std::isfinite(x) && x != 0 && (std::abs(x) > kFarOut || std::abs(x) < 1 / kFarOut);
  });
}

}  // namespace

Arithmetic arithmetic_of(DType t) {
  switch (t) {
    case DType::kFloat16:
      return {0x1p-11, 0x1p-24, 65504};
    case DType::kBFloat16:
      return {0x1p-8, 0x1p-133, 0x1.fep127};
    case DType::kFloat64:
      return {0x1p-53, 0x1p-1074, 0x1.fffffffffffffp1023};
    default:
      return {0x1p-24, 0x1p-149, 0x1.fffffep127};
  }
}

std::vector<double> numbers_of(const Tensor& t) {
  const Tensor wide = to_float64(t);
  return {wide.span<double>().begin(), wide.span<double>().end()};
}

Evidence::Evidence(std::shared_ptr<const Model> original, std::shared_ptr<const Model> edited,
                   const std::vector<Tensor>& feed)
    : original_(std::move(original)), edited_(std::move(edited)), feed_(feed) {}

const OutputNumbers& Evidence::of_finite_inputs() {
  if (finite_) return *finite_;
  const std::shared_ptr<Model> tame = clone_model(*original_);
  change_constants(*tame, finite_or_zero);
  finite_ = evaluate(tame, changed_feed(feed_, finite_or_zero), ReferencePrecision::kStored);
  return *finite_;
}

const OutputNumbers& Evidence::without_infinities() {
  if (without_infinities_) return *without_infinities_;
  const auto change = [](double x, const Arithmetic&) { return std::isinf(x) ? 0 : x; };
  const std::shared_ptr<Model> tame = clone_model(*original_);
  change_constants(*tame, change);
  without_infinities_ = evaluate(tame, changed_feed(feed_, change), ReferencePrecision::kStored);
  return *without_infinities_;
}

const OutputNumbers& Evidence::sensitivity() {
  if (sensitivity_) return *sensitivity_;
  const auto moved = [&](double by) {
    const auto change = [by](double x, const Arithmetic& a) {
      return std::isfinite(x) ? x + by * std::max(2 * a.unit * std::abs(x), a.least) : x;
    };
    return evaluate(moved_between(*original_, *edited_, by), changed_feed(feed_, change),
                    ReferencePrecision::kStored);
  };
  const OutputNumbers up = moved(kMoved), down = moved(-kMoved);
  sensitivity_.emplace(up.size());
  for (size_t i = 0; i < up.size(); ++i)
    for (size_t k = 0; k < std::min(up[i].size(), down[i].size()); ++k)
      (*sensitivity_)[i].push_back(std::abs(up[i][k] - down[i][k]));
  return *sensitivity_;
}

const OutputNumbers& Evidence::magnitudes() {
  if (magnitudes_) return *magnitudes_;
  const std::shared_ptr<Model> twin = graph_of_magnitudes(*edited_);
  magnitudes_ = twin == nullptr
                    ? OutputNumbers(edited_->graph->outputs.size())
                    : evaluate(twin, changed_feed(feed_, magnitude), ReferencePrecision::kFloat64);
  return *magnitudes_;
}

bool Evidence::leaves_range() {
  if (leaves_range_) return *leaves_range_;
  std::vector<const Value*> wanted;
  for (const auto& n : edited_->graph->nodes())
    for (const Value* v : n->outputs())
      if (v != nullptr && v->type.is_tensor()) wanted.push_back(v);
  leaves_range_ = false;
  try {
    Interpreter(edited_, {.max_work = kMaxWork})
        .run(
            changed_feed(feed_, finite_or_zero),
            [&](const Value& v, std::span<const Tensor> all) {
              if (all[0].is_container() || !is_float(all[0].dtype())) return;
              const double most = arithmetic_of(v.type.dtype).most;
              for (const double x : numbers_of(all[0])) leaves_range_ = *leaves_range_ || std::abs(x) > most;
            },
            wanted);
  } catch (const Error&) {
    leaves_range_ = false;
  }
  return *leaves_range_;
}

bool Evidence::has_headroom() {
  if (has_headroom_) return *has_headroom_;
  bool far_out = std::any_of(feed_.begin(), feed_.end(), is_far_out);
  for (const auto* model : {original_.get(), edited_.get()})
    for (const auto& v : model->graph->values())
      far_out = far_out || (v->tensor().defined() && is_far_out(v->tensor().aligned()));
  has_headroom_ = !far_out;
  return *has_headroom_;
}

}  // namespace assay::fuzz
