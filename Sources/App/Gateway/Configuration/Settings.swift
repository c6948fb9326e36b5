import ChatModel
import Webhooks

/// The table of all settings. `parley config print` and the reference of the settings are made from it.
public enum Settings {
    /// All settings, in the order of the reference.
    public static let all: [Setting] = general + limits

    /// Returns the setting with a name; nil when there is none.
    static func named(_ name: String) -> Setting? { all.first { $0.name == name } }

    /// The prefixes of setting names, such as `limits.`.
    static let sections = Set(
        all.compactMap { setting in setting.name.lastIndex(of: ".").map { String(setting.name[...$0]) } }
    ).sorted()

    /// Variables that are not settings and cause no warning. They belong to the client commands, or name the
    /// configuration file.
    static let otherVariables: Set<String> = [
        "PARLEY_URL", "PARLEY_KEY", "PARLEY_TOKEN_COMMAND", "PARLEY_PROFILE", "PARLEY_CONFIG",
    ]

    private static let general: [Setting] = [
        listen,
        .text("data", \.dataDirectory, "directory of the database; created if it does not exist"),
        secret(
            .text(
                "engine", \.engineURL,
                "PostgreSQL database of a cluster, such as postgres://parley@db1,db2/parley; empty: the database is in the directory data"
            )),
        .text("engine_file", \.engineFile, "file that contains the value of engine; used instead of engine"),
        .list(
            "bus", \.busServers,
            "NATS servers over which the nodes of a cluster notify each other, such as nats://n1:4222; empty: the nodes ask PostgreSQL every 0.2 s"
        ),
        .text(
            "bus_credentials_file", \.busCredentialsFile,
            "file with the credentials of the bus: a .creds file of nsc, or one line, user:password or a token; empty: none"
        ),
        .text(
            "bus_authorities_file", \.busAuthoritiesFile,
            "PEM file of the authorities that sign the certificates of the NATS servers; empty: those of the system"),
        .text(
            "bus_certificate_file", \.busCertificateFile,
            "PEM file of the certificate with which the gateway identifies itself to the NATS servers; empty: none"),
        .text("bus_key_file", \.busKeyFile, "PEM file of the private key of bus_certificate_file"),
        .integer(
            "engine_connections", \.engineConnections, in: 1...100, unit: "connections",
            "maximum number of PostgreSQL connections for reads; a node opens a few more for writes"),
        schemas,
        .flag("dev", \.isDevelopment, "development mode: well-known keys; listens on a loopback address only"),
        publicURL,
        secret(
            .text(
                "admin_key", \.adminKey,
                "admin key of the first app, at least 16 characters, used only at the first start; empty: the gateway generates a key, and shows it on the terminal or writes it to DATA/admin-key"
            )),
        secret(
            .text(
                "demo_keys", \.demoKeys,
                "PubNub keys of the first app, publish:subscribe:secret, used only at the first start; empty: generated keys"
            )),
        secret(
            .text(
                "secrets_key", \.secretsKey,
                "keys that encrypt stored secrets, separated by commas, each 32 bytes in base64 (openssl rand -base64 32): the first key encrypts, all keys decrypt; empty: secrets are stored unencrypted"
            )),
        .text(
            "secrets_key_file", \.secretsKeyFile,
            "file that contains the value of secrets_key; used instead of secrets_key"),
        .list("webhook.allow", \.webhookAllow, "private networks (CIDR) to which webhooks may be sent; empty: none")
            .reloadable,
        .integer(
            "webhook.connections", \.webhookConnections, in: 16...65_536, unit: "connections",
            "maximum number of concurrent requests to receivers of webhooks; a quarter of them may go to one host; a low limit of open files reduces the number"
        ),
        webhookVerification,
        .list(
            "cors.origins", \.corsOrigins,
            "origins of web pages that may call the native API; *: any origin; empty: none, or with --dev the pages of this machine"
        ).reloadable,
        .text(
            "tls.certificate", \.tlsCertificate,
            "PEM file of the certificate; with tls.key, the gateway serves HTTPS; SIGHUP reads both files again"),
        .text("tls.key", \.tlsKey, "PEM file of the certificate's private key"),
        .seconds(
            "tls.hsts_seconds", \.transportSecurity, in: 0...63_072_000,
            "time for which browsers must use only HTTPS (Strict-Transport-Security); 0: the header is not sent"),
        otlpEndpoint,
        secret(
            .list(
                "otlp.headers", \.otlpHeaders,
                "header fields sent to the trace collector: name=value, separated by commas")),
        otlpSampleRatio,
        logLevel,
        logFormat,
        .integer(
            "connections", \.connections, in: 1...1_000_000, unit: "connections",
            "maximum number of open connections, not counting streams; further connections wait or are rejected"),
        .integer(
            "connections_per_address", \.connectionsPerAddress, in: 0...1_000_000, unit: "connections",
            "maximum number of open connections of one client address; 0: no limit"),
        .list(
            "trusted_proxies", \.trustedProxies,
            "networks (CIDR) of trusted proxies, whose X-Forwarded-For gives the client's address for limits and the audit log"
        ),
        .seconds(
            "silent_client_seconds", \.silence, in: 5...3600,
            "time without network traffic after which the client of a stream or poll is considered gone"),
    ]

