// Extension modules on the command line: which are loaded, and the options and commands that they bring.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/run.h"
#include "cli/args.h"
#include "cli/registries.h"

namespace assay::cli {

/// --extension and --no-extensions, which every command has.
void add_extension_options(ArgParser& parser);

/// The modules that this command line asks for: those that are found, unless --no-extensions is among the
/// words, and those of --extension and of the file of --settings. To be asked before the words are parsed,
/// since modules bring options. Throws Error for a file of settings that cannot be read.
std::vector<extension::Candidate> extensions_of(std::span<const std::string> words);

/// Adds everything that a module brings, or nothing: then it throws Error that names the module and what
/// there is already.
void add_extension(const std::shared_ptr<extension::Extension>& module, Registries& registries);
/// Loads and adds them. One that fails is left out, and a sentence says why, but for those of --extension,
/// whose Error is thrown.
std::vector<std::string> load_extensions(Registries& registries,
                                         std::span<const extension::Candidate> candidates);

/// The options of `run` that modules add.
void add_module_options(ArgParser& parser, const Registries& registries);

/// Whether the option is one that a module adds to `run`.
bool is_module_option(const Registries& registries, std::string_view name);
/// The modules that take part in the run of this command line, by their files, and what their options say.
void read_module_settings(const ParsedArgs& args, const Registries& registries,
                          poly::RunExtensions& settings);

/// Shows modules the command line while it lives, and has them check it. Throws Error with what they refuse.
class ExtensionArgs {
 public:
  ExtensionArgs(const ParsedArgs& args, const Registries& registries);
  ~ExtensionArgs();
  ExtensionArgs(const ExtensionArgs&) = delete;
  ExtensionArgs& operator=(const ExtensionArgs&) = delete;

  /// Calls the validation of every option group.
  void validate() const;
  /// What the loaders whose options are given do to a model.
  std::vector<std::function<void(const std::shared_ptr<Model>&)>> model_edits() const;

 private:
  std::unique_ptr<extension::Args> view_;
  const ParsedArgs& args_;
  const Registries& registries_;
};

}  // namespace assay::cli
