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
// TCP_INFO; the offsets are those of include/uapi/linux/tcp.h (Linux 4.6).

static inline int shim_tcp_info(int descriptor, socklen_t offset, void *member, size_t size) {
    unsigned char info[256] = {0};
    socklen_t length = sizeof info;
    if (getsockopt(descriptor, IPPROTO_TCP, 11, info, &length) != 0 || length < offset + size)
        return -1;
    memcpy(member, info + offset, size);
    return 0;
}

// `tcpi_bytes_acked`; 0 where it is not known.
static inline uint64_t shim_tcp_bytes_acked(int descriptor) {
    uint64_t count = 0;
    shim_tcp_info(descriptor, 120, &count, sizeof count);
    return count;
}

// `tcpi_bytes_received`; 0 where it is not known.
static inline uint64_t shim_tcp_bytes_received(int descriptor) {
    uint64_t count = 0;
    shim_tcp_info(descriptor, 128, &count, sizeof count);
    return count;
}

// `tcpi_data_segs_out`, whether it is zero; no where it is not known.
static inline int shim_tcp_has_said_nothing(int descriptor) {
    uint32_t count = 0;
    return shim_tcp_info(descriptor, 156, &count, sizeof count) == 0 && count == 0;
}
