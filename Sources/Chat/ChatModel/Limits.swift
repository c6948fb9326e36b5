/// The limits of the gateway, with their defaults. A size is in bytes; most limits are settings with the prefix
/// `limits.`.
public struct Limits: Sendable {
    // Sizes of JSON text.
    /// The maximum size of an event's payload, in bytes of JSON text.
    public var dataBytes = 64 * 1024
    /// The maximum size of an event's `meta`, in bytes of JSON text.
    public var metaBytes = 8 * 1024
    /// The maximum size of a signal's payload, in bytes of JSON text.
    public var signalDataBytes = 64
    /// The maximum size of a message published through PubNub's API, in bytes of JSON text.
    public var pubnubMessageBytes = 32 * 1024
    /// The maximum nesting depth of arrays and objects in a request body or payload.
    public var jsonDepth = 64
    /// The maximum size of a filter expression, in bytes.
    public var filterBytes = 8 * 1024
    /// The maximum nesting depth of a filter expression.
    public var filterDepth = 64
    /// The maximum number of `LIKE` and `CONTAINS` operators in a filter. Each of them scans a text of every event.
    public var filterSearches = 64
    /// The maximum number of steps that a filter may take for one event. A step is about one byte read, so the default
    /// allows 0.5 to 2 ms. Beyond the limit the filter does not match.
    public var filterSteps = 512 * 1024
    /// The maximum time that the hub matches events without a pause. The hub passes events to readers, and its thread
    /// does other work during the pauses.
    public var hubTurn: Duration = .milliseconds(2)

    // Request bodies.
    /// The maximum body of a request that emits one event, in bytes. The limit also applies to other small requests.
    public var emitBodyBytes = 128 * 1024
    /// The maximum body of a request with a batch of events, in bytes.
    public var batchBodyBytes = 1024 * 1024
    /// The maximum body of a request to an inbound source, in bytes.
    public var inboundBodyBytes = 1024 * 1024
    /// The maximum number of events in one batch.
    public var batchEvents = 500
    /// The maximum number of pairs of event and webhook that one dry run reports. A pair takes a few hundred bytes and
    /// 1 to 2 µs.
    public var dryRunMatches = 100_000

    // Reading.
    /// The number of items in a page when the request does not set `limit`.
    public var pageDefault = 50
    /// The maximum number of items in a page.
    public var pageMost = 250
    /// The maximum number of channels and patterns of one stream or poll.
    public var streamChannels = 500
    /// The maximum number of streams and waiting polls of the gateway.
    public var streamsInGateway = 100_000
    /// The maximum number of streams and waiting polls of one app; zero: unlimited.
    public var streamsPerApp = 0
    /// The maximum number of streams and waiting polls of one key; zero: unlimited.
    public var streamsPerKey = 0
    /// The maximum number of streams and waiting polls of one user, over all devices; zero: unlimited.
    public var streamsPerUser = 100
    /// The maximum number of streams and waiting polls of one client address; zero: unlimited.
    public var streamsPerAddress = 0
    /// The time without an event after which a stream sends a heartbeat.
    public var heartbeat: Duration = .seconds(15)
    /// The maximum time for which a poll of the native API waits for an event.
    public var pollHold: Duration = .seconds(25)
    /// The maximum time for which a poll of a PubNub client waits for an event. PubNub clients time out after 310 s.
    public var pubnubPollHold: Duration = .seconds(280)
    /// The maximum age of the cursor with which a PubNub client resumes. Older events are only in history.
    public var pubnubCatchUp: Duration = .seconds(20 * 60)
    /// The maximum size of the buffer that streams with the same selection share, in bytes. A reader that is further
    /// behind is disconnected.
    public var feedBytes = 1024 * 1024
    /// The maximum size of the shared buffers of all streams together, in bytes. At the limit, no buffer grows for slow
    /// readers.
    public var allFeedsBytes = 256 * 1024 * 1024

    // The log.
    /// The time for which ephemeral events are available for catching up.
    public var passingAge: Duration = .seconds(120)
    /// The maximum size of one app's ephemeral events that are available for catching up, in bytes.
    public var passingBytes = 64 * 1024 * 1024
    /// The time for which repeats are recognized by an `Idempotency-Key`, a delivery id or a deduplication key.
    public var repeatWindow: Duration = .seconds(24 * 3600)
    /// The maximum number of events that wait for the writer; further emits are rejected.
    public var waitingDrafts = 20_000
    /// The maximum size of all events that wait for the writer, in bytes; further emits are rejected.
    public var waitingBytes = 64 * 1024 * 1024
    /// The maximum time for which a write waits for its commit.
    public var storeDeadline: Duration = .seconds(5)
    /// The maximum time for which a stopping gateway waits for running requests.
    public var drain: Duration = .seconds(10)

