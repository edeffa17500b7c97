// The text of an exception for users.
#pragma once

#include <exception>
#include <new>

#include "base/memory_limit.h"

namespace assay {

/// Its own text, or a sentence in place of "std::bad_alloc". Lives as long as the exception.
inline const char* text_of(const std::exception& e) {
  return dynamic_cast<const std::bad_alloc*>(&e) != nullptr ? kOutOfMemory.data() : e.what();
}

}  // namespace assay
