// What --plan says of few processes is what they take: parts that run alone, one behind the other. Heavy.

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "buoy/base/file/files.h"
#include "fleet/fleet.h"
#include "support/golden.h"

namespace buoy::testing {
namespace {

class MeasuredPlan : public FleetTest {};

// "decoding 12.3 s" of what --timing says, or of a plan.
double seconds(const std::string& text, const std::string& what) {
  std::smatch found;
  if (!std::regex_search(text, found, std::regex(what + ":? ([0-9.]+) s"))) return -1;
  return std::stod(found[1].str());
}

TEST_F(MeasuredPlan, IsWhatPartsTake) {
  const auto models = std::filesystem::absolute(data_folder() / "../../models").lexically_normal().string();
  write_file_atomically(
      scratch_ / "small.toml",
      fmt::format(
          "title = \"p\"\nout = \"run\"\n[models]\nd = \"{0}/planted-diffusion\"\n[decoding]\nmax_new_tokens "
          "= "
          "12\n[prompt]\nwith_passages = \"{0}/planted.prompt\"\n[[data]]\nname = \"q\"\nworld = {{ version "
          "= 1, "
          "people = \"unknown\", count = 30, passages = 5, seed = 5 }}\n[[evaluate]]\nname = \"a\"\ndata = "
          "\"q\"\npassages = 5\n[[evaluate]]\nname = \"b\"\ndata = \"q\"\npassages = 5\nclosed_book = "
          "true\n[controls]\nuntrained = 0\n",
          models));
  const std::vector<std::string> study = {"study", "../small.toml", "--device", "cpu", "--threads",
                                          "1",     "--timing"};
  const auto one = run("one", study);
  const double loading = seconds(one.err, "loading"), decoding = seconds(one.err, "decoding");
  ASSERT_GT(decoding, 0) << one.err;
  for (const int count : {2, 3}) {
    double longest = 0;
    for (int part = 0; part < count; ++part) {
      const auto ran =
          run(fmt::format("parts-{}", count), study, {"--shard", fmt::format("{}/{}", part, count)});
      ASSERT_EQ(ran.exit_code, 0) << ran.err;
      longest = std::max(longest, seconds(ran.err, "decoding"));
    }
    const auto plan = run("one", study,
                          {"--plan", std::to_string(count), "--rates",
                           fmt::format("decoding={},loading={}", 1000 * decoding, 1000 * loading)});
    ASSERT_EQ(plan.exit_code, 0) << plan.err;
    // In thousandths: minutes and seconds of the plan.
    std::smatch found;
    ASSERT_TRUE(std::regex_search(plan.out, found,
                                  std::regex("decoding (?:(\\d+) h )?(?:(\\d+) min ?)?(?:(\\d+) s)?")))
        << plan.out;
    const auto number = [&](int group) { return found[group].matched ? std::stod(found[group].str()) : 0.0; };
    const double planned = (3600 * number(1) + 60 * number(2) + number(3)) / 1000;
    fmt::print("{} parts: planned {:.2f} s, the longest took {:.2f} s\n", count, planned, longest);
    // Other tests run beside this one.
    EXPECT_GT(longest, planned / 2);
    EXPECT_LT(longest, planned * 2);
  }
}

}  // namespace
}  // namespace buoy::testing
