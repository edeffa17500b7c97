# What shells and man know of the program, which prints it itself: included by cmake/library.cmake.
if(CMAKE_CROSSCOMPILING OR SKBUILD)
  return()   # the program cannot run here; a wheel has no place for them
endif()
set(shell_files ${CMAKE_BINARY_DIR}/generated/shell)
add_custom_command(OUTPUT ${shell_files}/man/assay.1
                   COMMAND ${CMAKE_COMMAND} -E make_directory ${shell_files}/man
                   COMMAND ${CMAKE_COMMAND} -E env ASSAY_EXTENSION_PATH= $<TARGET_FILE:assay> completion bash > ${shell_files}/assay
                   COMMAND ${CMAKE_COMMAND} -E env ASSAY_EXTENSION_PATH= $<TARGET_FILE:assay> completion zsh > ${shell_files}/_assay
                   COMMAND ${CMAKE_COMMAND} -E env ASSAY_EXTENSION_PATH= $<TARGET_FILE:assay> completion fish > ${shell_files}/assay.fish
                   COMMAND ${CMAKE_COMMAND} -E env ASSAY_EXTENSION_PATH= $<TARGET_FILE:assay> completion man -o ${shell_files}/man --quiet
                   DEPENDS assay VERBATIM)
add_custom_target(shell_files DEPENDS ${shell_files}/man/assay.1)
add_dependencies(installed shell_files)
install(FILES ${shell_files}/assay DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT runtime)
install(FILES ${shell_files}/_assay DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT runtime)
install(FILES ${shell_files}/assay.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT runtime)
install(DIRECTORY ${shell_files}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT runtime)