    // Webhooks.
    /// The number of attempts after which a delivery is dead.
    public var deliveryAttempts = 10
    /// The maximum number of simultaneous requests to one webhook.
    public var deliveryConcurrency = 10
    /// The number of consecutive dead deliveries after which a webhook is disabled.
    public var deadOnEnd = 100
    /// The maximum number of waiting deliveries of one disabled or paused webhook. The limit of an active webhook is
    /// ten times higher.
    public var deliveriesHeld = 100_000
    /// The time for which finished and dead deliveries are kept.
    public var deliveriesKept: Duration = .seconds(30 * 24 * 3600)
    /// The maximum number of webhooks of an app.
    public var webhooksPerApp = 1000
    /// The maximum number of inbound sources of an app.
    public var sourcesPerApp = 1000

    // Chat.
    /// The maximum number of channels whose access rules are cached. The same maximum applies to the cached pairs of
    /// user and channel. An entry takes a few hundred bytes.
    public var channelAccessEntries = 100_000
    /// The maximum number of users that a message may mention. Each mentioned user who is in the channel receives an
    /// event on the channel with the user's name.
    public var mentionsPerMessage = 100
    /// The maximum number of different reactions to one message. The number of users per reaction is not limited.
    public var reactionsPerMessage = 100
    /// The maximum number of actions of one message other than reactions.
    public var actionsPerMessage = 10_000
    /// The maximum number of metadata keys of a channel. The same maximum applies to its counters.
    public var valuesPerChannel = 100
    /// The maximum number of pairs of user and channel whose unread counts are cached in memory. An entry takes about
    /// 200 bytes.
    public var unreadChannelsHeld = 500_000
    /// The maximum number of channels in memory for which `channel.activity` is still to be sent, or was sent in the
    /// last second. An entry takes about 200 bytes. A channel beyond the limit is reported with its next message.
    public var activityChannelsHeld = 100_000
    /// The maximum number of end times of bans and mutes in memory. The earliest end times are in memory; the others
    /// are read from the store later.
    public var restrictionEndsHeld = 10_000

    // Presence.
    /// The time without a heartbeat after which a user no longer counts as present.
    public var presenceAge: Duration = .seconds(300)
    /// The time for which a user with a broken connection still counts as present. Reloading a page therefore causes no
    /// leave and join.
    public var presenceGrace: Duration = .seconds(30)
    /// The time after which a user no longer counts as typing, unless the client reports the typing again.
    public var typingAge: Duration = .seconds(10)
    /// The number of present users on a channel above which joins and leaves are summarized every `presenceInterval`.
    public var announcedOccupants = 20
    /// The interval at which joins and leaves on a channel with many users are summarized.
    public var presenceInterval: Duration = .seconds(10)
    /// The maximum size of a user's presence state on one channel, in bytes of JSON text.
    public var presenceStateBytes = 4 * 1024
    /// The maximum number of presence entries: users present on channels, inside open channels, and typing. An entry
    /// takes about 300 bytes.
    public var presenceEntries = 1_000_000

    // Rate limits; zero: unlimited. A key or an app may have its own policy instead.
    /// The maximum number of requests of one key per second; zero: unlimited.
    public var keyRequestsPerSecond = 0
    /// The maximum number of requests of all keys of one app per second; zero: unlimited.
    public var appRequestsPerSecond = 0
    /// The maximum number of events emitted into one app per day; zero: unlimited.
    public var appEventsPerDay = 0

    // The audit log.
    /// The time for which entries of the audit log are kept.
    public var auditKept: Duration = .seconds(90 * 24 * 3600)
    /// The maximum number of audit entries of one app. Beyond it, the oldest entries are removed.
    public var auditEntries = 100_000

    // Event types.
    /// The maximum number of event types that an app declares.
    public var typesPerApp = 1000
    /// The maximum size of one schema, in bytes.
    public var schemaBytes = 256 * 1024
    /// The approximate maximum memory of an app's compiled schemas, in bytes. A thousand typical schemas need 45 MB.
    public var schemaMemoryBytes = 256 * 1024 * 1024
    /// The maximum number of schema versions of one event type.
    public var versionsPerType = 1000
    /// The maximum number of examples of one schema version. The same maximum applies to its counter-examples.
    public var schemaExamples = 100
    /// The maximum time for comparing a new schema version with earlier versions, when the compatibility rule requires
    /// compatibility with all of them.
    public var schemaComparison: Duration = .seconds(5)

    // Chat records.
    /// The maximum length of one text of a record, such as a name or an address, in characters (Unicode scalars).
    public var recordTextLength = 2048
    /// The maximum size of one JSON value in a record (`custom` or `data`), and of all texts in `metadata` together; in
    /// bytes of JSON text.
    public var recordValueBytes = 16 * 1024
    /// The maximum number of operators of a channel.
    public var operatorsPerChannel = 100
    /// The maximum number of users that one request invites or adds to a new channel.
    public var membersPerCall = 100
    /// The maximum number of channels of one channel group.
    public var groupChannels = 2000
    /// The maximum number of channels in all channel groups that a request names. Each channel costs about 2 µs per
    /// request.
    public var groupChannelsPerRequest = 5000

    /// Creates the default limits.
    public init() {}
}
