# ctest in the preset `python`: pytest over python/tests, the examples in docstrings, the types of the stubs. Without
# pytest they are listed as skipped, with what they need.
execute_process(COMMAND ${Python3_EXECUTABLE} -c "import pytest, pandas" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)

# buoy_pytest(<name> arguments...)
function(buoy_pytest name)
  if(failed EQUAL 0)
    add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} -B -m pytest -q -p no:cacheprovider ${ARGN}
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES TIMEOUT 600 ENVIRONMENT
      "BUOY_PACKAGE=${PROJECT_BINARY_DIR}/python;BUOY_PROGRAM=$<TARGET_FILE:buoy>;PYTHONPATH=${PROJECT_BINARY_DIR}/python")
  else()
    add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo
      "skipped: needs pytest and pandas of ${Python3_EXECUTABLE} (Debian: python3-pytest python3-pandas; tools/setup python)")
    set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped: ")
  endif()
  set_tests_properties(${name} PROPERTIES LABELS python)
endfunction()

file(GLOB test_files RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/tests/test_*.py)
foreach(file ${test_files})
  get_filename_component(name ${file} NAME_WE)
  buoy_pytest(python_${name} ${file})
endforeach()
buoy_pytest(python_docstrings --doctest-modules ${PROJECT_BINARY_DIR}/python/buoy --ignore=${PROJECT_SOURCE_DIR}/python/tests)

# An installation from nothing takes a build of its own.
add_test(NAME python_install COMMAND ${PROJECT_SOURCE_DIR}/python/tests/install_test ${Python3_EXECUTABLE})
set_tests_properties(python_install PROPERTIES LABELS "python;heavy" TIMEOUT 3600 SKIP_RETURN_CODE 77)

# The notebooks of examples/notebooks, each from its first cell to its last.
add_test(NAME python_notebooks COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/python/tests/notebooks_test)
set_tests_properties(python_notebooks PROPERTIES LABELS "python;heavy" TIMEOUT 900 SKIP_RETURN_CODE 77
  ENVIRONMENT "PYTHONPATH=${PROJECT_BINARY_DIR}/python")
