#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace buoy::text {

// Vocabulary files spell bytes as printable characters (the GPT-2 table): bytes 33..126, 161..172 and
// 174..255 stand for themselves, the other 68, in increasing order, are U+0100, U+0101, and so on.
std::string spell_bytes(std::string_view bytes);

// The bytes a spelling stands for; nothing when it holds a character outside the table.
// The spelling must be well-formed UTF-8.
std::optional<std::string> bytes_of_spelling(std::string_view spelling);

}  // namespace buoy::text
