// The door to GNU libmicrohttpd. Wrappers stand here only for what Swift cannot express.
#pragma once
#include <microhttpd.h>
#include <stdio.h>

// `MHD_get_connection_info` and `MHD_get_daemon_info` are variadic.

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

// `MHD_start_daemon` is variadic, and what follows the handler is a list of options anyway.
static inline struct MHD_Daemon *shim_start_daemon(
    unsigned int flags, MHD_AccessHandlerCallback handler, void *context, struct MHD_OptionItem *options) {
    return MHD_start_daemon(flags, 0, NULL, NULL, handler, context, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

// `MHD_set_response_options` is variadic.
static inline void shim_set_http10_strict(struct MHD_Response *response) {
    MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

// Swift cannot be called with a `va_list`: the message is printed here and handed on as text.

struct shim_log_sink {
    void *context;
    void (*write)(void *context, const char *message);
};

static inline void shim_log(void *sink, const char *format, va_list arguments) {
    const struct shim_log_sink *to = (const struct shim_log_sink *)sink;
    char message[512];
    vsnprintf(message, sizeof message, format, arguments);
    to->write(to->context, message);
}

static inline struct MHD_OptionItem shim_logger_option(struct shim_log_sink *sink) {
    struct MHD_OptionItem option = {MHD_OPTION_EXTERNAL_LOGGER, (intptr_t)&shim_log, sink};
    return option;
}

// `MHD_create_response_from_buffer` is taken over by the program (see HTTPServer/Microhttpd/LibraryRefusals.swift), so
// answers are made with the older function that it calls itself.

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static inline struct MHD_Response *shim_make_response(size_t size, const void *data, int is_copied) {
    return MHD_create_response_from_data(size, (void *)data, MHD_NO, is_copied ? MHD_YES : MHD_NO);
}

// The library frees `data`.
static inline struct MHD_Response *shim_adopt_response(size_t size, void *data) {
    return MHD_create_response_from_data(size, data, MHD_YES, MHD_NO);
}

#pragma GCC diagnostic pop
