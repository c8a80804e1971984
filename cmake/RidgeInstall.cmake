# What `./ridge install` puts where. The tree can be moved, and needs nothing of the sources or the build:
#
#   bin/ridge                             the command
#   lib/ridge/vm/                         the software GPU: libcudart.so.13, libcuda.so.1, libridge_gpu.so, stubs to link with
#   lib/ridge/vm/glibc-hwcaps/x86-64-v3/  libridge_gpu.so for CPUs with AVX2, which the dynamic loader prefers there
#   lib/ridge/standin/                    libcublas.so.13 and libcublasLt.so.13 for the software GPU
#   lib/ridge/                            ridge_ladders, and libraries of the command
#   lib/libridge.so                       the kernel library; lib/ridge/families/ has the kernels, lib/cmake/ridge the package
#   include/ridge/                        headers for programs
#   share/                                manual page, completion for bash, zsh and fish, documents
#
# tools/ridge/layout.cpp finds these from bin/ridge. All of it is the component `tools`. Of the families of kernels those
# are installed that are built, among them those that cuBLAS calls; `./ridge install --all` builds all of them first.

add_custom_target(installed_tools)  # what has to be built before
add_dependencies(installed_tools ridge cudart cuda libridge ridge_ladders standins)
add_custom_target(installed_all)
add_dependencies(installed_all installed_tools families)

set(vm lib/ridge/vm)
install(TARGETS ridge RUNTIME DESTINATION bin COMPONENT tools)
set_target_properties(ridge PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/ridge")
install(TARGETS ridge_ladders RUNTIME DESTINATION lib/ridge COMPONENT tools)

install(TARGETS cudart cuda LIBRARY DESTINATION ${vm} COMPONENT tools NAMELINK_SKIP)
set_target_properties(cudart cuda PROPERTIES INSTALL_RPATH "$ORIGIN")
if(TARGET ridge_gpu_portable)
  add_dependencies(installed_tools ridge_gpu_portable)
  # Where it was not built (`cmake --install` alone does not), what is installed is for CPUs with AVX2 only.
  install(TARGETS ridge_gpu_portable LIBRARY DESTINATION ${vm} COMPONENT tools OPTIONAL)
  install(TARGETS ridge_gpu LIBRARY DESTINATION ${vm}/glibc-hwcaps/x86-64-v3 COMPONENT tools)
  set_target_properties(ridge_gpu_portable PROPERTIES INSTALL_RPATH "$ORIGIN/..")
  set_target_properties(ridge_gpu PROPERTIES INSTALL_RPATH "$ORIGIN/../../..")
else()
  install(TARGETS ridge_gpu LIBRARY DESTINATION ${vm} COMPONENT tools)
  set_target_properties(ridge_gpu PROPERTIES INSTALL_RPATH "$ORIGIN/..")
endif()
install(TARGETS cuda_stub cublas_stub cublasLt_stub LIBRARY DESTINATION ${vm}/stubs COMPONENT tools)
install(DIRECTORY src/standin/cublas/include DESTINATION ${vm}/stubs COMPONENT tools)
install(TARGETS standin_cublas standin_cublasLt LIBRARY DESTINATION lib/ridge/standin COMPONENT tools NAMELINK_SKIP)
install(PROGRAMS src/vm/driver/triton/ptxas DESTINATION ${vm}/triton COMPONENT tools)
install(DIRECTORY src/vm/driver/python/ DESTINATION ${vm}/python COMPONENT tools FILES_MATCHING PATTERN "*.py")
if(TARGET ridge_trace)
  install(TARGETS ridge_trace LIBRARY DESTINATION ${vm} COMPONENT tools)
  set_target_properties(ridge_trace PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
endif()

# Another machine need not have these. Not beside the software GPU: programs run with that folder in LD_LIBRARY_PATH, and
# may want others of the same name.
find_package(fmt REQUIRED)
foreach(library $<TARGET_SONAME_FILE:fmt::fmt> ${ZSTD_LIBRARY}.1 ${LZ4_LIBRARY}.1)  # by their sonames
  install(CODE "file(INSTALL \"${library}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/lib/ridge\" FOLLOW_SYMLINK_CHAIN)"
          COMPONENT tools)
endforeach()

install(FILES LICENSE README.md DESTINATION share/doc/ridge COMPONENT tools)
install(DIRECTORY docs DESTINATION share/doc/ridge COMPONENT tools)

# Made by the command itself, from what its verbs say about themselves.
function(ridge_install_output file)  # the rest: arguments of ridge
  install(CODE "
    set(file \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${file}\")
    message(STATUS \"Installing: \${file}\")
    get_filename_component(folder \"\${file}\" DIRECTORY)
    file(MAKE_DIRECTORY \"\${folder}\")
    execute_process(COMMAND \"$<TARGET_FILE:ridge>\" ${ARGN} OUTPUT_FILE \"\${file}\" COMMAND_ERROR_IS_FATAL ANY)"
    COMPONENT tools)
endfunction()
ridge_install_output(share/man/man1/ridge.1 man)
ridge_install_output(share/bash-completion/completions/ridge completion bash)
ridge_install_output(share/zsh/site-functions/_ridge completion zsh)
ridge_install_output(share/fish/vendor_completions.d/ridge.fish completion fish)
