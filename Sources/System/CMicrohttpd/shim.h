// Imports GNU libmicrohttpd, and GnuTLS, which it uses for encryption. Contains wrappers only for functions that Swift
// cannot use directly.
#pragma once
#include <dlfcn.h>
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <stdio.h>
#include <string.h>

// Wrappers for `MHD_get_connection_info` and `MHD_get_daemon_info`, which are variadic.

static inline int shim_connection_descriptor(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : info->connect_fd;
}

static inline void *shim_connection_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

static inline size_t shim_connection_header_size(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info == NULL ? 0 : info->header_size;
}

static inline int shim_daemon_epoll_descriptor(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info == NULL ? -1 : info->epoll_fd;
}

// Starts a daemon with an array of options. `MHD_start_daemon` is variadic, so Swift cannot call it.
static inline struct MHD_Daemon *shim_start_daemon(
    unsigned int flags, MHD_AccessHandlerCallback handler, void *context, struct MHD_OptionItem *options) {
    return MHD_start_daemon(flags, 0, NULL, NULL, handler, context, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

// Sets the flag `MHD_RF_HTTP_1_0_COMPATIBLE_STRICT` of a response. `MHD_set_response_options` is variadic, so Swift
// cannot call it.
static inline void shim_set_http10_strict(struct MHD_Response *response) {
    MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

// Receives a log message of the library. A Swift function cannot have a `va_list` parameter, so the message is
// formatted here and passed to Swift as text.

struct shim_log_sink {
    void *context;
    void (*write)(void *context, const char *message);
};

static inline void shim_log(void *sink, const char *format, va_list arguments) {
    // The library logs this message, with the format "%s\n", when a callback returns `MHD_NO`. The server's callbacks do
    // so each time that the server takes a socket from the library, for instance at the start of every stream.
    // Formatting the message would take 800 instructions.
    static const char takeover[] = "Application reported internal error";
    if (strcmp(format, "%s\n") == 0) {
        va_list copy;
        va_copy(copy, arguments);
        int is_takeover = strncmp(va_arg(copy, const char *), takeover, sizeof takeover - 1) == 0;
        va_end(copy);
        if (is_takeover) return;
    }
    const struct shim_log_sink *to = (const struct shim_log_sink *)sink;
    char message[512];
    vsnprintf(message, sizeof message, format, arguments);
    to->write(to->context, message);
}

static inline struct MHD_OptionItem shim_logger_option(struct shim_log_sink *sink) {
    struct MHD_OptionItem option = {MHD_OPTION_EXTERNAL_LOGGER, (intptr_t)&shim_log, sink};
    return option;
}

// Creates responses with the library's own `MHD_create_response_from_buffer`. The program exports a function with the
// same name, which replaces the library's function (see HTTPServer/Microhttpd/MHDErrorPages.swift). `dlsym` with
// RTLD_NEXT finds the library's function. The library's older functions that create responses cannot be used instead.
// In version 1.0 of the library, they call the function that the program replaces.

typedef struct MHD_Response *(*shim_maker)(size_t size, void *data, enum MHD_ResponseMemoryMode mode);

static inline struct MHD_Response *shim_library_make(size_t size, void *data, enum MHD_ResponseMemoryMode mode) {
    static shim_maker known;
    shim_maker maker = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (maker == NULL) {
        // -1 is the value of RTLD_NEXT, which dlfcn.h defines only if _GNU_SOURCE is defined.
        maker = (shim_maker)dlsym((void *)-1L, "MHD_create_response_from_buffer");
        __atomic_store_n(&known, maker, __ATOMIC_RELAXED);
    }
    return maker(size, data, mode);
}

static inline struct MHD_Response *shim_make_response(size_t size, const void *data, int is_copied) {
    return shim_library_make(size, (void *)data, is_copied ? MHD_RESPMEM_MUST_COPY : MHD_RESPMEM_PERSISTENT);
}

// Creates a response from `data`, which the library frees.
static inline struct MHD_Response *shim_adopt_response(size_t size, void *data) {
    return shim_library_make(size, data, MHD_RESPMEM_MUST_FREE);
}
