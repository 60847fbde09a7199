# Run at every build (cmake -P) with SOURCE, OUTPUT and VERSION: writes version.cc, only if it says something new.
# The commit is what git says of this folder; in a file of `git archive` what git wrote into cmake/archived_commit.
set(BUOY_VERSION ${VERSION})
set(BUOY_COMMIT "")

file(REAL_PATH ${SOURCE} SOURCE)
find_program(GIT git)
if(GIT)
  # Only this folder's own history: a copy of the files inside some other repository has none.
  execute_process(COMMAND ${GIT} rev-parse --show-toplevel WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(top STREQUAL SOURCE)
    execute_process(COMMAND ${GIT} describe --always --exclude=* --abbrev=12 --dirty=-modified
      WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE BUOY_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endif()
if(NOT BUOY_COMMIT)
  file(STRINGS ${SOURCE}/cmake/archived_commit archived REGEX "^[0-9a-f]+$")
  string(SUBSTRING "${archived}" 0 12 BUOY_COMMIT)
endif()
if(NOT BUOY_COMMIT)
  set(BUOY_COMMIT unknown)
endif()

configure_file(${SOURCE}/cmake/version.cc.in ${OUTPUT} @ONLY)
