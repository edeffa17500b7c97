// assay generate: tokens that a language model generates, on one backend or several.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/log.h"
#include "base/python_repr.h"
#include "cli/command.h"
#include "cli/options/layers.h"
#include "cli/options/logging.h"
#include "cli/options/onnx_model.h"
#include "cli/options/runners.h"
#include "cli/registries.h"
#include "cli/run_settings.h"
#include "generate/generate.h"
#include "poly/run_parts.h"

namespace assay::cli::command_generate {
namespace {

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

OptionGroup choice_options() {
  return {
      .title = "Choice of tokens",
      .description = "Without these options the most likely token follows.",
      .options = {
          {.names = {"--temperature"},
           .help =
               "Draw tokens, with their logits divided by this number. Default with the options below: 1.",
           .metavar = "NUMBER",
           .kind = ValueKind::kNumber},
          {.names = {"--top-k"},
           .help = "Draw among this many most likely tokens.",
           .metavar = "NUMBER",
           .kind = ValueKind::kInteger},
          {.names = {"--top-p"},
           .help = "Draw among the most likely tokens whose probabilities add up to this number.",
           .metavar = "NUMBER",
           .kind = ValueKind::kNumber},
          {.names = {"--seed"},
           .help = "Of the random numbers: every backend and prompt draws the same ones. Default: 1.",
           .metavar = "NUMBER",
           .kind = ValueKind::kInteger},
      }};
}

void add_options(ArgParser& parser, const Registries& registries) {
  add_logging_options(parser);
  add_runner_options(parser, registries.backends);
  add_onnx_model_option(parser);
  add_onnx_load_options(parser, /*can_change_outputs=*/false);
  parser.add_group(token_options().title).options = token_options().options;
  OptionGroup& choice = parser.add_group(choice_options().title, choice_options().description);
  choice.options = choice_options().options;
  parser.add_group("Report").options = {
      {.names = {"--no-verdict"},
       .help = "Do not evaluate float64 where backends choose different tokens.",
       .arity = Arity::kNone},
      {.names = {"--save-tokens"},
       .help = "Save each prompt with what the first backend generated, in a form that --tokens reads.",
       .metavar = "FILE"},
      layer_json_option(),
  };
}

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

generate::Sampling read_sampling(const ParsedArgs& args) {
  generate::Sampling sampling;
  const bool draws = args.has("--temperature") || args.has("--top-k") || args.has("--top-p");
  if (!draws) {
    if (args.has("--seed"))
      log::critical(
          ErrorCode::kInvalidArgument,
          "--seed has no effect where the most likely token follows: --temperature, --top-k or --top-p "
          "have tokens drawn.");
    return sampling;
  }
  sampling.temperature = args.number("--temperature").value_or(1);
  sampling.top_k = args.integer("--top-k").value_or(0);
  sampling.top_p = args.number("--top-p").value_or(1);
  const int64_t seed = args.integer("--seed").value_or(1);
  if (seed < 0 || seed > UINT32_MAX)
    log::critical(ErrorCode::kInvalidArgument, "--seed: {} is not a number from 0 to {}.", seed, UINT32_MAX);
  sampling.seed = static_cast<uint32_t>(seed);
  return sampling;
}

generate::Options read_generation(const ParsedArgs& args) {
  generate::Options options{.prompts = read_prompts(args),
                            .max_tokens = args.integer("--max-tokens").value_or(32),
                            .sampling = read_sampling(args)};
  for (const std::string& word : args.list("--eos").value_or(std::vector<std::string>{}))
    options.ends.push_back(std::stoll(word));
  options.names =
      generate::parse_interface_names(args.list("--interface").value_or(std::vector<std::string>{}));
  return options;
}

struct Backends {
  std::vector<RunnerChoice> choices;
  SessionOptions session;
};

Backends read_backends(const CommandContext& context) {
  const Registries& registries = context.registries();
  poly::RunSettings settings;
  read_session_settings(context.args(), settings);
  Backends backends{.session = settings.session};
  registries.give_to(backends.session);
  const EngineBuildOptions building = poly::engine_building({}, {});
  poly::set_engine(building, backends.session);
  std::vector<poly::RunRunner> runners =
      read_runners(context.args(), registries.backends, registries.plugins);
  if (runners.empty()) runners.push_back({.backend = "engine"});
  for (const poly::RunRunner& runner : runners)
    backends.choices.push_back(poly::runner_choice(runner, registries.backends, building));
  return backends;
}

/// Names of backends: those of their classes, numbered where one occurs again.
std::vector<std::string> names_of(const std::vector<RunnerChoice>& choices) {
  std::vector<std::string> names;
  for (const RunnerChoice& choice : choices) {
    const std::string name = choice.human_name;
    const auto count = std::count_if(names.begin(), names.end(), [&](const std::string& other) {
      return other == name || other.starts_with(name + " #");
    });
    names.push_back(count == 0 ? name : fmt::format("{} #{}", name, count + 1));
  }
  return names;
}

std::shared_ptr<Session> open_backend(const Backend& backend, const SessionOptions& options,
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

std::string result_text(const generate::BackendResult& r) {
  std::string text;
  for (size_t p = 0; p < r.sequences.size(); ++p) {
    std::vector<int64_t> tokens;
    for (const generate::GeneratedToken& t : r.sequences[p].tokens) tokens.push_back(t.token);
    text +=
        fmt::format("{}Prompt {} of {} token(s): {}{}\n", p == 0 ? "" : "", p, r.sequences[p].prompt.size(),
                    fmt::join(tokens, " "), r.sequences[p].ended ? " (ended)" : "");
  }
  text += fmt::format("First token after {} ms", format_g(r.first_token_seconds() * 1e3, 4));
  if (r.tokens_per_second() > 0)
    text += fmt::format(", then {} tokens a second, {} ms a step (median)",
                        format_g(r.tokens_per_second(), 4), format_g(r.median_step_seconds() * 1e3, 4));
  text += fmt::format("\nReady after {} ms, peak memory {} MB", format_g(r.open_seconds * 1e3, 4),
                      r.peak_bytes >> 20);
  if (r.counts_plans)
    text += fmt::format(
        "\nPlans built: {}, of them {} behind the first {} tokens of a sequence; {} of parts of it",
        r.plans(), r.late_plans(), generate::BackendResult::kSettled, r.part_plans());
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

void log_agreement(const generate::Agreement& a) {
  std::string text = fmt::format("{} against {}: {} equal token(s), the largest difference of logits {}",
                                 a.second, a.first, a.equal_tokens, format_g(a.largest_difference, 3));
  for (const generate::Parting& p : a.partings)
    text += fmt::format("\nPrompt {} parts at token {}.\n{}\n{}\n{}", p.prompt, p.index, side_text(p.first),
                        side_text(p.second), explanation_text(p));
  log::info("{}", text);
}

class Renderer final : public generate::Observer {
 public:
  void on_interface(const generate::Interface& f) override { log::info("{}", interface_text(f)); }
  void on_begin(const std::string& backend) override { log::info("Generating on {}", backend); }
  void on_token(const std::string& backend, size_t prompt, const generate::GeneratedToken& t) override {
    log::verbose("{}, prompt {}: {} after {} ms", backend, prompt, t.token, format_g(t.seconds * 1e3, 4));
  }
  void on_end(const generate::BackendResult& r) override { log::info("{}", result_text(r)); }
  void on_judge(const generate::Parting& p) override {
    log::info("Evaluating float64, to judge token {} of prompt {}", p.index, p.prompt);
  }
};

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  generate::Options options = read_generation(args);
  generate::check_sampling(options.sampling);
  const Backends backends = read_backends(context);
  const ModelOptions model{.path = read_onnx_model_path(args)};
  const ModelLoaderOptions loading = read_model_loader_options(args, model, context.registries().ops);
  context.announce();
  ModelLoader loader(loading);
  if (backends.choices.size() > 1 && !args.has("--no-verdict")) {
    const std::shared_ptr<Model> judged = loader.load_quietly();
    infer_known_shapes(*judged, /*report=*/false);
    options.model = judged;
  }
  std::vector<generate::Participant> participants;
  const std::vector<std::string> names = names_of(backends.choices);
  for (size_t i = 0; i < names.size(); ++i)
    participants.push_back(
        {names[i], [&, i] { return open_backend(*backends.choices[i].backend, backends.session, loader); }});
  Renderer renderer;
  const generate::Report report = generate::generate(options, participants, renderer);
  for (const generate::Agreement& a : report.agreements) log_agreement(a);
  if (const auto path = args.text("--save-tokens")) {
    std::vector<generate::Tokens> sequences;
    for (const generate::GeneratedSequence& s : report.backends.front().sequences)
      sequences.push_back(s.all());
    log::info("Saving tokens to {}", *path);
    generate::save_token_file(sequences, *path);
  }
  if (const auto path = args.text("--json"))
    save_text("what was generated", generate::report_json(report), *path);
  return report.all_right() ? 0 : 1;
}

}  // namespace

extern constinit const Command def;
constinit const Command def = {
    .name = "generate",
    .summary = "Generate tokens with a language model, on one backend or several.",
    .description =
        "Finds what the inputs and outputs of a language model are, processes the prompt in one step, then "
        "generates a "
        "token a step, feeding caches back. Tells tokens a second, the time to the first token, memory and "
        "the plans "
        "that were built. Several backends are compared: where they part first, what their logits are there, "
        "and which "
        "of them float64 confirms. The exit code is 1 if rounding does not explain that they part.",
    .add_options = add_options,
    .run = run,
    .traces = true,
};

}  // namespace assay::cli::command_generate
