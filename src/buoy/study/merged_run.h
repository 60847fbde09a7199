#pragma once

#include <cstdint>
#include <filesystem>

#include "buoy/analysis/core/run.h"
#include "buoy/shard/parent_folder.h"

namespace buoy::study {

// Whether the parts of a run were joined: what one process leaves is in its folder.
bool is_merged(const std::filesystem::path& out, const shard::RunFacts& facts);

// Joins the parts of a run (shard/parent_folder.h) into what one process would have left, to the byte: a
// trace, a watched run with its tables and figures, an evaluation, or every part of a study but the report.
// What says that a run is whole (manifest.json, answers.jsonl) comes last, so that a join that is killed
// looks unfinished, and is done again. InputErrors name what is missing and what runs it, parts of other
// requests, parts that are there twice. Says what it did; content with a run that was joined.
void merge_run(const std::filesystem::path& out);

// Tables and figures of analyses, with a line on standard output; notes on what could not be drawn.
void write_analyses(const analysis::RunResult& result, const std::filesystem::path& out);

}  // namespace buoy::study
