#include "graph/at_node.h"
#include "base/wording.h"

#include <new>
#include <stdexcept>

namespace assay {

void rethrow_at_node(const std::string& label) {
  const ErrorPlace place = node_place(label);
  try {
    throw;
  } catch (Error& e) {
    e.add_context(place);
    throw;
  } catch (const std::bad_alloc&) {
    Error e(ErrorCode::kResource, "there is not enough memory for what the node asks for");
    throw set_remedy(e.add_context(place), Say::kMemoryLimit);
  } catch (const std::length_error&) {
    throw Error(ErrorCode::kInvalidModel, "the node asks for a list that is longer than any memory")
        .add_context(place);
  } catch (const std::exception& e) {
    throw Error(ErrorCode::kInternal, fmt::format("unexpected failure: {}", e.what())).add_context(place);
  }
}

}  // namespace assay
