#include "buoy/base/error.h"
#include "buoy/study/study.h"

namespace buoy::study {

bool can_read_studies() {
  return false;
}

StudyReading read_study_and_problems(const std::filesystem::path&) {
  throw UsageError("this build cannot read studies; install toml++ (libtomlplusplus-dev) and build again");
}

}  // namespace buoy::study
