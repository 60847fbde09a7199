#include "buoy/run/run_folder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "buoy/base/error.h"
#include "buoy/base/file/json_file.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy::run {
namespace {

using testing::fails_with;
using testing::TempFolder;

const Json kAsked = {{"models", {{"llama-3.1", {{"sum", "a"}}}}}, {"seed", 1}};

TEST(RunFolder, SaysWhereTheRunInItIsAnother) {
  const TempFolder scratch;
  open_run_folder(scratch / "run", kAsked, false);
  EXPECT_NO_THROW(open_run_folder(scratch / "run", kAsked, true));
  Json other = kAsked;
  other["models"]["llama-3.1"]["sum"] = "b";
  EXPECT_TRUE(fails_with<InputError>([&] { open_run_folder(scratch / "run", other, true); },
                                     {"run.json: models.llama-3.1.sum", "\"a\" there, \"b\" now"}));
  other = kAsked;
  other["extra"] = 7;
  EXPECT_TRUE(fails_with<InputError>([&] { open_run_folder(scratch / "run", other, true); },
                                     {"run.json: extra", "null there, 7 now"}));
}

TEST(RunFolder, ADescriptionThatIsNoneIsNotTakenForTheSame) {
  const TempFolder scratch;
  for (const char* text : {"null", "[]", "5"}) {
    scratch.write("run.json", text);
    EXPECT_TRUE(fails_with<InputError>([&] { open_run_folder(scratch.path(), kAsked, true); },
                                       {"run.json", "the same as in this run", std::string(text) + " there"}))
        << text;
  }
}

// What a killed run leaves half written is no run and no obstacle.
TEST(RunFolder, APartialFileIsNoObstacle) {
  for (const bool resume : {true, false}) {
    const TempFolder scratch;
    scratch.write("run.json.partial.12345", "{");
    scratch.write("answers.partial.jsonl", "");
    EXPECT_NO_THROW(open_run_folder(scratch.path(), kAsked, resume));
    EXPECT_FALSE(std::filesystem::exists(scratch / "run.json.partial.12345"));
    EXPECT_TRUE(std::filesystem::exists(scratch / "run.json"));
  }
  const TempFolder other;
  other.write("notes.partial.txt", "");
  EXPECT_TRUE(fails_with<InputError>([&] { open_run_folder(other.path(), kAsked, true); },
                                     {"empty folder", "notes.partial.txt"}));
}

TEST(RunFolder, HasOneWriter) {
  const TempFolder scratch;
  const auto answers = open_run_folder(scratch / "run", kAsked, false);
  EXPECT_TRUE(fails_with<UsageError>([&] { open_run_folder(scratch / "run", kAsked, true); },
                                     {"a run that nobody is writing", "another run writing to it"}));
}

}  // namespace
}  // namespace buoy::run
