#include "extension/extension.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "assay/error.h"
#include "base/crash_report.h"
#include "base/dynamic_library.h"
#include "base/input_file.h"
#include "base/wording.h"
#include "extension/host.h"
#include "extension/patience.h"
#include "ops/schema.h"

namespace assay::extension {
namespace {

namespace fs = std::filesystem;

/// A structure of this build's version: fields that an older module lacks are zero.
template <typename T>
T complete(const T* given) {
  T all{};
  std::memcpy(&all, given, std::min<uint64_t>(given->size, sizeof all));
  all.size = sizeof all;
  return all;
}

/// The file's own name, and what the user can do with it.
std::string remedy_for(const std::string& path) { return say(Say::kLeaveExtensionOut, {path}); }

}  // namespace

/// Receives a module's additions, and checks them.
class Registrar {
 public:
  explicit Registrar(Extension& extension) : extension_(extension) {}

  static const AssayRegistration& table() {
    static const AssayRegistration functions = {
        .size = sizeof(AssayRegistration),
        .add_option_group = [](AssayRegistrar* r,
                               const AssayOptionGroup* d) { return add(r, d, &Extension::option_groups_); },
        .add_loader = [](AssayRegistrar* r, const AssayLoader* d) { return add(r, d, &Extension::loaders_); },
        .add_runner = [](AssayRegistrar* r, const AssayRunner* d) { return add(r, d, &Extension::runners_); },
        .add_operator = [](AssayRegistrar* r,
                           const AssayOperator* d) { return add(r, d, &Extension::operators_); },
        .add_pass = [](AssayRegistrar* r, const AssayPass* d) { return add(r, d, &Extension::passes_); },
        .add_tactic = [](AssayRegistrar* r, const AssayTactic* d) { return add(r, d, &Extension::tactics_); },
        .add_postprocess = [](AssayRegistrar* r,
                              const AssayPostprocess* d) { return add(r, d, &Extension::postprocesses_); },
        .add_comparison = [](AssayRegistrar* r,
                             const AssayComparison* d) { return add(r, d, &Extension::comparisons_); },
        .add_command = [](AssayRegistrar* r,
                          const AssayCommand* d) { return add(r, d, &Extension::commands_); },
    };
    return functions;
  }

  AssayRegistrar* handle() { return reinterpret_cast<AssayRegistrar*>(this); }

 private:
  template <typename T>
  static int32_t add(AssayRegistrar* registrar, const T* definition,
                     std::vector<T> Extension::*list) noexcept {
    try {
      require(definition != nullptr && definition->size >= sizeof(uint64_t), ErrorCode::kInvalidArgument,
              "a definition is null, or says that it has no size");
      const T all = complete(definition);
      check(all);
      (reinterpret_cast<Registrar*>(registrar)->extension_.*list).push_back(all);
      return 0;
    } catch (const std::exception& e) {
      set_error(e.what());
      return -1;
    }
  }

  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static void check_word(const char* name, const char* what) {
    require(name != nullptr, ErrorCode::kInvalidArgument, "{} has no name", what);
    const std::string_view word = name;
    const bool is_word =
        !word.empty() && is_letter(word[0]) && std::all_of(word.begin(), word.end(), [](char c) {
          return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == '-';
        });
    require(is_word, ErrorCode::kInvalidArgument,
            "'{}' is no name for {}: it needs a letter and then letters, digits, '_', '-' and '.'", name,
            what);
  }
  static void check_flag(const char* name) {
    require(name != nullptr, ErrorCode::kInvalidArgument, "an option has no name");
    const std::string_view flag = name;
    const bool is_flag = flag.starts_with("--") && flag.size() > 2 && flag[2] >= 'a' && flag[2] <= 'z' &&
                         std::all_of(flag.begin() + 2, flag.end(), [](char c) {
                           return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-';
                         });
    require(is_flag, ErrorCode::kInvalidArgument,
            "'{}' is no name for an option: it needs two dashes before small letters, digits and dashes",
            name);
  }
  static void check_there(bool is_there, const char* what, const char* name) {
    require(is_there, ErrorCode::kInvalidArgument, "the {} '{}' lacks a function that it must have", what,
            name);
  }

  static void check_options(const AssayOption* const* options, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      require(options != nullptr && options[i] != nullptr && options[i]->names != nullptr,
              ErrorCode::kInvalidArgument, "an option has no name");
      const AssayOption o = complete(options[i]);
      const std::string names = o.names;
      std::istringstream words(names);
      for (std::string word; words >> word;)
        if (word.front() == '-') check_flag(word.c_str());
      require(o.arity >= ASSAY_FLAG && o.arity <= ASSAY_AT_LEAST_ONE && o.kind >= ASSAY_WORD &&
                  o.kind <= ASSAY_NUMBER,
              ErrorCode::kInvalidArgument, "the option {} takes words of no known kind or number", names);
    }
  }

