// 1,000 parts of 100 answers each are joined in seconds and little memory. Heavy.

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "fleet/fleet.h"

#include "buoy/base/file/files.h"

namespace buoy::testing {
namespace {

constexpr int kParts = 1000, kAnswers = 100;

// Two models asked 50,000 questions, dealt to the parts in turn, as an evaluation writes them.
void write_parts(const std::filesystem::path& out) {
  make_folder(out / "shards");
  const int questions = kParts * kAnswers / 2;
  const auto write = [](const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path) << text;
  };
  std::string ids, deal;
  for (int i = 0; i < questions; ++i) ids += fmt::format("{}\"q{}\"", i == 0 ? "" : ",", i);
  for (int i = 0; i < 2 * questions; ++i) deal += fmt::format("{}{}", i == 0 ? "" : ",", i % kParts);
  write(out / "shards/shards.json",
        fmt::format(
            R"({{"format":"buoy shards 1","kind":"eval","shards":{},"steal":false,"command":["buoy","eval"],)"
            R"("part_words":["--shard","%/1000"],"resamples":1000,"seed":0}})",
            kParts));
  write(out / "shards/deal.json", fmt::format(R"({{"format":"buoy deal 1","shard_of":[{}]}})", deal));
  write(
      out / "shards/plan.json",
      fmt::format(
          R"({{"format":"buoy evaluation plan 1","cells":[{{"model":"a","set":"s","condition":"c","first":0}},)"
          R"({{"model":"b","set":"s","condition":"c","first":{}}}],"ids":{{"s":[{}]}}}})",
          questions, ids));
  const std::string run =
      R"({"format":"buoy evaluation 1","models":{"a":{"family":"llama","masked_diffusion":false},)"
      R"("b":{"family":"llada","masked_diffusion":true}},"data":{"s":{"items":50000,"sha256":""}},)"
      R"("conditions":[{"name":"c"}]})";
  write(out / "run.json", run);
  const std::string prompt(800, 'p');
  for (int part = 0; part < kParts; ++part) {
    const auto folder = out / fmt::format("shards/{:04}-of-{:04}", part, kParts);
    make_folder(folder);
    write(folder / "run.json", run);
    write(folder / "part.json",
          fmt::format(R"({{"format":"buoy part 1","shard":{},"of":{},"steal":false}})", part, kParts));
    std::ofstream answers(folder / "answers.jsonl");
    for (int n = part; n < 2 * questions; n += kParts) {
      const int right = n % 3 == 0 ? 1 : 0;
      answers
          << fmt::format(
                 R"({{"model":"{}","set":"s","condition":"c","id":"q{}","question":"Who?","golds":["x"],"prompt":"{}",)"
                 R"("answer":"{}","ended":true,"tokens":3,"prompt_tokens":200,"passages":3,"cut_passages":0,"ids_without_text":0,"gold_positions":[1],"labels":{{}},)"
                 R"("scores":{{"exact_match":{},"substring":{},"substring_words":{},"f1":{},"words":1}}}})",
                 n < questions ? "a" : "b", n % questions, prompt, right ? "x" : "y", right, right, right,
                 right)
          << '\n';
    }
  }
}

TEST(MergeSpeed, AThousandPartsOfAHundredAnswers) {
  const TempFolder scratch;
  write_parts(scratch / "run");
  const auto used = [] {
    rusage usage{};
    ::getrusage(RUSAGE_CHILDREN, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  };
  double load = 0;
  ASSERT_EQ(::getloadavg(&load, 1), 1);
  const double crowd = std::max(1.0, load / std::thread::hardware_concurrency());
  const double before = used();
  const auto began = std::chrono::steady_clock::now();
  const auto merged = run_buoy({"merge", (scratch / "run").string()});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  ASSERT_EQ(merged.exit_code, 0) << merged.err;
  EXPECT_NE(merged.out.find("100000 of 100000 answered"), std::string::npos) << merged.out;
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  fmt::print("joined in {:.1f} s, {:.1f} s of processors, {} MB\n", seconds, used() - before,
             usage.ru_maxrss / 1024);
  EXPECT_LT(usage.ru_maxrss / 1024, 500);
  EXPECT_LT(used() - before, 10) << "seconds of processors";
  // Of the clock on a quiet machine; where others wait for its cores as well, as much longer as they wait.
  EXPECT_LT(seconds, 10 * crowd);
}

}  // namespace
}  // namespace buoy::testing
