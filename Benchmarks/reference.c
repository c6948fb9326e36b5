// The reference for HTTP figures: a bare libmicrohttpd server in external epoll mode, as small as C allows.
// Answers GET with "hello" and takes POSTs with 204; prints the port it listens on.
//
//   cc -O2 reference.c -o reference -lmicrohttpd

#include <arpa/inet.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

static struct MHD_Response *hello, *nothing;

static enum MHD_Result answer(void *cls, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **state) {
    (void)cls, (void)url, (void)version, (void)upload;
    static int seen;
    if (*state == NULL) {  // answering on the first call would cost keep-alive
        *state = &seen;
        return MHD_YES;
    }
    if (*upload_size > 0) {
        *upload_size = 0;
        return MHD_YES;
    }
    return strcmp(method, "GET") == 0 ? MHD_queue_response(connection, 200, hello)
                                      : MHD_queue_response(connection, 204, nothing);
}

int main(void) {
    signal(SIGPIPE, SIG_IGN);
    hello = MHD_create_response_from_buffer(5, "hello", MHD_RESPMEM_PERSISTENT);
    MHD_add_response_header(hello, "Content-Type", "text/plain");
    nothing = MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_TURBO, 0, NULL, NULL, answer, NULL, MHD_OPTION_SOCK_ADDR, &address,
        MHD_OPTION_CONNECTION_LIMIT, 10000u, MHD_OPTION_END);
    if (daemon == NULL) return 1;
    printf("%u\n", MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
    fflush(stdout);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(epoll, EPOLL_CTL_ADD, MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, &event);
    for (;;) {
        MHD_UNSIGNED_LONG_LONG timeout;
        int wait = MHD_get_timeout(daemon, &timeout) == MHD_YES ? (int)timeout : -1;
        epoll_wait(epoll, &event, 1, wait);
        MHD_run(daemon);
    }
}
