// Sends one request over and over on some connections to a server on loopback, and counts the responses. Each
// connection has one request at a time. One thread, epoll.
//
//   cc -O2 load.c -o load
//   load PORT CONNECTIONS SECONDS [--reopen] < REQUEST
//
// Prints the number of responses. Exits with 1 after a response whose status is not 2xx. If the request contains 17
// digits in a row, they are a cursor: a response with "cursor":"DIGITS" or "t":{"t":"DIGITS" replaces it in the next
// request of the connection. With --reopen, each request has its own connection, which is closed after the head of the
// response.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 65536, DIGITS = 17 };

struct connection {
    int socket;
    char *request;
    size_t size;  // bytes of the response so far
    char response[ROOM];
};

static char request[ROOM];
static size_t request_size, cursor_place;  // cursor_place: 0 for none
static struct sockaddr_in address = {.sin_family = AF_INET};
static int epoll;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void open_connection(struct connection *one) {
    one->socket = socket(AF_INET, SOCK_STREAM, 0);
    if (one->socket < 0 || connect(one->socket, (struct sockaddr *)&address, sizeof address) < 0) fail("connect");
    int on = 1;
    setsockopt(one->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = one};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, one->socket, &event) < 0) fail("epoll_ctl");
}

static void ask(struct connection *one) {
    one->size = 0;
    if (send(one->socket, one->request, request_size, MSG_NOSIGNAL) != (ssize_t)request_size) fail("send");
}

// Whether the response is complete; without its body if `head_only`.
static int is_complete(const struct connection *one, int head_only) {
    const char *end = strstr(one->response, "\r\n\r\n");
    if (end == NULL) return 0;
    if (strncmp(one->response, "HTTP/1.1 2", 10) != 0) {
        fprintf(stderr, "refused: %s\n", one->response);
        exit(1);
    }
    const char *length = strcasestr(one->response, "\r\nContent-Length:");
    if (head_only || length == NULL || length > end) return 1;
    return one->size >= (size_t)(end + 4 - one->response) + strtoul(length + 17, NULL, 10);
}

static void follow_cursor(struct connection *one) {
    const char *marks[] = {"\"cursor\":\"", "\"t\":{\"t\":\""};
    for (int i = 0; cursor_place > 0 && i < 2; i++) {
        const char *mark = strstr(one->response, marks[i]);
        if (mark == NULL) continue;
        memcpy(one->request + cursor_place, mark + strlen(marks[i]), DIGITS);
        return;
    }
}

int main(int count, char **arguments) {
    if (count < 4) return fputs("usage: load PORT CONNECTIONS SECONDS [--reopen] < REQUEST\n", stderr), 2;
    int connections = atoi(arguments[2]), reopens = count > 4;
    address.sin_port = htons((unsigned short)atoi(arguments[1]));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    request_size = fread(request, 1, sizeof request - 1, stdin);
    for (size_t i = 0; i + DIGITS <= request_size && cursor_place == 0; i++)
        if (strspn(request + i, "0123456789") >= DIGITS) cursor_place = i;
    epoll = epoll_create1(0);
    for (int i = 0; i < connections; i++) {
        struct connection *one = calloc(1, sizeof *one);
        one->request = memcpy(malloc(request_size), request, request_size);
        open_connection(one);
        ask(one);
    }
    unsigned long responses = 0;
    double end = now() + atof(arguments[3]);
    while (now() < end) {
        struct epoll_event ready[256];
        struct connection *done[256];
        int found = epoll_wait(epoll, ready, 256, 100), done_count = 0;
        // All responses are read before the next requests are sent, as `parley bench` does.
        for (int i = 0; i < found; i++) {
            struct connection *one = ready[i].data.ptr;
            ssize_t size = recv(one->socket, one->response + one->size, ROOM - 1 - one->size, 0);
            if (size <= 0) fail("the server closed a connection");
            one->size += (size_t)size;
            one->response[one->size] = 0;
            if (is_complete(one, reopens)) done[done_count++] = one;
        }
        for (int i = 0; i < done_count; i++) {
            follow_cursor(done[i]);
            if (reopens) close(done[i]->socket), open_connection(done[i]);
            ask(done[i]);
        }
        responses += (unsigned long)done_count;
    }
    printf("%lu\n", responses);
}
