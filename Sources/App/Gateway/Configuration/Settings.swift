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
        .text("data", \.dataDirectory, "directory of the database; created if missing"),
        schemas,
        .flag("dev", \.isDevelopment, "development mode: well-known keys, on a loopback address only"),
        publicURL,
        secret(
            .text(
                "admin_key", \.adminKey,
                "the first app's admin key at the first start, 16 characters or more; empty: generated, and shown on a terminal or written to DATA/admin-key"
            )),
        secret(.text("demo_keys", \.demoKeys, "pub:sub:secret of the first app at the first start; empty: generated")),
        secret(
            .text(
                "secrets_key", \.secretsKey,
                "keys that seal stored secrets, separated by commas, 32 bytes in base64 each (openssl rand -base64 32): the first seals, all unseal; empty: secrets are stored unsealed"
            )),
        .text("secrets_key_file", \.secretsKeyFile, "file with the value of secrets_key, used instead of it"),
        .list("webhook.allow", \.webhookAllow, "private networks (CIDR) that webhooks may reach")
            .reloadable,
        .integer(
            "webhook.connections", \.webhookConnections, in: 16...65_536, unit: "connections",
            "concurrent requests to receivers of webhooks, at most a quarter of them to one host; at most a quarter of the allowed open files"
        ),
        webhookVerification,
        .list(
            "cors.origins", \.corsOrigins,
            "browser origins that may call the API; *: any; empty with --dev: those of this machine"
        ).reloadable,
        .text(
            "tls.certificate", \.tlsCertificate,
            "PEM file of the certificate; with tls.key, the gateway serves HTTPS; SIGHUP reloads both files"),
        .text("tls.key", \.tlsKey, "PEM file of the certificate's private key"),
        .seconds(
            "tls.hsts_seconds", \.transportSecurity, in: 0...63_072_000,
            "time for which browsers must use HTTPS only (Strict-Transport-Security); 0: header not sent"),
        otlpEndpoint,
        secret(
            .list("otlp.headers", \.otlpHeaders, "header fields for the collector: name=value, separated by commas")),
        otlpSampleRatio,
        logLevel,
        logFormat,
        .integer(
            "connections", \.connections, in: 1...1_000_000, unit: "connections",
            "open connections, without streams; beyond it, new ones wait or are rejected"),
        .integer(
            "connections_per_address", \.connectionsPerAddress, in: 0...1_000_000, unit: "connections",
            "open connections of one address; 0: no limit"),
        .list(
            "trusted_proxies", \.trustedProxies,
            "networks (CIDR) of trusted proxies: limits by address and the audit log use the client's address from their X-Forwarded-For"
        ),
        .seconds(
            "silent_client_seconds", \.silence, in: 5...3600,
            "silence of the network after which the client of a stream or held poll counts as gone"),
    ]

    private static let limits: [Setting] = [
        .integer(
            "limits.data_bytes", \.limits.dataBytes, in: 64...16_777_216, unit: "bytes", "JSON text of an event's data"
        ).reloadable,
        .integer(
            "limits.meta_bytes", \.limits.metaBytes, in: 64...1_048_576, unit: "bytes", "JSON text of an event's meta"
        ).reloadable,
        .integer(
            "limits.signal_data_bytes", \.limits.signalDataBytes, in: 1...65_536, unit: "bytes",
            "JSON text of a signal's data"
        ).reloadable,
        .integer(
            "limits.pubnub_message_bytes", \.limits.pubnubMessageBytes, in: 64...16_777_216, unit: "bytes",
            "JSON text of a PubNub publish"
        ).reloadable,
        .integer(
            "limits.json_depth", \.limits.jsonDepth, in: 1...2000, unit: "levels", "nesting of arrays and objects"
        ).reloadable,
        .integer(
            "limits.filter_bytes", \.limits.filterBytes, in: 1...65_536, unit: "bytes", "a filter expression"
        ).reloadable,
        .integer(
            "limits.filter_depth", \.limits.filterDepth, in: 1...256, unit: "levels", "nesting of a filter expression"
        ).reloadable,
        .integer(
            "limits.filter_searches", \.limits.filterSearches, in: 1...4096, unit: "comparisons",
            "LIKE and CONTAINS in a filter expression"
        ).reloadable,
        .integer(
            "limits.filter_steps", \.limits.filterSteps, in: 16_384...16_777_216, unit: "steps",
            "cost of one filter for one event, about one step per byte read; beyond it the filter does not match"
        ).reloadable,
        .integer(
            "limits.emit_body_bytes", \.limits.emitBodyBytes, in: 1024...67_108_864, unit: "bytes",
            "body of a request with one event"),
        .integer(
            "limits.batch_body_bytes", \.limits.batchBodyBytes, in: 1024...67_108_864, unit: "bytes",
            "body of a batch"),
        .integer("limits.batch_events", \.limits.batchEvents, in: 1...10_000, unit: "events", "events of a batch")
            .reloadable,
        .integer(
            "limits.dry_run_matches", \.limits.dryRunMatches, in: 1000...10_000_000, unit: "pairs",
            "pairs of event and webhook explained by one dry run"
        ).reloadable,
        .integer(
            "limits.inbound_body_bytes", \.limits.inboundBodyBytes, in: 1024...67_108_864, unit: "bytes",
            "body posted to a source"),
        .integer("limits.page_default", \.limits.pageDefault, in: 1...1000, unit: "items", "page size without limit=")
            .reloadable,
        .integer("limits.page_most", \.limits.pageMost, in: 1...1000, unit: "items", "largest page size (limit=)")
            .reloadable,
        .integer(
            "limits.stream_channels", \.limits.streamChannels, in: 1...10_000, unit: "patterns",
            "channels and patterns of one stream or poll"
        ).reloadable,
        .integer(
            "limits.streams", \.limits.streamsInGateway, in: 1...10_000_000, unit: "streams",
            "live streams and held polls in all"),
        .integer(
            "limits.streams_per_app", \.limits.streamsPerApp, in: 0...10_000_000, unit: "streams",
            "live streams and held polls of one app; 0: no limit"
        ).reloadable,
        .integer(
            "limits.streams_per_key", \.limits.streamsPerKey, in: 0...10_000_000, unit: "streams",
            "live streams and held polls of one key; 0: no limit"
        ).reloadable,
        .integer(
            "limits.streams_per_user", \.limits.streamsPerUser, in: 0...10_000_000, unit: "streams",
            "live streams and held polls of one user, as named by tokens, tickets and keys; 0: no limit"
        ).reloadable,
        .integer(
            "limits.streams_per_address", \.limits.streamsPerAddress, in: 0...10_000_000, unit: "streams",
            "live streams and held polls of one address; 0: no limit"),
        .seconds("limits.heartbeat_seconds", \.limits.heartbeat, in: 1...300, "silence before a stream's heartbeat"),
        .seconds("limits.poll_hold_seconds", \.limits.pollHold, in: 1...300, "longest wait of a poll without events")
            .reloadable,
        .seconds(
            "limits.pubnub_poll_hold_seconds", \.limits.pubnubPollHold, in: 1...305,
            "longest wait of a PubNub client's poll without events"
        ).reloadable,
        .seconds(
            "limits.pubnub_catch_up_seconds", \.limits.pubnubCatchUp, in: 10...86_400,
            "greatest age of a cursor with which a PubNub client can resume"
        ).reloadable,
        .integer(
            "limits.feed_bytes", \.limits.feedBytes, in: 65_536...268_435_456, unit: "bytes",
            "data that a stream may lag behind its feed"
        ).reloadable,
        .integer(
            "limits.all_feeds_bytes", \.limits.allFeedsBytes, in: 1_048_576...1_099_511_627_776, unit: "bytes",
            "backlog of all streams together, beyond which slow readers are closed sooner"
        ).reloadable,
        .seconds(
            "limits.passing_seconds", \.limits.passingAge, in: 10...3600,
            "time for which ephemeral events can be resumed"),
        .integer(
            "limits.passing_bytes", \.limits.passingBytes, in: 65_536...4_294_967_296, unit: "bytes",
            "ephemeral events held for each app"),
        .seconds(
            "limits.repeat_seconds", \.limits.repeatWindow, in: 3600...2_592_000,
            "time for which repeats are recognised (Idempotency-Key, delivery ids)"),
        .integer(
            "limits.waiting_events", \.limits.waitingDrafts, in: 100...1_000_000, unit: "events",
            "events waiting for the store; beyond it, emits are answered 503"),
        .integer(
            "limits.waiting_bytes", \.limits.waitingBytes, in: 1_048_576...4_294_967_296, unit: "bytes",
            "the same limit in bytes"),
        .seconds("limits.store_seconds", \.limits.storeDeadline, in: 1...60, "longest wait of an emit for the store"),
        .seconds(
            "limits.drain_seconds", \.limits.drain, in: 0...300, "longest wait of a shutdown for running requests"),
        .integer(
            "limits.delivery_attempts", \.limits.deliveryAttempts, in: 1...50, unit: "attempts",
            "attempts of a delivery before it is dead"),
        .integer(
            "limits.delivery_concurrency", \.limits.deliveryConcurrency, in: 1...1000, unit: "requests",
            "concurrent requests to one webhook"),
        .integer(
            "limits.dead_on_end", \.limits.deadOnEnd, in: 1...10_000_000, unit: "deliveries",
            "consecutive dead deliveries after which a webhook is disabled"
        ).reloadable,
        .integer(
            "limits.deliveries_held", \.limits.deliveriesHeld, in: 100...10_000_000, unit: "deliveries",
            "deliveries held for one disabled webhook"),
        .seconds(
            "limits.deliveries_kept_seconds", \.limits.deliveriesKept, in: 3600...31_536_000,
            "time for which finished and dead deliveries are kept"),
        .integer(
            "limits.channel_access_entries", \.limits.channelAccessEntries, in: 1000...10_000_000, unit: "entries",
            "channels, and users in channels, whose access is held in memory"),
        .integer(
            "limits.unread_channels_held", \.limits.unreadChannelsHeld, in: 1000...100_000_000, unit: "entries",
            "channels of users whose unread counts are cached in memory"),
        .integer("limits.webhooks", \.limits.webhooksPerApp, in: 1...100_000, unit: "webhooks", "webhooks of an app")
            .reloadable,
        .integer("limits.sources", \.limits.sourcesPerApp, in: 1...100_000, unit: "sources", "sources of an app")
            .reloadable,
        .seconds(
            "limits.presence_seconds", \.limits.presenceAge, in: 2...86_400,
            "time without a heartbeat after which a user is gone"
        ).reloadable,
        .seconds(
            "limits.presence_grace_seconds", \.limits.presenceGrace, in: 0...3600,
            "time for which a user counts as present after the stream broke"),
        .seconds(
            "limits.typing_seconds", \.limits.typingAge, in: 1...300,
            "time for which a user counts as typing without a repeat"
        ).reloadable,
        .integer(
            "limits.announced_occupants", \.limits.announcedOccupants, in: 0...100_000, unit: "users",
            "occupants of a channel beyond which joins and leaves are reported together"),
        .seconds(
            "limits.presence_interval_seconds", \.limits.presenceInterval, in: 1...3600,
            "interval at which joins and leaves are reported together"),
        .integer(
            "limits.presence_state_bytes", \.limits.presenceStateBytes, in: 2...65_536, unit: "bytes",
            "presence state of a user on a channel"
        ).reloadable,
        .integer(
            "limits.presence_entries", \.limits.presenceEntries, in: 1000...100_000_000, unit: "entries",
            "presence entries: users on channels, inside open channels, and typing"),
        .integer(
            "limits.mentions", \.limits.mentionsPerMessage, in: 1...1000, unit: "users",
            "users that one message may mention; each receives an event with the message"
        ).reloadable,
        .integer(
            "limits.reactions", \.limits.reactionsPerMessage, in: 1...1000, unit: "reactions",
            "different reactions to one message"
        ).reloadable,
        .integer(
            "limits.actions", \.limits.actionsPerMessage, in: 1...1_000_000, unit: "actions",
            "actions of one message other than reactions"
        ).reloadable,
        .integer(
            "limits.channel_values", \.limits.valuesPerChannel, in: 1...1000, unit: "keys",
            "metadata keys, and counters, of a channel"
        ).reloadable,
        .integer(
            "limits.key_requests_per_second", \.limits.keyRequestsPerSecond, in: 0...1_000_000, unit: "requests",
            "requests per second for each key without its own limit; 0: no limit"
        ).reloadable,
        .integer(
            "limits.app_requests_per_second", \.limits.appRequestsPerSecond, in: 0...10_000_000, unit: "requests",
            "requests per second for all keys of each app without its own limit; 0: no limit"
        ).reloadable,
        .integer(
            "limits.app_events_per_day", \.limits.appEventsPerDay, in: 0...1_000_000_000_000, unit: "events",
            "events emitted per day into each app without its own limit; 0: no limit"
        ).reloadable,
        .seconds(
            "limits.audit_seconds", \.limits.auditKept, in: 3600...315_360_000,
            "time for which audit log entries are kept"
        ).reloadable,
        .integer(
            "limits.audit_entries", \.limits.auditEntries, in: 100...10_000_000, unit: "entries",
            "entries of one app's audit log; beyond it the oldest are deleted, refusals and token entries first"
        ).reloadable,
        .integer(
            "limits.event_types", \.limits.typesPerApp, in: 1...100_000, unit: "types",
            "event types that an app may declare"
        ).reloadable,
        .integer(
            "limits.schema_bytes", \.limits.schemaBytes, in: 1024...4_194_304, unit: "bytes", "text of one schema"),
        .integer(
            "limits.schema_memory_bytes", \.limits.schemaMemoryBytes, in: 1_048_576...17_179_869_184, unit: "bytes",
            "approximate memory of an app's compiled schemas"
        ).reloadable,
        .integer(
            "limits.schema_versions", \.limits.versionsPerType, in: 1...100_000, unit: "versions",
            "versions of one event type"
        ).reloadable,
        .integer(
            "limits.schema_examples", \.limits.schemaExamples, in: 0...10_000, unit: "examples",
            "examples of one version, and as many counter-examples"
        ).reloadable,
        .seconds(
            "limits.schema_comparison_seconds", \.limits.schemaComparison, in: 1...300,
            "time limit for comparing a new version with earlier ones"
        ).reloadable,
        .integer(
            "limits.record_text_length", \.limits.recordTextLength, in: 256...65_536, unit: "characters",
            "one text of a user's, channel's or membership's record"
        ).reloadable,
        .integer(
            "limits.record_value_bytes", \.limits.recordValueBytes, in: 1024...65_536, unit: "bytes",
            "custom, data or metadata of a record"
        ).reloadable,
        .integer(
            "limits.channel_operators", \.limits.operatorsPerChannel, in: 1...1000, unit: "users",
            "operators of one channel"
        ).reloadable,
        .integer(
            "limits.members_per_call", \.limits.membersPerCall, in: 1...1000, unit: "users",
            "users that one call may invite or add"
        ).reloadable,
        .integer(
            "limits.group_channels", \.limits.groupChannels, in: 1...10_000, unit: "channels",
            "channels of one channel group"
        ).reloadable,
        .integer(
            "limits.group_channels_per_request", \.limits.groupChannelsPerRequest, in: 1...100_000, unit: "channels",
            "channels of all channel groups that one request names"
        ).reloadable,
    ]

    private static let listen = Setting(
        name: "listen", unit: "host:port", summary: "address to listen on; port 0 picks a free one",
        read: { (configuration, text) throws(SettingError) in
            guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
                (0...65_535).contains(port)
            else { throw SettingError("listen must be HOST:PORT, for instance 127.0.0.1:8080, not '\(text)'") }
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
        "directory of event types to declare in the first app, a file TYPE.json each; SIGHUP reads it again"
    ).reloadable

    private static let publicURL = Setting(
        name: "public_url", unit: "URL", summary: "the gateway's public address; empty: the address it listens on",
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
            summary: "confirmation that receivers must give before events are sent; a webhook may require more",
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
        summary: "collector of traces (OTLP over HTTP), like http://127.0.0.1:4318; empty: no tracing",
        read: { (configuration, text) throws(SettingError) in
            guard text.isEmpty || text.hasPrefix("https://") || text.hasPrefix("http://") else {
                throw SettingError("otlp.endpoint must begin with https:// or http://, not '\(text)'")
            }
            configuration.otlpEndpoint = text
        },
        show: { $0.otlpEndpoint })

    private static let otlpSampleRatio = Setting(
        name: "otlp.sample_ratio", unit: "0...1",
        summary: "share of requests that start a trace; a request with a trace follows its sampling flag",
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
            summary: "text lines for people, or one JSON object per line for collectors", isReloadable: true,
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
            name: "log_level", unit: levels.joined(separator: "|"), summary: "lowest level that is logged",
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
