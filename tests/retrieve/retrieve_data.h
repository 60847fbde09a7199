#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "buoy/retrieve/build_index.h"
#include "buoy/retrieve/index.h"
#include "support/temp_folder.h"

namespace buoy::retrieve {

inline std::filesystem::path data_file(const std::string& name) {
  return std::filesystem::path(BUOY_TEST_DATA) / "retrieve" / name;
}

struct TestDocument {
  std::string id, title, text;
};

// JSON Lines, for texts that need no escapes.
inline std::filesystem::path write_documents(const testing::TempFolder& folder, const std::string& name,
                                             const std::vector<TestDocument>& documents) {
  std::string lines;
  for (const auto& document : documents) {
    lines += R"({"id": ")" + document.id + R"(", "title": ")" + document.title + R"(", "text": ")" +
             document.text + "\"}\n";
  }
  return folder.write(name, lines);
}

inline Index index_of(const testing::TempFolder& folder, const std::vector<TestDocument>& documents,
                      const BuildOptions& options = {}) {
  const auto file = write_documents(folder, "documents.jsonl", documents);
  build_index({file}, folder / "test.db", options);
  return Index::open(folder / "test.db");
}

inline std::vector<std::string> documents_of(const std::vector<Hit>& hits) {
  std::vector<std::string> documents;
  for (const auto& hit : hits) documents.push_back(hit.document);
  return documents;
}

}  // namespace buoy::retrieve
