#include "assay/comparator.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "arbiter/arbiter.h"
#include "assay/error.h"
#include "backends/session_info.h"
#include "compare/accuracy.h"
#include "compare/indices.h"
#include "compare/metrics.h"
#include "compare/postprocess.h"
#include "compare/simple.h"
#include "compare/validate.h"
#include "console/text_renderer.h"
#include "graph/clone.h"
#include "ops/infer.h"
#include "passes/pass_list.h"
#include "poly/accuracy.h"
#include "run/data_loader.h"
#include "run/results.h"
#include "run/script_parts.h"
#include "script/compare_script.h"
#include "script/postprocess_script.h"

namespace assay::poly {
namespace {

/// Of the user's own.
class CustomComparison : public OutputwiseComparison {
 public:
  using Compare = std::function<bool(const std::string&, const Tensor&, const Tensor&)>;
  CustomComparison(std::string name, Compare compare)
      : name_(std::move(name)), compare_(std::move(compare)) {}
  CompareFunction function() const override { return CompareFunction::kCustom; }
  std::string label() const override { return name_; }

 protected:
  OutputResult compare_pair(const OutputPair& pair, PairCache&, const assay::CompareOptions&,
                            CompareObserver& observer) const override {
    OutputComparison comparison{.function = CompareFunction::kCustom,
                                .pair = pair,
                                .result = {.output = pair.name0, .other = pair.name1}};
    comparison.result.passed = compare_(pair.name0, pair.output0, pair.output1);
    observer.on_output_end(comparison);
    return comparison.result;
  }

 private:
  std::string name_;
  Compare compare_;
};

PerOutput<Tolerance> tolerances(const ByOutput<Number>& numbers) {
  PerOutput<Tolerance> values;
  for (const auto& [name, n] : numbers.entries())
    values.set(name, n.integer() ? Tolerance(*n.integer()) : Tolerance(n.value()));
  return values;
}

PerOutput<ErrorStat> statistics(const ByOutput<std::string>& names) {
  PerOutput<ErrorStat> values;
  for (const auto& [output, name] : names.entries()) {
    const auto stat = error_stat_from_name(name);
    require(stat.has_value(), ErrorCode::kInvalidArgument,
            "'{}' is no statistic of errors; they are: max, mean, median, elemwise, quantile", name);
    values.set(output, *stat);
  }
  return values;
}

PerOutput<double> quantiles(const ByOutput<Number>& numbers) {
  PerOutput<double> values;
  for (const auto& [output, n] : numbers.entries()) {
    require(n.value() >= 0 && n.value() <= 1, ErrorCode::kInvalidArgument,
            "the quantile {} is not between 0 and 1", n.value());
    values.set(output, n.value());
  }
  return values;
}

/// Of the user's own.
class CustomPostprocess : public Postprocess {
 public:
  using Change = std::function<IterationResult(IterationResult)>;
  explicit CustomPostprocess(Change change) : change_(std::move(change)) {}
  std::string name() const override { return "custom"; }
  std::shared_ptr<const OutputSource> apply(std::shared_ptr<const OutputSource> outputs,
                                            std::optional<double> seconds) const override {
    IterationResult result{.runner_name = outputs->runner_name(), .outputs = {}, .runtime = seconds};
    for (size_t i = 0; i < outputs->names().size(); ++i)
      result.outputs.push_back({outputs->names()[i], outputs->load(i)});
    result = change_(std::move(result));
    return std::make_shared<OutputList>(std::move(result.runner_name), std::move(result.outputs));
  }

