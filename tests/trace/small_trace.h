#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "buoy/trace/manifest.h"
#include "buoy/trace/sample.h"
#include "buoy/trace/writer.h"

namespace buoy::testing {

// A run of `samples` samples named "sample-0", ...; nothing in it depends on the machine.
trace::Manifest small_manifest(int samples, trace::Storage storage = trace::Storage::kF32);

// Sample `number`, a little longer than the one before. received[i] = (i % 97) / 64 with i counting
// elements; python/tests/test_trace.py knows the same rule.
trace::Sample small_sample(int number);

// Writes what is still missing and finishes.
void write_rest(trace::TraceWriter& writer, const trace::Manifest& manifest);
void write_whole(const std::filesystem::path& folder, const trace::Manifest& manifest);

// Every file below a folder with its bytes, by relative path.
std::map<std::string, std::string> snapshot(const std::filesystem::path& folder);

// Names the first file that differs or is in one alone.
::testing::AssertionResult same_files(const std::map<std::string, std::string>& found,
                                      const std::map<std::string, std::string>& expected);

std::string slurp(const std::filesystem::path& path);
void spill(const std::filesystem::path& path, const std::string& bytes);
// Replaces the first `from` in a file, which must be there.
void edit(const std::filesystem::path& path, const std::string& from, const std::string& to);

}  // namespace buoy::testing
