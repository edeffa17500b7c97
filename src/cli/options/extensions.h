// Extension modules on the command line: their loading, options and commands.
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

/// The modules of this command line: those found, unless --no-extensions is given, and those of --extension
/// and of the file of --settings. Call it before the words are parsed, since modules add options. Throws
/// Error for an unreadable settings file.
std::vector<extension::Candidate> extensions_of(std::span<const std::string> words);

/// Adds everything that a module brings, or nothing: then it throws Error that names the module and what
/// there is already.
void add_extension(const std::shared_ptr<extension::Extension>& module, Registries& registries);
/// Loads and adds them. One that fails is left out, and a sentence says why, except for those of --extension,
/// whose Error is thrown.
std::vector<std::string> load_extensions(Registries& registries,
                                         std::span<const extension::Candidate> candidates);

/// The options of `run` that modules add.
void add_module_options(ArgParser& parser, const Registries& registries);

/// True when a module adds this option to `run`.
bool is_module_option(const Registries& registries, std::string_view name);
/// The files of the modules that this command line uses, with their options.
void read_module_settings(const ParsedArgs& args, const Registries& registries,
                          poly::RunExtensions& settings);

/// Gives modules access to the command line for its lifetime, and has them validate it. Throws their Error.
class ExtensionArgs {
 public:
  ExtensionArgs(const ParsedArgs& args, const Registries& registries);
  ~ExtensionArgs();
  ExtensionArgs(const ExtensionArgs&) = delete;
  ExtensionArgs& operator=(const ExtensionArgs&) = delete;

  /// Calls the validation of every option group.
  void validate() const;
  /// Applies the loaders whose options are given to a model.
  std::vector<std::function<void(const std::shared_ptr<Model>&)>> model_edits() const;

 private:
  std::unique_ptr<extension::Args> view_;
  const ParsedArgs& args_;
  const Registries& registries_;
};

}  // namespace assay::cli
