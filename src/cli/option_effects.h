// Options that have no effect in the given combination.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/options.h"
#include "cli/args.h"

namespace assay::cli {

/// True when ignored options are an error: not under upstream's names, and not if a program is generated
/// instead of run.
bool refuses_idle_options(const ParsedArgs& args);

/// Reports options without effect: as an error under the program's own name if something requested is then
/// not built, saved or checked; as a warning under upstream's names, whose tools accept such lines, and for
/// settings of components that are not in use.
class OptionEffects {
 public:
  explicit OptionEffects(const ParsedArgs& args) : args_(args) {}

  /// Reports that none of `options` has an effect, with the reason. Throws Error (kInvalidArgument) under the
  /// program's own name when one is given; `remedy` is a sentence.
  void none(std::span<const std::string> options, std::string_view why, std::string_view remedy);
  void none(std::initializer_list<const char*> options, std::string_view why, std::string_view remedy);
  /// A warning under every name: the line does all it requests, and these options have nothing to act on.
  void warn(std::initializer_list<const char*> options, std::string_view why);
  /// The same where, under upstream's name, the reader of the options warns in upstream's words.
  void warn_unless_upstream(std::initializer_list<const char*> options, std::string_view why);
  /// An error or warning with this sentence, not about individual options.
  void problem(std::string_view sentence, std::string_view remedy);

  /// The options found to have no effect, by their first names.
  const std::vector<std::string>& without_effect() const { return without_effect_; }

 private:
  enum class Under : uint8_t { kError, kSilence, kWarning };
  void add(const std::vector<std::string>& options, std::string_view why, std::string_view remedy,
           Under rule);

  const ParsedArgs& args_;
  std::vector<std::string> without_effect_;
};

/// The properties of a run that determine which options have an effect.
struct RunSituation {
  bool is_plan = false;     ///< the model is a plan
  bool is_foreign = false;  ///< the model is for runners in Python
  bool is_script = false;   ///< the model is a network script
  size_t runners = 0;
};
/// Returns the options of `run` without effect. Throws as OptionEffects.
std::vector<std::string> check_run_effects(const ParsedArgs& args, const RunSituation& situation);
/// The same for `convert` to `target`: onnx, trt or onnx-like-trt-network.
std::vector<std::string> check_convert_effects(const ParsedArgs& args, std::string_view target,
                                               bool is_script);
/// The same for `bench`.
std::vector<std::string> check_bench_effects(const ParsedArgs& args, const bench::Options& options);

}  // namespace assay::cli