    private static let limits: [Setting] = [
        .integer(
            "limits.data_bytes", \.limits.dataBytes, in: 64...16_777_216, unit: "bytes",
            "maximum size of an event's data as JSON"
        ).reloadable,
        .integer(
            "limits.meta_bytes", \.limits.metaBytes, in: 64...1_048_576, unit: "bytes",
            "maximum size of an event's meta as JSON"
        ).reloadable,
        .integer(
            "limits.signal_data_bytes", \.limits.signalDataBytes, in: 1...65_536, unit: "bytes",
            "maximum size of a signal's data as JSON"
        ).reloadable,
        .integer(
            "limits.pubnub_message_bytes", \.limits.pubnubMessageBytes, in: 64...16_777_216, unit: "bytes",
            "maximum size of a message that a PubNub client publishes, as JSON"
        ).reloadable,
        .integer(
            "limits.json_depth", \.limits.jsonDepth, in: 1...2000, unit: "levels",
            "maximum nesting depth of arrays and objects in JSON"
        ).reloadable,
        .integer(
            "limits.filter_bytes", \.limits.filterBytes, in: 1...65_536, unit: "bytes",
            "maximum length of a filter expression"
        ).reloadable,
        .integer(
            "limits.filter_depth", \.limits.filterDepth, in: 1...256, unit: "levels",
            "maximum nesting depth of a filter expression"
        ).reloadable,
        .integer(
            "limits.filter_searches", \.limits.filterSearches, in: 1...4096, unit: "comparisons",
            "maximum number of LIKE and CONTAINS operators in a filter expression"
        ).reloadable,
        .integer(
            "limits.filter_steps", \.limits.filterSteps, in: 16_384...16_777_216, unit: "steps",
            "maximum work of one filter for one event, about one step per byte; a filter that exceeds the limit does not match"
        ).reloadable,
        .integer(
            "limits.emit_body_bytes", \.limits.emitBodyBytes, in: 1024...67_108_864, unit: "bytes",
            "maximum size of the body of a request with one event"),
        .integer(
            "limits.batch_body_bytes", \.limits.batchBodyBytes, in: 1024...67_108_864, unit: "bytes",
            "maximum size of the body of a batch of events"),
        .integer(
            "limits.batch_events", \.limits.batchEvents, in: 1...10_000, unit: "events",
            "maximum number of events in a batch"
        )
        .reloadable,
        .integer(
            "limits.dry_run_matches", \.limits.dryRunMatches, in: 1000...10_000_000, unit: "pairs",
            "maximum number of pairs of event and webhook that one dry run explains"
        ).reloadable,
        .integer(
            "limits.inbound_body_bytes", \.limits.inboundBodyBytes, in: 1024...67_108_864, unit: "bytes",
            "maximum size of the body of a post to a source"),
        .integer(
            "limits.page_default", \.limits.pageDefault, in: 1...1000, unit: "items",
            "number of items on a page of a list if the request has no 'limit'"
        )
        .reloadable,
        .integer(
            "limits.page_most", \.limits.pageMost, in: 1...1000, unit: "items",
            "maximum 'limit', the number of items on a page of a list"
        )
        .reloadable,
        .integer(
            "limits.stream_channels", \.limits.streamChannels, in: 1...10_000, unit: "patterns",
            "maximum number of channels and patterns of one stream or poll"
        ).reloadable,
        .integer(
            "limits.streams", \.limits.streamsInGateway, in: 1...10_000_000, unit: "streams",
            "maximum number of open streams and waiting polls of the gateway"),
        .integer(
            "limits.streams_per_app", \.limits.streamsPerApp, in: 0...10_000_000, unit: "streams",
            "maximum number of open streams and waiting polls of one app; 0: no limit"
        ).reloadable,
        .integer(
            "limits.streams_per_key", \.limits.streamsPerKey, in: 0...10_000_000, unit: "streams",
            "maximum number of open streams and waiting polls of one key; 0: no limit"
        ).reloadable,
        .integer(
            "limits.streams_per_user", \.limits.streamsPerUser, in: 0...10_000_000, unit: "streams",
            "maximum number of open streams and waiting polls of one user, whatever the credential; 0: no limit"
        ).reloadable,
        .integer(
            "limits.streams_per_address", \.limits.streamsPerAddress, in: 0...10_000_000, unit: "streams",
            "maximum number of open streams and waiting polls of one client address; 0: no limit"),
        .seconds(
            "limits.heartbeat_seconds", \.limits.heartbeat, in: 1...300,
            "time without events after which a stream sends a heartbeat"),
        .seconds(
            "limits.poll_hold_seconds", \.limits.pollHold, in: 1...300, "maximum time for which a poll waits for events"
        )
        .reloadable,
        .seconds(
            "limits.pubnub_poll_hold_seconds", \.limits.pubnubPollHold, in: 1...305,
            "maximum time for which a PubNub client's poll waits for events"
        ).reloadable,
        .seconds(
            "limits.pubnub_catch_up_seconds", \.limits.pubnubCatchUp, in: 10...86_400,
            "maximum age of the cursor with which a PubNub client can resume"
        ).reloadable,
        .integer(
            "limits.feed_bytes", \.limits.feedBytes, in: 65_536...268_435_456, unit: "bytes",
            "maximum amount of unsent data of a stream; a stream with more unsent data is closed"
        ).reloadable,
        .integer(
            "limits.all_feeds_bytes", \.limits.allFeedsBytes, in: 1_048_576...1_099_511_627_776, unit: "bytes",
            "total unsent data of all streams, above which slow streams are closed before they reach limits.feed_bytes"
        ).reloadable,
        .seconds(
            "limits.passing_seconds", \.limits.passingAge, in: 10...3600,
            "time for which ephemeral events are held in memory for clients that reconnect"),
        .integer(
            "limits.passing_bytes", \.limits.passingBytes, in: 65_536...4_294_967_296, unit: "bytes",
            "maximum size of the ephemeral events held in memory for each app"),
        .seconds(
            "limits.repeat_seconds", \.limits.repeatWindow, in: 3600...2_592_000,
            "time for which the gateway recognises repeated requests by their Idempotency-Key or delivery id"),
        .integer(
            "limits.waiting_events", \.limits.waitingDrafts, in: 100...1_000_000, unit: "events",
            "maximum number of events that wait to be stored; further emits are rejected with 503"),
        .integer(
            "limits.waiting_bytes", \.limits.waitingBytes, in: 1_048_576...4_294_967_296, unit: "bytes",
            "maximum size of the events that wait to be stored; further emits are rejected with 503"),
        .seconds(
            "limits.store_seconds", \.limits.storeDeadline, in: 1...60,
            "maximum time for which an emit waits to be stored"),
        .seconds(
            "limits.drain_seconds", \.limits.drain, in: 0...300,
            "maximum time for which a shutdown waits for requests in progress"),
        .integer(
            "limits.delivery_attempts", \.limits.deliveryAttempts, in: 1...50, unit: "attempts",
            "maximum number of attempts of a delivery, after which the delivery becomes dead"),
        .integer(
            "limits.delivery_concurrency", \.limits.deliveryConcurrency, in: 1...1000, unit: "requests",
            "maximum number of concurrent requests to one webhook"),
        .integer(
            "limits.dead_on_end", \.limits.deadOnEnd, in: 1...10_000_000, unit: "deliveries",
            "number of consecutive dead deliveries after which a webhook is disabled"
        ).reloadable,
        .integer(
            "limits.deliveries_held", \.limits.deliveriesHeld, in: 100...10_000_000, unit: "deliveries",
            "maximum number of deliveries held for one disabled webhook; further deliveries become dead"),
        .seconds(
            "limits.deliveries_kept_seconds", \.limits.deliveriesKept, in: 3600...31_536_000,
            "time for which delivered and dead deliveries are stored"),
        .integer(
            "limits.channel_access_entries", \.limits.channelAccessEntries, in: 1000...10_000_000, unit: "entries",
            "number of channels, and of users in channels, whose permissions are cached in memory"),
        .integer(
            "limits.unread_channels_held", \.limits.unreadChannelsHeld, in: 1000...100_000_000, unit: "entries",
            "number of pairs of user and channel whose unread counts are cached in memory"),
        .integer(
            "limits.webhooks", \.limits.webhooksPerApp, in: 1...100_000, unit: "webhooks",
            "maximum number of webhooks of an app"
        )
        .reloadable,
        .integer(
            "limits.sources", \.limits.sourcesPerApp, in: 1...100_000, unit: "sources",
            "maximum number of sources of an app"
        )
        .reloadable,
        .seconds(
            "limits.presence_seconds", \.limits.presenceAge, in: 2...86_400,
            "time without a heartbeat after which a user is no longer present"
        ).reloadable,
        .seconds(
            "limits.presence_grace_seconds", \.limits.presenceGrace, in: 0...3600,
            "time for which a user stays present after the user's stream broke"),
        .seconds(
            "limits.typing_seconds", \.limits.typingAge, in: 1...300,
            "time after which a user no longer counts as typing, unless the client reports typing again"
        ).reloadable,
        .integer(
            "limits.announced_occupants", \.limits.announcedOccupants, in: 0...100_000, unit: "users",
            "number of users on a channel above which joins and leaves are combined in one event"),
        .seconds(
            "limits.presence_interval_seconds", \.limits.presenceInterval, in: 1...3600,
            "interval of the events that combine joins and leaves of a busy channel"),
        .integer(
            "limits.presence_state_bytes", \.limits.presenceStateBytes, in: 2...65_536, unit: "bytes",
            "maximum size of a user's presence state on a channel, as JSON"
        ).reloadable,
        .integer(
            "limits.presence_entries", \.limits.presenceEntries, in: 1000...100_000_000, unit: "entries",
            "maximum number of presence entries: one for each user on a channel, in an open channel, or typing"),
        .integer(
            "limits.mentions", \.limits.mentionsPerMessage, in: 1...1000, unit: "users",
            "maximum number of users that one message may mention"
        ).reloadable,
        .integer(
            "limits.reactions", \.limits.reactionsPerMessage, in: 1...1000, unit: "reactions",
            "maximum number of different reactions to one message"
        ).reloadable,
        .integer(
            "limits.actions", \.limits.actionsPerMessage, in: 1...1_000_000, unit: "actions",
            "maximum number of actions on one message, not counting reactions"
        ).reloadable,
        .integer(
            "limits.channel_values", \.limits.valuesPerChannel, in: 1...1000, unit: "keys",
            "maximum number of metadata keys, and of counters, of a channel"
        ).reloadable,
        .integer(
            "limits.key_requests_per_second", \.limits.keyRequestsPerSecond, in: 0...1_000_000, unit: "requests",
            "maximum number of requests per second of each key without a rate of its own; 0: no limit"
        ).reloadable,
        .integer(
            "limits.app_requests_per_second", \.limits.appRequestsPerSecond, in: 0...10_000_000, unit: "requests",
            "maximum number of requests per second of each app without a rate of its own; 0: no limit"
        ).reloadable,
        .integer(
            "limits.app_events_per_day", \.limits.appEventsPerDay, in: 0...1_000_000_000_000, unit: "events",
            "maximum number of events emitted per day into each app without a quota of its own; 0: no limit"
        ).reloadable,
        .seconds(
            "limits.audit_seconds", \.limits.auditKept, in: 3600...315_360_000,
            "time for which entries of the audit log are stored"
        ).reloadable,
        .integer(
            "limits.audit_entries", \.limits.auditEntries, in: 100...10_000_000, unit: "entries",
            "maximum number of entries in one app's audit log; the oldest entries are deleted, entries about rejections and tokens first"
        ).reloadable,
        .integer(
            "limits.event_types", \.limits.typesPerApp, in: 1...100_000, unit: "types",
            "maximum number of event types that an app may declare"
        ).reloadable,
        .integer(
            "limits.schema_bytes", \.limits.schemaBytes, in: 1024...4_194_304, unit: "bytes",
            "maximum size of one schema as JSON"),
        .integer(
            "limits.schema_memory_bytes", \.limits.schemaMemoryBytes, in: 1_048_576...17_179_869_184, unit: "bytes",
            "maximum memory of an app's compiled schemas, approximately"
        ).reloadable,
        .integer(
            "limits.schema_versions", \.limits.versionsPerType, in: 1...100_000, unit: "versions",
            "maximum number of schema versions of one event type"
        ).reloadable,
        .integer(
            "limits.schema_examples", \.limits.schemaExamples, in: 0...10_000, unit: "examples",
            "maximum number of examples, and of counter-examples, of one schema version"
        ).reloadable,
        .seconds(
            "limits.schema_comparison_seconds", \.limits.schemaComparison, in: 1...300,
            "time limit for comparing a new schema version with earlier versions"
        ).reloadable,
        .integer(
            "limits.record_text_length", \.limits.recordTextLength, in: 256...65_536, unit: "characters",
            "maximum length of one text in the record of a user, channel or membership"
        ).reloadable,
        .integer(
            "limits.record_value_bytes", \.limits.recordValueBytes, in: 1024...65_536, unit: "bytes",
            "maximum size of custom, data or metadata in a record, as JSON"
        ).reloadable,
        .integer(
            "limits.channel_operators", \.limits.operatorsPerChannel, in: 1...1000, unit: "users",
            "maximum number of operators of one channel"
        ).reloadable,
        .integer(
            "limits.members_per_call", \.limits.membersPerCall, in: 1...1000, unit: "users",
            "maximum number of users that one request may invite or add"
        ).reloadable,
        .integer(
            "limits.group_channels", \.limits.groupChannels, in: 1...10_000, unit: "channels",
            "maximum number of channels in one channel group"
        ).reloadable,
        .integer(
            "limits.group_channels_per_request", \.limits.groupChannelsPerRequest, in: 1...100_000, unit: "channels",
            "maximum number of channels in all channel groups of one request together"
        ).reloadable,
    ]

