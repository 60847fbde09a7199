#include "evaluate/region.h"

#include <fmt/format.h>

namespace buoy::evaluate {

std::string document_region(std::size_t number) {
  return fmt::format("document {}", number);
}

}  // namespace buoy::evaluate
