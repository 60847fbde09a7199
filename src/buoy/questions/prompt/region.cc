#include "buoy/questions/prompt/region.h"

#include <fmt/format.h>

namespace buoy::questions {

std::string document_region(std::size_t number) {
  return fmt::format("document {}", number);
}

}  // namespace buoy::questions