    private static let listen = Setting(
        name: "listen", unit: "host:port", summary: "address to listen on; port 0 chooses a free port",
        read: { (configuration, text) throws(SettingError) in
            guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
                (0...65_535).contains(port)
            else { throw SettingError("listen must be HOST:PORT, such as 127.0.0.1:8080, not '\(text)'") }
            var host = String(text[..<colon])
            if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
            configuration.listenHost = host.isEmpty ? "0.0.0.0" : host
            configuration.listenPort = port
        },
        show: {
            $0.listenHost.contains(":") ? "[\($0.listenHost)]:\($0.listenPort)" : "\($0.listenHost):\($0.listenPort)"
        })

    private static let schemas = Setting.text(
        "schemas", \.schemaDirectory,
        "directory with one file TYPE.json for each event type; the gateway declares these types in its first app, "
            + "at the start and on SIGHUP"
    ).reloadable

    private static let publicURL = Setting(
        name: "public_url", unit: "URL", summary: "public URL of the gateway; empty: the address on which it listens",
        read: { (configuration, text) throws(SettingError) in
            guard text.isEmpty || text.hasPrefix("https://") || text.hasPrefix("http://") else {
                throw SettingError("public_url must begin with https:// or http://, not '\(text)'")
            }
            configuration.publicURL = text.hasSuffix("/") ? String(text.dropLast()) : text
        },
        show: { $0.publicURL })

