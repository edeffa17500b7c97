#include "generate/interface.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

namespace assay::generate {
namespace {

struct RoleDef {
  Role role;
  std::string_view name;
  bool is_output;
  /// As exporters call it.
  std::vector<std::string_view> usual;
};

const std::array<RoleDef, 6>& role_defs() {
  static const std::array<RoleDef, 6> defs = {{
      {Role::kTokens, "tokens", false, {"input_ids", "decoder_input_ids"}},
      {Role::kMask, "mask", false, {"attention_mask"}},
      {Role::kPositions, "positions", false, {"position_ids", "cache_position"}},
      {Role::kSegments, "segments", false, {"token_type_ids"}},
      {Role::kUseCache, "use-cache", false, {"use_cache_branch"}},
      {Role::kLogits, "logits", true, {"logits", "lm_logits"}},
  }};
  return defs;
}

const RoleDef& def_of(Role role) {
  return *std::find_if(role_defs().begin(), role_defs().end(),
                       [&](const RoleDef& d) { return d.role == role; });
}

/// How the names of what a cache is fed from follow from those of its inputs.
constexpr std::pair<std::string_view, std::string_view> kCacheNames[] = {
    {"past_key_values", "present"},
    {"past_key_values", "present_key_values"},
    {"past", "present"},
};

std::optional<size_t> find_name(const std::vector<TensorInfo>& infos, std::string_view name) {
  for (size_t i = 0; i < infos.size(); ++i)
    if (infos[i].name == name) return i;
  return std::nullopt;
}

std::string list_of(const std::vector<TensorInfo>& infos) {
  std::vector<std::string> texts;
  constexpr size_t kMost = 12;
  for (size_t i = 0; i < infos.size() && i < kMost; ++i)
    texts.push_back(fmt::format("{} {}", infos[i].name, infos[i].type.str()));
  if (infos.size() > kMost) texts.push_back(fmt::format("{} more", infos.size() - kMost));
  return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
}

template <typename... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorCode::kInvalidArgument, fmt::vformat(format, fmt::make_format_args(args...)))
      .set_remedy("Inputs and outputs of other names can be mapped to what they are.");
}

const Dim& dim_of(const TensorInfo& info, size_t axis) { return (*info.type.dims)[axis]; }

/// The rank; nothing where it is not known.
std::optional<size_t> rank_of(const TensorInfo& info) {
  return info.type.has_shape() ? std::optional(info.type.dims->size()) : std::nullopt;
}

class Finder {
 public:
  Finder(const std::vector<TensorInfo>& inputs, const std::vector<TensorInfo>& outputs,
         const InterfaceNames& names)
      : names_(names) {
    found_.inputs = inputs;
    found_.outputs = outputs;
  }

  Interface find() {
    find_caches_by_name();
    found_.tokens = find_tokens();
    found_.mask = find_role(Role::kMask);
    found_.positions = find_role(Role::kPositions);
    found_.segments = find_role(Role::kSegments);
    found_.use_cache = find_role(Role::kUseCache);
    find_logits();
    if (found_.caches.empty()) find_caches_by_shape();
    refuse_unknown_inputs();
    for (CacheSlot& slot : found_.caches) measure_cache(slot);
    check_tokens();
    check_ranks();
    return std::move(found_);
  }

 private:
  std::optional<std::string> given(Role role) const {
    for (const auto& [r, name] : names_.roles)
      if (r == role) return name;
    return std::nullopt;
  }

  /// Marks it as used.
  std::optional<size_t> find_role(Role role) {
    const RoleDef& def = def_of(role);
    const auto& infos = def.is_output ? found_.outputs : found_.inputs;
    std::set<size_t>& used = def.is_output ? used_outputs_ : used_inputs_;
    if (const auto name = given(role)) {
      const auto i = find_name(infos, *name);
      if (!i)
        refuse("the model has no {} '{}', which the mapping names as its {}; it has {}",
               def.is_output ? "output" : "input", *name, def.name, list_of(infos));
      used.insert(*i);
      return i;
    }
    for (const std::string_view usual : def.usual)
      if (const auto i = find_name(infos, usual); i && used.insert(*i).second) return i;
    return std::nullopt;
  }

