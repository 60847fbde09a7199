#pragma once

#include <filesystem>
#include <random>
#include <string>
#include <string_view>

namespace buoy::testing {

// A whole trace of one sample as one text: manifest.json on the first line, behind it the bytes of the
// sample. What fuzzers mutate and keep.
struct PackedTrace {
  std::string manifest, sample;

  static PackedTrace unpack(std::string_view packed);
  std::string pack() const { return manifest + '\n' + sample; }
  // Writes it as a trace whose manifest has the right name, size and checksum of the file.
  void write(const std::filesystem::path& folder) const;
};

// A small trace with every array of the schema.
PackedTrace small_packed_trace(bool causal);

// The same run as a trace that keeps states of all analyses in place of what was observed.
PackedTrace small_packed_states(bool causal);

// Changes fields of one of its states, and makes the sum of the state right again.
void change_state(PackedTrace& trace, std::minstd_rand& random);

// Everything that computes from a trace: every analysis, every float of every array, the export. Checksums
// are not compared, so that changes reach the computations. An Error of one does not keep the others from
// running; InternalError is a bug and comes out.
void compute_everything(const std::filesystem::path& folder);

}  // namespace buoy::testing