    private static let webhookVerification: Setting = {
        let kinds = WebhookVerification.allCases.map(\.rawValue)
        return Setting(
            name: "webhook.verification", unit: kinds.joined(separator: "|"),
            summary:
                "consent that receivers must give before webhooks are sent to them; a webhook may require stricter consent",
            read: { (configuration, text) throws(SettingError) in
                guard kinds.contains(text) else {
                    throw SettingError(
                        "webhook.verification must be one of \(kinds.joined(separator: ", ")), not '\(text)'")
                }
                configuration.webhookVerification = text
            },
            show: { $0.webhookVerification })
    }()

    private static let otlpEndpoint = Setting(
        name: "otlp.endpoint", unit: "URL",
        summary: "URL of the trace collector (OTLP over HTTP), such as http://127.0.0.1:4318; empty: no tracing",
        read: { (configuration, text) throws(SettingError) in
            guard text.isEmpty || text.hasPrefix("https://") || text.hasPrefix("http://") else {
                throw SettingError("otlp.endpoint must begin with https:// or http://, not '\(text)'")
            }
            configuration.otlpEndpoint = text
        },
        show: { $0.otlpEndpoint })

    private static let otlpSampleRatio = Setting(
        name: "otlp.sample_ratio", unit: "0...1",
        summary: "share of requests that start a trace; a request that already has a trace keeps its sampling flag",
        read: { (configuration, text) throws(SettingError) in
            guard let ratio = Double(text), (0...1).contains(ratio) else {
                throw SettingError("otlp.sample_ratio must be a number from 0 to 1, not '\(text)'")
            }
            configuration.otlpSampleRatio = ratio
        },
        show: { String($0.otlpSampleRatio) })

