// Parts of work over a data set: what `assay merge` reads of calibrations and ranges, and evaluations. A
// text's checksum is made right, so that what is behind it is reached.
#include "eval/part.h"
#include "debug/value_ranges.h"
#include "engine/objects/calibration_statistics.h"
#include "eval/evaluation.h"
#include "eval/part_fields.h"
#include "fuzz/targets/target.h"

namespace assay::fuzz::target_part {
namespace {

constexpr const char* kEnd = ",\n    \"checksum\"";

/// The text with the checksum that belongs to it.
std::string resealed(std::string_view text) {
  return eval::with_checksum(std::string(text.substr(0, text.rfind(kEnd))) + "\n}");
}

void merge_with_itself(const eval::PartFile& part) {
  if (part.of.kind == "ranges") {
    debug::RangeStudy study = debug::RangeStudy::read(part.content, "part");
    study.add(debug::RangeStudy::read(part.content, "part"));
    (void)ranges_json(study, "m", "ref", study.formats().front());
    return;
  }
  CalibrationStatistics statistics = CalibrationStatistics::read(part.content, "part");
  statistics.add(CalibrationStatistics::read(part.content, "part"));
  (void)statistics.table([](const std::string&) {});
}

void run(std::string_view input) {
  const std::string text = resealed(input);
  if (!eval::is_part(text)) {
    eval::Evaluation e = eval::from_json(text, "evaluation");
    (void)to_json(e);
    return;
  }
  merge_with_itself(eval::read_part(text, "part"));
}

eval::PartOf described(const std::string& kind) {
  return {
      .kind = kind,
      .identity = {.version = "0.1.0", .model_name = "m", .model_digest = "sha1:0", .data = {{"kind", "k"}}},
      .samples = 2,
      .covered = eval::Ranges(0, 2),
      .stream = 5};
}

std::string calibration() {
  Model model;
  Graph& g = *model.graph;
  g.add_input("x", Type::tensor(DType::kFloat32));
  CalibrationStatistics statistics(g, CalibrationAlgorithm::kEntropy2, 0.99);
  const Tensor x = Tensor::vector<float>({0, 1, -2.5F, 1e-3F});
  statistics.check("x", x);
  statistics.add({&x}, 1);
  return part_json(described("calibration"), [&](JsonWriter& json) { statistics.write(json); });
}

std::string ranges() {
  auto model = std::make_shared<Model>();
  model->graph->add_input("x", Type::tensor(DType::kFloat32));
  debug::RangeStudy study(model, {DType::kFloat16, DType::kInt8});
  study.add("x", Tensor::vector<float>({0, 1, -2.5F, 1e-3F}));
  study.end_iteration();
  return part_json(described("ranges"), [&](JsonWriter& json) { study.write(json); });
}

std::string evaluation() {
  eval::Evaluation e{
      .identity = described("").identity, .samples = 3, .covered = eval::Ranges(0, 2), .stream = 4};
  eval::Row mean{.metric = "sqnr", .backend = "engine", .output = "y"},
      set{.metric = "map", .backend = "engine"};
  mean.worst = eval::Ranking(2, true);
  mean.tally.add(1.5);
  mean.worst.add(eval::Ranked{1, 1.5});
  set.kind = eval::Kind::kSet;
  set.records[1] = {0.5, 1};
  e.worst = 2;
  e.rows = {mean, set};
  return to_json(e);
}

std::vector<std::string> seeds() { return {calibration(), ranges(), evaluation()}; }

constexpr std::string_view kWords[] = {
    "\"counts\": \"", "1:2,",  "9007199254740992", "-1", "NaN",  "\"kind\": \"set\"",
    "\"exponent\": ", "1e999", "\"value\": ",      "[]", "null", "\"ranges\""};

}  // namespace

constinit const Target def = {.name = "part", .run = run, .seeds = seeds, .words = kWords};

}  // namespace assay::fuzz::target_part
