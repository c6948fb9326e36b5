// The door to Linux calls that the Glibc module leaves out.
#pragma once
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>

// `prctl` is variadic. Names the calling thread; the kernel keeps the first 15 bytes.
static inline int shim_name_thread(const char *name) {
    return prctl(PR_SET_NAME, name, 0, 0, 0);
}
