// The door to GNU libmicrohttpd. Wrappers stand here only for what Swift cannot express.
#pragma once
#include <microhttpd.h>
