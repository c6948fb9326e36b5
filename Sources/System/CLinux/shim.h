// Imports Linux functions that Swift's module Glibc does not contain.
#pragma once
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

// Sets the name of the calling thread. The kernel stores only the first 15 bytes. `prctl` is variadic, so Swift cannot
// call it.
static inline int shim_name_thread(const char *name) {
    return prctl(PR_SET_NAME, name, 0, 0, 0);
}

// Declared here, because the system's header declares `accept4` only if _GNU_SOURCE is defined, and a module cannot
// define it for its importers.
extern int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);

static inline int shim_accept(int descriptor, struct sockaddr *address, socklen_t *length) {
    return accept4(descriptor, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

// Sends a message as `sendmsg` does. The program replaces `sendmsg` (HTTPServer/Microhttpd/HeldResponses.swift), so this
// function calls the kernel.
static inline ssize_t shim_send_message(int descriptor, const void *message, int flags) {
    return syscall(SYS_sendmsg, descriptor, message, flags);
}

// Closes a descriptor as `close` does, which the program replaces too (HTTPServer/Microhttpd/LentDescriptors.swift).
static inline int shim_close(int descriptor) {
    return (int)syscall(SYS_close, descriptor);
}

// Reads a member of the kernel's `struct tcp_info`; returns -1 if the kernel does not provide the member. glibc's
// `struct tcp_info` lacks the members that are read below, and the kernel's header conflicts with glibc's headers.
// Option 11 is TCP_INFO. The offsets are from include/uapi/linux/tcp.h (Linux 4.6).

static inline int shim_tcp_info(int descriptor, socklen_t offset, void *member, size_t size) {
    unsigned char info[256] = {0};
    socklen_t length = sizeof info;
    if (getsockopt(descriptor, IPPROTO_TCP, 11, info, &length) != 0 || length < offset + size)
        return -1;
    memcpy(member, info + offset, size);
    return 0;
}

// Returns `tcpi_bytes_acked`, or 0 if it is unknown.
static inline uint64_t shim_tcp_bytes_acked(int descriptor) {
    uint64_t count = 0;
    shim_tcp_info(descriptor, 120, &count, sizeof count);
    return count;
}

// Returns `tcpi_bytes_received`, or 0 if it is unknown.
static inline uint64_t shim_tcp_bytes_received(int descriptor) {
    uint64_t count = 0;
    shim_tcp_info(descriptor, 128, &count, sizeof count);
    return count;
}

// Returns 1 if `tcpi_data_segs_out` is zero, which means that no data was sent. Returns 0 if data was sent, or if the
// number is unknown.
static inline int shim_tcp_has_said_nothing(int descriptor) {
    uint32_t count = 0;
    return shim_tcp_info(descriptor, 156, &count, sizeof count) == 0 && count == 0;
}
