#include <gtest/gtest.h>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/text/tokenizer/tokenizer.h"
#include "text/support.h"

namespace buoy::text {
namespace {

// Files that broke something once, and files made to. Each must load or be refused with an Error.
TEST(Abuse, EveryFileLoadsOrIsRefused) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(data_file("abuse"))) {
    SCOPED_TRACE(entry.path().filename().string());
    ++files;
    const std::string bytes = read_file(entry.path());
    try {
      const Tokenizer tokenizer = Tokenizer::from_json(bytes, entry.path().filename().string());
      const Encoding encoding = tokenizer.encode("The buoy's 1st mask, cafe\u0301 <|eot_id|>\r\n", true);
      tokenizer.decode(encoding.ids, true);
    } catch (const Error&) {
    }
    try {
      const Tokenizer tokenizer = tiny_tokenizer();
      EXPECT_FALSE(tokenizer.decode(tokenizer.encode(bytes, true).ids, false).empty());
    } catch (const Error&) {
    }
  }
  EXPECT_GT(files, 0U);
}

}  // namespace
}  // namespace buoy::text