  static void check(const AssayOptionGroup& g) {
    require(g.title != nullptr && *g.title != '\0', ErrorCode::kInvalidArgument,
            "a group of options has no title");
    check_options(g.options, g.option_count);
  }
  static void check(const AssayLoader& l) {
    check_word(l.name, "a loader");
    if (l.option != nullptr) check_flag(l.option);
    check_there(l.apply != nullptr, "loader", l.name);
  }
  static void check(const AssayRunner& r) {
    check_word(r.name, "a runner");
    check_flag(r.option);
    check_there(r.open != nullptr && r.describe != nullptr && r.infer != nullptr && r.close != nullptr,
                "runner", r.name);
  }
  static void check(const AssayOperator& o) {
    check_word(o.name, "an operator");
    check_word(o.domain, "a domain");
    require(canonical_domain(o.domain) != "" && o.version_count > 0 && o.versions != nullptr,
            ErrorCode::kInvalidArgument, "the operator {}.{} is of the standard's domain, or has no version",
            o.domain, o.name);
    int64_t last = 0;
    for (uint64_t i = 0; i < o.version_count; ++i) {
      require(o.versions[i] != nullptr, ErrorCode::kInvalidArgument, "a version of the operator {} is null",
              o.name);
      const AssayOperatorVersion v = complete(o.versions[i]);
      require(v.since > last, ErrorCode::kInvalidArgument,
              "the versions of the operator {} are not in order, oldest first", o.name);
      last = v.since;
      require(v.schema != nullptr, ErrorCode::kInvalidArgument, "version {} of the operator {} has no schema",
              v.since, o.name);
      with_context([&] { return fmt::format("in version {} of the operator {}", v.since, o.name); },
                   [&] { parse_schema(v.schema); });
      check_there(v.infer != nullptr, "operator", o.name);
    }
    require(o.error >= ASSAY_EXACT && o.error <= ASSAY_CUSTOM_ERROR && o.ulps >= 0,
            ErrorCode::kInvalidArgument, "the operator {} has an error of no known kind", o.name);
    check_there((o.error != ASSAY_ACCUMULATING || o.terms != nullptr) &&
                    (o.error != ASSAY_CUSTOM_ERROR || o.bound != nullptr),
                "operator", o.name);
    if (o.facts != nullptr) check_facts(o, complete(o.facts));
  }
  static void check_facts(const AssayOperator& o, const AssayOperatorFacts& f) {
    const auto is_known = [](int32_t kind, int32_t last) { return kind >= 0 && kind <= last; };
    require(is_known(f.moves, ASSAY_MOVES_SELECTED) && is_known(f.sign, ASSAY_SIGN_POSITIVE) &&
                is_known(f.elementwise, ASSAY_EVERY_INPUT) && is_known(f.size_input, INT8_MAX),
            ErrorCode::kInvalidArgument, "the operator {} states a fact of no known kind", o.name);
    if (f.instruction == nullptr) return;
    const std::optional<kernels::PointwiseOp> op = kernels::find_pointwise(f.instruction);
    require(op.has_value(), ErrorCode::kInvalidArgument,
            "the operator {} states the pointwise instruction '{}', and there is none of that name", o.name,
            f.instruction);
    const int arity = kernels::pointwise_arity(*op);
    require(f.elementwise == arity || (f.elementwise == ASSAY_EVERY_INPUT && arity == 2),
            ErrorCode::kInvalidArgument,
            "the operator {} states the pointwise instruction '{}' of {} operand(s), but {} element-wise "
            "input(s)",
            o.name, f.instruction, arity, f.elementwise);
  }
  static void check(const AssayPass& p) {
    check_word(p.name, "a pass");
    require(p.stage >= ASSAY_STAGE_LOWERING && p.stage <= ASSAY_STAGE_SIMPLIFY, ErrorCode::kInvalidArgument,
            "the pass '{}' is of no known stage", p.name);
    check_there(p.run != nullptr, "pass", p.name);
  }
  static void check(const AssayTactic& t) {
    check_word(t.name, "a tactic");
    require(t.operators != nullptr && *t.operators != '\0', ErrorCode::kInvalidArgument,
            "the tactic '{}' names no operators", t.name);
    require(t.numerics >= ASSAY_TACTIC_EXACT && t.numerics <= ASSAY_TACTIC_LOWERED,
            ErrorCode::kInvalidArgument, "the tactic '{}' has numerics of no known kind", t.name);
    check_there(t.create != nullptr && t.deserialize != nullptr && t.destroy != nullptr &&
                    t.serialize != nullptr && t.ways != nullptr && t.enqueue != nullptr,
                "tactic", t.name);
  }
  static void check(const AssayPostprocess& p) {
    check_word(p.name, "a postprocessing function");
    check_there(p.apply != nullptr, "postprocessing function", p.name);
  }
  static void check(const AssayComparison& c) {
    check_word(c.name, "a comparison");
    check_there(c.compare != nullptr, "comparison", c.name);
  }
  static void check(const AssayCommand& c) {
    check_word(c.name, "a command");
    check_options(c.options, c.option_count);
    check_there(c.run != nullptr, "command", c.name);
  }