  void add_cache(size_t input, size_t output) {
    found_.caches.push_back({.input = input, .output = output, .empty = {}});
    used_inputs_.insert(input);
    used_outputs_.insert(output);
  }

  void find_caches_by_name() {
    for (const auto& [input, output] : names_.caches) {
      const auto i = find_name(found_.inputs, input), o = find_name(found_.outputs, output);
      if (!i) refuse("the model has no input '{}' for its cache; it has {}", input, list_of(found_.inputs));
      if (!o)
        refuse("the model has no output '{}' that the cache '{}' could be fed from; it has {}", output, input,
               list_of(found_.outputs));
      add_cache(*i, *o);
    }
    if (!names_.caches.empty()) return;
    for (size_t i = 0; i < found_.inputs.size(); ++i) {
      const std::string& name = found_.inputs[i].name;
      if (!name.starts_with("past")) continue;
      std::vector<std::string> tried;
      const auto output = output_for(name, tried);
      if (!output)
        refuse("the cache '{}' is fed from no output: looked for {}; the model has {}", name,
               fmt::join(tried, " and "), list_of(found_.outputs));
      add_cache(i, *output);
    }
  }

  std::optional<size_t> output_for(const std::string& input, std::vector<std::string>& tried) const {
    for (const auto& [past, present] : kCacheNames) {
      if (!input.starts_with(past)) continue;
      tried.push_back(std::string(present) + input.substr(past.size()));
      if (const auto o = find_name(found_.outputs, tried.back())) return o;
    }
    return std::nullopt;
  }

  /// Inputs and outputs that nothing else is, where they are as many and of the same form.
  void find_caches_by_shape() {
    std::vector<size_t> inputs, outputs;
    for (size_t i = 0; i < found_.inputs.size(); ++i)
      if (!used_inputs_.contains(i) && is_cache_like(found_.inputs[i])) inputs.push_back(i);
    for (size_t o = 0; o < found_.outputs.size(); ++o)
      if (!used_outputs_.contains(o) && is_cache_like(found_.outputs[o])) outputs.push_back(o);
    if (inputs.size() != outputs.size()) return;
    for (size_t k = 0; k < inputs.size(); ++k)
      if (!alike(found_.inputs[inputs[k]], found_.outputs[outputs[k]])) return;
    for (size_t k = 0; k < inputs.size(); ++k) add_cache(inputs[k], outputs[k]);
  }

  static bool is_cache_like(const TensorInfo& info) {
    const auto rank = rank_of(info);
    return rank && *rank >= 3 && !is_integer(info.type.dtype) && info.type.dtype != DType::kBool;
  }
  static bool alike(const TensorInfo& a, const TensorInfo& b) {
    if (a.type.dtype != b.type.dtype || rank_of(a) != rank_of(b)) return false;
    for (size_t d = 0; d < *rank_of(a); ++d)
      if (dim_of(a, d).is_known() && dim_of(b, d).is_known() && dim_of(a, d).value() != dim_of(b, d).value())
        return false;
    return true;
  }

