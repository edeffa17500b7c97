// Deep Speech 2 (Amodei et al., "Deep Speech 2: End-to-End Speech Recognition in English and Mandarin", 2016)
// as in deepspeech.pytorch (Naren, 2017): two convolutions over a spectrogram, five recurrent layers of 1024,
// CTC.
#pragma once

#include <memory>
#include <string>

#include "templates/model_template.h"

namespace assay {

enum class DeepSpeechCell : uint8_t {
  kBidirectionalLstm,  ///< both directions are added up
  kGru,                ///< one direction, and after the last layer a lookahead convolution of 20 steps
};

/// Two seconds of frames.
std::shared_ptr<Model> build_deep_speech_2(const TemplateOptions& options, std::string name,
                                           DeepSpeechCell cell);

}  // namespace assay
