// Files that are part of the program, as they lie in the source tree. `assets.c` lists them.
#pragma once
#include <stddef.h>

/// A file: its name, and its bytes for as long as the process lives.
typedef struct {
    const char *_Nonnull name;
    const unsigned char *_Nonnull bytes;
    size_t length;
} Asset;

/// The number of files of the dashboard.
size_t site_file_count(void);

/// A file of the dashboard, named by its path below `Site`. The index must be below the count.
Asset site_file(size_t index);

/// The number of guides.
size_t guide_count(void);

/// A guide of the folder `docs`, named without `.md`. The index must be below the count.
Asset guide(size_t index);

/// `openapi.yaml`.
Asset openapi_description(void);
