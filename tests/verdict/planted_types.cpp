// Plants faults in engines of narrow types, as defects would make them, and asks for the verdict: is each of
// them WRONG at its node, nothing else, and nothing at all where nothing is planted?
//
// usage: planted_types [--csv FILE] [--formats int8,qdq,fp16,bf16] [--outputs] MODEL...
//
// A MODEL is the name of a template. One engine has several faults, at nodes that are far from each other:
// each node is judged on its own inputs. In int8 the engine has another calibration, or other weights in
// 8 bits, than it declares; in qdq another network in 8 bits; in fp16 and bf16 another computation at a
// node. --outputs: what is said where only the outputs of the network are known. A fault whose kind begins
// with "limit" is within the rounding of its format: it is only reported.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "arbiter/arbiter.h"
#include "graph/clone.h"
#include "ops/infer.h"
#include "planted_faults.h"
#include "planted_network.h"
#include "transform/quantize.h"

namespace assay::planted {
namespace {

struct Row {
  std::string network, format, kind, node, verdict;
  double ratio = 0;
  bool found = false;
};

struct Report {
  std::vector<Row> rows;
  std::vector<std::string> strangers, alarms;
  int healthy = 0;
  bool by_outputs = false;                     ///< also judge what is known of the outputs alone
  std::map<std::string, int> said_of_outputs;  ///< the worst verdict on each faulty engine's
  std::vector<std::string> silent;             ///< engines whose outputs are off, and pass
};

struct Format {
  std::string name;
  BuilderConfig config;
  NarrowTypes asked;
  std::shared_ptr<Model> judged;  ///< every value an output
  std::shared_ptr<Model> built;   ///< what faults are planted in
  double usual_error = 0;         ///< of the outputs of an engine without faults
};

Arbitration judge(const Network& net, const Format& format, const StoredTensorList& results) {
  const ArbiterCase c{"engine", &results, false, format.asked.any() ? &format.asked : nullptr};
  return arbitrate(format.judged, net.feed, std::span(&c, 1));
}

/// The results that are outputs of the network.
StoredTensorList outputs_of(const Network& net, const StoredTensorList& results) {
  StoredTensorList list;
  for (const NamedStoredTensor& t : results)
    if (std::ranges::find(net.outputs, t.name) != net.outputs.end()) list.push_back(t);
  return list;
}

/// How much of a network's outputs errors are.
double error_of(const Network& net, const StoredTensorList& results) {
  double worst = 0;
  for (const NamedStoredTensor& t : outputs_of(net, results)) {
    const Tensor own = t.tensor.load(), &right = net.values.at(t.name);
    if (own.dtype() != DType::kFloat32 || own.numel() != right.numel()) continue;
    double error = 0, size = 0;
    for (int64_t i = 0; i < own.numel(); ++i) {
      const double y = right.data<float>()[i], d = own.data<float>()[i] - y;
      error += d * d, size += y * y;
    }
    if (size > 0) worst = std::max(worst, std::sqrt(error / size));
  }
  return worst;
}

void judge_healthy(const Network& net, Format& format, const StoredTensorList& results, Report& report) {
  ++report.healthy;
  format.usual_error = error_of(net, results);
  for (const ArbiterVerdict& v : judge(net, format, results).outputs)
    if (v.verdict == Verdict::kWrong)
      report.alarms.push_back(fmt::format("{}, {}: '{}' ({}) by {:.3g}: {}", net.name, format.name, v.output,
                                          v.op_type, v.worst_ratio, v.note + v.problem));
}

/// The worst verdict at a fault's places.
Row row_of(const Network& net, const Format& format, const Fault& f, const Arbitration& a) {
  Row row{.network = net.name, .format = format.name, .kind = f.kind, .node = f.node, .verdict = "not seen"};
  for (const ArbiterVerdict& v : a.outputs) {
    if (!f.places.contains(v.output)) continue;
    const bool wrong = v.verdict == Verdict::kWrong;
    if (wrong && !row.found) row.ratio = 0;
    if ((row.found && !wrong) || (!wrong && v.worst_ratio < row.ratio)) continue;
    row.found = row.found || wrong;
    row.ratio = std::max(row.ratio, std::isfinite(v.worst_ratio) ? v.worst_ratio : 1e9);
    row.verdict = verdict_name(v.verdict);
  }
  return row;
}

/// Judges a faulty engine by its outputs alone. `usual`: the error of a healthy engine.
void judge_outputs(const Network& net, const Format& format, const StoredTensorList& results, double usual,
                   const std::vector<Fault>& planted, Report& report) {
  const StoredTensorList outputs = outputs_of(net, results);
  if (!report.by_outputs || outputs.empty()) return;
  Verdict worst = Verdict::kAgrees;
  for (const ArbiterVerdict& v : judge(net, format, outputs).outputs) worst = std::max(worst, v.verdict);
  ++report.said_of_outputs[std::string(verdict_name(worst))];
  constexpr double kVisible = 0.05, kTimes = 4;
  const double error = error_of(net, results);
  if (worst <= Verdict::kRounding && error > std::max(kVisible, kTimes * usual))
    report.silent.push_back(
        fmt::format("{}, {}: {} and {} others: an error of {:.2g}, {:.2g} in a healthy engine", net.name,
                    format.name, planted[0].kind, planted.size() - 1, error, usual));
}

/// One engine with these faults.
void try_faults(const Network& net, const Format& format, const std::vector<Fault>& wanted, Report& report) {
  const std::shared_ptr<Model> faulty = clone_model(*format.built);
  Scales scales = net.scales;
  std::vector<Fault> planted;
  const bool calibrates = format.name == "int8" && bool(wanted.front().calibrate);
  for (const Fault& f : wanted)
    if (calibrates ? f.calibrate(scales) : f.plant && f.plant(*faulty)) planted.push_back(f);
  if (planted.empty()) return;
  BuilderConfig config = format.config;
  std::shared_ptr<Model> built = marked_as(*faulty, *format.judged);
  if (calibrates) {
    config.int8 = true;
    config.calibrator = given_scales(net.cache(scales), "the planted scales");
    built = format.judged;
  }
  const StoredTensorList results = results_of(built, net.feed, config);
  const Arbitration a = judge(net, format, results);
  judge_outputs(net, format, results, format.usual_error, planted, report);
  std::set<std::string> places;
  for (const Fault& f : planted) {
    report.rows.push_back(row_of(net, format, f, a));
    places.insert(f.places.begin(), f.places.end());
  }
  for (const ArbiterVerdict& v : a.outputs)
    if (v.verdict == Verdict::kWrong && !places.contains(v.output))
      report.strangers.push_back(fmt::format("{}, {}: '{}' ({}) by {:.3g}: {}", net.name, format.name,
                                             v.output, v.op_type, v.worst_ratio, v.note + v.problem));
}

/// Each engine gets faults that touch different tensors.
void try_all(const Network& net, const Format& format, std::vector<Fault> faults, Report& report) {
  while (!faults.empty()) {
    std::vector<Fault> now, later;
    std::set<std::string> touched, places;
    for (Fault& f : faults) {
      const bool same_way =
          now.empty() || bool(now.front().calibrate) == bool(f.calibrate) || format.name != "int8";
      const bool apart = std::ranges::none_of(f.places, [&](const auto& p) { return places.contains(p); });
      if (same_way && apart && touched.insert(f.touched).second) {
        places.insert(f.places.begin(), f.places.end());
        now.push_back(std::move(f));
      } else {
        later.push_back(std::move(f));
      }
    }
    try_faults(net, format, now, report);
    faults = std::move(later);
  }
}

void try_network(const std::string& name, const std::set<std::string>& formats, Report& report) {
  const Network net(name);
  const std::shared_ptr<Model> in_8_bits = clone_model(*net.model);
  quantize(*in_8_bits, {.scales = net.scales, .float_nodes = {}});
  infer_shapes(*in_8_bits);
  Format int8{.name = "int8",
              .config = {},
              .asked = {.int8 = true, .scales = net.scales, .known_levels = true},
              .judged = net.model,
              .built = in_8_bits};
  Format qdq{.name = "qdq", .config = {}, .asked = {}, .judged = marked(*in_8_bits), .built = in_8_bits};
  const std::vector<Fault> faults = faults_in_8_bits(net, *in_8_bits);
  if (formats.contains("int8") && !faults.empty()) {
    judge_healthy(net, int8,
                  results_of(net.model, net.feed,
                             {.int8 = true, .calibrator = given_scales(net.cache(net.scales), "the scales")}),
                  report);
    try_all(net, int8, faults, report);
  }
  if (formats.contains("qdq") && !faults.empty()) {
    judge_healthy(net, qdq, results_of(qdq.judged, net.feed, {}), report);
    try_all(net, qdq, faults, report);
  }
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const bool half = dtype == DType::kFloat16;
    Format format{.name = half ? "fp16" : "bf16",
                  .config = {.fp16 = half, .bf16 = !half},
                  .asked = {.float16 = half, .bfloat16 = !half},
                  .judged = net.model,
                  .built = net.model};
    if (!formats.contains(format.name)) continue;
    judge_healthy(net, format, results_of(net.model, net.feed, format.config), report);
    try_all(net, format, faults_in_floats(net, dtype), report);
  }
}

bool is_limit(const Row& r) { return r.kind.starts_with("limit"); }

/// Each kind of fault in each format: how many, how many of them WRONG, and the least error in units of what
/// is explained.
void write_table(const Report& report, const std::string& path) {
  struct Entry {
    int planted = 0, found = 0;
    double least = HUGE_VAL;
  };
  std::map<std::pair<std::string, std::string>, Entry> entries;
  for (const Row& r : report.rows) {
    Entry& e = entries[{r.format, r.kind}];
    ++e.planted, e.found += r.found;
    e.least = std::min(e.least, r.ratio);
  }
  std::ofstream file(path);
  file << "format,fault,planted,WRONG at its node,least error / explained\n";
  for (const auto& [of, e] : entries)
    file << fmt::format("{},{},{},{},{:.3g}\n", of.first, of.second, e.planted, e.found, e.least);
}

/// Returns how many faults were missed.
int print_rows(const Report& report) {
  std::map<std::string, std::pair<int, int>> by_format;
  int missed = 0;
  for (const Row& r : report.rows) {
    if (is_limit(r) || !r.found)
      fmt::print("{}{}, {}: {} at {}: {} ({:.3g})\n", is_limit(r) ? "" : "MISSED ", r.network, r.format,
                 r.kind, r.node, r.verdict, r.ratio);
    if (is_limit(r)) continue;
    auto& [planted, found] = by_format[r.format];
    ++planted, found += r.found, missed += !r.found;
  }
  for (const auto& [name, count] : by_format)
    fmt::print("{}: {} of {} faults are WRONG at their node\n", name, count.second, count.first);
  return missed;
}

int summarize(const Report& report, const std::string& csv) {
  const int missed = print_rows(report);
  for (const auto& [word, count] : report.said_of_outputs)
    fmt::print("of outputs alone: {}: {} faulty engines\n", word, count);
  for (const std::string& s : report.silent) fmt::print("SILENT {}\n", s);
  for (const std::string& s : report.alarms) fmt::print("FALSE ALARM {}\n", s);
  for (const std::string& s : report.strangers) fmt::print("NOT PLANTED {}\n", s);
  const auto due = std::ranges::count_if(report.rows, [](const Row& r) { return !is_limit(r); });
  fmt::print(
      "{} of {} planted faults are WRONG at their node, {} others are; {} healthy engines, {} alarms\n",
      due - missed, due, report.strangers.size(), report.healthy, report.alarms.size());
  if (!csv.empty()) write_table(report, csv);
  const bool is_clean = report.strangers.empty() && report.alarms.empty() && report.silent.empty();
  return due > 0 && missed == 0 && is_clean ? 0 : 1;
}

int run(int argc, char** argv) {
  std::string csv;
  std::set<std::string> formats = {"int8", "qdq", "fp16", "bf16"};
  Report report;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--outputs") {
      report.by_outputs = true;
    } else if (word == "--csv" && i + 1 < argc) {
      csv = argv[++i];
    } else if (word == "--formats" && i + 1 < argc) {
      formats.clear();
      std::istringstream names(argv[++i]);
      for (std::string name; std::getline(names, name, ',');) formats.insert(name);
    } else {
      try_network(word, formats, report);
      fmt::print("{}: {} faults so far\n", word, report.rows.size());
      std::fflush(stdout);
    }
  }
  return summarize(report, csv);
}

}  // namespace
}  // namespace assay::planted

int main(int argc, char** argv) {
  try {
    return assay::planted::run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
  }
}
