#pragma once

#include <memory>
#include <string>
#include <vector>

#include "buoy/app/options/options.h"
#include "buoy/questions/data/field_names.h"
#include "buoy/run/evaluation.h"

namespace buoy::app {

// --field question=NAME: what a field of the data is called where Buoy's guess is wrong.
std::shared_ptr<std::vector<std::string>> add_field_option(Command& command);
// UsageError for a field there is none of.
questions::FieldNames parse_fields(const std::vector<std::string>& fields);

}  // namespace buoy::app
