// The door to SQLite.
#pragma once
#include <sqlite3.h>

// `sqlite3_config` is variadic. Too late, and without effect, once the process has used SQLite.
static inline int shim_keep_no_memory_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
