// Comparing results, and the verdict on them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "assay/arbiter.h"
#include "assay/comparator.h"
#include "calls.h"
#include "comparing.h"
#include "convert.h"
#include "parts.h"

namespace assay::python {
namespace {

using poly::CompareFunc;
using poly::Number;

Number number_of(nb::handle value) {
  if (nb::isinstance<nb::int_>(value)) return nb::cast<int64_t>(value);
  return nb::cast<double>(value);
}

/// One value for all outputs, or a dict by name.
template <typename T, typename Convert>
poly::ByOutput<T> by_output(nb::handle value, Convert convert) {
  if (value.is_none()) return {};
  if (!nb::isinstance<nb::dict>(value)) return convert(value);
  std::vector<std::pair<std::string, T>> entries;
  for (auto [name, v] : nb::borrow<nb::dict>(value))
    entries.emplace_back(nb::cast<std::string>(name), convert(v));
  return poly::ByOutput<T>::of(std::move(entries));
}

nb::object option(const nb::dict& options, const char* name) {
  return options.contains(name) ? nb::object(options[name]) : nb::none();
}

CompareFunc simple_of(const nb::dict& o) {
  CompareFunc::Simple s;
  s.atol = by_output<Number>(option(o, "atol"), number_of);
  s.rtol = by_output<Number>(option(o, "rtol"), number_of);
  s.check_error_stat = by_output<std::string>(option(o, "check_error_stat"),
                                              [](nb::handle v) { return nb::cast<std::string>(v); });
  s.error_quantile = by_output<Number>(option(o, "error_quantile"), number_of);
  if (const nb::object v = option(o, "check_shapes"); !v.is_none()) s.check_shapes = nb::cast<bool>(v);
  if (const nb::object v = option(o, "infinities_compare_equal"); !v.is_none())
    s.infinities_compare_equal = nb::cast<bool>(v);
  return CompareFunc::simple(s);
}

CompareFunc custom_of(const nb::dict& o) {
  const nb::object function = option(o, "function");
  const std::shared_ptr<const void> kept = keep(function);
  const nb::handle call = function;
  return CompareFunc::custom(
      nb::cast<std::string>(option(o, "name")),
      [kept, call](const std::string& output, const Tensor& a, const Tensor& b) {
        const Locked lock;
        return nb::cast<bool>(nb::bool_(call(to_text(output), to_array(a), to_array(b))));
      });
}

nb::dict output_dict(const ArbiterVerdict& v) {
  nb::dict d;
  d["runner"] = to_text(v.runner);
  d["output"] = to_text(v.output);
  d["node"] = to_text(v.node);
  d["op_type"] = to_text(v.op_type);
  nb::list inputs, region;
  for (const std::string& s : v.inputs) inputs.append(to_text(s));
  for (const std::string& s : v.region) region.append(to_text(s));
  d["inputs"] = inputs;
  d["region"] = region;
  d["body"] = to_text(v.body);
  d["enclosing"] = to_text(v.enclosing);
  d["lacking"] = to_text(v.lacking);
  d["from_feed"] = v.from_feed;
  d["verdict"] = to_text(verdict_name(v.verdict));
  d["is_wrong"] = v.verdict == Verdict::kWrong;
  d["basis"] = v.basis == Basis::kNode ? "node" : v.basis == Basis::kRegion ? "region" : "network";
  d["is_certain"] = v.certain;
  d["problem"] = to_text(v.problem);
  d["note"] = to_text(v.note);
  d["max_error"] = v.max_error;
  d["exact"] = v.exact;
  d["own_error"] = v.own_error;
  d["worst_ratio"] = v.worst_ratio;
  d["worst_error"] = v.worst_error;
  d["worst_explained"] = v.worst_explained;
  d["worst_exact"] = v.worst_exact;
  d["worst_result"] = v.worst_result;
  d["worst_at"] = v.worst_at;
  d["beyond"] = v.beyond;
  d["elements"] = v.elements;
  d["pattern"] = to_text(v.pattern);
  d["overflows"] = v.overflows;
  d["dtype"] = v.dtype == DType::kUndefined ? nb::none() : nb::object(to_text(array_type_name(v.dtype)));
  d["shape"] = from_shape(v.shape);
  return d;
}

nb::dict judge(const std::shared_ptr<Model>& model, nb::handle feed, nb::handle results, int samples,
               int most_samples, uint64_t seed) {
  const TensorList fed = to_tensors(feed, "the input");
  std::vector<JudgedResults> judged;
  for (auto [runner, outputs] : nb::cast<nb::dict>(results)) {
    const auto name = nb::cast<std::string>(nb::str(runner));
    judged.push_back({name, to_tensors(outputs, "the output of '" + name + "'")});
  }
  const ArbiterOptions options{.samples = samples, .most_samples = most_samples, .seed = seed};
  return arbitration_dict(interruptible([&] { return arbitrate(model, fed, judged, options); }));
}

/// [(runner, [(dict of outputs, seconds or None), ...]), ...].
poly::RunResults results_of(nb::handle runs) {
  poly::RunResults results;
  for (nb::handle run : nb::iter(runs)) {
    const nb::tuple parts = to_parts(run, 2, "result of a runner: (name, iterations)");
    const auto runner = nb::cast<std::string>(parts[0]);
    poly::RunResults::Iterations iterations;
    for (nb::handle it : nb::iter(nb::object(parts[1]))) {
      const nb::tuple pair = to_parts(it, 2, "iteration: (outputs, seconds)");
      poly::IterationResult r{.runner_name = runner,
                              .outputs = to_tensors(pair[0], "the output of '" + runner + "'")};
      if (!pair[1].is_none()) r.runtime = nb::cast<double>(pair[1]);
      iterations.push_back(std::move(r));
    }
    results.add(runner, std::move(iterations));
  }
  return results;
}

nb::list results_list(const poly::RunResults& results) {
  nb::list runs;
  for (const auto& [runner, iterations] : results.runners()) {
    nb::list list;
    for (const poly::IterationResult& r : iterations) {
      nb::dict outputs;
      for (const NamedTensor& t : r.outputs) outputs[to_text(t.name)] = to_array(t.tensor);
      list.append(nb::make_tuple(outputs, r.runtime ? nb::cast(*r.runtime) : nb::none()));
    }
    runs.append(nb::make_tuple(to_text(runner), list));
  }
  return runs;
}

nb::list compare(nb::handle runs, nb::handle functions, bool fail_fast) {
  const poly::RunResults results = results_of(runs);
  poly::Comparator::CompareOptions options{.compare_funcs = compare_funcs(functions), .fail_fast = fail_fast};
  const poly::AccuracyResult found =
      without_lock([&] { return poly::Comparator::compare_accuracy(results, options); });
  return accuracy_list(found);
}

void save_results(nb::handle runs, nb::handle path) {
  const poly::RunResults results = results_of(runs);
  const std::string file = to_path(path);
  without_lock([&] { results.save(file); });
}

nb::list load_results(nb::handle path) {
  const std::string file = to_path(path);
  return results_list(without_lock([&] { return poly::RunResults::load(file); }));
}

}  // namespace

std::vector<CompareFunc> compare_funcs(nb::handle functions) {
  std::vector<CompareFunc> list;
  if (functions.is_none()) return {CompareFunc::simple()};
  for (nb::handle f : nb::iter(functions)) {
    const nb::dict o = nb::cast<nb::dict>(f);
    const auto kind = nb::cast<std::string>(option(o, "kind"));
    const auto threshold = by_output<Number>(option(o, "threshold"), number_of);
    const nb::object check = option(o, "check_shapes");
    const bool check_shapes = check.is_none() || nb::cast<bool>(check);
    if (kind == "simple")
      list.push_back(simple_of(o));
    else if (kind == "indices")
      list.push_back(CompareFunc::indices(by_output<int64_t>(
          option(o, "index_tolerance"), [](nb::handle v) { return nb::cast<int64_t>(v); })));
    else if (kind == "l2")
      list.push_back(CompareFunc::l2(threshold, check_shapes));
    else if (kind == "cosine_similarity")
      list.push_back(CompareFunc::cosine_similarity(threshold, check_shapes));
    else if (kind == "psnr")
      list.push_back(CompareFunc::psnr(threshold, check_shapes));
    else if (kind == "snr")
      list.push_back(CompareFunc::snr(threshold, check_shapes));
    else if (kind == "script")
      list.push_back(CompareFunc::script(nb::cast<std::string>(option(o, "path"))));
    else if (kind == "custom")
      list.push_back(custom_of(o));
    else
      fail(ErrorCode::kInvalidArgument, "there is no comparison function '{}'", kind);
  }
  return list;
}

nb::list accuracy_list(const poly::AccuracyResult& accuracy) {
  nb::list pairs;
  for (const poly::PairAccuracy& p : accuracy.pairs) {
    nb::list outputs;
    for (const poly::OutputAccuracy& o : p.outputs) {
      nb::dict metrics;
      for (const auto& [name, value] : o.metrics) metrics[to_text(name)] = value;
      outputs.append(nb::make_tuple(to_text(o.output), to_text(o.function), o.iterations, o.passed, metrics));
    }
    pairs.append(nb::make_tuple(to_text(p.runner0), to_text(p.runner1), p.iterations, p.passed, outputs));
  }
  return pairs;
}

nb::dict arbitration_dict(const Arbitration& a) {
  nb::dict d;
  nb::list outputs;
  for (const ArbiterVerdict& v : a.outputs) outputs.append(output_dict(v));
  d["outputs"] = outputs;
  d["samples"] = a.samples;
  d["lanes_lost"] = a.lanes_lost;
  d["all_right"] = a.all_right();
  return d;
}

void bind_comparing(nb::module_& m) {
  m.def("judge", &judge, nb::arg("model"), nb::arg("feed"), nb::arg("results"), nb::arg("samples") = 3,
        nb::arg("most_samples") = 15, nb::arg("seed") = 1);
  m.def("compare", &compare, nb::arg("runs"), nb::arg("functions").none() = nb::none(),
        nb::arg("fail_fast") = false);
  m.def("save_results", &save_results, nb::arg("runs"), nb::arg("path"));
  m.def("load_results", &load_results, nb::arg("path"));
}

}  // namespace assay::python
