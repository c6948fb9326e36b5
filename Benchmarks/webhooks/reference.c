// The reference for deliveries: a bare libcurl multi handle over epoll that posts one recorded request again and again, with
// its header fields and its body. Prints "CPU-SECONDS WALL-SECONDS FAILED".
//
//   cc -O2 reference.c -o reference -lcurl
//   ./reference PORT PATHS PARALLEL COUNT FILE

#define _GNU_SOURCE
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <time.h>

static CURLM *multi;
static int set;
static long due = -1;  // milliseconds on the monotonic clock

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static long now(void) { return (long)(seconds(CLOCK_MONOTONIC) * 1000); }

static int on_timer(CURLM *m, long wait, void *context) {
    (void)m, (void)context;
    due = wait < 0 ? -1 : now() + wait;
    return 0;
}

static int on_socket(CURL *easy, curl_socket_t socket, int what, void *context, void *known) {
    (void)easy, (void)context;
    struct epoll_event event = {.data.fd = socket};
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(set, EPOLL_CTL_DEL, socket, NULL);
        curl_multi_assign(multi, socket, NULL);
        return 0;
    }
    event.events = (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
    epoll_ctl(set, known == NULL ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, &event);
    curl_multi_assign(multi, socket, &set);
    return 0;
}

static size_t ignore(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes, (void)context;
    return size * count;
}

int main(int count, char **words) {
    if (count != 6) return 2;
    int port = atoi(words[1]), paths = atoi(words[2]), parallel = atoi(words[3]), total = atoi(words[4]);
    static char text[1 << 20], url[128];
    FILE *file = fopen(words[5], "r");
    if (file == NULL) return 2;
    size_t size = fread(text, 1, sizeof text - 1, file);
    char *body = strstr(text, "\r\n\r\n");
    if (body == NULL) return 2;
    *body = '\0', body += 4;
    size_t body_size = size - (size_t)(body - text);
    // Those libcurl writes itself are left to it, and those it would add are left out.
    struct curl_slist *fields = curl_slist_append(NULL, "Expect:");
    strtok(text, "\r\n");
    for (char *line; (line = strtok(NULL, "\r\n")) != NULL;)
        if (strncasecmp(line, "host:", 5) && strncasecmp(line, "content-length:", 15)) fields = curl_slist_append(fields, line);

    curl_global_init(CURL_GLOBAL_DEFAULT);
    multi = curl_multi_init();
    set = epoll_create1(0);
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)parallel);
    double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), start = seconds(CLOCK_MONOTONIC);
    int begun = 0, ended = 0, failed = 0, running;
    for (int i = 0; i < parallel && begun < total; i++, begun++) {
        CURL *easy = curl_easy_init();
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 15000L);
        curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, 5000L);
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)body_size);
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, ignore);
        sprintf(url, "http://127.0.0.1:%d/hook/%d", port, begun % paths);
        curl_easy_setopt(easy, CURLOPT_URL, url);
        curl_multi_add_handle(multi, easy);
    }
    struct epoll_event events[256];
    while (ended < total) {
        long wait = due < 0 ? -1 : due - now();
        int ready = epoll_wait(set, events, 256, due < 0 ? -1 : wait > 0 ? (int)wait : 0);
        for (int i = 0; i < ready; i++) {
            int what = (events[i].events & EPOLLIN ? CURL_CSELECT_IN : 0) | (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0)
                | (events[i].events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
            curl_multi_socket_action(multi, events[i].data.fd, what, &running);
        }
        if (due >= 0 && due <= now()) {
            due = -1;
            curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
        }
        CURLMsg *message;
        while ((message = curl_multi_info_read(multi, &running)) != NULL) {
            if (message->msg != CURLMSG_DONE) continue;
            CURL *easy = message->easy_handle;
            long status = 0;
            curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
            ended++, failed += message->data.result != CURLE_OK || status != 200;
            curl_multi_remove_handle(multi, easy);
            if (begun == total) continue;
            sprintf(url, "http://127.0.0.1:%d/hook/%d", port, begun++ % paths);
            curl_easy_setopt(easy, CURLOPT_URL, url);
            curl_multi_add_handle(multi, easy);
        }
    }
    printf("%f %f %d\n", seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu, seconds(CLOCK_MONOTONIC) - start, failed);
    return 0;
}
