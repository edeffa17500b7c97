// Options of commands that let models generate: prompts, how many tokens, and what inputs are.
#pragma once

#include <memory>
#include <vector>

#include "assay/generate.h"
#include "cli/args.h"
#include "run/model_loader.h"

namespace assay::cli {

/// --prompt-ids, --tokens, --max-tokens, --eos, --interface.
OptionGroup token_options();
/// Whether the line has any of them.
bool has_token_options(const ParsedArgs& args);
/// Their values. Throws Error where there is no prompt.
generate::Options read_token_options(const ParsedArgs& args);

/// A session on the model that `loader` gives for the backend. Throws Error for one that cannot be used.
std::shared_ptr<Session> open_generating(const Backend& backend, const SessionOptions& options,
                                         ModelLoader& loader);

/// The roles of inputs and outputs, as lines.
std::string interface_text(const generate::Interface& interface);
/// The choice of one of two that part, with its logits.
std::string side_text(const generate::Side& side);
/// Which of the two is wrong.
std::string explanation_text(const generate::Parting& parting);

}  // namespace assay::cli
