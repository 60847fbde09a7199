#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace buoy::testing {

// A Hugging Face cache in the layout of huggingface_hub: blobs, refs, snapshots of links.
class FakeHubCache {
 public:
  explicit FakeHubCache(std::filesystem::path root) : root_(std::move(root)) {}

  std::filesystem::path repository(const std::string& folder_name) const { return root_ / folder_name; }

  // A snapshot with a link for every file of `source`.
  std::filesystem::path add(const std::string& folder_name, const std::string& commit,
                            const std::filesystem::path& source) const {
    namespace fs = std::filesystem;
    const fs::path blobs = root_ / folder_name / "blobs",
                   snapshot = root_ / folder_name / "snapshots" / commit;
    fs::create_directories(blobs);
    fs::create_directories(snapshot);
    for (const auto& entry : fs::directory_iterator(source)) {
      const std::string name = entry.path().filename().string();
      const std::string blob = commit + "-" + name;
      fs::copy_file(entry.path(), blobs / blob);
      fs::create_symlink(fs::path("../../blobs") / blob, snapshot / name);
    }
    return snapshot;
  }

  void point(const std::string& folder_name, const std::string& ref, const std::string& text) const {
    const auto file = root_ / folder_name / "refs" / ref;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

 private:
  std::filesystem::path root_;
};

// Sets a variable of the environment, or removes it, until the end of the test.
class Environment {
 public:
  Environment(std::string name, const std::optional<std::string>& value) : name_(std::move(name)) {
    if (const char* old = std::getenv(name_.c_str())) before_ = old;
    set(value);
  }
  ~Environment() { set(before_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  void set(const std::optional<std::string>& value) const {
    if (value) {
      ::setenv(name_.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }

  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace buoy::testing
