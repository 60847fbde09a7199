# How Buoy is built, tested without the program's own libraries.
add_test(NAME build_version COMMAND ${PROJECT_SOURCE_DIR}/tests/build/version_test ${PROJECT_SOURCE_DIR})
add_test(NAME build_python COMMAND ${PROJECT_SOURCE_DIR}/tests/build/python_test ${PROJECT_SOURCE_DIR})
