# python/buoy/trace.py reads the committed traces, and numpy what `buoy export` writes. Without a Python that has numpy
# both tests are listed as skipped, with what they need.
include(${PROJECT_SOURCE_DIR}/cmake/python_with_numpy.cmake)
buoy_find_python_with_numpy()

# buoy_numpy_test(<name> <script> arguments...)
function(buoy_numpy_test name)
  if(BUOY_PYTHON_WITH_NUMPY)
    add_test(NAME ${name} COMMAND ${BUOY_PYTHON_WITH_NUMPY} -B ${ARGN})
    return()
  endif()
  list(JOIN BUOY_PYTHON_TRIED ", " tried)
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "skipped: needs a Python with numpy (Debian: python3-numpy), or "
    "BUOY_PYTHON=/path/to/python3 when configuring; asked in vain: ${tried}")
  set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped: ")
endfunction()

buoy_numpy_test(python_trace_reader ${PROJECT_SOURCE_DIR}/python/tests/test_trace.py)
buoy_numpy_test(npz_export ${PROJECT_SOURCE_DIR}/tests/app/export_test.py ${BUOY_PROGRAM}
  ${PROJECT_SOURCE_DIR}/tests/data/goldens)
