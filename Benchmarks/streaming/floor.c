// The floor of streaming figures: what the kernel and libmicrohttpd charge, and next to nothing on top. Publishing and
// server-sent events over byte logs, on one thread, with no accounts, no store, no filters and no JSON.
//
//   POST /pub/{channel}   appends the body to the channel's log, as one line, and answers at once
//   GET  /sub/{channel}   a stream of what is appended from then on
//
//   cc -O2 -Wall -Wextra floor.c -o floor -lmicrohttpd; ./floor      prints the port it listens on
//
// libmicrohttpd parses the requests. The socket of a stream is duplicated and taken from it; from then on a stream is a
// descriptor and a cursor into the log of its channel, and all it lacks goes out in one send().

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { RING = 64 * 1024, BODY_LIMIT = 8 * 1024, SLICE = 512, BUCKETS = 16 * 1024, EVENTS = 512 };

struct stream {
    int fd;
    int blocked;      // its socket is full: it waits for EPOLLOUT
    uint64_t cursor;  // everything before has been sent
};

struct channel {
    struct channel *next_in_bucket, *next_dirty;
    char *log;  // RING bytes, addressed by the low bits of a position; made by the first publish
    uint64_t head;
    uint64_t id;
    struct stream *streams;
    uint32_t count, room;
    uint32_t position;    // where the running pass stands
    uint64_t pass_head;   // the head when the running pass began
    uint64_t passed;      // every stream that is not blocked has everything before this
    int dirty, go_round;  // queued for a pass; a stream was moved behind the pass
    char name[];
};

struct place {
    struct channel *channel;
    uint32_t index;
};

struct body {
    size_t length;
    char bytes[BODY_LIMIT];
};

static struct channel *buckets[BUCKETS];
static struct channel *dirty_first, **dirty_last = &dirty_first;
static struct place *places;  // by descriptor
static rlim_t descriptors;
static int loop;
static struct MHD_Daemon *server;
static struct MHD_Response *taken, *refused;
static struct body no_body;  // the state of requests that publish nothing
static volatile sig_atomic_t stopping;

// MARK: channels

static struct channel *channel_named(const char *name) {
    uint32_t hash = 2166136261u;
    for (const char *c = name; *c != 0; c++) hash = (hash ^ (unsigned char)*c) * 16777619u;
    struct channel **slot = &buckets[hash % BUCKETS];
    while (*slot != NULL && strcmp((*slot)->name, name) != 0) slot = &(*slot)->next_in_bucket;
    if (*slot == NULL) {
        *slot = calloc(1, sizeof **slot + strlen(name) + 1);
        if (*slot == NULL) abort();
        strcpy((*slot)->name, name);
    }
    return *slot;
}

static void mark_dirty(struct channel *channel) {
    if (channel->dirty || channel->count == 0) return;
    channel->dirty = 1;
    channel->go_round = 0;
    channel->position = 0;
    channel->pass_head = channel->head;
    channel->next_dirty = NULL;
    *dirty_last = channel;
    dirty_last = &channel->next_dirty;
}

static void append(struct channel *channel, const char *bytes, size_t length) {
    size_t at = channel->head & (RING - 1);
    size_t first = length < RING - at ? length : RING - at;
    memcpy(channel->log + at, bytes, first);
    memcpy(channel->log, bytes + first, length - first);
    channel->head += length;
}

// MARK: streams

static void add_stream(struct channel *channel, int fd) {
    if (channel->count == channel->room) {
        channel->room = channel->room == 0 ? 4 : channel->room * 2;
        channel->streams = realloc(channel->streams, channel->room * sizeof *channel->streams);
        if (channel->streams == NULL) abort();
    }
    places[fd] = (struct place){channel, channel->count};
    channel->streams[channel->count++] = (struct stream){fd, 0, channel->head};
}

/// Closes a stream; the channel's last one takes its place.
static void drop_stream(struct channel *channel, uint32_t index) {
    int fd = channel->streams[index].fd;
    places[fd].channel = NULL;
    close(fd);
    channel->streams[index] = channel->streams[--channel->count];
    if (index < channel->count) places[channel->streams[index].fd].index = index;
    if (index < channel->position) channel->go_round = 1;
}

