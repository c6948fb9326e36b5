// The door to zlib.
#pragma once
#include <zlib.h>

// `inflateInit2` is a macro.
static inline int shim_inflate_init(z_stream *stream, int window_bits) {
    return inflateInit2(stream, window_bits);
}
