#include "ops/rnn/recurrent.h"

#include <limits>

namespace assay {
namespace {

int64_t read_directions(const OpContext& c) {
  const std::string& direction = c.attr_string("direction");
  if (c.since() == 1 && direction == "foward") return 1;  // the default of GRU-1, misspelt in the standard
  c.check(direction == "forward" || direction == "reverse" || direction == "bidirectional",
          "direction '{}' is none of forward, reverse, bidirectional", direction);
  return direction == "bidirectional" ? 2 : 1;
}

bool is_by_batch(const OpContext& c) { return c.since() >= 14 && c.attr_int("layout") != 0; }

/// The extent where both mean the same.
Dim either(const Dim& a, const Dim& b) { return a.is_known() || !b.is_known() ? a : b; }

/// Throws Error unless input i, when it is given, has the shape.
void check_shape(const EvalContext& c, size_t i, const char* name, const Shape& shape) {
  if (!c.has_input(i)) return;
  c.check(c.shape(i) == shape, "input {} has shape {} where {} is needed", name, c.shape(i).str(),
          shape.str());
}

bool may_be(const Dim& d, int64_t number) { return !d.is_known() || d.value() == number; }

void check_three_dims(const InferContext& c, const char* name, const Dims* dims) {
  c.check(dims == nullptr || dims->size() == 3, "{} has {} dimensions where 3 are needed", name,
          dims ? dims->size() : 0);
}

void check_features(const InferContext& c, const Dim& of_x, const Dim& of_w) {
  c.check(!of_w.is_known() || may_be(of_x, of_w.value()), "X has {} features, but W takes {}", of_x.str(),
          of_w.str());
}

/// The attribute 'hidden_size', or the columns of R.
Dim infer_hidden(const InferContext& c, const Dims* r) {
  const Dim columns = r != nullptr ? (*r)[2] : Dim();
  if (!c.has_attr("hidden_size")) return columns;
  const int64_t size = c.attr_int("hidden_size");
  c.check(size >= 1, "attribute 'hidden_size' is {}; it must be at least 1", size);
  c.check(may_be(columns, size), "attribute 'hidden_size' is {}, but R has {} columns", size, columns.str());
  return either(columns, Dim(size));
}

/// W or R: for each direction, a row for each gate of each hidden number.
void check_weights(const InferContext& c, const Dims& weights, int64_t directions, int64_t gates,
                   const Dim& hidden) {
  c.check(may_be(weights[0], directions), "the weights are for {} directions, not {}", weights[0].str(),
          directions);
  c.check(!hidden.is_known() || may_be(weights[1], gates * hidden.value()),
          "the weights have {} rows where {} gates of {} are needed", weights[1].str(), gates, hidden.str());
}

}  // namespace

void infer_recurrent(InferContext& c, int64_t gates, size_t states) {
  const Dims *x = c.input_dims(0), *w = c.input_dims(1), *r = c.input_dims(2);
  check_three_dims(c, "X", x);
  check_three_dims(c, "W", w);
  check_three_dims(c, "R", r);
  const int64_t directions = read_directions(c);
  if (w != nullptr && x != nullptr) check_features(c, (*x)[2], (*w)[2]);
  const Dim hidden = infer_hidden(c, r);
  for (const Dims* weights : {w, r})
    if (weights != nullptr) check_weights(c, *weights, directions, gates, hidden);
  const bool by_batch = is_by_batch(c);
  const Dim sequence = x ? (*x)[by_batch ? 1 : 0] : Dim(), batch = x ? (*x)[by_batch ? 0 : 1] : Dim();
  const DType dtype = c.input_dtype(0);
  if (c.output_count() > 0)
    c.set_output(0, dtype,
                 by_batch ? Dims{batch, sequence, Dim(directions), hidden}
                          : Dims{sequence, Dim(directions), batch, hidden});
  for (size_t i = 1; i <= states && i < c.output_count(); ++i)
    c.set_output(i, dtype,
                 by_batch ? Dims{batch, Dim(directions), hidden} : Dims{Dim(directions), batch, hidden});
}

Recurrence read_recurrence(const EvalContext& c, int64_t gates,
                           const std::vector<std::string>& default_activations) {
  const Shape &x = c.shape(0), &w = c.shape(1), &weights = c.shape(2);
  c.check(x.size() == 3 && w.size() == 3 && weights.size() == 3,
          "X, W and R must have 3 dimensions, found {}, {}, {}", x.str(), w.str(), weights.str());
  Recurrence r{};
  r.by_batch = is_by_batch(c);
  r.sequence = x[r.by_batch ? 1 : 0];
  r.batch = x[r.by_batch ? 0 : 1];
  r.input = x[2];
  r.hidden = weights[2];
  r.gates = gates;
  r.directions = read_directions(c);
  r.first_is_reverse = c.attr_string("direction") == "reverse";
  r.clip = c.attr_float("clip", std::numeric_limits<double>::infinity());
  c.check(r.clip >= 0, "attribute 'clip' is {}; it must not be negative", r.clip);
  c.check(c.attr_int("hidden_size", r.hidden) == r.hidden,
          "attribute 'hidden_size' is {}, but R has {} columns", c.attr_int("hidden_size", r.hidden),
          r.hidden);
  check_shape(c, 1, "W", {r.directions, gates * r.hidden, r.input});
  check_shape(c, 2, "R", {r.directions, gates * r.hidden, r.hidden});
  check_shape(c, 3, "B", {r.directions, 2 * gates * r.hidden});
  check_shape(c, 4, "sequence_lens", {r.batch});
  const Shape state = recurrent_state_shape(r);
  check_shape(c, 5, "initial_h", state);
  check_shape(c, 6, "initial_c", state);
  check_shape(c, 7, "P", {r.directions, 3 * r.hidden});
  r.lengths =
      c.has_input(4) ? c.input(4).to_int64() : std::vector<int64_t>(static_cast<size_t>(r.batch), r.sequence);
  for (const int64_t n : r.lengths)
    c.check(n >= 0 && n <= r.sequence, "a sequence length of {} is not in [0, {}]", n, r.sequence);
  r.activations = read_activations(c, static_cast<size_t>(r.directions), default_activations);
  r.x = c.input(0).data<double>();
  r.w = c.input(1).data<double>();
  r.r = c.input(2).data<double>();
  r.bias = c.has_input(3) ? c.input(3).data<double>() : nullptr;
  r.peephole = c.has_input(7) ? c.input(7).data<double>() : nullptr;
  return r;
}

Shape recurrent_output_shape(const Recurrence& r) {
  return r.by_batch ? Shape{r.batch, r.sequence, r.directions, r.hidden}
                    : Shape{r.sequence, r.directions, r.batch, r.hidden};
}

Shape recurrent_state_shape(const Recurrence& r) {
  return r.by_batch ? Shape{r.batch, r.directions, r.hidden} : Shape{r.directions, r.batch, r.hidden};
}

void set_recurrent_outputs(EvalContext& c, const Recurrence& r, const RecurrentOutputs<double>& out) {
  c.set_output(0, Tensor::from<double>(recurrent_output_shape(r), out.y));
  for (size_t i = 0; i < out.states.size(); ++i)
    c.set_output(i + 1, Tensor::from<double>(recurrent_state_shape(r), out.states[i]));
}

Tensor recurrent_errors(const Recurrence& r, const RecurrentOutputs<Tracked::Number>& out, size_t i) {
  const State<Tracked::Number>& numbers = i == 0 ? out.y : out.states[i - 1];
  Tensor t = Tensor::allocate(DType::kFloat64, i == 0 ? recurrent_output_shape(r) : recurrent_state_shape(r));
  std::transform(numbers.begin(), numbers.end(), t.mutable_data<double>(),
                 [](const auto& n) { return n.bound(); });
  return t;
}

}  // namespace assay