/// Sends what the stream lacks; says whether the stream is still there.
static int send_rest(struct channel *channel, uint32_t index) {
    struct stream *stream = &channel->streams[index];
    uint64_t lacks = channel->head - stream->cursor;
    if (lacks > RING) {  // the log went past it; also the only end of a peer that never reads, as EPOLLOUT never comes
        drop_stream(channel, index);
        return 0;
    }
    if (stream->blocked || lacks == 0) return 1;
    size_t at = stream->cursor & (RING - 1);
    size_t first = lacks < RING - at ? lacks : RING - at;
    ssize_t sent;
    if (first == lacks) {
        sent = send(stream->fd, channel->log + at, lacks, MSG_DONTWAIT | MSG_NOSIGNAL);
    } else {
        struct iovec parts[2] = {{channel->log + at, first}, {channel->log, lacks - first}};
        struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
        sent = sendmsg(stream->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        drop_stream(channel, index);
        return 0;
    }
    if (sent > 0) stream->cursor += (uint64_t)sent;
    if (sent < (ssize_t)lacks) stream->blocked = 1;
    return 1;
}

/// Goes on with the pass over the channel's streams; says whether all of them have everything.
static int flush(struct channel *channel, uint32_t *budget) {
    for (;;) {
        while (channel->position < channel->count) {
            if (*budget == 0) return 0;
            --*budget;
            if (send_rest(channel, channel->position)) channel->position++;
        }
        if (!channel->go_round) channel->passed = channel->pass_head;
        if (!channel->go_round && channel->pass_head == channel->head) return 1;
        channel->go_round = 0;
        channel->position = 0;
        channel->pass_head = channel->head;
    }
}

static void flush_dirty_channels(void) {
    uint32_t budget = SLICE;
    while (dirty_first != NULL && budget > 0) {
        struct channel *channel = dirty_first;
        if (!flush(channel, &budget)) return;
        dirty_first = channel->next_dirty;
        if (dirty_first == NULL) dirty_last = &dirty_first;
        channel->dirty = 0;
    }
}

static void publish(struct channel *channel, const char *body, size_t length) {
    if (channel->log == NULL && (channel->log = malloc(RING)) == NULL) abort();
    char frame[64];
    size_t head = (size_t)snprintf(frame, sizeof frame, "id: %llu\ndata: ", (unsigned long long)++channel->id);
    if (channel->dirty && channel->head + head + length + 2 - channel->passed > RING / 2) {
        uint32_t everything = UINT32_MAX;  // streams that keep up must not lose the log for a slice that came too late
        flush(channel, &everything);
    }
    if (!channel->dirty) channel->passed = channel->head;
    append(channel, frame, head);
    append(channel, body, length);
    append(channel, "\n\n", 2);
    mark_dirty(channel);
}

// MARK: requests

/// Takes the socket from libmicrohttpd, which forgets the connection when the handler returns MHD_NO.
static void take_socket(struct MHD_Connection *connection, struct channel *channel) {
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n"
                               "Connection: close\r\n\r\n";
    int fd = fcntl(MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) return;
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct epoll_event event = {.events = EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.fd = fd};
    ssize_t sent = send(fd, head, sizeof head - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent != (ssize_t)sizeof head - 1 || epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event) != 0) {
        close(fd);
        return;
    }
    add_stream(channel, fd);
}

static enum MHD_Result publish_body(struct MHD_Connection *connection, const char *name, const char *upload,
                                    size_t *size, void **state) {
    struct body *rest = *state;
    if (*size > 0) {
        const char *declared = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
        if (rest->length == 0 && declared != NULL && strtoull(declared, NULL, 10) == *size && *size <= BODY_LIMIT) {
            publish(channel_named(name), upload, *size);  // in one piece: no copy
            rest->length = SIZE_MAX;
        } else if (rest->length <= BODY_LIMIT && *size <= BODY_LIMIT - rest->length) {
            memcpy(rest->bytes + rest->length, upload, *size);
            rest->length += *size;
        } else {
            rest->length = BODY_LIMIT + 1;
        }
        *size = 0;
        return MHD_YES;
    }
    if (rest->length == BODY_LIMIT + 1) return MHD_queue_response(connection, 413, refused);
    if (rest->length != SIZE_MAX) publish(channel_named(name), rest->bytes, rest->length);
    return MHD_queue_response(connection, 202, taken);
}

