// Options that do nothing in the combination in which they are given.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/options.h"
#include "cli/args.h"

namespace assay::cli {

/// Whether what would be ignored is an error: not under upstream's names, and not where a program is written
/// instead of running.
bool refuses_idle_options(const ParsedArgs& args);

/// Says of options that they do nothing. An error under the program's own name where the line then does not
/// do what it says (what is to be built, saved or checked is not); a warning under upstream's names, whose
/// tools take such lines, and for settings of what does not take part.
class OptionEffects {
 public:
  explicit OptionEffects(const ParsedArgs& args) : args_(args) {}

  /// None of `options` does anything, and why. Throws Error (kInvalidArgument) under the program's own name
  /// when one is given; `remedy` is a sentence.
  void none(std::span<const std::string> options, std::string_view why, std::string_view remedy);
  void none(std::initializer_list<const char*> options, std::string_view why, std::string_view remedy);
  /// A warning under every name: the line does all that it says, and these options have nothing to act on.
  void warn(std::initializer_list<const char*> options, std::string_view why);
  /// The same where under upstream's name a warning in upstream's words comes from who reads the options.
  void warn_unless_upstream(std::initializer_list<const char*> options, std::string_view why);
  /// Not about single options: an error or a warning with this sentence.
  void problem(std::string_view sentence, std::string_view remedy);

  /// The options, by their first names, that were found to do nothing.
  const std::vector<std::string>& without_effect() const { return without_effect_; }

 private:
  enum class Under : uint8_t { kError, kSilence, kWarning };
  void add(const std::vector<std::string>& options, std::string_view why, std::string_view remedy,
           Under rule);

  const ParsedArgs& args_;
  std::vector<std::string> without_effect_;
};

/// What of a run decides which options act.
struct RunSituation {
  bool is_plan = false;     ///< the model is one
  bool is_foreign = false;  ///< the model is for runners in Python
  bool is_script = false;   ///< the model is a network script
  size_t runners = 0;
};
/// Returns the options of `run` that do nothing. Throws as OptionEffects.
std::vector<std::string> check_run_effects(const ParsedArgs& args, const RunSituation& situation);
/// The same for `convert` to `target`: onnx, trt or onnx-like-trt-network.
std::vector<std::string> check_convert_effects(const ParsedArgs& args, std::string_view target,
                                               bool is_script);
/// The same for `bench`.
std::vector<std::string> check_bench_effects(const ParsedArgs& args, const bench::Options& options);

}  // namespace assay::cli
