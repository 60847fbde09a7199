#pragma once

#include <filesystem>
#include <string>

#include "buoy/app/commands/file_kinds.h"

namespace buoy::app {

// What `buoy inspect` says of files that are not traces or model folders (file_kinds.cc lists all kinds).
// Each reads the file with the reader that the rest of Buoy uses, and throws its errors.

bool is_evaluation(const std::filesystem::path& folder);
bool holds_model(const std::filesystem::path& folder);
bool holds_ending(const std::filesystem::path& folder, const std::string& ending);
bool is_table(const Inspected& inspected);

void inspect_evaluation(const std::filesystem::path& folder, bool json);
void inspect_answers(const std::filesystem::path& file, bool json);
void inspect_table(const Inspected& inspected, bool json);
void inspect_weights(const std::filesystem::path& file, bool json);
void inspect_shard_index(const std::filesystem::path& file, bool json);
void inspect_config(const std::filesystem::path& file, bool json);
void inspect_tokenizer(const std::filesystem::path& file, bool json);
void inspect_passages(const std::filesystem::path& file, bool json);
void inspect_npz(const std::filesystem::path& file, bool json);
void inspect_study(const std::filesystem::path& file, bool json);
void inspect_prompt(const std::filesystem::path& file, bool json);
void inspect_questions(const std::filesystem::path& file, const InspectCall& call);

// A file that says nothing by itself: its folder does.
void inspect_part(const std::filesystem::path& file, const std::string& kind, bool json);
// A folder whose parts can be inspected one by one: their names.
void inspect_parts(const std::filesystem::path& folder, const std::string& kind, bool json);
std::string describe_folder(const std::filesystem::path& folder);  // "6 entries: a, b, ..."

}  // namespace buoy::app
