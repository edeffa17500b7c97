// How the searches of `debug` over builds of an engine get their network, data, check and journal.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/options/iterations.h"
#include "cli/options/model.h"
#include "debug/engine_search.h"
#include "run/model_loader.h"

namespace assay::cli {

/// The path that plans get where a command checks them.
inline constexpr const char* kPlanCandidate = "polygraphy_debug.engine";

/// The model, its data, how its engine is built, and how plans are checked.
void add_engine_search_options(ArgParser& parser, const IterationGroup& group);
/// Options of our own: the required accuracy, the number of runs, the result as JSON. `accuracy`: what
/// --accuracy is for.
OptionGroup& add_in_process_options(ArgParser& parser, const std::string& accuracy);

/// The network that each build begins with.
ModelSource load_searched_network(CommandContext& context, const ModelOptions& model);
/// Data that calibrate.
void read_calibration_data(const ParsedArgs& args, const ModelOptions& model, EngineBuildOptions& building);

/// The words as a shell reads them.
std::string shell_line(const std::vector<std::string>& words);

/// All that a search needs, as the options say.
class EngineSearchSetup {
 public:
  /// Logs RUNNING when the options are known to be good.
  explicit EngineSearchSetup(CommandContext& context);

  debug::EngineSearch& search() { return *search_; }
  debug::SearchObserver& observer() { return text_; }
  const debug::Iterations& iterations() const { return *iterations_; }
  /// A file of the search next to its journal, with the same lifetime.
  std::string side_file(const std::string& ending) const { return journal_->path() + ending; }
  /// The search has ended: removes what it kept in order to resume.
  void end();

 private:
  CommandContext& context_;
  std::unique_ptr<debug::Check> check_;
  SearchText text_;
  std::optional<debug::Journal> journal_;
  std::optional<debug::Iterations> iterations_;
  std::optional<debug::EngineSearch> search_;
};

}  // namespace assay::cli
