// GPT-2 small (Radford et al., "Language Models are Unsupervised Multitask Learners", 2019), named as in
// Hugging Face's GPT2LMHeadModel, with the key-value cache as inputs and outputs.
#pragma once

#include <memory>
#include <string>

#include "templates/model_template.h"

namespace assay {

enum class Gpt2Mode : uint8_t {
  kPrefill,  ///< a whole prompt; outputs the cache
  kDecode,   ///< one token and the cache of earlier ones; outputs the longer cache
};

/// Tokens of the prompt, and of the cache that a decoding step gets, unless they are symbolic.
inline constexpr int64_t kGpt2Prompt = 64;

std::shared_ptr<Model> build_gpt2(const TemplateOptions& options, std::string name, Gpt2Mode mode);

}  // namespace assay
