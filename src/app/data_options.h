#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/options.h"
#include "evaluate/field_names.h"
#include "experiment/evaluation.h"

namespace buoy::app {

// --field question=NAME: what a field of the data is called where Buoy's guess is wrong.
std::shared_ptr<std::vector<std::string>> add_field_option(Command& command);
// UsageError for a field there is none of.
evaluate::FieldNames parse_fields(const std::vector<std::string>& fields);

// "NAME=PATH", or a path that is named after its file or folder; endings such as .jsonl.gz are left out.
experiment::Named parse_named(const std::string& text);

}  // namespace buoy::app
