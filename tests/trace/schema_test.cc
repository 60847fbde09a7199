#include "buoy/trace/schema.h"

#include <gtest/gtest.h>

#include <set>

#include "trace/small_trace.h"

namespace buoy::trace {
namespace {

const std::filesystem::path kPage =
    std::filesystem::path(BUOY_TEST_DATA).parent_path().parent_path() / "docs/trace-format.md";

std::string bracketed(std::string_view shape) {
  std::string text = "[";
  for (const char letter : shape) text += letter == ' ' ? std::string(", ") : std::string(1, letter);
  return text + "]";
}

TEST(Schema, ThePageListsEveryArrayWithItsShapeAndUnit) {
  const std::string page = testing::slurp(kPage);
  for (const ArraySchema& schema : array_schema()) {
    const auto type = schema.element == Element::kFloat     ? "float"
                      : schema.element == Element::kInteger ? "I32"
                                                            : "U8";
    const std::string row = "| `" + std::string(schema.name) + "` | " + bracketed(schema.shape) + " | " +
                            type + " | " + std::string(schema.unit) + " | " + std::string(schema.meaning) +
                            " |";
    EXPECT_NE(page.find(row), std::string::npos) << "docs/trace-format.md lacks the row\n" << row;
  }
}

TEST(Schema, ThePageListsEveryText) {
  const std::string page = testing::slurp(kPage);
  for (const TextSchema& schema : text_schema()) {
    const std::string row = "| `" + std::string(schema.key) + "` | " + std::string(schema.form) + " | " +
                            std::string(schema.meaning) + " |";
    EXPECT_NE(page.find(row), std::string::npos) << "docs/trace-format.md lacks the row\n" << row;
  }
}

TEST(Schema, NamesAreUniqueAndFound) {
  std::set<std::string_view> names;
  for (const ArraySchema& schema : array_schema())
    EXPECT_TRUE(names.insert(schema.name).second) << schema.name;
  EXPECT_EQ(find_array(kReceived)->shape, "S L G H T");
  EXPECT_EQ(find_array(dense_name(31, 0))->shape, "H T T");
  EXPECT_EQ(find_array(queries_name(0, 7))->shape, "T H D");
  EXPECT_EQ(find_array(keys_name(0, 7))->name, "keys_step{s}_layer{l}");
  EXPECT_EQ(find_array(values_name(0, 7))->name, "values_step{s}_layer{l}");
  for (const char* name : {"", "dense", "dense_step_layer1", "dense_step1_layer", "dense_step1_layer1x",
                           "dense_step{s}_layer{l}", "received2", "eceived"}) {
    EXPECT_EQ(find_array(name), nullptr) << name;
  }
}

}  // namespace
}  // namespace buoy::trace
