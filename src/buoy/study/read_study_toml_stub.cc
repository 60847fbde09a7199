#include "buoy/base/error.h"
#include "buoy/study/published/published_values.h"
#include "buoy/study/study.h"

namespace buoy::study {

bool can_read_studies() {
  return false;
}

StudyReading read_study_and_problems(const std::filesystem::path&) {
  throw UsageError("this build cannot read studies; install toml++ (libtomlplusplus-dev) and build again");
}

std::vector<PublishedValue> read_published(const std::filesystem::path&, const std::vector<std::string>&) {
  throw UsageError("this build cannot read published values; install toml++ (libtomlplusplus-dev)");
}

}  // namespace buoy::study
