/// Every limit of the product, with its default. Each is a setting and has a test.
public struct Limits: Sendable {
    // Sizes, in bytes of JSON text.
    /// The payload of an event, in bytes of JSON text.
    public var dataBytes = 64 * 1024
    /// The `meta` of an event, in bytes of JSON text.
    public var metaBytes = 8 * 1024
    /// The payload of a signal, in bytes of JSON text.
    public var signalDataBytes = 64
    /// A message published through PubNub's API.
    public var pubnubMessageBytes = 32 * 1024
    /// The nesting depth of arrays and objects in a request body or payload.
    public var jsonDepth = 64
    /// The text of a filter, in bytes.
    public var filterBytes = 8 * 1024
    /// The nesting depth of a filter.
    public var filterDepth = 64
    /// The number of `LIKE` and `CONTAINS` operators in one filter. Each one scans a text of every event.
    public var filterSearches = 64
    /// The steps of one filter for one event; a step is about one byte read. The limit amounts to 0.5 to 2 ms.
    public var filterSteps = 512 * 1024
    /// The time in a turn of the hub after which no further event is matched. The filters of an event's followers
    /// determine the cost of a match, and everything else on the loop waits meanwhile.
    public var hubTurn: Duration = .milliseconds(2)

    // Request bodies.
    /// The body of a request that emits one event, in bytes; also of other small requests.
    public var emitBodyBytes = 128 * 1024
    /// The body of a request with a batch of events, in bytes.
    public var batchBodyBytes = 1024 * 1024
    /// The body of a post to an inbound source, in bytes.
    public var inboundBodyBytes = 1024 * 1024
    /// The number of events in one batch.
    public var batchEvents = 500
    /// Pairs of event and webhook that one dry run explains. A pair takes some hundred bytes and 1 to 2 µs.
    public var dryRunMatches = 100_000

    // Reading.
    /// The length of a page when the request names none, in items.
    public var pageDefault = 50
    /// The maximum length of a page, in items.
    public var pageMost = 250
    /// Channels and patterns of one stream or poll.
    public var streamChannels = 500
    /// Streams and waiting polls of the whole gateway.
    public var streamsInGateway = 100_000
    /// Streams and waiting polls of one app; zero: unlimited.
    public var streamsPerApp = 0
    /// Streams and waiting polls of one key; zero: unlimited.
    public var streamsPerKey = 0
    /// Streams and waiting polls of one user, who has a few devices with a few pages each; zero: unlimited.
    public var streamsPerUser = 100
    /// Streams and waiting polls of one address; zero: unlimited.
    public var streamsPerAddress = 0
    /// The time without an event after which a stream sends a heartbeat.
    public var heartbeat: Duration = .seconds(15)
    /// The longest time for which a poll of the native API waits.
    public var pollHold: Duration = .seconds(25)
    /// The time a PubNub poll waits; PubNub clients time out after 310 s.
    public var pubnubPollHold: Duration = .seconds(280)
    /// The longest time for which a PubNub client can catch up by an old cursor. Older events are in history.
    public var pubnubCatchUp: Duration = .seconds(20 * 60)
    /// The size of the byte log of one stream feed, and of all of them. At the limit they no longer grow for slow
    /// readers.
    public var feedBytes = 1024 * 1024
    /// The size of the byte logs of all stream feeds together, in bytes.
    public var allFeedsBytes = 256 * 1024 * 1024

    // The log.
    /// The time for which ephemeral events are available for catching up.
    public var passingAge: Duration = .seconds(120)
    /// The size of all ephemeral events that are available for catching up, in bytes.
    public var passingBytes = 64 * 1024 * 1024
    /// The time for which repeats are recognized: `Idempotency-Key`, delivery ids and deduplication keys.
    public var repeatWindow: Duration = .seconds(24 * 3600)
    /// The number of events that may wait for the writer; further emits are rejected.
    public var waitingDrafts = 20_000
    /// The size of all events that wait for the writer, in bytes.
    public var waitingBytes = 64 * 1024 * 1024
    /// The longest time for which a write waits for its commit.
    public var storeDeadline: Duration = .seconds(5)
    /// The time for which a stopping gateway waits for running requests.
    public var drain: Duration = .seconds(10)

