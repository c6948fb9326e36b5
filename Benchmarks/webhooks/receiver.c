// Takes posts and answers 200 with an empty body, at any path; one thread, epoll. Prints the port it listens on.
// At /refuse it answers 400, and counts nothing.
//
// GET /reset forgets everything; GET /count answers "POSTS DISTINCT", distinct by path and webhook-id; GET /last answers
// with the last post as it came.
//
//   cc -O2 receiver.c -o receiver

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROOM = 256 * 1024, MOST = 65536, SLOTS = 1 << 22 };

static char *buffers[MOST];
static size_t filled[MOST];
static uint64_t *seen;  // open addressing; zero is free
static size_t posts, distinct, last_size;
static char last[ROOM];

static void note(const char *path, size_t path_size, const char *id, size_t id_size) {
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < path_size; i++) hash = (hash ^ (unsigned char)path[i]) * 1099511628211u;
    hash = (hash ^ ' ') * 1099511628211u;
    for (size_t i = 0; i < id_size; i++) hash = (hash ^ (unsigned char)id[i]) * 1099511628211u;
    hash |= hash == 0;
    for (size_t slot = hash & (SLOTS - 1);; slot = (slot + 1) & (SLOTS - 1)) {
        if (seen[slot] == hash) return;
        if (seen[slot] != 0) continue;
        seen[slot] = hash;
        distinct++;
        return;
    }
}

static void say(int peer, const char *bytes, size_t size) {
    while (size > 0) {
        ssize_t sent = send(peer, bytes, size, MSG_NOSIGNAL);
        if (sent <= 0) return;
        bytes += sent, size -= (size_t)sent;
    }
}

static void answer(int peer, const char *body, size_t size) {
    char head[128];
    say(peer, head, (size_t)sprintf(head, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", size));
    say(peer, body, size);
}

static const char *value(const char *head, const char *name, size_t *size) {
    const char *line = strcasestr(head, name);
    if (line == NULL) return *size = 0, "";
    line += strlen(name) + strspn(line + strlen(name), " ");
    *size = strcspn(line, "\r");
    return line;
}

// The size of the first request in `text`, once it is there in full.
static size_t take(int peer, char *text, size_t size) {
    char *end = memmem(text, size, "\r\n\r\n", 4);
    if (end == NULL) return 0;
    *end = '\0';  // for the string functions
    size_t length_size, id_size, head = (size_t)(end - text) + 4;
    size_t total = head + strtoul(value(text, "\r\ncontent-length:", &length_size), NULL, 10);
    if (total > size) return *end = '\r', 0;
    char number[64];
    if (strncmp(text, "POST /refuse ", 13) == 0) {
        say(peer, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", 47);
    } else if (strncmp(text, "POST ", 5) == 0) {
        const char *id = value(text, "\r\nwebhook-id:", &id_size);
        note(text + 5, strcspn(text + 5, " "), id, id_size);
        posts++;
        *end = '\r';
        memcpy(last, text, last_size = total);
        say(peer, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 38);
    } else if (strncmp(text, "GET /count ", 11) == 0) {
        answer(peer, number, (size_t)sprintf(number, "%zu %zu", posts, distinct));
    } else if (strncmp(text, "GET /last ", 10) == 0) {
        answer(peer, last, last_size);
    } else {
        memset(seen, 0, SLOTS * sizeof *seen);
        posts = distinct = last_size = 0;
        answer(peer, "", 0);
    }
    return total;
}

static void serve(int peer) {
    char *text = buffers[peer];
    ssize_t more = recv(peer, text + filled[peer], ROOM - filled[peer], 0);
    if (more <= 0) {
        close(peer);
        return;
    }
    size_t size = filled[peer] + (size_t)more, done = 0, taken;
    while ((taken = take(peer, text + done, size - done)) > 0) done += taken;
    memmove(text, text + done, size - done);
    filled[peer] = size - done;
}

int main(void) {
    signal(SIGPIPE, SIG_IGN);
    seen = calloc(SLOTS, sizeof *seen);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), set = epoll_create1(0), one = 1;
    if (seen == NULL || bind(listener, (struct sockaddr *)&address, length) || listen(listener, 4096)) return 1;
    getsockname(listener, (struct sockaddr *)&address, &length);
    printf("%u\n", ntohs(address.sin_port));
    fflush(stdout);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[256];
    epoll_ctl(set, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        int count = epoll_wait(set, events, 256, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd != listener) {
                serve(events[i].data.fd);
                continue;
            }
            int peer = accept(listener, NULL, NULL);
            if (peer < 0 || peer >= MOST) continue;
            if (buffers[peer] == NULL) buffers[peer] = malloc(ROOM);
            if (buffers[peer] == NULL) return 1;
            filled[peer] = 0;
            setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
            event.data.fd = peer;
            epoll_ctl(set, EPOLL_CTL_ADD, peer, &event);
        }
    }
}
