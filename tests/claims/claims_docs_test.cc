// docs/analyses.md says by which numbers claims are judged; the code says it in the text of each test.
#include <gtest/gtest.h>

#include <regex>

#include "buoy/base/file/files.h"
#include "claims/claims_support.h"

namespace buoy::claims {
namespace {

// The last cell of the row of a claim: "| C4 | what | numbers |".
std::string numbers_in_docs(const std::string& page, const std::string& id) {
  const auto begin = page.find("\n| " + id + " |");
  if (begin == std::string::npos) return "";
  const auto row = page.substr(begin + 1, page.find('\n', begin + 1) - begin - 1);
  const auto end = row.rfind(" |"), last = row.rfind("| ", end - 1);
  return row.substr(last + 2, end - last - 2);
}

TEST(ClaimsInDocs, HaveTheNumbersThatTheyAreJudgedBy) {
  const auto page = read_file(std::filesystem::path(BUOY_TEST_DATA) / ".." / ".." / "docs" / "analyses.md");
  const std::regex number("[0-9]+(\\.[0-9]+)?");
  for (const auto& claim : judge_claims({}, {})) {
    const auto said = numbers_in_docs(page, claim.id);
    int found = 0;
    for (auto at = std::sregex_iterator(said.begin(), said.end(), number); at != std::sregex_iterator();
         ++at) {
      ++found;
      const std::regex alone("(^|[^0-9.])" + std::regex_replace(at->str(), std::regex("\\."), "\\.") +
                             "($|[^0-9.]|\\.($|[^0-9]))");
      EXPECT_TRUE(std::regex_search(claim.test, alone))
          << claim.id << ": docs/analyses.md says " << at->str() << ", which is not in\n"
          << claim.test;
    }
    EXPECT_GT(found, 0) << "docs/analyses.md has no row with the numbers of " << claim.id;
  }
}

}  // namespace
}  // namespace buoy::claims