  /// The input of a usual name, or the only one that can be meant.
  size_t find_tokens() {
    if (const auto i = find_role(Role::kTokens)) return *i;
    std::vector<size_t> possible;
    std::set<std::string_view> others;
    for (const RoleDef& d : role_defs()) others.insert(d.usual.begin(), d.usual.end());
    for (size_t i = 0; i < found_.inputs.size(); ++i) {
      const TensorInfo& info = found_.inputs[i];
      if (is_integer(info.type.dtype) && rank_of(info) == 2 && !used_inputs_.contains(i) &&
          !others.contains(info.name) && !is_named(info.name))
        possible.push_back(i);
    }
    if (possible.size() == 1) {
      used_inputs_.insert(possible.front());
      return possible.front();
    }
    if (possible.empty())
      refuse(
          "the model takes no tokens, so it generates none: looked for an input input_ids or one of integers "
          "[1, tokens]; it has {}",
          list_of(found_.inputs));
    std::vector<std::string> names;
    for (const size_t i : possible) names.push_back(found_.inputs[i].name);
    refuse("any of the inputs {} may be the tokens, and none is called input_ids", fmt::join(names, ", "));
  }

  bool is_named(const std::string& name) const {
    return std::any_of(names_.roles.begin(), names_.roles.end(),
                       [&](const auto& r) { return r.second == name; });
  }

  void find_logits() {
    auto logits = find_role(Role::kLogits);
    if (!logits) {
      std::vector<size_t> possible;
      for (size_t o = 0; o < found_.outputs.size(); ++o) {
        const TensorInfo& info = found_.outputs[o];
        const auto rank = rank_of(info);
        if (is_float(info.type.dtype) && (rank == 2 || rank == 3) && !used_outputs_.contains(o))
          possible.push_back(o);
      }
      if (possible.size() != 1)
        refuse("the model has no output logits, and {} that could be them [1, tokens, vocabulary]; it has {}",
               possible.empty() ? "none" : "several", list_of(found_.outputs));
      logits = possible.front();
    }
    const TensorInfo& info = found_.outputs[*logits];
    if (!is_float(info.type.dtype))
      refuse("the logits '{}' are {}, not floating-point numbers", info.name, info.type.str());
    if (const auto rank = rank_of(info)) {
      if (*rank != 2 && *rank != 3)
        refuse("the logits '{}' are {}, not [1, tokens, vocabulary] or [1, vocabulary]", info.name,
               info.type.str());
      if (const Dim& last = dim_of(info, *rank - 1); last.is_known()) found_.vocabulary = last.value();
    }
    used_outputs_.insert(*logits);
    found_.logits = *logits;
  }

  void refuse_unknown_inputs() const {
    std::vector<std::string> left;
    for (size_t i = 0; i < found_.inputs.size(); ++i)
      if (!used_inputs_.contains(i)) left.push_back(found_.inputs[i].name);
    if (left.empty()) return;
    refuse(
        "nothing is known to feed the input{} {} with: looked for tokens (input_ids), attention_mask, "
        "position_ids, token_type_ids, use_cache_branch and caches (past... from present...)",
        left.size() == 1 ? "" : "s", fmt::join(left, ", "));
  }

  /// The axis of a cache that grows, and its shape before anything is in it.
  void measure_cache(CacheSlot& slot) const {
    const TensorInfo& info = found_.inputs[slot.input];
    slot.dtype = info.type.dtype;
    const auto rank = rank_of(info);
    if (!info.type.is_tensor() || !rank || (*rank != 3 && *rank != 4 && *rank != 5))
      refuse("the cache '{}' is {}, not a tensor of 3 to 5 dimensions", info.name, info.type.str());
    std::vector<size_t> open;
    for (size_t d = 0; d < *rank; ++d)
      if (!dim_of(info, d).is_known()) open.push_back(d);
    const Dim batch = batch_of_tokens();
    std::erase_if(open, [&](size_t d) { return dim_of(info, d).same_as(batch); });
    if (open.size() > 1) std::erase(open, *rank == 5 ? 1U : 0U);
    if (open.empty())
      refuse(
          "the cache '{}' is {}, of one length only: a cache that grows is exported with an open (dynamic) "
          "length",
          info.name, info.type.str());
    if (open.size() > 1)
      refuse("which extent of the cache '{}' is its length cannot be told: {} leaves several open", info.name,
             info.type.str());
    slot.axis = open.front();
    for (size_t d = 0; d < *rank; ++d)
      slot.empty.push_back(d == slot.axis ? 0 : dim_of(info, d).is_known() ? dim_of(info, d).value() : 1);
  }

