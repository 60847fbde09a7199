#pragma once

#include <string>
#include <string_view>

namespace buoy::figure {

// Text that any page can hold, whatever a model wrote: newline as U+23CE, tab as U+21E5, other controls as
// their pictures (U+2400..), invisible and direction-changing characters and bytes that are no UTF-8 as
// U+FFFD.
std::string visible_text(std::string_view bytes);

// A token that stands alone, as on an axis. The one space with which words begin is left out; other spaces at
// the ends are drawn as U+2423.
std::string visible_token(std::string_view bytes);

// Bytes of the UTF-8 character that begins at `at`.
size_t character_size(std::string_view text, size_t at);

}  // namespace buoy::figure
