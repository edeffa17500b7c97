/* `assay` in a Python environment's folder of programs: starts the program that the package has, wherever it lies
   from here. */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char* const kPlaces[] = {
    "/../lib/python3*/site-packages/assay/bin/assay",    /* environments, --user */
    "/../lib/python3*/dist-packages/assay/bin/assay",    /* Debian's own Python */
    "/../lib64/python3*/site-packages/assay/bin/assay",  /* Fedora */
    "/../assay/bin/assay",                               /* --target */
};

int main(int argc, char** argv) {
  char here[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", here, sizeof here - 1);
  (void)argc;
  if (length > 0) {
    here[length] = '\0';
    *strrchr(here, '/') = '\0';
    for (size_t i = 0; i < sizeof kPlaces / sizeof *kPlaces; ++i) {
      char pattern[2 * PATH_MAX];
      glob_t found;
      snprintf(pattern, sizeof pattern, "%s%s", here, kPlaces[i]);
      if (glob(pattern, 0, NULL, &found) != 0) continue;
      for (size_t k = found.gl_pathc; k-- > 0;) execv(found.gl_pathv[k], argv); /* the newest Python's first */
      globfree(&found);
    }
  }
  fprintf(stderr, "[!] The program assay is not in a Python package near %s: %s. `python -m assay` finds it.\n",
          length > 0 ? here : argv[0], strerror(errno));
  return 1;
}
