#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace buoy::analysis {

// What an analysis keeps of a sample, as bytes. One function lists the fields and serves both ways, so that
// what was written is what is read. Lengths of vectors are what the analysis made them, and not stored: a
// state cannot ask for more memory than its sample. What cannot be is refused with an InputError.
class StateArchive {
 public:
  StateArchive() = default;  // writes
  // Reads. `where` names the state in errors.
  StateArchive(std::span<const std::uint8_t> bytes, std::string where);

  // Counts what a state of this shape takes, about; otherwise it is a reader that leaves values as they are.
  static StateArchive measuring();
  std::uint64_t measured() const { return measured_; }

  bool reads() const { return reads_; }

  void flag(bool& value);
  void number(double& value);
  // The last field, which states of earlier programs lack: it then stays as it is.
  void last_number_if_there(double& value);
  void number(std::int64_t& value, std::int64_t least, std::int64_t most);
  template <typename Enum>
  void choice(Enum& value, std::int64_t count) {  // of 0 ... count - 1
    auto number = static_cast<std::int64_t>(value);
    this->number(number, 0, count - 1);
    value = static_cast<Enum>(number);
  }

  void numbers(std::vector<double>& values);
  void numbers(std::vector<float>& values);
  void singles(std::vector<double>& values);  // that were rounded to single precision
  // Whole numbers of at least 0: how often something was met.
  void counts(std::vector<double>& values);
  template <typename Integer>
  void integers(std::vector<Integer>& values, std::int64_t least, std::int64_t most) {
    std::vector<std::int64_t> wide(values.begin(), values.end());
    wide_integers(wide, least, most);
    if (reads_ && !measures_) std::transform(wide.begin(), wide.end(), values.begin(), narrow<Integer>);
  }

  // For the few vectors whose length the state itself decides.
  template <typename Value>
  void length(std::vector<Value>& values, std::int64_t most) {
    auto size = static_cast<std::int64_t>(values.size());
    number(size, 0, most);
    if (reads_ && !measures_) values.resize(static_cast<std::size_t>(size));
  }

  // Of a writer: the whole state.
  std::vector<std::uint8_t> bytes() const;
  // Of a reader, when all fields were read: nothing may be left.
  void end() const;

  [[noreturn]] void refuse(const std::string& expected, const std::string& found) const;

  // A state around these fields: for tests that make bad ones.
  static std::vector<std::uint8_t> sealed(std::span<const std::uint8_t> fields);

 private:
  template <typename Integer>
  static Integer narrow(std::int64_t value) {
    return static_cast<Integer>(value);
  }

  template <typename Number>
  void raw_numbers(std::vector<Number>& values);
  void wide_integers(std::vector<std::int64_t>& values, std::int64_t least, std::int64_t most);

  void put(std::uint64_t number);  // seven bits a byte
  std::uint64_t get();
  void put_raw(const void* from, std::size_t size);
  void get_raw(void* to, std::size_t size);

  bool reads_ = false, measures_ = false;
  std::uint64_t measured_ = 0;
  std::string where_;
  std::span<const std::uint8_t> rest_;  // of a reader
  std::vector<std::uint8_t> fields_;    // of a writer
};

}  // namespace buoy::analysis
