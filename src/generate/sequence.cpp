#include "generate/sequence.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "tensor/convert.h"

namespace assay::generate {
namespace {

/// Numbers as an input has them: its type, and [n] or [1, n].
Tensor numbers_for(const TensorInfo& info, const std::vector<int64_t>& numbers) {
  const auto n = static_cast<int64_t>(numbers.size());
  const bool is_flat = info.type.has_shape() && info.type.dims->size() == 1;
  return convert(Tensor::from<int64_t>(is_flat ? Shape{n} : Shape{1, n}, numbers), info.type.dtype);
}

}  // namespace

TokenSequence::TokenSequence(std::shared_ptr<const Interface> interface) : interface_(std::move(interface)) {
  for (const CacheSlot& slot : interface_->caches) caches_.push_back(Tensor::zeros(slot.dtype, slot.empty));
}

std::optional<TokenSequence> TokenSequence::seen_by(std::shared_ptr<const Interface> other) const {
  TokenSequence seen(std::move(other));
  const std::vector<CacheSlot>&mine = interface_->caches, &others = seen.interface_->caches;
  const auto have_one_form = [](const CacheSlot& a, const CacheSlot& b) {
    return a.empty == b.empty && a.axis == b.axis;
  };
  if (!std::equal(mine.begin(), mine.end(), others.begin(), others.end(), have_one_form)) return std::nullopt;
  for (size_t i = 0; i < caches_.size(); ++i) seen.caches_[i] = convert(caches_[i], others[i].dtype);
  seen.tokens_ = tokens_;
  seen.cached_ = cached_;
  return seen;
}

std::vector<std::span<const int64_t>> TokenSequence::parts(std::span<const int64_t> prompt) const {
  std::vector<std::span<const int64_t>> parts;
  const size_t step = interface_->step_tokens ? static_cast<size_t>(*interface_->step_tokens)
                                              : std::max<size_t>(prompt.size(), 1);
  for (size_t i = 0; i < prompt.size(); i += step)
    parts.push_back(prompt.subspan(i, std::min(step, prompt.size() - i)));
  return parts;
}

void TokenSequence::check_tokens(std::span<const int64_t> added) const {
  for (size_t i = 0; i < added.size(); ++i) {
    const auto position = tokens_.size() + i;
    require(added[i] >= 0, ErrorCode::kInvalidArgument, "token {} at position {} is negative", added[i],
            position);
    require(!interface_->vocabulary || added[i] < *interface_->vocabulary, ErrorCode::kInvalidArgument,
            "token {} at position {} is outside of the model's vocabulary, whose {} tokens end at {}",
            added[i], position, interface_->vocabulary.value_or(0), interface_->vocabulary.value_or(0) - 1);
  }
}

std::vector<Tensor> TokenSequence::feed(std::span<const int64_t> added) const {
  check_tokens(added);
  const Interface& f = *interface_;
  std::vector<Tensor> inputs(f.inputs.size());
  std::vector<int64_t> tokens(added.begin(), added.end());
  int64_t first = static_cast<int64_t>(tokens_.size());
  if (!f.has_cache()) {
    tokens.insert(tokens.begin(), tokens_.begin(), tokens_.end());
    first = 0;
  }
  const auto set = [&](const std::optional<size_t>& input, const std::vector<int64_t>& numbers) {
    if (input) inputs[*input] = numbers_for(f.inputs[*input], numbers);
  };
  std::vector<int64_t> positions(tokens.size());
  std::iota(positions.begin(), positions.end(), first);
  set(f.tokens, tokens);
  set(f.mask, std::vector<int64_t>(tokens_.size() + added.size(), 1));
  set(f.positions, positions);
  set(f.segments, std::vector<int64_t>(tokens.size(), 0));
  if (f.use_cache)
    inputs[*f.use_cache] = convert(Tensor::from<int64_t>(Shape{1}, std::vector<int64_t>{cached_ > 0 ? 1 : 0}),
                                   f.inputs[*f.use_cache].type.dtype);
  for (size_t i = 0; i < f.caches.size(); ++i) inputs[f.caches[i].input] = caches_[i];
  return inputs;
}

TensorList TokenSequence::named_feed(std::span<const int64_t> added) const {
  TensorList list;
  std::vector<Tensor> inputs = feed(added);
  for (size_t i = 0; i < inputs.size(); ++i)
    list.push_back({interface_->inputs[i].name, std::move(inputs[i])});
  return list;
}

Tensor TokenSequence::last_row(const Tensor& logits) const {
  const std::string& name = interface_->outputs[interface_->logits].name;
  require(logits.defined() && !logits.is_container() && (logits.rank() == 2 || logits.rank() == 3) &&
              logits.numel() > 0,
          ErrorCode::kInvalidModel, "the logits '{}' are {}, not [1, tokens, vocabulary] or [1, vocabulary]",
          name, logits.defined() ? logits.shape().str() : "missing");
  const int64_t vocabulary = logits.dim(static_cast<size_t>(logits.rank()) - 1);
  const size_t bytes = logits.nbytes() / static_cast<size_t>(logits.numel() / vocabulary);
  Tensor row = Tensor::allocate(logits.dtype(), Shape{vocabulary});
  std::memcpy(row.mutable_data(), static_cast<const char*>(logits.data()) + logits.nbytes() - bytes, bytes);
  return row;
}

Tensor TokenSequence::take(std::span<const int64_t> added, std::vector<Tensor> outputs) {
  const Interface& f = *interface_;
  require(outputs.size() == f.outputs.size(), ErrorCode::kInternal, "{} outputs for a model of {}",
          outputs.size(), f.outputs.size());
  Tensor row = last_row(outputs[f.logits]);
  const auto expected = static_cast<int64_t>(tokens_.size() + added.size());
  for (size_t i = 0; i < f.caches.size(); ++i) {
    Tensor& cache = outputs[f.caches[i].output];
    const TensorInfo& info = f.outputs[f.caches[i].output];
    require(cache.defined() && cache.dtype() == f.caches[i].dtype &&
                cache.rank() == static_cast<int>(f.caches[i].empty.size()),
            ErrorCode::kInvalidModel, "the output '{}' is no cache for the input '{}'", info.name,
            f.inputs[f.caches[i].input].name);
    const int64_t length = cache.dim(f.caches[i].axis);
    require(length == expected, ErrorCode::kInvalidModel,
            "the output '{}' holds {} positions after {} tokens: it is not the whole cache", info.name,
            length, expected);
    caches_[i] = std::move(cache);
  }
  tokens_.insert(tokens_.end(), added.begin(), added.end());
  cached_ = f.has_cache() ? expected : 0;
  return row;
}

}  // namespace assay::generate
