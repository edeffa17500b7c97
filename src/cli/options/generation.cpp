#include "cli/options/generation.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/session_info.h"
#include "base/log.h"
#include "base/python_repr.h"
#include "generate/prompts.h"

namespace assay::cli {
namespace {

std::vector<generate::Tokens> read_prompts(const ParsedArgs& args) {
  std::vector<generate::Tokens> prompts;
  for (const std::vector<std::string>& words : args.all("--prompt-ids"))
    prompts.push_back(generate::parse_tokens(words.front(), "--prompt-ids"));
  if (const auto path = args.text("--tokens"))
    for (generate::Tokens& tokens : generate::load_token_file(*path)) prompts.push_back(std::move(tokens));
  if (prompts.empty())
    log::critical(
        ErrorCode::kInvalidArgument,
        "There is no prompt: give its tokens with --prompt-ids, or a file of prompts with --tokens.");
  return prompts;
}

}  // namespace

OptionGroup token_options() {
  return {
      .title = "Tokens",
      .description = "",
      .options = {
          {.names = {"--prompt-ids"},
           .help = "The tokens of a prompt, as in 1,2,3. May be repeated.",
           .metavar = "IDS"},
          {.names = {"--tokens"},
           .help = "A file of prompts: of text, one a line, or of NumPy (.npy), one a row, which ends with "
                   "its first negative number.",
           .metavar = "FILE"},
          {.names = {"--max-tokens"},
           .help = "How many tokens to generate for each prompt. Default: 32.",
           .metavar = "NUMBER",
           .kind = ValueKind::kInteger},
          {.names = {"--eos"},
           .help = "Tokens that end a sequence.",
           .arity = Arity::kAtLeastOne,
           .metavar = "ID",
           .kind = ValueKind::kInteger},
          {.names = {"--interface"},
           .help =
               "Inputs and outputs whose names do not tell what they are: tokens, mask, positions, segments, "
               "use-cache and logits, as in tokens=NAME, and cache=INPUT:OUTPUT for each cache.",
           .arity = Arity::kAtLeastOne,
           .metavar = "ROLE=NAME"},
      }};
}

bool has_token_options(const ParsedArgs& args) {
  const OptionGroup group = token_options();
  return std::any_of(group.options.begin(), group.options.end(),
                     [&](const Option& o) { return args.has(o.names.front()); });
}

generate::Options read_token_options(const ParsedArgs& args) {
  generate::Options options{.prompts = read_prompts(args),
                            .max_tokens = args.integer("--max-tokens").value_or(32)};
  for (const std::string& word : args.list("--eos").value_or(std::vector<std::string>{}))
    options.ends.push_back(std::stoll(word));
  options.names =
      generate::parse_interface_names(args.list("--interface").value_or(std::vector<std::string>{}));
  return options;
}

std::shared_ptr<Session> open_generating(const Backend& backend, const SessionOptions& options,
                                         ModelLoader& loader) {
  if (const std::string reason = backend.probe(options); !reason.empty())
    fail(ErrorCode::kUnsupported, "{} cannot be used: {}", backend_name(backend), reason);
  backend.announce(options);
  const ModelSource source = loader.load_for(backend);
  return with_context([&] { return file_place(loader.options().path); },
                      [&] { return std::shared_ptr<Session>(backend.open(source, options)); });
}

std::string interface_text(const generate::Interface& f) {
  std::string text = fmt::format("Tokens: {}, logits: {}", f.inputs[f.tokens].name, f.outputs[f.logits].name);
  const auto add = [&](std::string_view what, const std::optional<size_t>& input) {
    if (input) text += fmt::format(", {}: {}", what, f.inputs[*input].name);
  };
  add("mask", f.mask);
  add("positions", f.positions);
  add("segments", f.segments);
  add("use of the cache", f.use_cache);
  if (f.has_cache())
    text += fmt::format("\nA cache of {} tensor(s), {} to {}", f.caches.size(),
                        f.inputs[f.caches.front().input].name, f.inputs[f.caches.back().input].name);
  else
    text += "\nNo cache: each step is fed the whole sequence.";
  if (f.step_tokens) text += "\nPrompts are processed token by token: the model takes one a step.";
  return text;
}

std::string side_text(const generate::Side& side) {
  std::string text = fmt::format("{} chooses {}", side.name, side.token);
  if (side.best.size() == 2)
    text += fmt::format(": logits {} of {} and {} of {}, {} apart", format_g(side.best[0].logit, 8),
                        side.best[0].token, format_g(side.best[1].logit, 8), side.best[1].token,
                        format_g(side.best[0].logit - side.best[1].logit, 3));
  return text;
}

std::string explanation_text(const generate::Parting& p) {
  using enum generate::Explanation;
  const std::string exact =
      fmt::format("float64 gives {} and {}, and rounding explains {}: ", format_g(p.exact_first, 8),
                  format_g(p.exact_second, 8), format_g(p.explained, 3));
  const std::string errors = fmt::format(" (largest errors of logits: {} and {})", format_g(p.first.error, 3),
                                         format_g(p.second.error, 3));
  switch (p.explanation) {
    case kNotJudged:
      return "Not judged: " + p.reason;
    case kRounding:
      return exact + "rounding alone" + errors;
    case kFirstWrong:
      return exact + p.first.name + " is WRONG" + errors;
    case kSecondWrong:
      return exact + p.second.name + " is WRONG" + errors;
    case kBothWrong:
      return exact + "both are WRONG" + errors;
  }
  return {};
}

}  // namespace assay::cli
