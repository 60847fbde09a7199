#pragma once

#include "buoy/study/checked_table_toml.h"
#include "buoy/study/study.h"

namespace buoy::study {

// Decoding options by their keys, of [decoding] or of a model.
Decoding read_decoding(CheckedTable& table);

// Models are NAME = "path", or tables [models.NAME] with `path` and decoding keys of their own. Where a path
// is a list of paths, these are networks of one arm.
std::vector<ModelEntry> read_models(const toml::table& models, const TomlSource& source);

}  // namespace buoy::study
