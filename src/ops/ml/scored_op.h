// An operator of ai.onnx.ml whose outputs are scores of rows, made of a Model of its attributes:
//
//   explicit Model(const OpContext&);                  // throws Error for wrong attributes
//   int64_t width() const;                             // scores of a row
//   const ClassLabels* classes() const;                // null: a regressor
//   void take_features(const OpContext&, int64_t n);   // before any score; throws Error when it needs others
//   int64_t cost() const;                              // multiplications of a row, roughly
//   size_t score<N>(const double* x, std::span<N> scores) const;  // fills a row, gives its class
#pragma once

#include <memory>

#include "ops/ml/row_scorer.h"
#include "ops/ml/score_rows.h"
#include "tensor/convert.h"

namespace assay {

template <typename N, typename Model>
ScoreRows<N> scores_of(const EvalContext& c, Model& model) {
  const Features x(c);
  model.take_features(c, x.count);
  return score_rows<N>(x, model.width(), model.cost(), [&](const double* row, std::span<N> scores) {
    return model.template score<N>(row, scores);
  });
}

template <typename Model>
void eval_scores(EvalContext& c) {
  Model model(c);
  const ScoreRows<double> rows = scores_of<double>(c, model);
  const ClassLabels* const classes = model.classes();
  if (classes != nullptr) c.set_output(0, classes->pick(rows.classes));
  c.set_output(classes != nullptr ? 1 : 0, score_tensor(rows));
}

template <typename Model>
Tensor bound_scores(EvalContext& c, double u, size_t, const Tensor&) {
  Model model(c);
  return score_errors(scores_of<Rounded>(c, model), u);
}

/// Scores every row in float64.
template <typename Model>
class ModelScorer final : public RowScorer {
 public:
  explicit ModelScorer(const OpContext& c) : c_(c), model_(c) {}

  std::vector<Tensor> run(const Tensor& x) override {
    const Features features(c_, x);
    model_.take_features(c_, features.count);
    const ScoreRows<double> rows = score_rows<double>(features, model_.width(), model_.cost(),
                                                      [&](const double* row, std::span<double> scores) {
                                                        return model_.template score<double>(row, scores);
                                                      });
    std::vector<Tensor> outputs;
    if (model_.classes() != nullptr) outputs.push_back(model_.classes()->pick(rows.classes));
    outputs.push_back(convert(score_tensor(rows), DType::kFloat32));
    return outputs;
  }

 private:
  OpContext c_;
  Model model_;
};

/// OpDef::scorer of such an operator.
template <typename Model>
std::unique_ptr<RowScorer> make_model_scorer(const OpContext& c) {
  return std::make_unique<ModelScorer<Model>>(c);
}

}  // namespace assay