  Extension& extension_;
};

Extension::~Extension() = default;

void Extension::refuse(std::string_view doing, const std::string& message) const {
  Error error(ErrorCode::kUnsupported, message.empty() ? "it gives no reason" : message);
  error.add_context(fmt::format("in the extension '{}' ({}), while it {}", info_.name, info_.path, doing));
  throw error;
}

void Extension::call(std::string_view doing, const std::function<int32_t()>& body) const {
  const CrashMark mark(crash_text_, crash_remedy_);
  const CallScope scope;
  set_error({});
  int32_t answer = 0;
  try {
    answer = body();
  } catch (const std::exception& e) {
    refuse(doing, fmt::format("it threw: {}", e.what()));
  } catch (...) {
    refuse(doing, "it threw something that is no std::exception");
  }
  if (answer != 0) refuse(doing, take_error());
}

std::shared_ptr<Extension> Extension::load(const std::string& path) {
  std::error_code ignored;
  const fs::path full = fs::absolute(path, ignored);
  const auto failure = [&](ErrorCode code, const std::string& message, const std::string& remedy) {
    Error error(code, message);
    error.add_context({ErrorPlace::Kind::kFile, path, fmt::format("in the extension {}", path)});
    error.set_remedy(remedy);
    return error;
  };
  if (!fs::exists(full, ignored))
    throw failure(ErrorCode::kNotFound, "there is no such file", "Give the path of the module's .so file.");
  std::shared_ptr<Extension> extension(new Extension);
  extension->info_.path = full.string();
  extension->info_.name = full.stem().string();
  extension->crash_text_ = fmt::format("The extension {}", full.string());
  extension->crash_remedy_ = remedy_for(full.string());
  const CrashMark mark(extension->crash_text_, extension->crash_remedy_);
  const Patience patience(fmt::format("The extension {} takes long to load.", full.string()),
                          extension->crash_remedy_);
  DynamicLibrary library;
  std::string reason;
  bool is_loaded = false;
  try {
    is_loaded = DynamicLibrary::load(full.string(), library, reason);
  } catch (...) {
    reason = "it threw an exception while it was loaded";
  }
  if (!is_loaded)
    throw failure(ErrorCode::kUnsupported, fmt::format("it cannot be loaded: {}", reason),
                  "Build it for this machine, with the libraries that it needs.");
  const auto* info = static_cast<const AssayExtensionInfo*>(library.symbol("assay_extension_info"));
  const auto add = reinterpret_cast<AssayRegister>(library.symbol("assay_extension_register"));  // NOLINT
  if (info == nullptr || add == nullptr)
    throw failure(ErrorCode::kUnsupported,
                  fmt::format("it does not export the symbol {}",
                              info == nullptr ? "assay_extension_info" : "assay_extension_register"),
                  "A module says ASSAY_EXTENSION once (assay/extension.h).");
  if (info->abi > ASSAY_EXTENSION_ABI)
    throw failure(ErrorCode::kUnsupported,
                  fmt::format("it was built for version {} of the interface, and assay {} has version {}",
                              info->abi, host().version, ASSAY_EXTENSION_ABI),
                  "Use a newer assay, or build the module with this one's headers.");
  const AssayExtensionInfo all = complete(info);
  if (all.abi == 0 || all.name == nullptr || all.version == nullptr)
    throw failure(ErrorCode::kUnsupported, "its assay_extension_info has no name, no version or no interface",
                  "A module says ASSAY_EXTENSION once (assay/extension.h).");
  extension->info_ = {.name = all.name,
                      .version = all.version,
                      .summary = all.summary != nullptr ? all.summary : "",
                      .path = full.string(),
                      .abi = all.abi};
  extension->crash_text_ = fmt::format("The extension '{}' ({})", all.name, full.string());
  const CrashMark named(extension->crash_text_, extension->crash_remedy_);
  Registrar registrar(*extension);
  try {
    extension->call("registered what it adds",
                    [&] { return add(&host(), &Registrar::table(), registrar.handle()); });
  } catch (Error& e) {
    e.set_remedy(extension->crash_remedy_, std::string(key_of(Say::kLeaveExtensionOut)));
    throw;
  }
  return extension;
}

}  // namespace assay::extension
