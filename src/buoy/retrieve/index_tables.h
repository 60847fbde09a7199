#pragma once

#include <cstdint>
#include <string>

#include "buoy/retrieve/database.h"
#include "buoy/retrieve/description.h"

namespace buoy::retrieve {

// In the header of the file, where file(1) finds it: "Buoy".
inline constexpr std::int64_t kApplicationId = 0x42756F79;

void create_tables(Database& database, const std::string& tokenizer);
void write_description(Database& database, const Description& description);

// InputError, naming the file, unless it is an index of this version.
void check_version(const Database& database, const std::string& name);
Description read_description(const Database& database, const std::string& name);

}  // namespace buoy::retrieve
