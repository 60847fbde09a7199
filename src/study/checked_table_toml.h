#pragma once

#include <optional>
#include <string>
#include <vector>

// Only the files that read TOML include this header, and through it toml++.
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

namespace buoy::study {

// One table of a TOML file whose keys are read by name and type. What was not read when it goes out of scope
// through finish() is unknown and refused. Errors are InputErrors that name file, line and key.
class CheckedTable {
 public:
  CheckedTable(const toml::table& table, std::string file, std::string name);

  std::optional<std::string> text(const std::string& key);
  std::optional<std::int64_t> integer(const std::string& key, std::int64_t least);
  std::optional<double> number(const std::string& key);
  std::optional<bool> boolean(const std::string& key);
  std::vector<std::string> texts(const std::string& key);  // a list, or one text
  const toml::table* table(const std::string& key);
  std::vector<const toml::table*> tables(const std::string& key);
  std::string required_text(const std::string& key);
  std::vector<std::string> keys() const;

  // Throws for the first key that nobody asked for.
  void finish() const;

  [[noreturn]] void fail(const std::string& key, const std::string& expected, const std::string& found) const;

  const std::string& file() const { return file_; }

 private:
  const toml::node* find(const std::string& key);
  const std::string& without_nul(const std::string& key, const std::string& text) const;
  std::string where(const std::string& key) const;

  const toml::table* table_;
  std::string file_, name_;
  std::vector<std::string> asked_;
};

}  // namespace buoy::study
