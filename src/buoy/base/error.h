#pragma once

#include <stdexcept>
#include <string>

namespace buoy {

// Everything Buoy throws on purpose. Libraries throw; only src/buoy/app turns these into exit codes.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A file, folder or text handed to Buoy does not hold what it must.
class InputError : public Error {
 public:
  using Error::Error;
};

// A request that makes no sense: options that contradict each other, ids out of range.
class UsageError : public Error {
 public:
  using Error::Error;
};

// The operating system refused: unreadable file, full disk, read-only folder.
class IoError : public Error {
 public:
  using Error::Error;
};

// A promise inside Buoy was broken: a bug, never the user's fault.
class InternalError : public Error {
 public:
  using Error::Error;
};

// What was wrong, in the one form all input errors share.
struct Mismatch {
  std::string where;     // file, then field: "model.safetensors: model.norm.weight"
  std::string expected;  // "shape [64]"
  std::string found;     // "shape [32]"
};

std::string describe(const Mismatch& mismatch);  // "where: expected ..., found ..."

[[noreturn]] void throw_input_error(const Mismatch& mismatch);
[[noreturn]] void throw_usage_error(const Mismatch& mismatch);
[[noreturn]] void throw_io_error(const std::string& action, const std::string& path, int error_number);

}  // namespace buoy

// Guards an internal promise; stays on in release builds.
#define BUOY_CHECK(condition)                                                              \
  do {                                                                                     \
    if (!(condition))                                                                      \
      throw ::buoy::InternalError(std::string(__FILE__) + ":" + std::to_string(__LINE__) + \
                                  ": broken promise: " #condition);                        \
  } while (false)
