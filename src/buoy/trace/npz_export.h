#pragma once

#include <filesystem>
#include <string>

#include "buoy/trace/stored_sample.h"

namespace buoy::trace {

// The name those scripts look for: "ID_attentions.npz".
std::string npz_file_name(const std::string& id);

// InputError naming the `observe` to add when a sample has no dense or dense_mean matrices.
void require_exportable(const StoredSample& sample);

// Writes one sample in the layout that the scripts of arXiv 2601.07894 read with numpy.load(...,
// allow_pickle=True); docs/trace-format.md lists the names. It must be exportable.
void export_npz(const StoredSample& sample, const std::filesystem::path& file);

}  // namespace buoy::trace
