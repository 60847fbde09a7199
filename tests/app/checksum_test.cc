// Whatever computes from a trace compares its checksums, unless it is told to trust the files.

#include <gtest/gtest.h>

#include "app/pair.h"
#include "app/program.h"
#include "buoy/base/file/files.h"
#include "buoy/trace/reader.h"
#include "support/temp_folder.h"

namespace buoy {
namespace {

using testing::run_buoy;
using testing::TempFolder;

class Checksums : public ::testing::Test {
 protected:
  Checksums() {
    testing::trace_pair(folder_,
                        {true, 2, 2, {"--observe", "received,qk,norms,dense-mean", "--layers", "0-2"}});
    const auto samples = trace::TraceReader::open(folder_).samples();
    second_ = folder_ / samples.at(1).file;
    // One bit in the middle of the data, which changes a number a little.
    std::string bytes = read_file(second_);
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    write_file_atomically(second_, bytes);
  }

  const TempFolder scratch_;
  const std::filesystem::path folder_ = scratch_ / "t";
  std::filesystem::path second_;
};

TEST_F(Checksums, OneFlippedBitIsComputedWithByNobody) {
  const std::string trace = folder_.string(), out = (scratch_ / "out").string();
  for (const auto& call :
       {std::vector<std::string>{"analyze", "floating", trace},
        std::vector<std::string>{"analyze", "qk", trace},
        std::vector<std::string>{"export", trace, "--out", out}, std::vector<std::string>{"inspect", trace},
        std::vector<std::string>{"inspect", second_.string()}}) {
    SCOPED_TRACE(call[0]);
    const auto run = run_buoy(call);
    EXPECT_EQ(run.exit_code, 3);
    const std::string said = run.out + run.err;
    EXPECT_NE(said.find(second_.filename().string()), std::string::npos) << said;
    EXPECT_NE(said.find("expected SHA-256"), std::string::npos) << said;
  }
}

TEST_F(Checksums, AReportLeavesADamagedTraceOutAndKeepsTheOthers) {
  testing::trace_pair(scratch_ / "whole", {true, 2, 2, {"--observe", "received"}});
  const auto run =
      run_buoy({"report", "damaged=" + folder_.string(), "whole=" + (scratch_ / "whole").string(), "--out",
                (scratch_ / "r").string(), "--replicates", "20"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string page = read_file(scratch_ / "r" / "report.html");
  EXPECT_NE(page.find("expected SHA-256"), std::string::npos);
  const std::string table = read_file(scratch_ / "r" / "tables" / "absorption_by_layer.csv");
  EXPECT_EQ(table.find("damaged"), std::string::npos);
  EXPECT_NE(table.find("whole"), std::string::npos);
}

TEST_F(Checksums, TrustSkipsThemAndTheReportSaysSo) {
  const auto analysed = run_buoy({"analyze", "floating", "--trust", "--replicates", "20", folder_.string()});
  EXPECT_EQ(analysed.exit_code, 0) << analysed.err;
  const auto run = run_buoy(
      {"report", "--trust", folder_.string(), "--out", (scratch_ / "r").string(), "--replicates", "20"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(read_file(scratch_ / "r" / "report.html").find("checksums not verified"), std::string::npos);
}

}  // namespace
}  // namespace buoy
