# Ladders: what nvcc compiles and how a family becomes a library, generated from families.def and each
# family's ladder.def.
#
# nvcc spends its time on headers, so a ladder is one unit that includes its rungs, each in a namespace of its
# own; rungs for one architecture only are a second unit, and a heavy rung may ask for a unit of its own.

# ridge_cuda_object(OUTPUT source [ARCH 80] [FLAGS flag…]): sets OUTPUT to an object file.
function(ridge_cuda_object output source)
  cmake_parse_arguments(ARG "" "ARCH" "FLAGS" ${ARGN})
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
            -Xcompiler=-O1,-fPIC,-Wall,-Wextra -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/include ${ARG_FLAGS}
            -MD -MF ${object}.d -c -o ${object} ${source}
    DEPENDS ${source} DEPFILE ${object}.d
    COMMENT "nvcc ${name}" VERBATIM)
  set(${output} ${object} PARENT_SCOPE)
endfunction()

# ridge_check_family(FAMILY): a folder lacks nothing that the build takes for granted.
function(ridge_check_family family)
  set(missing "")
  foreach(file ${family}.h ladder.def operators.cpp bind.cpp cases.cpp reference.cpp)
    if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${family}/${file})
      list(APPEND missing ${file})
    endif()
  endforeach()
  if(missing)
    list(JOIN missing ", " missing)
    message(FATAL_ERROR "src/kernels/${family} lacks ${missing}. A family has ${family}.h (the kernels' arguments), "
                        "ladder.def (its rungs), operators.cpp (descriptions), bind.cpp (from a call to the kernels' "
                        "arguments), cases.cpp (what is tested and timed) and reference.cpp (the float64 truth); "
                        "src/kernels/vector_add is one to copy.")
  endif()
endfunction()

# ridge_read_ladder(FAMILY): sets `rungs` to the names in ladder.def, `listed_rungs` to C++ initialisers of their
# names and ideas, `units` to the names of the nvcc units, and for each unit unit_NAME_arch and unit_NAME_files.
function(ridge_read_ladder family)
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${family})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/ladder.def)
  file(STRINGS ${folder}/ladder.def lines REGEX "^RIDGE_RUNG")
  set(rungs "")
  set(listed_rungs "")
  set(units "")
  foreach(line ${lines})
    if(NOT line MATCHES "^RIDGE_RUNG\\(([0-9]+), ([a-z0-9_]+)(, sm_([0-9]+a?))?(, (own_unit))?\\)$")
      message(FATAL_ERROR "${family}/ladder.def: cannot read '${line}'; a line is RIDGE_RUNG(01, name), "
                          "RIDGE_RUNG(01, name, sm_90a) or RIDGE_RUNG(01, name, sm_90a, own_unit)")
    endif()
    set(name ${CMAKE_MATCH_2})
    set(file ${CMAKE_MATCH_1}_${name}.cu)
    set(arch ${CMAKE_MATCH_4})
    set(own_unit ${CMAKE_MATCH_6})
    if(NOT arch)
      set(arch 80)
    endif()
    if(NOT EXISTS ${folder}/${file})
      message(FATAL_ERROR "${family}/ladder.def names ${file}, which does not exist")
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${file})
    file(READ ${folder}/${file} text)
    if(NOT text MATCHES "\\.idea = \"([^\"\n]*)\"")
      message(FATAL_ERROR "${family}/${file} has no line with its idea: .idea = \"…\"")
    endif()
    string(APPEND listed_rungs "{\"${name}\", \"${CMAKE_MATCH_1}\"}, ")
    set(unit ${family}_sm${arch})
    if(own_unit)
      set(unit ${family}_${name}_sm${arch})
    endif()
    list(APPEND rungs ${name})
    list(APPEND named ${file})
    list(APPEND units ${unit})
    list(APPEND unit_${unit}_files ${file})
    set(unit_${unit}_arch ${arch})
  endforeach()
  file(GLOB found CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/[0-9][0-9]_*.cu)
  foreach(file ${found})
    if(NOT file IN_LIST named)
      message(FATAL_ERROR "${family}/${file} is not in ${family}/ladder.def")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES units)
  foreach(unit ${units})
    set(unit_${unit}_files ${unit_${unit}_files} PARENT_SCOPE)
    set(unit_${unit}_arch ${unit_${unit}_arch} PARENT_SCOPE)
  endforeach()
  set(rungs ${rungs} PARENT_SCOPE)
  set(listed_rungs "${listed_rungs}" PARENT_SCOPE)
  set(units ${units} PARENT_SCOPE)