static enum MHD_Result answer(void *cls, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *size, void **state) {
    (void)cls, (void)version;
    int publishes = strcmp(method, "POST") == 0 && strncmp(url, "/pub/", 5) == 0;
    if (*state == NULL) {  // answering on the first call would cost keep-alive
        struct body *body = publishes ? malloc(sizeof *body) : &no_body;
        if (body == NULL) return MHD_NO;
        body->length = 0;
        *state = body;
        return MHD_YES;
    }
    if (publishes) return publish_body(connection, url + 5, upload, size, state);
    if (strcmp(method, "GET") == 0 && strncmp(url, "/sub/", 5) == 0) {
        take_socket(connection, channel_named(url + 5));
        return MHD_NO;
    }
    if (*size > 0) {
        *size = 0;
        return MHD_YES;
    }
    return MHD_queue_response(connection, 404, refused);
}

static void forget(void *cls, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode code) {
    (void)cls, (void)connection, (void)code;
    if (*state != &no_body) free(*state);
    *state = NULL;
}

// MARK: the loop

static void serve(void) {
    struct epoll_event events[EVENTS];
    int mhd = MHD_get_daemon_info(server, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    struct epoll_event readable = {.events = EPOLLIN, .data.fd = mhd};
    epoll_ctl(loop, EPOLL_CTL_ADD, mhd, &readable);
    sigset_t none;
    sigemptyset(&none);
    while (!stopping) {
        MHD_UNSIGNED_LONG_LONG timeout;  // no time limits are set: either none, or 0 for what it left undone
        int ready = MHD_get_timeout(server, &timeout) == MHD_YES;
        int count = epoll_pwait(loop, events, EVENTS, ready || dirty_first != NULL ? 0 : -1, &none);
        for (int n = 0; n < count; n++) {
            int fd = events[n].data.fd;
            if (fd == mhd) {
                ready = 1;
                continue;
            }
            struct place place = places[fd];
            if (place.channel == NULL) continue;
            if (events[n].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) {
                drop_stream(place.channel, place.index);
            } else if (place.channel->streams[place.index].blocked) {
                place.channel->streams[place.index].blocked = 0;
                send_rest(place.channel, place.index);
            }
        }
        if (ready) MHD_run(server);
        flush_dirty_channels();
    }
}

static void stop(int number) {
    (void)number;
    stopping = 1;
}

static void give_everything_back(void) {
    for (size_t n = 0; n < BUCKETS; n++) {
        for (struct channel *channel = buckets[n], *next; channel != NULL; channel = next) {
            next = channel->next_in_bucket;
            while (channel->count > 0) drop_stream(channel, channel->count - 1);
            free(channel->streams);
            free(channel->log);
            free(channel);
        }
    }
    MHD_stop_daemon(server);
    MHD_destroy_response(taken);
    MHD_destroy_response(refused);
    close(loop);
    free(places);
}

int main(void) {
    // Blocked but while it waits: a signal between the check and the wait would be slept through.
    struct sigaction on_stop = {.sa_handler = stop};
    sigaction(SIGTERM, &on_stop, NULL);
    sigaction(SIGINT, &on_stop, NULL);
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGINT);
    sigprocmask(SIG_BLOCK, &held, NULL);
    signal(SIGPIPE, SIG_IGN);

    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    descriptors = limit.rlim_cur = limit.rlim_max < 65536 ? limit.rlim_max : 65536;
    setrlimit(RLIMIT_NOFILE, &limit);
    places = calloc(descriptors, sizeof *places);
    loop = epoll_create1(EPOLL_CLOEXEC);
    taken = MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT);
    refused = MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    // TURBO: without it libmicrohttpd would shut the socket down before it forgets it, and the duplicate with it.
    server = MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_TURBO, 0, NULL, NULL, answer, NULL,
                              MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_CONNECTION_LIMIT, (unsigned)descriptors,
                              MHD_OPTION_LISTEN_BACKLOG_SIZE, 4096u, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)16384,
                              MHD_OPTION_NOTIFY_COMPLETED, forget, NULL, MHD_OPTION_END);
    if (places == NULL || loop < 0 || server == NULL) return 1;
    printf("%u\n", MHD_get_daemon_info(server, MHD_DAEMON_INFO_BIND_PORT)->port);
    fflush(stdout);
    serve();
    give_everything_back();
    return 0;
}
