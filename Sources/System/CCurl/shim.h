// The door to libcurl. Wrappers stand here only for what Swift cannot express.
#pragma once
#include <curl/curl.h>
