#include "cli/bench_shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/atomic_file.h"
#include "base/json_fields.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/log_format.h"
#include "base/mapped_file.h"
#include "base/python_repr.h"
#include "console/text_table.h"

namespace assay::cli {
namespace {

struct MachineTimes {
  std::string shapes, backend;
  double median = 0, mean = 0, throughput = 0;
};

/// One file.
struct MachineResult {
  std::string name;  ///< of the file, without ending
  std::string version, processor;
  int64_t threads = 0;
  std::vector<MachineTimes> rows;
};

MachineResult read_machine(const std::string& path) {
  const JsonFields fields(path);
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const JsonValue document = parse_json(file->bytes(), path);
  require(is_bench_result(file->bytes()), ErrorCode::kInvalidArgument,
          "{} is no result of `assay bench --json`", path);
  MachineResult m{.name = std::filesystem::path(path).stem().string(),
                  .version = fields.text(document, "version"),
                  .processor = fields.text(document, "processor"),
                  .threads = fields.count(document, "threads")};
  for (const JsonValue& row : fields.items(document, "rows")) {
    const JsonValue& latency = fields.member(row, "latency_ms", JsonValue::Kind::kObject);
    m.rows.push_back({.shapes = fields.text(row, "shapes"),
                      .backend = fields.text(row, "backend"),
                      .median = fields.number(latency, "median"),
                      .mean = fields.number(latency, "mean"),
                      .throughput = fields.number(row, "throughput_qps")});
  }
  return m;
}

const MachineTimes* find_row(const MachineResult& m, const MachineTimes& like) {
  for (const MachineTimes& row : m.rows)
    if (row.shapes == like.shapes && row.backend == like.backend) return &row;
  return nullptr;
}

/// Every pair of shapes and backend that some machine has, in the order in which they are met.
std::vector<MachineTimes> subjects_of(const std::vector<MachineResult>& machines) {
  std::vector<MachineTimes> subjects;
  for (const MachineResult& m : machines)
    for (const MachineTimes& row : m.rows)
      if (std::none_of(subjects.begin(), subjects.end(), [&](const MachineTimes& s) {
            return s.shapes == row.shapes && s.backend == row.backend;
          }))
        subjects.push_back(row);
  return subjects;
}

std::string machines_table(const std::vector<MachineResult>& machines) {
  TextTable table({{"Machine"},
                   {"Processor"},
                   {"Threads", true},
                   {"Backend"},
                   {"Shapes"},
                   {"Median ms", true},
                   {"Runs/s", true},
                   {"x first", true}});
  for (const MachineTimes& subject : subjects_of(machines)) {
    std::optional<double> first;
    for (const MachineResult& m : machines) {
      const MachineTimes* row = find_row(m, subject);
      if (row != nullptr && !first) first = row->median;
      const std::string backend = subject.backend, shapes = subject.shapes.empty() ? "-" : subject.shapes;
      if (row == nullptr)
        table.add({m.name, m.processor, std::to_string(m.threads), backend, shapes, "-", "-", "-"});
      else
        table.add({m.name, m.processor, std::to_string(m.threads), backend, shapes, format_g(row->median, 4),
                   format_g(row->throughput, 4), *first > 0 ? format_g(row->median / *first, 3) : "-"});
    }
  }
  return table.str(table_columns(0));
}

void save_machines(const std::vector<MachineResult>& machines, const std::string& path) {
  AtomicFile file(path);
  JsonWriter json(file);
  json.begin_object().key("version").value(machines.front().version).key("machines").begin_array();
  for (const MachineResult& m : machines) {
    json.begin_object().key("name").value(m.name).key("processor").value(m.processor);
    json.key("threads").value(m.threads).key("rows").begin_array();
    for (const MachineTimes& row : m.rows)
      json.begin_object()
          .key("shapes")
          .value(row.shapes)
          .key("backend")
          .value(row.backend)
          .key("median_ms")
          .value(row.median)
          .key("mean_ms")
          .value(row.mean)
          .key("throughput_qps")
          .value(row.throughput)
          .end_object();
    json.end_array().end_object();
  }
  json.end_array().end_object();
  file.write("\n");
  file.commit();
}

}  // namespace

bool is_bench_result(std::string_view text) {
  const std::string_view head = text.substr(0, 4096);
  return head.starts_with("{\n    \"version\": ") &&
         head.find("\n    \"command\": ") != std::string_view::npos &&
         text.find("\n    \"rows\": ") != std::string_view::npos;
}

void merge_bench_results(std::vector<std::string> paths, const std::string& output) {
  std::sort(paths.begin(), paths.end());
  std::vector<MachineResult> machines;
  for (const std::string& path : paths) machines.push_back(read_machine(path));
  for (size_t i = 1; i < machines.size(); ++i)
    require(machines[i].version == machines[0].version, ErrorCode::kInvalidArgument,
            "{} and {} are of the versions {} and {}, whose times do not compare machines", paths[0],
            paths[i], machines[0].version, machines[i].version);
  log::info("{}", machines_table(machines));
  log::info("Saving the table of {} file(s) to {}", paths.size(), output);
  save_machines(machines, output);
}

}  // namespace assay::cli
