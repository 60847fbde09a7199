#pragma once

#include <stdexcept>
#include <string>

namespace buoy::text::jinja {

// Why a template is not read or rendered any further. Whoever knows the file and the line turns it into an
// InputError.
class Refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Something Buoy does not know, by its name: "filter from_json".
[[noreturn]] inline void refuse_unknown(const std::string& construct) {
  throw Refusal(construct + ", which Buoy does not know");
}

}  // namespace buoy::text::jinja
