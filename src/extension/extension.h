// Extension modules: shared libraries that extend the program, behind the C interface of
// assay/extension_abi.h.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/backend_set.h"
#include "assay/extension_abi.h"
#include "engine/tactics/tactic_set.h"
#include "extension/args.h"
#include "ops/op_set.h"
#include "passes/pass_set.h"

namespace assay::extension {

/// Describes a loaded module.
struct Info {
  std::string name, version, summary;
  std::string path;  ///< of the file
  uint32_t abi = 0;
};

/// A loaded module, whose code stays loaded until the process ends. Its registrations are checked: names are
/// well formed, callbacks exist, schemas can be parsed.
class Extension {
 public:
  /// Loads and registers. Throws Error naming the file, the defect and the remedy: no such file, for another
  /// processor or a newer interface, missing symbols, a registration that fails.
  static std::shared_ptr<Extension> load(const std::string& path);
  ~Extension();

  const Info& info() const { return info_; }
  /// In the order in which they were registered.
  const std::vector<AssayOptionGroup>& option_groups() const { return option_groups_; }
  const std::vector<AssayLoader>& loaders() const { return loaders_; }
  const std::vector<AssayRunner>& runners() const { return runners_; }
  const std::vector<AssayOperator>& operators() const { return operators_; }
  const std::vector<AssayPass>& passes() const { return passes_; }
  const std::vector<AssayTactic>& tactics() const { return tactics_; }
  const std::vector<AssayPostprocess>& postprocesses() const { return postprocesses_; }
  const std::vector<AssayComparison>& comparisons() const { return comparisons_; }
  const std::vector<AssayCommand>& commands() const { return commands_; }

  /// The AssayArgs of callbacks. Must outlive their calls; null: no options.
  void set_args(const Args* args) const { args_ = args; }
  const Args* args() const { return args_; }

  /// Calls into the module. `doing` describes the call in errors: "ran". A result other than 0, and any
  /// exception, becomes an Error that names the module.
  void call(std::string_view doing, const std::function<int32_t()>& body) const;
  /// An Error with that message, attributed to the module.
  [[noreturn]] void refuse(std::string_view doing, const std::string& message) const;

  /// For CrashMark: "the extension NAME (FILE)", and what to do.
  const std::string& crash_text() const { return crash_text_; }
  const std::string& crash_remedy() const { return crash_remedy_; }

 private:
  friend class Registrar;
  Extension() = default;

  Info info_;
  std::string crash_text_, crash_remedy_;
  std::vector<AssayOptionGroup> option_groups_;
  std::vector<AssayLoader> loaders_;
  std::vector<AssayRunner> runners_;
  std::vector<AssayOperator> operators_;
  std::vector<AssayPass> passes_;
  std::vector<AssayTactic> tactics_;
  std::vector<AssayPostprocess> postprocesses_;
  std::vector<AssayComparison> comparisons_;
  std::vector<AssayCommand> commands_;
  mutable const Args* args_ = nullptr;
};

/// Adds a module's operators, passes, tactics and runners. Throws Error when something of that name is there
/// already; the sets must then not be used any more.
void add_operators(const std::shared_ptr<Extension>& extension, OpSet& ops);
void add_passes(const std::shared_ptr<Extension>& extension, PassSet& passes);
void add_tactics(const std::shared_ptr<Extension>& extension, engine::TacticSet& tactics);
void add_runners(const std::shared_ptr<Extension>& extension, BackendSet& backends);

/// Lets a loader of the module change a model.
void apply_loader(const Extension& extension, const AssayLoader& loader, const std::shared_ptr<Model>& model);

/// Let the module validate or execute the command line (Extension::set_args). The second returns the exit
/// status. Throw the module's Error.
void validate_options(const Extension& extension, const AssayOptionGroup& group);
int run_command(const Extension& extension, const AssayCommand& command);

/// A module found in a folder, or named by the user.
struct Candidate {
  std::string path;
  std::string from;  ///< the setting that named it: ASSAY_EXTENSION_PATH, --extension
  /// Words of the file MODULE.words next to it, one a line: a command line that holds none of them does not
  /// need the module. Empty: every command does.
  std::vector<std::string> words = {};

  /// True when an argument of the command line contains one of the words, or there are none.
  bool is_needed_by(std::span<const std::string> arguments) const;
};

/// The files that end in .so in the folders of ASSAY_EXTENSION_PATH (which may list files, too), the user's
/// folder
/// ($XDG_DATA_HOME/assay/extensions) and the system's (lib/assay/extensions next to the program's folder, and
/// /usr/local/lib and /usr/lib), sorted by name within each; each file once.
std::vector<Candidate> find_extensions();

}  // namespace assay::extension
