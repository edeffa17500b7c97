#include "console/text_renderer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "base/python_repr.h"
#include "compare/report.h"
#include "console/verdict_text.h"
#include "graph/metadata_text.h"
#include "tensor/print.h"

namespace assay {
namespace {

using log::Severity;

std::string metadata(const std::vector<SeenTensor>& tensors) {
  MetadataText text;
  for (const SeenTensor& t : tensors) text.add(t.name, t.dtype, t.shape);
  return text.str();
}

/// The values of tensors, for -vv.
std::string values_text(const std::vector<SeenTensor>& tensors, std::span<const Tensor> values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i)
    text += "\n" + tensors[i].name + ":\n" + indent_block(array_str(values[i]));
  return indent_block(text.substr(std::min<size_t>(text.size(), 1)));
}

}  // namespace

bool TextRenderer::wants_values() const { return log::enabled(Severity::kExtraVerbose); }

void TextRenderer::on_runner_begin(const std::string& runner) {
  log::start("{:35} | Activating and starting inference", runner);
}

void TextRenderer::on_warm_up(const std::string& runner, int64_t runs, bool done, bool has_data) {
  if (done) return log::finish("{:35} | Finished {} warm-up run(s)", runner, runs);
  log::start("{:35} | Running {} warm-up run(s)", runner, runs);
  if (!has_data)
    log::warning(
        "{} warm-up run(s) were requested, but data loader did not supply any data. Skipping warm-up run(s)",
        runs);
}

void TextRenderer::on_inputs(const InputsEvent& e) {
  if (e.runner.empty())
    return log::once(Severity::kInfo, "Streaming iteration {}\n---- Inference Input(s) ----\n{}", e.iteration,
                     metadata(e.inputs));
  log::once(Severity::kInfo, "{:35}\n---- Inference Input(s) ----\n{}", e.runner, metadata(e.inputs));
  if (wants_values())
    log::extra_verbose("{:35} | Feeding inputs:\n{}", e.runner, values_text(e.inputs, e.values));
}

void TextRenderer::on_outputs(const OutputsEvent& e) {
  log::once(Severity::kInfo, "{:35}\n---- Inference Output(s) ----\n{}", e.runner, metadata(e.outputs));
  if (wants_values())
    log::extra_verbose("{:35} | Inference Time: {:.3f} ms | Received outputs:\n{}", e.runner,
                       e.seconds * 1000, values_text(e.outputs, e.values));
}

void TextRenderer::on_runner_end(const RunnerReport& r) {
  const double ms = r.seconds * 1000, count = static_cast<double>(std::max<int64_t>(r.iterations, 1));
  log::finish("{:35} | Completed {} iteration(s) in {:.4g} ms | Average inference time: {:.4g} ms.{}", r.name,
              r.iterations, ms, ms / count, r.note.empty() ? "" : " | " + r.note);
}

void TextRenderer::on_saving(const SavingEvent& e) {
  const bool is_write = e.step == SavingEvent::Step::kWrite;
  const char* what = e.what == Saved::kInputs ? "inference input data" : "inference results";
  if (e.what == Saved::kInputBlobs)
    log::info("Saving raw inference input tensors to: {}", e.path);
  else if (e.what == Saved::kAccuracyResults)
    log::info("Saving accuracy results to {}", e.path);
  else if (is_write)
    log::info("Saving {} to {}", what, e.path);
  else
    log::info("Saving {} to a {}: {}", what,
              e.step == SavingEvent::Step::kFile ? "single file" : "directory of per-iteration files",
              e.path);
}

void TextRenderer::on_postprocess(const std::string& function, bool done) {
  if (done)
    log::finish("Finished applying post-processing");
  else
    log::start("Applying post-processing to outputs: {}", function);
}

void TextRenderer::on_validation_begin(const std::vector<std::string>& runners) {
  log::start("Output Validation | Runners: {}", python_list_repr(runners));
}

void TextRenderer::on_validation_end(bool valid) {
  const log::Indent indent;
  if (valid)
    log::finish("PASSED | Output Validation");
  else
    log::error("FAILED | Output Validation");
}

void TextRenderer::on_validated(const ValidationResult& result, const Tensor& output,
                                const ValidateOptions& options, int64_t iteration) {
  const log::Indent indent(iteration < 0 ? 1 : 0);
  print_validation(result, output, options, iteration);
}

void TextRenderer::on_different_lengths(const LengthsEvent& e) {
  log::warning(
      "The provided streams have different numbers of iterations. Only the first {} iteration(s) -- present "
      "in all {} "
      "streams -- were compared; stream(s) at index {} ran out first.",
      e.compared, e.runs, python_list_repr(std::vector<int64_t>(e.ended.begin(), e.ended.end())));
}

void TextRenderer::on_summary(const PairSummary& pair, Aggregation aggregation, const std::string& notes) {
  print_summary(pair, aggregation, notes, Passing::kNamed);
}

void TextRenderer::on_verdict(const Arbitration& verdict, const ArbiterOptions& options, int64_t) {
  if (verdict.traced != nullptr) {
    log::info("With every layer marked{}:",
              verdict.traced->any_in_body() ? ", in the bodies of nodes, too" : "");
    print_verdict(*verdict.traced, options);
    log::info("As it ran first, without these marks:");
  }
  print_verdict(verdict, options);
}

void TextRenderer::on_verdicts(const VerdictCounts& v) { print_verdict_counts(v); }

void TextRenderer::print_verdict_counts(const VerdictCounts& v) {
  if (v.iterations < 2) return;
  if (v.wrong_iterations > 0)
    log::error("Verdict Summary | WRONG in {} of {} iterations, the first time in iteration {}: {}",
               v.wrong_iterations, v.iterations, v.first_wrong, v.first_maker);
  else
    log::finish("Verdict Summary | Nothing is wrong in {} iterations", v.iterations);
}

}  // namespace assay
