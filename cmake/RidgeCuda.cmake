# The CUDA toolkit: where nvcc and its headers are, and how a program is built for both devices.
#
# nvcc is called directly, not as a CMake language: a program is one command that links the shared runtime,
# and configuring needs no trial compilation.
find_program(RIDGE_NVCC nvcc HINTS /usr/local/cuda/bin ${PROJECT_SOURCE_DIR}/.ridge/cuda/bin)
if(NOT RIDGE_NVCC)
  message(FATAL_ERROR "No nvcc. Run ./ridge, which gets one, or pass -DRIDGE_NVCC=/path/to/nvcc.")
endif()

# nvcc may be a wrapper script somewhere else, so it is asked where its toolkit lies.
execute_process(COMMAND ${RIDGE_NVCC} --dryrun none.cu
                OUTPUT_VARIABLE dryrun ERROR_VARIABLE dryrun)
if(NOT dryrun MATCHES "TOP=([^\n]*)")
  message(FATAL_ERROR "${RIDGE_NVCC} does not answer like nvcc:\n${dryrun}")
endif()
get_filename_component(RIDGE_CUDA_ROOT "${CMAKE_MATCH_1}" REALPATH)

# The headers, for the types of the runtime's ABI. Nothing of the toolkit is linked.
add_library(ridge_cuda_headers INTERFACE)
target_include_directories(ridge_cuda_headers SYSTEM INTERFACE ${RIDGE_CUDA_ROOT}/include)

# PTX for the oldest GPU that Ridge knows runs on every device; the gpu preset adds machine code.
set(RIDGE_PTX_ARCH 75 CACHE STRING "Compute capability of the PTX in programs that ask for no other")
option(RIDGE_MACHINE_CODE "Add machine code for the GPU at hand" OFF)
if(RIDGE_MACHINE_CODE AND NOT RIDGE_SM)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader --id=0
                  OUTPUT_VARIABLE sm ERROR_QUIET)
  if(sm MATCHES "([0-9]+)\\.([0-9]+)")
    set(RIDGE_SM ${CMAKE_MATCH_1}${CMAKE_MATCH_2} CACHE STRING "Compute capability of the machine code")
  else()
    message(FATAL_ERROR "No GPU answers nvidia-smi. Use the vm preset, or pass -DRIDGE_SM=90.")
  endif()
endif()

add_custom_target(cuda_programs)  # all of them

# Kernels are no different under sanitizers, so that preset takes the programs of the vm preset.
if(RIDGE_SANITIZE)
  set(RIDGE_PROGRAM_BUILD ${PROJECT_SOURCE_DIR}/build/vm)
  add_custom_target(vm_programs ALL
    COMMAND test -e ${RIDGE_PROGRAM_BUILD}/build.ninja ||
            ${CMAKE_COMMAND} --preset vm -DRIDGE_NVCC=${RIDGE_NVCC}
    COMMAND ${CMAKE_COMMAND} --build ${RIDGE_PROGRAM_BUILD} --target cuda_programs
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} USES_TERMINAL)
  add_dependencies(cuda_programs vm_programs)
else()
  set(RIDGE_PROGRAM_BUILD ${CMAKE_BINARY_DIR})
endif()

# ridge_cuda_program(NAME source… [FOLDER folder] [ARCH 80] [FLAGS flag…]): a program for either device, in
# build/<preset>/<folder>/NAME (folder: programs). Its target is NAME_program, whose property RIDGE_PROGRAM
# is the path. Ridge's public headers are found.
function(ridge_cuda_program name)
  cmake_parse_arguments(ARG "" "FOLDER;ARCH" "FLAGS" ${ARGN})
  if(NOT ARG_FOLDER)
    set(ARG_FOLDER programs)
  endif()
  if(NOT ARG_ARCH)
    set(ARG_ARCH ${RIDGE_PTX_ARCH})
  endif()
  set(program ${RIDGE_PROGRAM_BUILD}/${ARG_FOLDER}/${name})
  set(target ${name}_program)  # Ninja has the plain name for the file
  if(RIDGE_SANITIZE)
    add_custom_target(${target} DEPENDS vm_programs)
  else()
    set(code -gencode arch=compute_${ARG_ARCH},code=compute_${ARG_ARCH})
    if(RIDGE_MACHINE_CODE)
      set(sm ${RIDGE_SM})
      if(ARG_ARCH MATCHES "a$")  # what is for one architecture only
        set(sm ${ARG_ARCH})
      endif()
      list(APPEND code -gencode arch=compute_${sm},code=sm_${sm})
    endif()
    list(TRANSFORM ARG_UNPARSED_ARGUMENTS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE sources)
    file(MAKE_DIRECTORY ${RIDGE_PROGRAM_BUILD}/${ARG_FOLDER})
    add_custom_command(
      OUTPUT ${program}
      COMMAND ${RIDGE_NVCC} -std=c++17 -O3 -lineinfo -cudart shared ${code} ${ARG_FLAGS}
              -I${PROJECT_SOURCE_DIR}/include -MD -MF ${program}.d -o ${program} ${sources}
      DEPENDS ${sources} DEPFILE ${program}.d
      COMMENT "nvcc ${name}" VERBATIM)
    add_custom_target(${target} ALL DEPENDS ${program})
  endif()
  set_target_properties(${target} PROPERTIES RIDGE_PROGRAM ${program})
  add_dependencies(cuda_programs ${target})
endfunction()

# ridge_program_test(TEST PROGRAM [ARGS arg…] [RUN_FLAGS flag…]): runs the program on the software
# GPU, through the command line; it passes when the program exits with 0.
function(ridge_program_test test name)
  cmake_parse_arguments(ARG "" "" "ARGS;RUN_FLAGS" ${ARGN})
  get_target_property(program ${name}_program RIDGE_PROGRAM)
  set(folder ${CMAKE_BINARY_DIR}/tests/out/${test})  # where pictures and other output end up
  file(MAKE_DIRECTORY ${folder})
  add_test(NAME ${test} WORKING_DIRECTORY ${folder}
           COMMAND ridge run --device vm ${ARG_RUN_FLAGS} ${program} -- ${ARG_ARGS})
  set_tests_properties(${test} PROPERTIES TIMEOUT 300 ENVIRONMENT RIDGE_STRICT=1)
endfunction()