endfunction()

set(RIDGE_FAMILY_OPTIONS ${RIDGE_WARNINGS} -Wno-missing-field-initializers -O1)

# ridge_family(NAME): the family's library, target family_NAME, in library/ridge/families. Sets `listed_rungs`.
function(ridge_family family)
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${family})
  ridge_check_family(${family})
  ridge_read_ladder(${family})
  set(declared "")
  set(listed "")
  foreach(rung ${rungs})
    string(APPEND declared "namespace ${rung} {\nextern const Rung rung;\n}\n")
    string(APPEND listed "                ridge::named(\"${rung}\", ${rung}::rung),\n")
  endforeach()
  set(objects "")
  foreach(unit ${units})
    set(includes "")
    foreach(file ${unit_${unit}_files})
      string(APPEND includes "#include \"kernels/${family}/${file}\"\n")
    endforeach()
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${unit}.cu)
    file(CONFIGURE OUTPUT ${source} CONTENT
"#include \"kernels/${family}/${family}.h\"

namespace ridge::${family} {  // so that constants are seen outside
${declared}}

${includes}")
    ridge_cuda_object(object ${source} ARCH ${unit_${unit}_arch})
    list(APPEND objects ${object})
  endforeach()
  set(family_source ${CMAKE_CURRENT_BINARY_DIR}/${family}_family.cpp)
  file(CONFIGURE OUTPUT ${family_source} CONTENT
"#include \"kernels/${family}/${family}.h\"
#include \"ladder/family.h\"

namespace ridge::${family} {
${declared}
FamilyOf<Args> family();                                    // cases.cpp
Status bind(const Call& call, Launch<Args>& launch);        // bind.cpp
void reference(const Case& c, std::vector<HostTensor>& t);  // reference.cpp
}  // namespace ridge::${family}

extern \"C\" __attribute__((visibility(\"default\"))) const ridge::Ladder* ridge_family() {
  using namespace ridge::${family};
  static const ridge::LadderOf<Args> made(\"${family}\", family(), bind, reference, {
${listed}  });
  return &made;
}
")
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  # Part of libridge, which holds all descriptions and all public functions.
  list(REMOVE_ITEM sources ${folder}/operators.cpp ${folder}/api.cpp)
  list(FILTER sources EXCLUDE REGEX "/rivals_[a-z0-9]+\\.cpp$")  # see ridge_rivals
  add_library(family_${family} SHARED EXCLUDE_FROM_ALL ${family_source} ${sources})
  # By their paths, and made by a target that waits for nothing: nvcc begins while libridge is still being compiled.
  add_custom_target(rungs_${family} DEPENDS ${objects})
  target_link_libraries(family_${family} PRIVATE ${objects})
  target_include_directories(family_${family} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(family_${family} PRIVATE ${RIDGE_FAMILY_OPTIONS})
  target_link_libraries(family_${family} PRIVATE libridge)
  ridge_precompile(family_${family} FROM ridge_family_headers)
  ridge_unity(family_${family})
  set_target_properties(family_${family} PROPERTIES OUTPUT_NAME ridge_${family}
                        LIBRARY_OUTPUT_DIRECTORY ${RIDGE_LIBRARY_FOLDER}/ridge/families
                        BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../..")
  set(listed_rungs "${listed_rungs}" PARENT_SCOPE)
endfunction()

# ridge_ready(NAME target…): the file that ./ridge asks for: what `./ridge need NAME` builds is there. ./ridge reads the
# comment.
function(ridge_ready name)
  set(ready ${CMAKE_BINARY_DIR}/ready/${name})
  add_custom_command(OUTPUT ${ready} COMMAND ${CMAKE_COMMAND} -E touch ${ready} DEPENDS ${ARGN}
                     COMMENT "ready ${name}" VERBATIM)
  add_custom_target(ready_${name} DEPENDS ${ready})
endfunction()

# ridge_family_ready(NAME): the family, and on a machine with a GPU its rivals too.
function(ridge_family_ready family)
  set(needed family_${family})
  if(RIDGE_MACHINE_CODE AND TARGET rivals_${family})
    list(APPEND needed rivals_${family})
  endif()
  ridge_ready(${family} ${needed})
endfunction()

# cuBLAS is in NVIDIA's toolkit but not in the parts that ./ridge gets from PyPI.
find_library(RIDGE_CUBLAS cublas HINTS ${RIDGE_CUDA_ROOT}/lib64 ${RIDGE_CUDA_ROOT}/lib NO_DEFAULT_PATH)
find_library(RIDGE_CUBLASLT cublasLt HINTS ${RIDGE_CUDA_ROOT}/lib64 ${RIDGE_CUDA_ROOT}/lib NO_DEFAULT_PATH)
find_path(RIDGE_CUBLAS_HEADERS cublas_v2.h HINTS ${RIDGE_CUDA_ROOT}/include NO_DEFAULT_PATH)

# ridge_rivals(NAME): other people's implementations beside the family's, target rivals_NAME, in library/ridge/rivals.
# They are the files rivals_LIBRARY.cu and rivals_LIBRARY.cpp of its folder (harness/rivals/rival.h says what is in
# them). Sets `rivals` to the names of those libraries; an empty list makes no target. Without a GPU to time on,
# nobody builds them unasked: CUB takes long to compile.
function(ridge_rivals family)
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${family})
  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/rivals_*.cu ${folder}/rivals_*.cpp)
  set(rivals "")
  set(sources "")
  set(declared "")
  set(calls "")
  foreach(file ${files})
    if(NOT file MATCHES "^rivals_([a-z0-9]+)\\.(cu|cpp)$")
      message(FATAL_ERROR "${family}/${file}: a file of rivals is called rivals_LIBRARY.cu or rivals_LIBRARY.cpp")
    endif()
    set(library ${CMAKE_MATCH_1})
    set(extension ${CMAKE_MATCH_2})  # the next MATCHES forgets it
    if(library MATCHES "^cublas(lt)?$" AND NOT (RIDGE_CUBLAS AND RIDGE_CUBLASLT AND RIDGE_CUBLAS_HEADERS))
      continue()
    endif()
    if(extension STREQUAL cu)
      set(unit ${CMAKE_CURRENT_BINARY_DIR}/${family}_rivals_${library}.cu)
      file(CONFIGURE OUTPUT ${unit} CONTENT "#include \"kernels/${family}/${file}\"\n")
      ridge_cuda_object(object ${unit})
      list(APPEND sources ${object})
    else()
      list(APPEND sources ${folder}/${file})
    endif()
    list(APPEND rivals ${library})
    string(APPEND declared "void rivals_${library}(const OperatorDef& op, rivals::Rivals& rivals);\n")
    string(APPEND calls "  ridge::${family}::rivals_${library}(op, *rivals);\n")
  endforeach()
  set(rivals ${rivals} PARENT_SCOPE)
  if(NOT rivals)
    return()
  endif()
  set(list_source ${CMAKE_CURRENT_BINARY_DIR}/${family}_rivals.cpp)
  file(CONFIGURE OUTPUT ${list_source} CONTENT
"#include \"harness/rivals/rival.h\"

namespace ridge::${family} {
${declared}}  // namespace ridge::${family}

extern \"C\" __attribute__((visibility(\"default\"))) void ridge_rivals(
    const ridge::OperatorDef& op, ridge::rivals::Rivals* rivals) {
${calls}}
")
  add_library(rivals_${family} SHARED ${list_source} ${sources})
  target_compile_options(rivals_${family} PRIVATE -Wall -Wextra -Werror -Wno-restrict
                         -Wno-missing-field-initializers -O1)
  target_link_libraries(rivals_${family} PRIVATE libridge)
  if(cublas IN_LIST rivals OR cublaslt IN_LIST rivals)
    target_link_libraries(rivals_${family} PRIVATE ${RIDGE_CUBLAS} ${RIDGE_CUBLASLT})
  endif()
  get_filename_component(cublas_folder "${RIDGE_CUBLAS}" DIRECTORY)
  set_target_properties(rivals_${family} PROPERTIES OUTPUT_NAME ridge_rivals_${family}
                        LIBRARY_OUTPUT_DIRECTORY ${RIDGE_LIBRARY_FOLDER}/ridge/rivals
                        BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../..;${cublas_folder}")
  if(NOT RIDGE_MACHINE_CODE)
    set_target_properties(rivals_${family} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()
