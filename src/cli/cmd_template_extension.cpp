// assay template extension: writes a module to start from, which builds and works unchanged.
#include <filesystem>
#include <regex>
#include <string_view>

#include "assay/error.h"
#include "base/atomic_file.h"
#include "base/log.h"
#include "cli/cmd_template_scripts.h"
#include "cli/options/logging.h"

namespace assay::cli::command_template_extension {
namespace {

namespace fs = std::filesystem;

/// @NAME@ is the module's name, @OPTION@ the same in options.
constexpr std::string_view kBuild = R"(cmake_minimum_required(VERSION 3.25)
project(@NAME@ LANGUAGES CXX)
find_package(assay REQUIRED)

# A module links with nothing of assay: the program that loads it hands it everything.
add_library(@NAME@ MODULE @NAME@.cpp)
target_link_libraries(@NAME@ PRIVATE assay::extension)
set_target_properties(@NAME@ PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET hidden)
)";

constexpr std::string_view kSource =
    R"module(// An extension module of assay.
//
//   cmake -S . -B build && cmake --build build
//   assay inspect extensions --extension build/@NAME@.so
//   assay run model.onnx --@OPTION@ --@OPTION@-factor 3 --ref --extension build/@NAME@.so
//
// Copy build/@NAME@.so to ~/.local/share/assay/extensions, and every command loads it.
#include <assay/extension.h>

#include <cmath>

namespace ext = assay::ext;

namespace {

// An operator: what it is, what it gives, how far rounding may move that. The reference, constant
// folding and, as long as there is no tactic for it, the engine evaluate it here, in float64.
class Scale : public ext::Operator {
 public:
  const char* domain() const override { return "com.example.@NAME@"; }
  const char* name() const override { return "Scale"; }
  const char* schema() const override {
    return "in X: T\n"
           "out Y: T\n"
           "attr factor: float = 1.0\n"
           "type T: float16 float double";
  }
  void infer(ext::InferContext& c) override { c.set_output(0, c.input_dtype(0), c.input_dims(0)); }
  void eval(ext::EvalContext& c) override {
    const ext::Tensor x = c.input(0);
    const double factor = *c.node().number("factor");
    auto* y = static_cast<double*>(c.outputs().give(0, ext::kFloat64, x.dims()));
    for (int64_t i = 0; i < x.size(); ++i) y[i] = factor * x.data<double>()[i];
  }
  int32_t error() const override { return ASSAY_ELEMENTWISE; }  // one rounding
};

// A loader: changes the model before any runner gets it, if its option is given.
class AppendScale : public ext::Loader {
 public:
  const char* name() const override { return "@NAME@"; }
  const char* summary() const override { return "Put com.example.@NAME@.Scale behind the first output"; }
  const char* option() const override { return "--@OPTION@"; }
  void apply(ext::Model& model, const ext::Args& args) override {
    ext::Graph graph = model.graph();
    const ext::Value output = graph.outputs().front();
    ext::Value scaled = graph.add_value(output.name() + "_scaled");
    scaled.set_type(output.dtype(), output.dims());
    graph.add_node("Scale", {output}, {scaled}, "scale", "com.example.@NAME@")
        .set("factor", args.number("--@OPTION@-factor").value_or(2.0));
    model.set_opset("com.example.@NAME@", 1);
    graph.set_outputs({scaled});
  }
};

// Options of `assay run`, shown in its --help.
class Options : public ext::OptionGroup {
 public:
  const char* title() const override { return "@NAME@"; }
  std::vector<ext::Option> options() const override {
    return {{.names = "--@OPTION@-factor",
             .help = "What --@OPTION@ multiplies by; default: 2.",
             .kind = ASSAY_NUMBER}};
  }
  void validate(const ext::Args& args) override {
    if (!std::isfinite(args.number("--@OPTION@-factor").value_or(1)))
      throw ext::Error("--@OPTION@-factor must be a finite number");
  }
};

// There is more to derive from in assay/extension.h: Runner and Session, Pass, Tactic and Plugin,
// Postprocess, Comparison, Command.

}  // namespace

ASSAY_EXTENSION("@NAME@", "0.1", "Says what it is for", [](ext::Registry& r) {
  r.add<Scale>();
  r.add<AppendScale>();
  r.add<Options>();
})
)module";

void add_options(ArgParser& parser) {
  add_logging_options(parser);
  parser.add_group("Extension").options = {
      {.names = {"name"}, .help = "The module's name: small letters, digits and '_'.", .metavar = "NAME"},
      {.names = {"-o", "--output"},
       .help = "The folder to write; default: NAME. It must not exist.",
       .metavar = "FOLDER"},
  };
}

std::string fill(std::string_view text, const std::string& name) {
  const std::string option = std::regex_replace(name, std::regex("_"), "-");
  return std::regex_replace(std::regex_replace(std::string(text), std::regex("@NAME@"), name),
                            std::regex("@OPTION@"), option);
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  const std::string name = args.text("name").value();
  require(std::regex_match(name, std::regex("[a-z][a-z0-9_]*")), ErrorCode::kInvalidArgument,
          "'{}' is no name for a module: it needs a small letter and then small letters, digits and '_'",
          name);
  const fs::path folder = args.text("-o").value_or(name);
  std::error_code failed;
  fs::create_directories(folder.has_parent_path() ? folder.parent_path() : ".", failed);
  require(!fs::exists(folder), ErrorCode::kInvalidArgument, "{} exists already. Name another folder with -o",
          folder.string());
  require(fs::create_directory(folder, failed), ErrorCode::kIo, "cannot make the folder {}: {}",
          folder.string(), failed.message());
  for (const auto& [file, text] :
       {std::pair(std::string("CMakeLists.txt"), kBuild), std::pair(name + ".cpp", kSource)}) {
    AtomicFile out((folder / file).string());
    out.write(fill(text, name));
    out.commit();
  }
  log::info("Writing extension module to: {}", folder.string());
  return 0;
}

}  // namespace

extern constinit const Command def;
constinit const Command def = {
    .name = "extension",
    .summary = "Generate an extension module.",
    .description =
        "Writes a folder with the source of an extension module, which builds and works as it is "
        "(docs/guide/extensions.md).",
    .add_options = add_options,
    .run = run,
};

}  // namespace assay::cli::command_template_extension
