// The description of a command-line option, as data for the parser (cli/args.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace assay {

/// Number of words that an option or a positional takes.
enum class Arity : uint8_t {
  kNone,        ///< a flag
  kOne,         ///< exactly one
  kOptional,    ///< none or one
  kAny,         ///< as many as follow
  kAtLeastOne,  ///< as many as follow, and one at least
  kRemainder,   ///< all that follow, including options, for another program
};

/// The syntax of the words. A violation is a usage error.
enum class ValueKind : uint8_t { kText, kInteger, kNumber };

/// The parts of a model that words select, in the
/// language of selectors (docs/reference/selectors.md).
enum class Names : uint8_t {
  kNothing,
  kInputs,   ///< inputs: NAME, GLOB, re:REGEX
  kOutputs,  ///< outputs: these, and op:OPERATOR
  kTensors,  ///< tensors: everything the language has
  kNodes,    ///< nodes: the same
};

/// An option (names start with `-`) or a positional (one name without `-`).
struct Option {
  std::vector<std::string> names = {};  ///< every spelling; results are looked up by the first
  std::string help = {};                ///< one or two sentences; empty: not listed in --help
  Arity arity = Arity::kOne;
  std::string metavar = {};  ///< placeholder of the value in --help; empty: derived from the name
  ValueKind kind = ValueKind::kText;
  std::vector<std::string> choices = {};  ///< the values allowed; empty: any
  std::string exclusive = {};             ///< options with the same non-empty word here exclude each other
  bool required = false;                  ///< of options of a group that exclude each other: one of them
  bool ends_parsing = false;      ///< later words are ignored, and nothing else is required (--version)
  bool begins_remainder = false;  ///< the words after its own are those of a positional of kRemainder
  Names names_what = Names::kNothing;
  std::string refusal = {};  ///< not empty: the option is declared but unavailable, for this reason

  bool is_positional() const { return names.front().front() != '-'; }
  /// For messages: `--rtol/--rel-tol`.
  std::string label() const;
};

}  // namespace assay