 private:
  Change change_;
};

IterationResult loaded(const assay::IterationResult& stored) {
  return {.runner_name = stored.runner_name, .outputs = load_all(stored.outputs), .runtime = stored.runtime};
}

StoredTensorList stored(const TensorList& list) {
  StoredTensorList all;
  for (const NamedTensor& t : list) all.push_back({t.name, t.tensor});
  return all;
}

FeedDict feed_of(const TensorList& list) {
  FeedDict feed;
  for (const NamedTensor& t : list) feed[t.name] = t.tensor;
  return feed;
}

}  // namespace

FeedDict DataLoader::load(int64_t iteration, const std::vector<TensorInfo>& inputs) const {
  DataLoaderOptions options;
  options.seed = options_.seed;
  options.iterations = options_.iterations;
  for (const auto& [name, shape] : options_.shapes)
    options.shapes.push_back({.name = name, .dims = to_dims(shape)});
  for (const auto& [name, range] : options_.ranges)
    options.ranges.emplace_back(name, ValueRange{PythonValue(range.first), PythonValue(range.second)});
  return feed_of(assay::DataLoader(options).load(iteration, inputs, assay::DataLoader::Report::kNo));
}

DataSource data_source(DataLoader loader) {
  return [loader = std::move(loader),
          next = int64_t{0}](const std::vector<TensorInfo>& inputs) mutable -> std::optional<FeedDict> {
    if (next >= loader.size()) return std::nullopt;
    return loader.load(next++, inputs);
  };
}

DataSource data_source(std::vector<FeedDict> data) {
  return [data = std::move(data),
          next = size_t{0}](const std::vector<TensorInfo>&) mutable -> std::optional<FeedDict> {
    if (next >= data.size()) return std::nullopt;
    return data[next++];
  };
}

DataSource data_source(const std::string& path) {
  return [data = load_inputs(path),
          next = size_t{0}](const std::vector<TensorInfo>&) mutable -> std::optional<FeedDict> {
    if (next >= data.size()) return std::nullopt;
    return feed_of(load_all(data[next++]));
  };
}

void save_inputs(const std::vector<FeedDict>& data, const std::string& path) {
  std::vector<TensorList> list;
  for (const FeedDict& feed : data) {
    TensorList& iteration = list.emplace_back();
    for (const auto& [name, tensor] : feed) iteration.push_back({name, tensor});
  }
  assay::save_inputs(list, path);
}

const Tensor& IterationResult::at(const std::string& output) const {
  if (const Tensor* found = find(outputs, output)) return *found;
  std::vector<std::string> names;
  for (const NamedTensor& t : outputs) names.push_back(t.name);
  fail(ErrorCode::kNotFound, "the runner {} has no output '{}'; it has: {}", runner_name, output,
       fmt::join(names, ", "));
}

const RunResults::Iterations& RunResults::at(const std::string& runner) const {
  std::vector<std::string> names;
  for (const auto& [name, iterations] : runners_) {
    if (name == runner) return iterations;
    names.push_back(name);
  }
  fail(ErrorCode::kNotFound, "there are no results of a runner '{}'; there are: {}", runner,
       fmt::join(names, ", "));
}

void RunResults::extend(RunResults other) {
  for (auto& runner : other.runners_) runners_.push_back(std::move(runner));
}

void RunResults::save(const std::string& path) const {
  assay::RunResults all;
  for (const auto& [name, iterations] : runners_) {
    auto& list = all.runners.emplace_back(name, std::vector<assay::IterationResult>()).second;
    for (const IterationResult& r : iterations)
      list.push_back({.outputs = stored(r.outputs), .runtime = r.runtime, .runner_name = r.runner_name});
  }
  save_run_results(all, path);
}

RunResults RunResults::load(const std::string& path) {
  RunResults results;
  for (const auto& [name, iterations] : load_run_results(path).runners) {
    Iterations list;
    for (const assay::IterationResult& r : iterations) list.push_back(loaded(r));
    results.add(name, std::move(list));
  }
  return results;
}

CompareFunc CompareFunc::simple(const Simple& o) {
  SimpleOptions options;
  options.check_shapes = o.check_shapes;
  options.atol = tolerances(o.atol);
  options.rtol = tolerances(o.rtol);
  options.check_error_stat = statistics(o.check_error_stat);
  options.error_quantile = quantiles(o.error_quantile);
  options.infinities_compare_equal = o.infinities_compare_equal;
  return CompareFunc(std::make_shared<SimpleComparison>(options));
}

CompareFunc CompareFunc::indices(ByOutput<int64_t> index_tolerance) {
  PerOutput<int64_t> tolerance;
  for (const auto& [output, places] : index_tolerance.entries()) tolerance.set(output, places);
  return CompareFunc(std::make_shared<IndicesComparison>(std::move(tolerance)));
}

namespace {
std::shared_ptr<const Comparison> by_metric(CompareFunction function, const ByOutput<Number>& threshold,
                                            bool check_shapes) {
  return std::make_shared<MetricComparison>(
      function, MetricOptions{.check_shapes = check_shapes,
                              .threshold = tolerances(threshold),
                              .measure = function == CompareFunction::kLpips ? lpips_measure() : nullptr});
}
}  // namespace

CompareFunc CompareFunc::l2(const ByOutput<Number>& threshold, bool check_shapes) {
  return CompareFunc(by_metric(CompareFunction::kL2, threshold, check_shapes));
}
CompareFunc CompareFunc::cosine_similarity(const ByOutput<Number>& threshold, bool check_shapes) {
  return CompareFunc(by_metric(CompareFunction::kCosineSimilarity, threshold, check_shapes));
}
CompareFunc CompareFunc::psnr(const ByOutput<Number>& threshold, bool check_shapes) {
  return CompareFunc(by_metric(CompareFunction::kPsnr, threshold, check_shapes));
}
CompareFunc CompareFunc::snr(const ByOutput<Number>& threshold, bool check_shapes) {
  return CompareFunc(by_metric(CompareFunction::kSnr, threshold, check_shapes));
}
CompareFunc CompareFunc::perceptual_metrics(const ByOutput<Number>& threshold, bool check_shapes) {
  return CompareFunc(by_metric(CompareFunction::kLpips, threshold, check_shapes));
}
CompareFunc CompareFunc::script(const std::string& file_and_function) {
  const script::Reference reference =
      script::parse_reference(file_and_function, script::CompareScript::kDefaultFunction);
  return CompareFunc(script_comparison(reference), reference.str());
}
CompareFunc CompareFunc::custom(
    std::string name, std::function<bool(const std::string&, const Tensor&, const Tensor&)> compare) {
  return CompareFunc(std::make_shared<CustomComparison>(std::move(name), std::move(compare)));
}

PostprocessFunc PostprocessFunc::top_k(
    std::vector<std::pair<std::string, std::pair<int64_t, int64_t>>> k_and_axis) {
  PerOutput<TopK> options;
  for (const auto& [name, k] : k_and_axis) options.set(name, TopK{.k = k.first, .axis = k.second});
  return PostprocessFunc(std::make_shared<TopKPostprocess>(std::move(options)));
}

PostprocessFunc PostprocessFunc::script(const std::string& file_and_function) {
  const script::Reference reference =
      script::parse_reference(file_and_function, script::PostprocessScript::kDefaultFunction);
  return PostprocessFunc(script_postprocess(reference), reference.str());
}

PostprocessFunc PostprocessFunc::custom(std::function<IterationResult(IterationResult)> change) {
  return PostprocessFunc(std::make_shared<CustomPostprocess>(std::move(change)));
}

IterationResult PostprocessFunc::operator()(IterationResult result) const {
  const auto changed = function_->apply(
      std::make_shared<OutputList>(result.runner_name, std::move(result.outputs)), result.runtime);
  result.outputs.clear();
  for (size_t i = 0; i < changed->names().size(); ++i)
    result.outputs.push_back({changed->names()[i], changed->load(i)});
  return result;
}

RunResults Comparator::run(const std::vector<BaseRunner*>& runners, const RunOptions& options) {
  RunResults results;
  std::vector<FeedDict> data;
  bool is_known = false;
  for (BaseRunner* runner : runners) {
    require(runner != nullptr, ErrorCode::kInvalidArgument, "a runner is null");
    const Active active(*runner);
    if (!is_known) {
      const std::vector<TensorInfo> inputs = runner->get_input_metadata();
      while (std::optional<FeedDict> feed = options.data(inputs)) data.push_back(*std::move(feed));
      if (!options.save_inputs_path.empty()) save_inputs(data, options.save_inputs_path);
      is_known = true;
    }
    if (!data.empty())
      for (int64_t i = 0; i < options.warm_up; ++i) runner->infer(data.front());
    RunResults::Iterations iterations;
    for (const FeedDict& feed : data) {
      TensorList outputs = runner->infer(feed);
      IterationResult result{.runner_name = runner->name(),
                             .outputs = std::move(outputs),
                             .runtime = runner->last_inference_time()};
      if (!options.keep || options.keep(result)) iterations.push_back(std::move(result));
    }
    results.add(runner->name(), std::move(iterations));
  }
  return results;
}

AccuracyResult Comparator::compare_accuracy(const RunResults& results, const CompareOptions& options) {
  AccuracyOptions accuracy;
  for (const CompareFunc& f : options.compare_funcs) accuracy.functions.push_back(f.function());
  accuracy.compare.fail_fast = options.fail_fast;
  accuracy.pairs = options.comparisons;
  CompareObserver silent;
  TextRenderer renderer;
  AccuracyComparison comparison(std::move(accuracy),
                                options.logs ? static_cast<CompareObserver&>(renderer) : silent);
  size_t iterations = results.runners().empty() ? 0 : SIZE_MAX;
  for (const auto& [name, list] : results.runners()) iterations = std::min(iterations, list.size());
  for (size_t i = 0; i < iterations; ++i) {
    std::vector<std::shared_ptr<const OutputSource>> sources;
    for (const auto& [name, list] : results.runners())
      sources.push_back(std::make_shared<OutputList>(name, list[i].outputs));
    if (!comparison.add(sources)) break;
  }
  return accuracy_of(comparison.summaries());
}

RunResults Comparator::postprocess(RunResults results, const PostprocessFunc& function) {
  for (auto& [name, iterations] : results.runners())
    for (IterationResult& r : iterations) r = function(std::move(r));
  return results;
}

std::vector<std::string> Comparator::validate(const RunResults& results, bool check_inf, bool check_nan) {
  std::vector<std::string> invalid;
  for (const auto& [name, iterations] : results.runners())
    for (size_t i = 0; i < iterations.size(); ++i)
      for (const NamedTensor& t : iterations[i].outputs)
        if (!validate_output(name, t.name, t.tensor, {.check_inf = check_inf, .check_nan = check_nan})
                 .valid())
          invalid.push_back(fmt::format("{}/{}/{}", name, i, t.name));
  return invalid;
}

std::vector<Arbitration> Comparator::arbitrate(const std::shared_ptr<const Model>& model,
                                               const RunResults& results, const DataSource& data) {
  const std::vector<TensorInfo> inputs = tensor_infos(model->graph->inputs);
  std::vector<Arbitration> verdicts;
  for (size_t i = 0;; ++i) {
    std::vector<JudgedResults> judged;
    for (const auto& [name, iterations] : results.runners())
      if (i < iterations.size()) judged.push_back({name, iterations[i].outputs});
    if (judged.empty()) return verdicts;
    const std::optional<FeedDict> feed = data(inputs);
    require(feed.has_value(), ErrorCode::kInvalidArgument,
            "there are results of iteration {}, but no data for it", i);
    TensorList tensors;
    for (const auto& [name, tensor] : *feed) tensors.push_back({name, tensor});
    verdicts.push_back(with_context([&] { return fmt::format("in iteration {}", i); },
                                    [&] { return assay::arbitrate(model, tensors, judged); }));
  }
}

}  // namespace assay::poly
