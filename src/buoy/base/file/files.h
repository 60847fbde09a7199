#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace buoy {

// The whole file as bytes. Throws IoError; InputError when there is none or it is larger than `limit` bytes.
std::string read_file(const std::filesystem::path& path, std::uintmax_t limit = std::uintmax_t{1} << 30);

// Standard input to its end. InputError when it is larger than `limit` bytes.
std::string read_standard_input(std::uintmax_t limit = std::uintmax_t{1} << 30);

// Opens a file for reading and returns its descriptor. Only regular files: a pipe or a device may have no end
// and no size, or keep the program waiting. IoError, InputError.
int open_regular_file(const std::filesystem::path& path);

// For a file that is to be read and could not be opened: an InputError where there is none, else an IoError.
[[noreturn]] void throw_cannot_open(const std::string& path, int error_number);

// Whether there is anything at the path, and whether it is a folder. Throws IoError where the standard
// library would throw an error of its own: links that lead to themselves, names that are too long. A link to
// nothing is no absent file: InputError, as caches that were not filled have them.
bool path_exists(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);

// With its parents; content with one that exists. Throws IoError.
void make_folder(const std::filesystem::path& folder);

// Writes beside the target, syncs, then renames: readers see the old file or the whole new one.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace buoy
