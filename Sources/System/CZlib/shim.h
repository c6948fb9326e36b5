// Imports zlib.
#pragma once
#include <zlib.h>

// Wrappers for `inflateInit2` and `deflateInit2`, which are macros.
static inline int shim_inflate_init(z_stream *stream, int window_bits) {
    return inflateInit2(stream, window_bits);
}

static inline int shim_deflate_init(z_stream *stream, int level, int window_bits) {
    return deflateInit2(stream, level, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
}