    private static let logFormat: Setting = {
        let forms = LogFormat.allCases.map(\.rawValue)
        return Setting(
            name: "log_format", unit: forms.joined(separator: "|"),
            summary: "format of the log: text lines for people, or one JSON object per line for programs",
            isReloadable: true,
            read: { (configuration, text) throws(SettingError) in
                guard let form = LogFormat(rawValue: text.lowercased()) else {
                    throw SettingError("log_format must be one of \(forms.joined(separator: ", ")), not '\(text)'")
                }
                configuration.logFormat = form
            },
            show: { $0.logFormat.rawValue })
    }()

    private static let logLevel: Setting = {
        let levels = ["trace", "debug", "info", "notice", "warning", "error", "critical"]
        return Setting(
            name: "log_level", unit: levels.joined(separator: "|"),
            summary: "lowest level of the lines that are logged",
            isReloadable: true,
            read: { (configuration, text) throws(SettingError) in
                guard levels.contains(text.lowercased()) else {
                    throw SettingError("log_level must be one of \(levels.joined(separator: ", ")), not '\(text)'")
                }
                configuration.logLevel = text.lowercased()
            },
            show: { $0.logLevel })
    }()

    private static func secret(_ setting: Setting) -> Setting {
        var setting = setting
        setting.isSecret = true
        return setting
    }
}
