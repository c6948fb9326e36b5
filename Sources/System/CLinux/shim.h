// The door to Linux calls that the Glibc module leaves out.
#pragma once
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

// `prctl` is variadic. Names the calling thread; the kernel keeps the first 15 bytes.
static inline int shim_name_thread(const char *name) {
    return prctl(PR_SET_NAME, name, 0, 0, 0);
}

// `accept4` is hidden without _GNU_SOURCE, which a module cannot set for those who import it.
extern int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);

static inline int shim_accept(int descriptor, struct sockaddr *address, socklen_t *length) {
    return accept4(descriptor, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

// glibc's `struct tcp_info` ends before these members, and the kernel's header clashes with glibc's. Option 11 is
// TCP_INFO; `tcpi_bytes_acked` stands at byte 120 and `tcpi_bytes_received` at 128 (include/uapi/linux/tcp.h,
// Linux 4.1). 0 where they are not known.

static inline uint64_t shim_tcp_info_member(int descriptor, socklen_t offset) {
    unsigned char info[256] = {0};
    socklen_t length = sizeof info;
    uint64_t value = 0;
    if (getsockopt(descriptor, IPPROTO_TCP, 11, info, &length) == 0 && length >= offset + sizeof value)
        memcpy(&value, info + offset, sizeof value);
    return value;
}

static inline uint64_t shim_tcp_bytes_acked(int descriptor) {
    return shim_tcp_info_member(descriptor, 120);
}

static inline uint64_t shim_tcp_bytes_received(int descriptor) {
    return shim_tcp_info_member(descriptor, 128);
}
