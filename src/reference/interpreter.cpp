#include "reference/interpreter.h"

#include <unordered_set>

#include "graph/order.h"
#include "reference/walk.h"

namespace assay {

using internal::Frame;
using internal::Lanes;
using internal::Walk;

Interpreter::Interpreter(std::shared_ptr<const Model> model, const InterpreterOptions& options)
    : impl_(new internal::BoundModel) {
  impl_->model = std::move(model);
  impl_->options = options;
  require(options.noisy_lanes == 0 || impl_->ideal(), ErrorCode::kInternal,
          "noisy lanes need the float64 reference");
  check_depth(*impl_->model);
  impl_->bind(*impl_->model->graph);
}

Interpreter::~Interpreter() = default;

void Interpreter::run(std::span<const Tensor> inputs, const Observer& observer,
                      std::span<const Value* const> wanted) {
  const Graph& g = *impl_->model->graph;
  require(inputs.size() == g.inputs.size(), ErrorCode::kInvalidArgument,
          "the model takes {} inputs, but {} are given", g.inputs.size(), inputs.size());
  std::unordered_set<const Value*> watched(wanted.begin(), wanted.end());
  if (wanted.empty()) watched.insert(g.outputs.begin(), g.outputs.end());
  std::vector<size_t> lanes;
  for (int i = 0; i <= impl_->options.noisy_lanes; ++i) lanes.push_back(static_cast<size_t>(i));
  Walk walk(*impl_);
  Frame frame(g, lanes);
  for (size_t i = 0; i < inputs.size(); ++i) walk.feed(g.inputs[i], inputs[i], frame);
  for (const auto& v : g.values())
    if (watched.contains(v.get()) && v->producer() == nullptr) observer(*v, walk.lanes_of(v.get(), frame));
  walk.nodes(
      frame,
      [&](const Value& v) {
        if (watched.contains(&v)) observer(v, frame.get(&v));
      },
      Walk::KeepOutputs::kNo);
}

int Interpreter::lanes_lost() const { return impl_->lanes_lost; }

}  // namespace assay
