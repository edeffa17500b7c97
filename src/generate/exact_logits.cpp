#include "generate/exact_logits.h"

#include <algorithm>
#include <cmath>

#include "backends/onnxrt_nodes.h"
#include "reference/interpreter.h"
#include "tensor/convert.h"

namespace assay::generate {
namespace {

/// Noisy evaluations of a sequence that is evaluated in one step, and of one that is evaluated token by
/// token, each alone.
constexpr int kTogether = 5, kAlone = 3;

using Row = std::vector<double>;

Row row_of(const Tensor& logits) {
  const Tensor wide = to_float64(logits);
  const auto width = static_cast<size_t>(wide.dim(static_cast<size_t>(wide.rank()) - 1));
  const auto all = wide.span<double>();
  return {all.end() - static_cast<ptrdiff_t>(width), all.end()};
}

/// The first row is exact.
std::vector<Row> evaluate_at_once(const std::shared_ptr<const Model>& model,
                                  const std::shared_ptr<const Interface>& interface,
                                  const std::vector<int64_t>& tokens) {
  Interpreter interpreter(model, {.noisy_lanes = kTogether, .foreign = onnxrt_nodes(model)});
  const std::vector<Tensor> feed = TokenSequence(interface).feed(tokens);
  const Value* const wanted[] = {model->graph->outputs[interface->logits]};
  std::vector<Row> rows;
  interpreter.run(
      feed,
      [&](const Value&, std::span<const Tensor> lanes) {
        for (const Tensor& lane : lanes) rows.push_back(row_of(lane));
      },
      wanted);
  return rows;
}

/// One lane, whose cache goes from step to step as it is stored: what was rounded stays so.
Row evaluate_by_steps(const std::shared_ptr<const Model>& model,
                      const std::shared_ptr<const Interface>& interface, const std::vector<int64_t>& tokens,
                      int lane) {
  Interpreter interpreter(model, {.noisy_lanes = lane == 0 ? 0 : 1,
                                  .seed = static_cast<uint64_t>(lane),
                                  .foreign = onnxrt_nodes(model)});
  TokenSequence sequence(interface);
  const auto& outputs = model->graph->outputs;
  Tensor last;
  for (const auto part : sequence.parts(tokens)) {
    std::vector<Tensor> given(outputs.size());
    interpreter.run(sequence.feed(part), [&](const Value& v, std::span<const Tensor> lanes) {
      const Tensor& t = lanes[lane == 0 || lanes.size() < 2 ? 0 : 1];
      for (size_t i = 0; i < outputs.size(); ++i)
        if (outputs[i] == &v) given[i] = i == interface->logits ? t : convert(t, v.type.dtype);
    });
    last = sequence.take(part, std::move(given));
  }
  return row_of(last.reshaped(Shape{1, last.numel()}));
}

}  // namespace

ExactLogits exact_logits(const std::shared_ptr<const Model>& model,
                         const std::shared_ptr<const Interface>& interface,
                         const std::vector<int64_t>& tokens) {
  std::vector<Row> rows;
  if (TokenSequence(interface).parts(tokens).size() <= 1)
    rows = evaluate_at_once(model, interface, tokens);
  else
    for (int lane = 0; lane <= kAlone; ++lane)
      rows.push_back(evaluate_by_steps(model, interface, tokens, lane));
  require(rows.size() > 1, ErrorCode::kUnsupported, "no noisy evaluation of the logits came to an end");
  ExactLogits result{.exact = rows.front()};
  // The spread is that of the row: a few evaluations tell little of one logit alone.
  double squares = 0, largest = 0;
  for (size_t lane = 1; lane < rows.size(); ++lane)
    for (size_t i = 0; i < result.exact.size(); ++i) {
      const double d = rows[lane][i] - result.exact[i];
      if (std::isfinite(d)) squares += d * d;
    }
  for (const double x : result.exact)
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  const double spread =
      std::sqrt(squares / static_cast<double>((rows.size() - 1) * std::max<size_t>(result.exact.size(), 1)));
  const DType stored = interface->outputs[interface->logits].type.dtype;
  result.explained = kExplainedFactor * spread + unit_roundoff(stored) * largest;
  return result;
}

}  // namespace assay::generate
