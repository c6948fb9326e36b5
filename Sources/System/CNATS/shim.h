// Declares the part of libnats 3.4 that Parley uses. The library is loaded while the program runs, so the header of its
// development package is not needed, and nothing is linked.
#pragma once
#include <stdbool.h>
#include <stdint.h>

typedef struct __natsOptions natsOptions;
typedef struct __natsConnection natsConnection;
typedef struct __natsSubscription natsSubscription;
typedef struct __natsMsg natsMsg;

// The result of nearly every function. Only the values that Parley tells apart are listed.
typedef int natsStatus;
static const natsStatus NATS_OK = 0;
static const natsStatus NATS_CONNECTION_CLOSED = 5;
static const natsStatus NATS_NO_SERVER = 6;
static const natsStatus NATS_STALE_CONNECTION = 7;
static const natsStatus NATS_SECURE_CONNECTION_WANTED = 8;
static const natsStatus NATS_SECURE_CONNECTION_REQUIRED = 9;
static const natsStatus NATS_CONNECTION_DISCONNECTED = 10;
static const natsStatus NATS_CONNECTION_AUTH_FAILED = 11;
static const natsStatus NATS_NOT_PERMITTED = 12;
static const natsStatus NATS_SLOW_CONSUMER = 20;
static const natsStatus NATS_TIMEOUT = 26;
static const natsStatus NATS_SSL_ERROR = 29;

// The state of a connection.
typedef int natsConnStatus;
static const natsConnStatus NATS_CONN_STATUS_CONNECTED = 2;

// Callbacks. The last parameter is the pointer that was registered with the callback.
typedef void (*natsMsgHandler)(natsConnection *, natsSubscription *, natsMsg *, void *);
typedef void (*natsConnectionHandler)(natsConnection *, void *);
typedef void (*natsErrHandler)(natsConnection *, natsSubscription *, natsStatus, void *);

// The types of the functions that are looked up by name. One type serves every function of the same form.
typedef natsStatus (*cnats_options_create)(natsOptions **);
typedef void (*cnats_options_destroy)(natsOptions *);
typedef natsStatus (*cnats_options_servers)(natsOptions *, const char **, int);
typedef natsStatus (*cnats_options_text)(natsOptions *, const char *);
typedef natsStatus (*cnats_options_two_texts)(natsOptions *, const char *, const char *);
typedef natsStatus (*cnats_options_flag)(natsOptions *, bool);
typedef natsStatus (*cnats_options_number)(natsOptions *, int);
typedef natsStatus (*cnats_options_milliseconds)(natsOptions *, int64_t);
typedef natsStatus (*cnats_options_jitter)(natsOptions *, int64_t, int64_t);
typedef natsStatus (*cnats_options_connection_handler)(natsOptions *, natsConnectionHandler, void *);
typedef natsStatus (*cnats_options_error_handler)(natsOptions *, natsErrHandler, void *);

typedef natsStatus (*cnats_connection_connect)(natsConnection **, natsOptions *);
typedef void (*cnats_connection_end)(natsConnection *);
typedef natsConnStatus (*cnats_connection_status)(natsConnection *);
typedef int64_t (*cnats_connection_max_payload)(natsConnection *);
typedef natsStatus (*cnats_connection_last_error)(natsConnection *, const char **);
typedef natsStatus (*cnats_connection_publish)(natsConnection *, const char *, const void *, int);
typedef natsStatus (*cnats_connection_flush)(natsConnection *, int64_t);
typedef natsStatus (*cnats_connection_subscribe)(
    natsSubscription **, natsConnection *, const char *, natsMsgHandler, void *);

typedef natsStatus (*cnats_subscription_limits)(natsSubscription *, int, int);
typedef natsStatus (*cnats_subscription_dropped)(natsSubscription *, int64_t *);
typedef natsStatus (*cnats_subscription_unsubscribe)(natsSubscription *);
typedef void (*cnats_subscription_destroy)(natsSubscription *);

typedef const char *(*cnats_message_data)(const natsMsg *);
typedef int (*cnats_message_length)(const natsMsg *);
typedef void (*cnats_message_destroy)(natsMsg *);

typedef const char *(*cnats_status_text)(natsStatus);
typedef const char *(*cnats_last_error)(natsStatus *);
