#include "ops/nn/einsum_equation.h"

#include <algorithm>
#include <map>
#include <string>

#include "assay/error.h"

namespace assay {
namespace {

[[noreturn]] void malformed(std::string_view text, const char* why) {
  fail(ErrorCode::kInvalidModel, "the equation '{}' {}", text, why);
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// A term's letters, with one kEllipsis for the ellipsis.
EinsumTerm read_term(std::string_view term, std::string_view text) {
  EinsumTerm labels;
  for (size_t i = 0; i < term.size(); ++i) {
    if (term[i] == ' ') continue;
    if (term.substr(i, 3) == "...") {
      if (std::find(labels.begin(), labels.end(), kEllipsis) != labels.end())
        malformed(text, "has two ellipses in one term");
      labels.push_back(kEllipsis);
      i += 2;
    } else if (is_letter(term[i])) {
      labels.push_back(term[i]);
    } else {
      malformed(text, "has a character that is neither a letter nor an ellipsis");
    }
  }
  return labels;
}

/// Puts `count` labels, the last of `most`, in place of the ellipsis.
void expand(EinsumTerm& term, int count, int most) {
  const auto at = std::find(term.begin(), term.end(), kEllipsis);
  if (at == term.end()) return;
  EinsumTerm dims;
  for (int i = most - count; i < most; ++i) dims.push_back(kEllipsis + i);
  term.insert(term.erase(at), dims.begin(), dims.end());
}

/// The labels that occur once in all inputs, ellipsis first, letters in ASCII order.
EinsumTerm implicit_output(const std::vector<EinsumTerm>& inputs, int ellipsis) {
  std::map<EinsumLabel, int> uses;
  for (const EinsumTerm& term : inputs)
    for (const EinsumLabel label : term) ++uses[label];
  EinsumTerm out;
  for (int i = 0; i < ellipsis; ++i) out.push_back(kEllipsis + i);
  for (const auto& [label, count] : uses)
    if (count == 1 && label < kEllipsis) out.push_back(label);
  return out;
}

void check_output(const EinsumEquation& e, std::string_view text) {
  for (const EinsumLabel label : e.output) {
    if (std::count(e.output.begin(), e.output.end(), label) > 1)
      malformed(text, "repeats an index of the output");
    const auto has = [&](const EinsumTerm& t) { return std::find(t.begin(), t.end(), label) != t.end(); };
    if (!std::any_of(e.inputs.begin(), e.inputs.end(), has))
      malformed(text, "has an output index that no input has");
  }
}

}  // namespace

bool has_ellipsis(std::string_view text) { return text.find("...") != std::string_view::npos; }

EinsumEquation parse_einsum(std::string_view text, const std::vector<int>& ranks) {
  EinsumEquation e;
  const size_t arrow = text.find("->");
  std::string_view left = text.substr(0, arrow);
  for (;;) {
    const size_t comma = left.find(',');
    e.inputs.push_back(read_term(left.substr(0, comma), text));
    if (comma == std::string_view::npos) break;
    left.remove_prefix(comma + 1);
  }
  require(e.inputs.size() == ranks.size(), ErrorCode::kInvalidModel,
          "the equation '{}' has {} terms for {} inputs", text, e.inputs.size(), ranks.size());
  std::vector<int> dims(ranks.size(), 0);  // that the ellipsis of each term stands for
  for (size_t i = 0; i < ranks.size(); ++i) {
    const bool open = std::find(e.inputs[i].begin(), e.inputs[i].end(), kEllipsis) != e.inputs[i].end();
    const int letters = static_cast<int>(e.inputs[i].size()) - (open ? 1 : 0);
    if (ranks[i] < 0) continue;
    require(open ? ranks[i] >= letters : ranks[i] == letters, ErrorCode::kInvalidModel,
            "term {} of the equation '{}' does not suit an input of {} dimensions", i, text, ranks[i]);
    dims[i] = ranks[i] - letters;
  }
  const int most = *std::max_element(dims.begin(), dims.end());
  for (size_t i = 0; i < ranks.size(); ++i) expand(e.inputs[i], dims[i], most);
  if (arrow == std::string_view::npos) {
    e.output = implicit_output(e.inputs, most);
  } else {
    e.output = read_term(text.substr(arrow + 2), text);
    expand(e.output, most, most);
  }
  check_output(e, text);
  return e;
}

}  // namespace assay
