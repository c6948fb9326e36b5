// Imports SQLite.
#pragma once
#include <sqlite3.h>

// Turns off SQLite's memory statistics. Has no effect after SQLite was initialized. `sqlite3_config` is variadic, so
// Swift cannot call it.
static inline int shim_keep_no_memory_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
