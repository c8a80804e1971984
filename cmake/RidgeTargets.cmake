# What every Ridge target shares: C++20, warnings as errors, hidden symbols, position-independent code.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

set(RIDGE_SANITIZE OFF CACHE STRING "address: with AddressSanitizer and UndefinedBehaviorSanitizer; thread: with ThreadSanitizer")
if(RIDGE_SANITIZE STREQUAL thread)
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
  set(runtime libtsan.so)
elseif(RIDGE_SANITIZE)
  # Not enum: a C program may hand the runtime any number where an enumerator belongs, and gets an error.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=enum -fno-sanitize-recover=undefined
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
  set(runtime libasan.so)
endif()
if(RIDGE_SANITIZE)
  # A program that nvcc built knows nothing of sanitizers: their runtime has to be loaded before it.
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${runtime}
                  OUTPUT_VARIABLE RIDGE_SANITIZER OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()

# The last four: GCC 12 warns falsely about std::string where it is inlined (its bugs 105329 and 105651).
set(RIDGE_WARNINGS -Wall -Wextra -Werror -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)

# ridge_library(NAME source… DEPS target…): a static library whose includes start at src/.
function(ridge_library name)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_compile_options(${name} PRIVATE ${RIDGE_WARNINGS})
  target_link_libraries(${name} PUBLIC ${ARG_DEPS})
endfunction()

# ridge_precompile(NAME header…): parses these and the standard headers that most files include once for all files of the
# target. Give no headers of ours: an edit of one would rebuild the target. ridge_precompile(NAME FROM other) shares those
# of another target, which has to be compiled with the same options: GCC takes some of them, as the level of
# optimisation, from the precompiled header and not from the command line.
function(ridge_precompile name)
  cmake_parse_arguments(ARG "" "FROM" "" ${ARGN})
  if(ARG_FROM)
    target_precompile_headers(${name} REUSE_FROM ${ARG_FROM})
    return()
  endif()
  set(standard algorithm array atomic bit charconv chrono cmath condition_variable cstdint cstdio cstdlib cstring deque
               functional map memory mutex optional set shared_mutex span string string_view thread unordered_map
               unordered_set utility vector)
  list(TRANSFORM standard REPLACE "(.+)" "<\\1>")
  target_precompile_headers(${name} PRIVATE ${standard} ${ARG_UNPARSED_ARGUMENTS})
endfunction()

# ridge_unity(NAME [files]): compiles the target's files several at a time (12 unless told), which spares the parsing of
# their common headers and templates that each would instantiate anew. Names in unnamed namespaces have to differ between
# its files; -DRIDGE_UNITY=OFF compiles each alone, which is faster where one file is edited again and again.
option(RIDGE_UNITY "Compile small files several at a time" ON)
function(ridge_unity name)
  set(files 12)
  if(ARGC GREATER 1)
    set(files ${ARGV1})
  endif()
  if(RIDGE_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
  endif()
endfunction()

# ridge_alone(file…): these share names of unnamed namespaces with other files, and are compiled alone.
function(ridge_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# Compiling a test takes longer than running it.
set(RIDGE_TEST_OPTIONS ${RIDGE_WARNINGS} -O0)

# The headers that every test includes, compiled once for all of them. A program, because the files of a program are
# compiled with other options than those of a library.
function(ridge_test_headers)
  if(TARGET ridge_test_headers)
    return()
  endif()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_headers.cpp CONTENT "int main() {}\n")
  add_executable(ridge_test_headers EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/test_headers.cpp)
  target_compile_options(ridge_test_headers PRIVATE ${RIDGE_TEST_OPTIONS})
  target_link_libraries(ridge_test_headers PRIVATE GTest::gtest)
  ridge_precompile(ridge_test_headers <gtest/gtest.h>)
endfunction()

# ridge_test(NAME source… DEPS target… [LABELS label…]): a GoogleTest program, one ctest for each of its
# tests. A test with the label "slow" runs only when asked for.
function(ridge_test name)
  cmake_parse_arguments(ARG "" "" "DEPS;LABELS" ${ARGN})
  find_package(GTest REQUIRED)
  include(GoogleTest)
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE ${RIDGE_TEST_OPTIONS})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gtest_main)
  ridge_test_headers()
  ridge_precompile(${name} FROM ridge_test_headers)
  ridge_unity(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  set(properties TIMEOUT 300)
  if(ARG_LABELS)
    list(APPEND properties LABELS "${ARG_LABELS}")
  endif()
  # No values in the names: a parameter that is a whole text would widen every line of ctest's table.
  gtest_discover_tests(${name} NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
endfunction()
