// assay debug range: where values leave what narrower types can hold.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/log.h"
#include "base/python_repr.h"
#include "cli/cmd_debug.h"
#include "cli/merging.h"
#include "cli/options/layers.h"
#include "cli/registries.h"
#include "cli/report_page.h"
#include "cli/shards.h"
#include "debug/value_ranges.h"

namespace assay::cli::command_debug_range {
namespace {

using debug::RangeStudy;
using debug::TensorRange;

constexpr size_t kMost = 20;

void add_options(ArgParser& parser, const Registries& registries) {
  add_layer_options(parser, registries);
  parser.add_group("Report").options = {
      {.names = {"--types"},
       .help = "The types that numbers are held against: float16, bfloat16, floats of 8 bits and less, int8. "
               "The first one ranks. Default: float16 bfloat16 int8.",
       .arity = Arity::kAtLeastOne,
       .metavar = "TYPE"},
      {.names = {"--no-weights"}, .help = "Leave constants out.", .arity = Arity::kNone},
      {.names = {"--all"}, .help = "Show all tensors, not the first 20.", .arity = Arity::kNone},
      layer_json_option(),
      {.names = {"--csv"}, .help = "Also write all tensors to this file, as a table.", .metavar = "FILE"},
  };
  parser.add_group("Shards").options = {
      shard_option("Look at a part of the data. --json names the file of the part, for `assay merge`.")};
}

std::vector<DType> read_types(const ParsedArgs& args) {
  std::vector<DType> types;
  for (const std::string& word :
       args.list("--types").value_or(std::vector<std::string>{"float16", "bfloat16", "int8"})) {
    const std::optional<DType> type = dtype_from_name(word);
    if (!type) log::critical(ErrorCode::kInvalidArgument, "--types: '{}' is no element type.", word);
    types.push_back(*type);
  }
  return types;
}

double share(int64_t part, int64_t of) {
  return of == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(of);
}

/// Describes a tensor's losses in a type, and its headroom.
std::string fit_text(const TensorRange& r, DType format, const debug::FormatFit& fit) {
  if (format == DType::kInt8)
    return fmt::format("int8: {}% become 0, {} dB", format_g(100 * r.lost_in_int8(), 3),
                       format_g(r.int8_noise_ratio(), 3));
  std::string text = fmt::format("{}: ", dtype_name(format));
  if (fit.overflow > 0) text += fmt::format("{}% overflow, ", format_g(share(fit.overflow, r.elements), 3));
  if (fit.flushed > 0)
    text += fmt::format("{}% become 0, ", format_g(share(fit.flushed, r.elements - r.zeros - r.nan), 3));
  if (fit.subnormal > 0)
    text += fmt::format("{}% subnormal, ", format_g(share(fit.subnormal, r.elements - r.zeros - r.nan), 3));
  const double room = r.headroom(format);
  return text + (std::isnan(room) ? "only zeros" : fmt::format("headroom {} bits", format_g(room, 3)));
}

std::string line_of(const TensorRange& r, const std::vector<DType>& formats) {
  std::string text =
      fmt::format("{} ({}): {} to {}", r.tensor,
                  r.node.empty() ? debug::range_kind_name(r.kind) : fmt::format("node {}", r.node),
                  format_g(r.smallest, 4), format_g(r.largest, 4));
  if (r.nan > 0) text += fmt::format(", {} NaN", r.nan);
  if (r.infinite > 0) text += fmt::format(", {} infinite", r.infinite);
  for (size_t f = 0; f < formats.size(); ++f) text += "\n    " + fit_text(r, formats[f], r.fits[f]);
  return text;
}

/// Where a type is left first, and how often.
std::string summary_of(const RangeStudy& study, size_t f) {
  const DType format = study.formats()[f];
  size_t overflown = 0, flushed = 0;
  const TensorRange *first = nullptr, *nearest = nullptr;
  for (const TensorRange* r : study.ranges()) {
    if (r->fits[f].overflow > 0 && ++overflown == 1) first = r;
    flushed += r->fits[f].flushed > 0 ? 1 : 0;
    const double room = r->headroom(format);
    if (!std::isnan(room) && (nearest == nullptr || room < nearest->headroom(format))) nearest = r;
  }
  std::string text = fmt::format("{}: {} tensor(s) overflow", dtype_name(format), overflown);
  if (first != nullptr)
    text += fmt::format(", first {}{}", first->tensor,
                        first->node.empty() ? "" : fmt::format(" of node {}", first->node));
  text += fmt::format("; in {} some elements become 0", flushed);
  if (first == nullptr && nearest != nullptr)
    text += fmt::format("; the least headroom is {} bits, at {}", format_g(nearest->headroom(format), 3),
                        nearest->tensor);
  return text + ".";
}

void log_report(const RangeStudy& study, bool shows_all) {
  const std::vector<const TensorRange*> ranked = study.ranked(study.formats().front());
  std::string text = fmt::format("{} tensor(s) over {} iteration(s).", ranked.size(), study.iterations());
  for (size_t f = 0; f < study.formats().size(); ++f)
    if (study.formats()[f] != DType::kInt8) text += "\n" + summary_of(study, f);
  log::info("{}", text);
  const size_t shown = shows_all ? ranked.size() : std::min(kMost, ranked.size());
  text = fmt::format("The worst for {} first, with the magnitudes of what is not 0:",
                     dtype_name(study.formats().front()));
  for (size_t i = 0; i < shown; ++i) text += "\n" + line_of(*ranked[i], study.formats());
  if (shown < ranked.size()) text += fmt::format("\nand {} more (--all)", ranked.size() - shown);
  log::info("{}", text);
}

/// A cell of a number that may be missing.
ReportCell cell(double value) { return std::isnan(value) ? ReportCell() : ReportCell(value); }

void add_table(const RangeStudy& study, Report& report) {
  using Kind = ReportColumn::Kind;
  ReportTable table{
      .title = "Ranges",
      .note = fmt::format("Magnitudes of what is not 0, over {} iteration(s); the worst for {} first.",
                          study.iterations(), dtype_name(study.formats().front())),
      .columns = {{"tensor", Kind::kNode},
                  {"kind"},
                  {"smallest", Kind::kNumber},
                  {"largest", Kind::kNumber},
                  {"NaN", Kind::kNumber},
                  {"infinite", Kind::kNumber}}};
  for (const DType format : study.formats()) {
    const std::string name(dtype_name(format));
    if (format == DType::kInt8) {
      table.columns.push_back({name + ": become 0", Kind::kNumber, "%"});
      table.columns.push_back({name + ": signal to noise", Kind::kNumber, "dB"});
      continue;
    }
    table.columns.push_back({name + ": overflow", Kind::kNumber, "%"});
    table.columns.push_back({name + ": become 0", Kind::kNumber, "%"});
    table.columns.push_back({name + ": headroom (bits)", Kind::kNumber});
  }
  ReportMetric& largest = report.metric("range", "largest magnitude", "", ReportMetric::Combine::kMax);
  for (const TensorRange* r : study.ranked(study.formats().front())) {
    std::vector<ReportCell> row = {r->tensor,   std::string(debug::range_kind_name(r->kind)),
                                   r->smallest, r->largest,
                                   r->nan,      r->infinite};
    for (size_t f = 0; f < study.formats().size(); ++f) {
      const DType format = study.formats()[f];
      if (format == DType::kInt8) {
        row.insert(row.end(), {100 * r->lost_in_int8(), cell(r->int8_noise_ratio())});
        continue;
      }
      row.insert(row.end(),
                 {share(r->fits[f].overflow, r->elements),
                  share(r->fits[f].flushed, r->elements - r->zeros - r->nan), cell(r->headroom(format))});
    }
    table.rows.push_back(std::move(row));
    largest.numbers.emplace_back(r->tensor, r->largest);
  }
  report.sections.emplace_back(std::move(table));
}

constexpr std::string_view kRangeReports[] = {"--json", "--csv", "--all"};

/// Which part of the data is looked at; a part is only saved, and reported when all are merged.
ShardChoice read_range_shard(const ParsedArgs& args) {
  const ShardChoice choice = read_shard(args, /*asks_mpi=*/false);
  if (!choice.shard) return choice;
  if (!args.has("--json"))
    log::critical(ErrorCode::kInvalidArgument,
                  "The result of a shard is lost unless --json names a file for it.");
  if (args.has("--csv"))
    log::critical(ErrorCode::kInvalidArgument,
                  "--csv is a table of all data, and a shard has a part of them.");
  return choice;
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const ShardChoice choice = read_range_shard(args);
  const std::vector<DType> types = read_types(args);
  const LayerOptions options = read_layer_options(context, ReferencePrecision::kFloat64);
  if (options.runners.size() > 1)
    log::critical(ErrorCode::kInvalidArgument, "debug range looks at one backend: name one.");
  context.announce();
  std::vector<std::string> outputs;
  const std::shared_ptr<Model> model = load_layers(options.loading, outputs);
  RangeStudy study(model, types);
  debug::LayerRun layers(model, options.model.path, options.runners.front(), options.session);
  std::shared_ptr<DataSource> source = options.make_data();
  const auto shard = choice.shard ? std::make_shared<eval::ShardSource>(source, *choice.shard) : nullptr;
  if (shard != nullptr) source = shard;
  source->begin(layers.inputs());
  while (const std::optional<TensorList> data = source->next()) {
    layers.run(*data, [&](const std::string& name, const Tensor& value) { study.add(name, value); });
    study.end_iteration();
  }
  if (shard == nullptr)
    require(study.iterations() > 0, ErrorCode::kInvalidArgument, "no iteration has data to run the model on");
  // Weights are counted once, by the first shard.
  if (!args.has("--no-weights") && (shard == nullptr || choice.shard->index == 0)) study.add_weights();
  log_report(study, args.has("--all"));
  if (ReportPage* page = context.report_page()) add_table(study, page->report());
  if (shard != nullptr) {
    eval::PartOf part = part_of(context, "ranges", options.loading, options.data, kRangeReports);
    shard->describe(part);
    const auto write = [&](JsonWriter& json) {
      json.key("path").value(options.model.path).key("backend").value(layers.backend());
      study.write(json);
    };
    save_part(part_json(part, write), *args.text("--json"), choice);
    merge_automatic_parts(*args.text("--json"), choice);
    return 0;
  }
  if (const auto path = args.text("--json"))
    save_text("the ranges", ranges_json(study, options.model.path, layers.backend(), types.front()), *path);
  if (const auto path = args.text("--csv")) save_text("the ranges", ranges_csv(study, types.front()), *path);
  return 0;
}

}  // namespace

constinit const Command def = {
    .name = "range",
    .summary = "Show where values leave what float16, bfloat16 and int8 can hold.",
    .description =
        "Runs the model with every tensor marked, by default on the float64 reference, and holds what "
        "numbers "
        "each tensor has against what "
        "narrower types can hold. Nothing is kept of the values but counts.",
    .add_options = add_options,
    .run = run,
    .reports = true,
    .traces = true,
};

}  // namespace assay::cli::command_debug_range