    // Webhooks.
    /// The number of attempts after which a delivery is dead.
    public var deliveryAttempts = 10
    /// The number of simultaneous deliveries to one webhook.
    public var deliveryConcurrency = 10
    /// The number of consecutive dead deliveries without a success after which a webhook is disabled.
    public var deadOnEnd = 100
    /// Held deliveries of one webhook.
    public var deliveriesHeld = 100_000
    /// The time for which finished and dead deliveries are kept.
    public var deliveriesKept: Duration = .seconds(30 * 24 * 3600)
    /// The number of webhooks of an app.
    public var webhooksPerApp = 1000
    /// The number of inbound sources of an app.
    public var sourcesPerApp = 1000

    // Chat.
    /// Channels, and as many pairs of user and channel, whose access rules are cached: some hundred bytes each.
    public var channelAccessEntries = 100_000
    /// Users that one message may mention. Each of them who is in the channel receives an event on the own channel.
    public var mentionsPerMessage = 100
    /// The maximum number of different reactions to one message. The number of users per reaction is not limited.
    public var reactionsPerMessage = 100
    /// Actions of one message other than reactions.
    public var actionsPerMessage = 10_000
    /// Metadata texts of a channel, and counters of a channel.
    public var valuesPerChannel = 100
    /// Channels of users whose unread counts are held in memory: some 200 bytes each.
    public var unreadChannelsHeld = 500_000
    /// Channels held with a last message that `channel.activity` has still to report, or reported in the last second:
    /// some 200 bytes each. A channel beyond the limit is reported with its next message.
    public var activityChannelsHeld = 100_000
    /// Restriction expiries held in memory, nearest first.
    public var restrictionEndsHeld = 10_000

    // Presence.
    /// The time without a heartbeat after which a user is gone.
    public var presenceAge: Duration = .seconds(300)
    /// The time for which a user with a broken connection counts as present, so that reloading a page is neither a
    /// leave nor a join.
    public var presenceGrace: Duration = .seconds(30)
    /// The time for which a user counts as typing without a repeat.
    public var typingAge: Duration = .seconds(10)
    /// The number of users on a channel beyond which joins and leaves are summarized every `presenceInterval`.
    public var announcedOccupants = 20
    /// The interval at which joins and leaves are summarized in a channel with many users.
    public var presenceInterval: Duration = .seconds(10)
    /// The state of one user on one channel, in bytes of JSON text.
    public var presenceStateBytes = 4 * 1024
    /// Presence keys of all kinds (present, inside and typing users): about 300 bytes each.
    public var presenceEntries = 1_000_000

    // Rates; zero: unlimited. A key or an app may have its own policy.
    /// Requests of one key per second.
    public var keyRequestsPerSecond = 0
    /// Requests of all keys of one app per second.
    public var appRequestsPerSecond = 0
    /// Events emitted into one app per day.
    public var appEventsPerDay = 0

    // The audit log.
    /// The time for which entries of the audit log are kept.
    public var auditKept: Duration = .seconds(90 * 24 * 3600)
    /// Audit entries of one app; the oldest are removed first.
    public var auditEntries = 100_000

    // Event types.
    /// The number of event types that an app declares.
    public var typesPerApp = 1000
    /// The size of one schema, in bytes.
    public var schemaBytes = 256 * 1024
    /// The approximate memory of an app's compiled schemas. A thousand typical schemas need 45 MB.
    public var schemaMemoryBytes = 256 * 1024 * 1024
    /// The number of schema versions of one event type.
    public var versionsPerType = 1000
    /// Examples of one version; the same number of counter-examples is allowed.
    public var schemaExamples = 100
    /// The time for comparing a new version with earlier ones, when the compatibility rule requires all of them.
    public var schemaComparison: Duration = .seconds(5)

    // Records of the chat.
    /// One text of a record (a name, an address, a description), in characters as schemas count them.
    public var recordTextLength = 2048
    /// The maximum bytes of one JSON value of the app in a record (`custom` or `data`); also of all texts in `metadata`.
    public var recordValueBytes = 16 * 1024
    /// The number of operators of a channel.
    public var operatorsPerChannel = 100
    /// Users that one call invites or adds to a new channel.
    public var membersPerCall = 100
    /// Channels of one channel group.
    public var groupChannels = 2000
    /// Channels of all channel groups that one request names. Each costs about 2 µs per request.
    public var groupChannelsPerRequest = 5000

    /// The default limits.
    public init() {}
}
