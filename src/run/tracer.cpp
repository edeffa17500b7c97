#include "run/tracer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_set>

#include "arbiter/unroll.h"
#include "backends/backend_list.h"
#include "backends/session_info.h"
#include "base/diagnostics.h"
#include "base/python_repr.h"
#include "base/wording.h"
#include "graph/clone.h"
#include "graph/read.h"
#include "run/output_recorder.h"
#include "run/runner.h"
#include "tensor/convert.h"

namespace assay {

template <typename Predicate>
std::vector<size_t> Tracer::runners_with(const Arbitration& judged, Predicate seems_wrong) const {
  std::vector<size_t> found;
  for (size_t i = 0; i < std::min(names_.size(), options_.runners.size()); ++i) {
    if (!may_open(i)) continue;
    if (std::ranges::find(judged.unsteady, names_[i]) != judged.unsteady.end()) continue;
    if (std::any_of(judged.outputs.begin(), judged.outputs.end(),
                    [&](const ArbiterVerdict& o) { return o.runner == names_[i] && seems_wrong(o); }))
      found.push_back(i);
  }
  return found;
}

std::vector<std::string> Tracer::names_of(const std::vector<size_t>& runners) const {
  std::vector<std::string> names;
  for (const size_t i : runners) names.push_back(names_[i]);
  return names;
}

Tracer::Results Tracer::run(const std::vector<size_t>& runners, ModelLoader& loader, LoaderCache& cache) {
  std::vector<RunnerChoice> choices;
  for (const size_t i : runners) choices.push_back(options_.runners[i]);
  SessionOptions unsaved = options_.session;
  unsaved.save_engine.clear();
  std::vector<Runner> again = make_runners(choices, unsaved);
  RunObserver nobody;
  Results results;
  for (size_t i = 0; i < again.size(); ++i) {
    OutputRecorder recorder(names_[runners[i]], store_);
    execute_runner(again[i], loader, cache, 0, recorder, nobody);
    results.push_back(std::move(recorder.iterations.at(0)));
  }
  return results;
}

std::vector<ArbiterCase> Tracer::cases_of(const std::vector<size_t>& runners, const Results& results) const {
  std::vector<ArbiterCase> cases;
  for (size_t i = 0; i < runners.size(); ++i) {
    const std::string& name = names_[runners[i]];
    cases.push_back({name, &results[i].outputs, false, asked_of(name)});
  }
  return cases;
}

ModelLoaderOptions Tracer::marked() const {
  ModelLoaderOptions marked = options_.model;
  marked.mark_all = true;
  marked.outputs.reset();
  marked.output_types.clear();
  marked.exclude_outputs.reset();
  marked.save = {};
  return marked;
}

namespace {

/// Number of repeated runs with the same inputs in one session: reveals errors that occur every second time,
/// or from the third time on.
constexpr size_t kRepeats = 4;
/// Relative tolerance of results that differ
/// only by the order of additions in threads.
constexpr double kSteady = 0x1p-10;

bool is_steady(const StoredTensor& a, const StoredTensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  const Tensor x = a.load(), y = b.load();
  if (x.identical(y)) return true;
  if (!is_float(a.dtype())) return false;
  const Tensor p = convert(x, DType::kFloat64), q = convert(y, DType::kFloat64);
  double largest = 0, apart = 0;
  for (int64_t i = 0; i < p.numel(); ++i) {
    const double u = p.data<double>()[i], v = q.data<double>()[i];
    if (u == v || (std::isnan(u) && std::isnan(v))) continue;
    if (!std::isfinite(u - v)) return false;
    largest = std::max({largest, std::abs(u), std::abs(v)});
    apart = std::max(apart, std::abs(u - v));
  }
  return apart <= kSteady * largest;
}

/// True when the errors of a runner's results recur in another run, up to effects of threads.
bool are_steady(const Arbitration& judged, const IterationResult& first, const StoredTensorList& again) {
  return std::ranges::all_of(judged.outputs, [&](const ArbiterVerdict& o) {
    if (o.runner != first.runner_name || o.verdict != Verdict::kWrong) return true;
    const auto a = std::ranges::find(first.outputs, o.output, &NamedStoredTensor::name),
               b = std::ranges::find(again, o.output, &NamedStoredTensor::name);
    return a == first.outputs.end() || b == again.end() || is_steady(a->tensor, b->tensor);
  });
}

/// Whether the results of all its outputs have been judged.
bool knows_all(const Arbitration& judged, const Model& model) {
  return std::ranges::all_of(model.graph->outputs, [&](const Value* v) {
    return std::ranges::any_of(judged.outputs,
                               [&](const ArbiterVerdict& o) { return o.output == v->name(); });
  });
}

/// Nothing is to be traced of what cannot be had again.
void mark_unsteady(Arbitration& judged, const std::string& runner, size_t others) {
  judged.unsteady.push_back(runner);
  for (ArbiterVerdict& o : judged.outputs) {
    if (o.runner != runner || o.verdict != Verdict::kWrong) continue;
    o.certain = false;
    o.note = fmt::format("not reproducible: with the same inputs it gave something else {} of {} times",
                         others, kRepeats);
  }
}

}  // namespace

void Tracer::repeat(Arbitration& judged, const TensorList& data,
                    const std::vector<IterationResult>& results) {
  const std::vector<size_t> runners =
      runners_with(judged, [](const ArbiterVerdict& o) { return o.verdict == Verdict::kWrong; });
  for (const size_t i : runners) {
    StoredTensorList stored;
    for (const NamedTensor& t : data) stored.push_back({t.name, t.tensor});
    LoaderCache cache(InputData(kRepeats, stored));
    ModelLoaderOptions unsaved = options_.model;
    unsaved.save = {};
    ModelLoader loader(unsaved);
    SessionOptions session = options_.session;
    session.save_engine.clear();
    std::vector<Runner> again = make_runners({options_.runners[i]}, session);
    RunObserver nobody;
    OutputRecorder recorder(names_[i], store_);
    execute_runner(again[0], loader, cache, 0, recorder, nobody);
    const auto others = static_cast<size_t>(std::ranges::count_if(
        recorder.iterations, [&](const auto& r) { return !are_steady(judged, results.at(i), r.outputs); }));
    if (others > 0) mark_unsteady(judged, names_[i], others);
  }
}

void Tracer::mark_layers(Arbitration& judged, LoaderCache& cache) {
  const std::vector<size_t> runners = runners_with(judged, [](const ArbiterVerdict& o) {
    // Where a node's own inputs leave it open, other layers may tell.
    return o.verdict == Verdict::kCannotTell ||
           (o.basis != Basis::kNode && (o.verdict == Verdict::kWrong || o.verdict == Verdict::kUnclear));
  });
  if (runners.empty()) return;
  ModelLoader loader(marked());
  const std::shared_ptr<const Model> model = loader.load_for(backend_reference::def).model;
  if (knows_all(judged, *model)) return;
  diag::info("Tracing | Running {} again with every layer marked{}", python_list_repr(names_of(runners)),
             say(Say::kTraceForbidden));
  const Results results = run(runners, loader, cache);
  cache.set_inputs(tensor_infos(model->graph->inputs));
  apply_trace(judged, arbitrate(model, cache.feed(0), cases_of(runners, results), options_.arbiter));
  for (const size_t i : runners) {
    const auto is_wrong = [&](const ArbiterVerdict& o) {
      return o.runner == names_[i] && o.verdict == Verdict::kWrong;
    };
    const auto &before = judged.outputs, &marked = judged.traced->outputs;
    if (std::any_of(before.begin(), before.end(), is_wrong) &&
        std::none_of(marked.begin(), marked.end(), is_wrong))
      find_fused(judged, model, i, cache);
  }
}

void Tracer::find_fused(Arbitration& judged, const std::shared_ptr<const Model>& model, size_t runner,
                        LoaderCache& cache) {
  std::vector<std::string> own;  // outputs of the first run
  for (const ArbiterVerdict& o : judged.outputs)
    if (o.runner == names_[runner]) own.push_back(o.output);
  std::vector<std::string> marks;
  for (const Value* v : model->graph->outputs)
    if (std::find(own.begin(), own.end(), v->name()) == own.end()) marks.push_back(v->name());
  // The runner's results with the marks [0, first) and [last, end).
  const auto with_marks = [&](size_t first, size_t last) {
    const std::shared_ptr<Model> less = clone_model(*model);
    std::unordered_set<std::string_view> kept(own.begin(), own.end());
    for (size_t i = 0; i < marks.size(); ++i)
      if (i < first || i >= last) kept.insert(marks[i]);
    std::erase_if(less->graph->outputs, [&](const Value* v) { return !kept.contains(v->name()); });
    ModelLoader loader(marked(), less);
    const Results results = run({runner}, loader, cache);
    std::vector<ArbiterCase> cases = cases_of({runner}, results);
    cases[0].traceable = true;
    return arbitrate(less, cache.feed(0), cases, options_.arbiter);
  };
  size_t first = 0, last = marks.size();
  Arbitration found = with_marks(first, last);
  if (found.all_right()) return;  // it depends on more than the marks
  diag::info("Tracing | Looking for what {} fuses and errs in, in about {} runs", names_[runner],
             2 * std::bit_width(marks.size()));
  // With the marks before `first` the error is still there, with one more it is not.
  for (size_t good = marks.size(); first + 1 < good;) {
    const size_t middle = first + (good - first) / 2;
    Arbitration narrower = with_marks(middle, last);
    if (narrower.all_right()) {
      good = middle;
    } else {
      first = middle;
      found = std::move(narrower);
    }
  }
  for (size_t good = first; good + 1 < last;) {
    const size_t middle = good + (last - good) / 2;
    Arbitration narrower = with_marks(first, middle);
    if (narrower.all_right()) {
      good = middle;
    } else {
      last = middle;
      found = std::move(narrower);
    }
  }
  for (const ArbiterVerdict& o : judged.traced->outputs)
    if (o.runner != names_[runner]) found.outputs.push_back(o);
  judged.traced = std::make_shared<const Arbitration>(std::move(found));
}

void Tracer::open_bodies_of(Arbitration& judged, LoaderCache& cache) {
  const Arbitration& seen = judged.traced != nullptr ? *judged.traced : judged;
  const auto seems_made = [](const ArbiterVerdict& o) {
    return o.verdict == Verdict::kWrong && o.basis == Basis::kNode;
  };
  if (std::none_of(seen.outputs.begin(), seen.outputs.end(), seems_made)) return;
  ModelLoader loader(marked());
  const std::shared_ptr<const Model> model = loader.load_for(backend_reference::def).model;
  std::vector<const Node*> nodes;
  std::vector<std::string> labels;
  const auto holder = [&](const ArbiterVerdict& o) -> const Node* {
    const Value* v = seems_made(o) ? model->graph->find_value(o.output) : nullptr;
    return v != nullptr && v->producer() != nullptr && has_subgraph(*v->producer()) ? v->producer() : nullptr;
  };
  for (const ArbiterVerdict& o : seen.outputs) {
    const Node* n = holder(o);
    if (n == nullptr || std::find(nodes.begin(), nodes.end(), n) != nodes.end()) continue;
    nodes.push_back(n);
    labels.push_back(n->label());
  }
  const std::vector<size_t> runners =
      runners_with(seen, [&](const ArbiterVerdict& o) { return holder(o) != nullptr; });
  if (nodes.empty() || runners.empty()) return;
  const OpenedModel opened = open_bodies(model, nodes);
  if (opened.output_names.empty()) return;
  diag::info("Tracing | Running {} again with {} tensor(s) in the bodies of {} marked{}",
             python_list_repr(names_of(runners)), opened.output_names.size(), python_list_repr(labels),
             say(Say::kTraceForbidden));
  ModelLoader again(marked(), opened.model);
  const Results results = run(runners, again, cache);
  cache.set_inputs(tensor_infos(model->graph->inputs));
  Arbitration found = arbitrate_opened(opened, cache.feed(0), cases_of(runners, results), options_.arbiter);
  // Other runners keep their verdicts.
  const std::vector<std::string> concerned = names_of(runners);
  for (const ArbiterVerdict& o : seen.outputs)
    if (std::find(concerned.begin(), concerned.end(), o.runner) == concerned.end())
      found.outputs.push_back(o);
  judged.traced = std::make_shared<const Arbitration>(std::move(found));
}

const NarrowTypes* Tracer::asked_of(const std::string& runner) const {
  for (size_t i = 0; i < std::min(names_.size(), options_.runners.size()); ++i)
    if (names_[i] == runner && options_.runners[i].backend->builds_engines && options_.asked != nullptr &&
        options_.asked->any())
      return options_.asked.get();
  return nullptr;
}

bool Tracer::may_open(size_t runner) const {
  return !options_.runners[runner].backend->builds_engines || asked_of(names_[runner]) != nullptr;
}

bool Tracer::is_possible() const {
  return options_.trace && !options_.model.is_plan && options_.model.foreign_format.empty() &&
         !options_.runners.empty();
}

bool Tracer::can_mark(const std::string& runner) const {
  if (!is_possible() || options_.model.mark_all) return false;
  for (size_t i = 0; i < std::min(names_.size(), options_.runners.size()); ++i)
    if (names_[i] == runner) return may_open(i);
  return false;
}

void Tracer::trace(Arbitration& judged, const TensorList& data, const std::vector<IterationResult>& results) {
  if (!is_possible()) return;
  try {
    StoredTensorList stored;
    for (const NamedTensor& t : data) stored.push_back({t.name, t.tensor});
    repeat(judged, data, results);
    LoaderCache cache(InputData{std::move(stored)});
    if (!options_.model.mark_all) mark_layers(judged, cache);
    open_bodies_of(judged, cache);
  } catch (const Error& e) {
    diag::warning("It could not be traced: {}", e.what());
  }
}

}  // namespace assay
