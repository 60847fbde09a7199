#pragma once

#include <string>
#include <string_view>

#include "buoy/result/table.h"

namespace buoy::report {

std::string escape_html(std::string_view text);  // also safe inside quoted attributes

// A sentence, escaped, with the fields it names (base/field_name.h) in the type of code.
std::string prose_html(std::string_view text);

// The first rows of a table, with what each column means on hover. `file` is where all of it is.
std::string table_html(const Table& table, size_t most_rows, const std::string& file);

}  // namespace buoy::report
