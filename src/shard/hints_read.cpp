// Reads sharding hints, key by key: their order is
// free, and unknown keys are ignored, as in Polygraphy.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "assay/error.h"
#include "base/diagnostics.h"
#include "base/json_reader.h"
#include "base/wording.h"
#include "shard/hints.h"

namespace assay {
namespace {

class HintsReader {
 public:
  HintsReader(std::string_view text, const std::string& file) : json_(text, file) {}

  ShardHints read() {
    ShardHints hints;
    bool is_old = false;
    object(
        "ShardHints", "the file",
        {"parallelism", "attention_layers", "inputs", "outputs", "k_seq_len_idx", "v_seq_len_idx", "kv_rank"},
        [&](std::string_view key) { return top_level(key, hints, is_old); });
    json_.expect(JsonEvent::kEnd, "the end of the file");
    if (!is_old && !has_collectives_) missing("dist_collectives", "the file");
    if (is_old)
      diag::warning("{} has the form of Polygraphy 0.49. It is read as it is; {} form.", json_.name(),
                    say(Say::kNewerHints));
    return hints;
  }

 private:
  /// Reads the value of a key, or returns that the key is unknown.
  using Member = std::function<bool(std::string_view)>;

  void object(std::string_view class_name, std::string_view what, std::set<std::string> required,
              const Member& member) {
    json_.expect(JsonEvent::kBeginObject, what);
    while (json_.next_key()) {
      const std::string key(json_.string());
      required.erase(key);
      if (key == "polygraphy_class")
        check_class(class_name, what);
      else if (!member(key))
        json_.skip_value();
    }
    if (!required.empty()) missing(*required.begin(), what);
  }

  void check_class(std::string_view class_name, std::string_view what) {
    if (const std::string_view found = json_.expect_string("polygraphy_class"); found != class_name)
      json_.error(fmt::format("{} has the class {} instead of {}, so this is no file of sharding hints", what,
                              found, class_name));
  }

  [[noreturn]] void missing(std::string_view key, std::string_view what) {
    Error e(ErrorCode::kInvalidArgument, fmt::format("{}: {} has no field '{}'", json_.name(), what, key));
    set_remedy(e, Say::kWriteHints);
    throw e;
  }

  template <typename Element>
  void list(std::string_view what, const Element& element) {
    json_.expect(JsonEvent::kBeginArray, what);
    while (json_.next_element()) element();
  }

  bool is_null() {
    if (json_.peek() != JsonEvent::kNull) return false;
    json_.next();
    return true;
  }

  bool truth(std::string_view what) {
    const JsonEvent event = json_.next();
    if (event != JsonEvent::kTrue && event != JsonEvent::kFalse)
      json_.error(fmt::format("{} must be true or false", what));
    return event == JsonEvent::kTrue;
  }

  int64_t at_least(int64_t least, std::string_view what) {
    const int64_t number = json_.expect_int64(what);
    if (number < least) json_.error(fmt::format("{} is {}, but must be at least {}", what, number, least));
    return number;
  }

  std::optional<int64_t> optional_at_least(int64_t least, std::string_view what) {
    if (is_null()) return std::nullopt;
    return at_least(least, what);
  }

  std::optional<int64_t> rank(std::string_view what) {
    const std::optional<int64_t> number = optional_at_least(0, what);
    if (number > kMaxHintRank) json_.error(fmt::format("{} is {}, more than any tensor's", what, *number));
    return number;
  }

  std::vector<int64_t> numbers(std::string_view what) {
    std::vector<int64_t> out;
    list(what, [&] { out.push_back(at_least(0, what)); });
    return out;
  }

  std::optional<Permutation> permutation(std::string_view what) {
    if (is_null()) return std::nullopt;
    Permutation p = numbers(what), sorted = p;
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < sorted.size(); ++i)
      if (sorted[i] != static_cast<int64_t>(i))
        json_.error(fmt::format("{} is no permutation of the dimensions 0 to {}", what, sorted.size() - 1));
    return p;
  }

  std::string reduce_op() {
    std::string name(json_.expect_string("reduce_op"));
    if (std::find(kReduceOps.begin(), kReduceOps.end(), name) == kReduceOps.end())
      json_.error(fmt::format("reduce_op is '{}', but must be one of {}", name, fmt::join(kReduceOps, ", ")));
    return name;
  }

