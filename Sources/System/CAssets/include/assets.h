// Files of the source tree that are embedded in the program. `assets.c` lists them.
#pragma once
#include <stddef.h>

/// An embedded file. The name and the bytes are valid until the process ends.
typedef struct {
    const char *_Nonnull name;
    const unsigned char *_Nonnull bytes;
    size_t length;
} Asset;

/// Returns the number of files of the dashboard.
size_t site_file_count(void);

/// Returns a file of the dashboard. The name of the file is its path below `Site`.
/// `index` must be below `site_file_count()`.
Asset site_file(size_t index);

/// Returns the number of guides.
size_t guide_count(void);

/// Returns a guide from the folder `docs`. The name of the guide does not contain `.md`.
/// `index` must be below `guide_count()`.
Asset guide(size_t index);

/// Returns the file `openapi.yaml`.
Asset openapi_description(void);
