# Ladders: the units that nvcc compiles, generated from families.def and each family's ladder.def.
#
# nvcc spends its time on headers, so a ladder is one unit that includes its rungs, each in a namespace
# of its own; rungs for one architecture only are a second unit.

# ridge_cuda_object(OUTPUT source [ARCH 80]): sets OUTPUT to an object file.
function(ridge_cuda_object output source)
  cmake_parse_arguments(ARG "" "ARCH" "" ${ARGN})
  if(NOT ARG_ARCH)
    set(ARG_ARCH 80)
  endif()
  get_filename_component(name ${source} NAME)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
  set(code -gencode arch=compute_${ARG_ARCH},code=compute_${ARG_ARCH})
  if(RIDGE_MACHINE_CODE)
    if(ARG_ARCH STREQUAL 80)
      list(APPEND code -gencode arch=compute_${RIDGE_SM},code=sm_${RIDGE_SM})
    else()
      list(APPEND code -gencode arch=compute_${ARG_ARCH},code=sm_${ARG_ARCH})
    endif()
  endif()
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${RIDGE_NVCC} -std=c++20 -O3 -lineinfo ${code} -Werror all-warnings
            -Xcompiler=-fPIC,-Wall,-Wextra -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/include
            -MD -MF ${object}.d -c -o ${object} ${source}
    DEPENDS ${source} DEPFILE ${object}.d
    COMMENT "nvcc ${name}" VERBATIM)
  set(${output} ${object} PARENT_SCOPE)
endfunction()

# ridge_family(NAME OBJECTS SOURCES): the objects and host sources of one family.
function(ridge_family family objects sources)
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${family})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/ladder.def)
  file(STRINGS ${folder}/ladder.def lines REGEX "^RIDGE_RUNG")
  set(list "")
  set(declared "")
  foreach(line ${lines})
    if(NOT line MATCHES "^RIDGE_RUNG\\(([0-9]+), ([a-z0-9_]+)(, sm_([0-9]+a?))?\\)$")
      message(FATAL_ERROR "${family}/ladder.def: cannot read '${line}'; a line is RIDGE_RUNG(01, name)")
    endif()
    set(file ${CMAKE_MATCH_1}_${CMAKE_MATCH_2}.cu)
    set(arch ${CMAKE_MATCH_4})
    if(NOT arch)
      set(arch 80)
    endif()
    if(NOT EXISTS ${folder}/${file})
      message(FATAL_ERROR "${family}/ladder.def names ${file}, which does not exist")
    endif()
    list(APPEND archs ${arch})
    string(APPEND unit_${arch} "#include \"kernels/${family}/${file}\"\n")
    string(APPEND declared "namespace ${CMAKE_MATCH_2} {\nextern const Rung rung;\n}\n")
    string(APPEND list "    &${CMAKE_MATCH_2}::rung,\n")
    list(APPEND named ${file})
  endforeach()
  file(GLOB found CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/[0-9][0-9]_*.cu)
  foreach(file ${found})
    if(NOT file IN_LIST named)
      message(FATAL_ERROR "${family}/${file} is not in ${family}/ladder.def")
    endif()
  endforeach()

  set(made "")
  list(REMOVE_DUPLICATES archs)
  foreach(arch ${archs})
    set(unit ${CMAKE_CURRENT_BINARY_DIR}/${family}_sm${arch}.cu)
    file(CONFIGURE OUTPUT ${unit} CONTENT
"#include \"kernels/${family}/${family}.h\"

namespace ridge::${family} {  // so that constants are seen outside
${declared}}

${unit_${arch}}")
    ridge_cuda_object(object ${unit} ARCH ${arch})
    list(APPEND made ${object})
  endforeach()
  set(rungs ${CMAKE_CURRENT_BINARY_DIR}/${family}_rungs.cpp)
  file(CONFIGURE OUTPUT ${rungs} CONTENT
"#include \"kernels/${family}/${family}.h\"

namespace ridge::${family} {
${declared}
std::span<const Rung* const> rungs() {
  static constexpr const Rung* kRungs[] = {
${list}  };
  return kRungs;
}
}  // namespace ridge::${family}
")
  set(${objects} ${made} PARENT_SCOPE)
  set(${sources} ${rungs} ${folder}/reference.cpp ${folder}/cases.cpp PARENT_SCOPE)
endfunction()
