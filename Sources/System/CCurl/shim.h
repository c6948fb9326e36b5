// Imports libcurl. Contains wrappers only for functions and constants that Swift cannot use directly.
#pragma once
#include <curl/curl.h>

// Wrappers for variadic functions, one for each type of argument.
static inline CURLcode shim_easy_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode shim_easy_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode shim_easy_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode shim_easy_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode shim_easy_set_headers(CURL *easy, struct curl_slist *value) {
    return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, value);
}
// Sets an option to bytes, which libcurl copies. If `bytes` is NULL, clears the option.
static inline CURLcode shim_easy_set_bytes(CURL *easy, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
    return curl_easy_setopt(easy, option, bytes == NULL ? NULL : &blob);
}
static inline CURLcode shim_easy_on_bytes(CURL *easy, CURLoption option, curl_write_callback value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode shim_easy_on_open_socket(CURL *easy, curl_opensocket_callback value) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}
static inline CURLcode shim_easy_on_handshake(CURL *easy, curl_ssl_ctx_callback value) {
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, value);
}
static inline CURLcode shim_easy_on_request(CURL *easy, curl_prereq_callback value) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, value);
}
static inline CURLcode shim_easy_on_close_socket(CURL *easy, curl_closesocket_callback value) {
    return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, value);
}
static inline CURLcode shim_easy_get_long(CURL *easy, CURLINFO what, long *value) {
    return curl_easy_getinfo(easy, what, value);
}
static inline CURLcode shim_easy_get_offset(CURL *easy, CURLINFO what, curl_off_t *value) {
    return curl_easy_getinfo(easy, what, value);
}
static inline CURLcode shim_easy_get_text(CURL *easy, CURLINFO what, const char **value) {
    return curl_easy_getinfo(easy, what, value);
}
static inline CURLcode shim_easy_get_pointer(CURL *easy, CURLINFO what, void **value) {
    return curl_easy_getinfo(easy, what, value);
}
static inline CURLMcode shim_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode shim_multi_set_pointer(CURLM *multi, CURLMoption option, void *value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode shim_multi_on_socket(CURLM *multi, curl_socket_callback value) {
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, value);
}
static inline CURLMcode shim_multi_on_timer(CURLM *multi, curl_multi_timer_callback value) {
    return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, value);
}

// Returns a pointer to the address. An IPv6 address is longer than the member `addr` (a `struct sockaddr`) and
// continues in the memory after it, so a copy of the member would be incomplete.
static inline const struct sockaddr *shim_sockaddr(const struct curl_sockaddr *address) { return &address->addr; }

// Returns the result of a finished transfer, which is in a union without a type name.
static inline CURLcode shim_message_result(const CURLMsg *message) { return message->data.result; }

// Constants that libcurl defines as macros with casts, which Swift cannot import.
static const size_t shim_pause_writing = CURL_WRITEFUNC_PAUSE;
static const curl_socket_t shim_bad_socket = CURL_SOCKET_BAD;
static const curl_socket_t shim_socket_timeout = CURL_SOCKET_TIMEOUT;
static const CURLversion shim_version_now = CURLVERSION_NOW;
static const long shim_global_default = CURL_GLOBAL_DEFAULT;