  Dim batch_of_tokens() const {
    const TensorInfo& tokens = found_.inputs[found_.tokens];
    return rank_of(tokens) == 2 ? dim_of(tokens, 0) : Dim();
  }

  void check_tokens() {
    const TensorInfo& tokens = found_.inputs[found_.tokens];
    if (!is_integer(tokens.type.dtype))
      refuse("the tokens '{}' are {}, not integers", tokens.name, tokens.type.str());
    const auto rank = rank_of(tokens);
    if (rank && *rank != 2) refuse("the tokens '{}' are {}, not [1, tokens]", tokens.name, tokens.type.str());
    if (!rank) return;
    if (const Dim& batch = dim_of(tokens, 0); batch.is_known() && batch.value() != 1)
      refuse("the model takes batches of {} sequences alone, and generation runs one sequence at a time",
             batch.value());
    const Dim& length = dim_of(tokens, 1);
    if (!length.is_known()) return;
    if (!found_.has_cache() || length.value() < 1)
      refuse(
          "the model takes exactly {} tokens, so that no sequence can grow in it: export it with an open "
          "(dynamic) length",
          length.value());
    found_.step_tokens = length.value();
    if (length.value() != 1)
      refuse(
          "the model takes {} tokens a step, and a generated token is one: export it with an open (dynamic) "
          "length",
          length.value());
  }

  void check_ranks() const {
    const auto check = [&](const std::optional<size_t>& input, std::initializer_list<size_t> ranks,
                           std::string_view what, std::string_view form) {
      if (!input) return;
      const TensorInfo& info = found_.inputs[*input];
      const auto rank = rank_of(info);
      if (rank && std::find(ranks.begin(), ranks.end(), *rank) == ranks.end())
        refuse("the {} '{}' is {}, not {}", what, info.name, info.type.str(), form);
    };
    check(found_.mask, {2}, "mask", "[1, positions]");
    check(found_.positions, {1, 2}, "input of positions", "[1, tokens] or [tokens]");
    check(found_.segments, {2}, "input of segments", "[1, tokens]");
  }

  const InterfaceNames& names_;
  Interface found_;
  std::set<size_t> used_inputs_, used_outputs_;
};

}  // namespace

std::string_view role_name(Role role) { return def_of(role).name; }

Interface find_interface(const std::vector<TensorInfo>& inputs, const std::vector<TensorInfo>& outputs,
                         const InterfaceNames& names) {
  return Finder(inputs, outputs, names).find();
}

InterfaceNames parse_interface_names(const std::vector<std::string>& words) {
  InterfaceNames names;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    const std::string left = word.substr(0, equals);
    const std::string right = equals == std::string::npos ? "" : word.substr(equals + 1);
    require(!right.empty(), ErrorCode::kInvalidArgument, "'{}' maps nothing: ROLE=NAME is expected", word);
    if (left == "cache") {
      const size_t colon = right.rfind(':');
      require(colon != std::string::npos && colon > 0 && colon + 1 < right.size(),
              ErrorCode::kInvalidArgument, "'{}' is not cache=INPUT:OUTPUT", word);
      names.caches.emplace_back(right.substr(0, colon), right.substr(colon + 1));
      continue;
    }
    const auto def = std::find_if(role_defs().begin(), role_defs().end(),
                                  [&](const RoleDef& d) { return d.name == left; });
    std::vector<std::string_view> known;
    for (const RoleDef& d : role_defs()) known.push_back(d.name);
    require(def != role_defs().end(), ErrorCode::kInvalidArgument,
            "there is no role '{}': there are {} and cache", left, fmt::join(known, ", "));
    names.roles.emplace_back(def->role, right);
  }
  return names;
}

}  // namespace assay::generate
