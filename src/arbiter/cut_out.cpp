#include "arbiter/cut_out.h"

#include <fmt/format.h>

namespace assay {
namespace {

/// A word that a shell takes as it is.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string path_word(const std::string& path) {
  const bool plain =
      path.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:,@") ==
      std::string::npos;
  return plain ? path : quoted(path);
}

}  // namespace

std::string extract_command(const ArbiterVerdict& v, const RunFiles& files) {
  if (!v.body.empty() && v.enclosing.empty()) return {};
  std::string inputs;
  for (const std::string& name : v.inputs) inputs += " " + quoted(name + ":auto:auto");
  return fmt::format("assay surgeon extract {}{}{} --outputs {} -o node.onnx",
                     files.model.empty() ? "MODEL" : path_word(files.model),
                     inputs.empty() ? "" : " --inputs", inputs,
                     quoted((v.body.empty() ? v.output : v.enclosing) + ":auto"));
}

std::string inputs_command(const ArbiterVerdict& v, const RunFiles& files) {
  if (v.inputs.empty() || (!v.body.empty() && v.enclosing.empty())) return {};
  if (v.from_feed && v.body.empty() && !files.inputs.empty())
    return "--load-inputs " + path_word(files.inputs);
  if (!v.from_feed && !files.inputs.empty() && !files.results.empty())
    return fmt::format("assay data merge {} {} -o node_inputs.json", path_word(files.inputs),
                       path_word(files.results));
  return v.from_feed && v.body.empty() ? "save them with --save-inputs inputs.json"
                                       : "save them with --onnx-outputs '*' --save-inputs inputs.json "
                                         "--save-outputs results.json, then assay data "
                                         "merge inputs.json results.json -o node_inputs.json";
}

}  // namespace assay
