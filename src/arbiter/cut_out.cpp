#include "arbiter/cut_out.h"
#include "base/wording.h"

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
  const std::string model = files.model.empty() ? "MODEL" : path_word(files.model);
  const std::string outputs = quoted((v.body.empty() ? v.output : v.enclosing) + ":auto");
  return inputs.empty() ? say(Say::kExtractSource, {model, outputs})
                        : say(Say::kExtractNode, {model, inputs, outputs});
}

std::string inputs_command(const ArbiterVerdict& v, const RunFiles& files) {
  if (v.inputs.empty() || (!v.body.empty() && v.enclosing.empty())) return {};
  if (v.from_feed && v.body.empty() && !files.inputs.empty())
    return say(Say::kNodeInputs, {path_word(files.inputs)});
  if (!v.from_feed && !files.inputs.empty() && !files.results.empty())
    return say(Say::kMergeNodeInputs, {path_word(files.inputs), path_word(files.results)});
  return say(v.from_feed && v.body.empty() ? Say::kSaveNodeInputs : Say::kSaveNodeResults);
}

}  // namespace assay
