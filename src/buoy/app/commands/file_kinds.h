#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "buoy/questions/data/field_names.h"

namespace buoy::app {

// A file or a folder that `buoy inspect` was given.
struct Inspected {
  std::filesystem::path path;
  bool folder = false;
  std::uintmax_t bytes = 0;  // of a file
  std::string head;          // its first bytes

  explicit Inspected(const std::filesystem::path& path);

  std::string name() const;                    // "manifest.json", of "a/b/" too
  bool named(std::string_view ending) const;   // its name ends so
  bool begins(std::string_view bytes) const;   // its contents begin so
  bool holds(const std::string& entry) const;  // of a folder: it has such an entry
  bool says(std::string_view text) const;      // its first bytes hold the text
};

struct InspectCall {
  bool json = false, check_weights = false;
  questions::FieldNames fields;  // of questions
};

// One row for each kind of file and folder that Buoy reads or writes; the first that fits is the one.
struct FileKind {
  const char* name;
  const char* sign;  // how it is recognised, for people
  bool (*fits)(const Inspected& inspected);
  void (*print)(const Inspected& inspected, const InspectCall& call);
};
std::span<const FileKind> file_kinds();

// One row for each kind that Buoy does not read: what it is, and what to do instead.
struct ForeignKind {
  const char* name;
  const char* advice;
  bool (*fits)(const Inspected& inspected);
};
std::span<const ForeignKind> foreign_kinds();

// Prints what the file or folder is. InputError for one that Buoy does not know, naming what it is where it
// can.
void inspect(const Inspected& inspected, const InspectCall& call);

// In command_inspect.cc: a folder with a model. Exits with an InputError when the model cannot run.
void inspect_model(const std::filesystem::path& folder, const InspectCall& call);

}  // namespace buoy::app