  Parallelism parallelism() {
    const std::string_view name = json_.expect_string("parallelism");
    if (name != "CP" && name != "TP")
      json_.error(fmt::format("parallelism is '{}', but must be CP or TP", name));
    return name == "CP" ? Parallelism::kContext : Parallelism::kTensor;
  }

  bool top_level(std::string_view key, ShardHints& hints, bool& is_old) {
    if (key == "parallelism")
      hints.parallelism = parallelism();
    else if (key == "attention_layers")
      list(key, [&] { hints.attention_layers.push_back(layer()); });
    else if (key == "inputs")
      list(key, [&] { hints.inputs.push_back(tensor("an input")); });
    else if (key == "outputs")
      list(key, [&] { hints.outputs.push_back(tensor("an output")); });
    else if (key == "k_seq_len_idx")
      hints.k_seq_len_idx = at_least(0, key);
    else if (key == "v_seq_len_idx")
      hints.v_seq_len_idx = at_least(0, key);
    else if (key == "kv_rank")
      hints.kv_rank = rank(key);
    else if (key == "dist_collectives")
      collectives(hints.dist_collectives);
    else if (key == "reduce_scatter_reduce_op")
      hints.dist_collectives.reduce_op = reduce_op(), is_old = true;
    else if (key == "group_size" || key == "root" || key == "groups")
      return is_old = true, collective(key, hints.dist_collectives);
    else
      return false;
    return true;
  }

  void collectives(CollectiveHint& c) {
    has_collectives_ = true;
    object("DistCollective", "dist_collectives", {},
           [&](std::string_view key) { return collective(key, c); });
  }

  bool collective(std::string_view key, CollectiveHint& c) {
    if (key == "group_size")
      c.group_size = optional_at_least(0, key).value_or(0);
    else if (key == "root")
      c.root = optional_at_least(-1, key).value_or(-1);
    else if (key == "nb_rank")
      c.nb_rank = optional_at_least(1, key).value_or(1);
    else if (key == "reduce_op")
      c.reduce_op = is_null() ? "max" : reduce_op();
    else if (key == "groups")
      c.groups = is_null() ? std::vector<int64_t>() : numbers(key);
    else
      return false;
    return true;
  }

  AttentionLayerHint layer() {
    AttentionLayerHint out;
    object("AttentionLayerHint", "an attention layer", {"q", "gather_kv", "gather_q"},
           [&](std::string_view key) {
             if (key == "q")
               out.q = json_.expect_string(key);
             else if (key == "gather_kv")
               out.gather_kv = truth(key);
             else if (key == "gather_q")
               out.gather_q = truth(key);
             else if (key == "replace")
               out.replace = is_null() ? std::nullopt : std::optional(fused());
             else
               return false;
             return true;
           });
    return out;
  }

  FusedAttention fused() {
    FusedAttention out;
    object("FusedAttention", "the replacement of an attention layer", {"is_causal"},
           [&](std::string_view key) {
             if (key == "is_causal")
               out.is_causal = truth(key);
             else if (key == "q_shuffle")
               out.q_shuffle = permutation(key);
             else if (key == "k_shuffle")
               out.k_shuffle = permutation(key);
             else if (key == "v_shuffle")
               out.v_shuffle = permutation(key);
             else if (key == "nb_rank")
               out.nb_rank = optional_at_least(1, key).value_or(1);
             else
               return false;
             return true;
           });
    return out;
  }

  ShardTensor tensor(std::string_view what) {
    ShardTensor out;
    object("ShardTensor", what, {"name", "seq_len_idx"}, [&](std::string_view key) {
      if (key == "name")
        out.name = json_.expect_string(key);
      else if (key == "seq_len_idx")
        out.seq_len_idx = at_least(0, key);
      else if (key == "rank")
        out.rank = rank(key);
      else
        return false;
      return true;
    });
    return out;
  }

  JsonReader json_;
  bool has_collectives_ = false;
};

}  // namespace

ShardHints parse_hints(std::string_view text, const std::string& file) {
  return HintsReader(text, file).read();
}

}  // namespace assay
