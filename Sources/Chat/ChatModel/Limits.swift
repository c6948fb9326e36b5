/// Every bound of the product in one place, with its default (`product.md` 9). Each is a setting and has a test.
public struct Limits: Sendable {
    // Sizes, in bytes of JSON text.
    public var dataBytes = 64 * 1024
    public var metaBytes = 8 * 1024
    public var signalDataBytes = 64
    /// A PubNub publish.
    public var pubnubMessageBytes = 32 * 1024
    /// Nested arrays and objects of a request body or payload.
    public var jsonDepth = 64
    public var filterBytes = 8 * 1024
    public var filterDepth = 64
    /// `LIKE` and `CONTAINS` in one filter: each reads a text of every event.
    public var filterSearches = 64
    /// Steps of one filter for one event, about one for each byte that it reads: half a millisecond to two in all.
    public var filterSteps = 512 * 1024
    /// No event is matched later than this in a turn of the hub: how long one takes, its followers' filters decide, and
    /// everything on the loop waits meanwhile.
    public var hubTurn: Duration = .milliseconds(2)

    // Request bodies.
    public var emitBodyBytes = 128 * 1024
    public var batchBodyBytes = 1024 * 1024
    public var inboundBodyBytes = 1024 * 1024
    public var batchEvents = 500
    /// Pairs of event and webhook that one dry run explains: some hundred bytes and a microsecond or two each.
    public var dryRunMatches = 100_000

    // Reading.
    public var pageDefault = 50
    public var pageMost = 250
    /// Channels and patterns of one stream or poll.
    public var streamChannels = 500
    /// Streams and held polls.
    public var streamsInGateway = 100_000
    /// Streams and held polls of one app, key, and user; zero: unlimited. A user has a few devices with a few pages each.
    public var streamsPerApp = 0
    public var streamsPerKey = 0
    public var streamsPerUser = 100
    /// Zero: unlimited.
    public var streamsPerAddress = 0
    public var heartbeat: Duration = .seconds(15)
    public var pollHold: Duration = .seconds(25)
    /// A PubNub client's own limit is 310 s.
    public var pubnubPollHold: Duration = .seconds(280)
    /// How far back a PubNub client can catch up by an old cursor; what is older it reads from history.
    public var pubnubCatchUp: Duration = .seconds(20 * 60)
    /// The byte log of one stream feed, and of all of them: past it they grow no more for those who lag.
    public var feedBytes = 1024 * 1024
    public var allFeedsBytes = 256 * 1024 * 1024

    // The log.
    public var passingAge: Duration = .seconds(120)
    public var passingBytes = 64 * 1024 * 1024
    /// How long repeats are recognised: `Idempotency-Key`, delivery ids, deduplication keys.
    public var repeatWindow: Duration = .seconds(24 * 3600)
    public var waitingDrafts = 20_000
    public var waitingBytes = 64 * 1024 * 1024
    public var storeDeadline: Duration = .seconds(5)
    public var drain: Duration = .seconds(10)

    // Webhooks.
    public var deliveryAttempts = 10
    public var deliveryConcurrency = 10
    /// Deliveries of a webhook given up without a success in between, after which it is disabled.
    public var deadOnEnd = 100
    /// Held deliveries of one webhook.
    public var deliveriesHeld = 100_000
    public var deliveriesKept: Duration = .seconds(30 * 24 * 3600)
    public var webhooksPerApp = 1000
    public var sourcesPerApp = 1000

    // Chat.
    /// Channels, and as many users in channels, whose standing is held in memory: some hundred bytes each.
    public var standingsHeld = 100_000
    /// Users one message may mention, and how many of them are told.
    public var mentionsPerMessage = 100
    public var mentionsTold = 10
    /// Different reactions to one message; how many users share each is not limited.
    public var reactionsPerMessage = 100
    /// Other actions of one message.
    public var actionsPerMessage = 10_000
    /// Texts, and counters, that are kept with a channel.
    public var valuesPerChannel = 100
    /// Channels of users whose unread messages are held in memory: some 200 bytes each.
    public var unreadChannelsHeld = 500_000
    /// Channels with a last message that is to be told by `channel.activity`, or was in the last second: some 200 bytes each. A
    /// channel beyond them is told of by its next message.
    public var activityChannelsHeld = 100_000
    /// Nearest ends of restrictions that are held in memory.
    public var restrictionEndsHeld = 10_000

    // Who is there.
    /// Without a sign of life for so long, a user is gone.
    public var presenceAge: Duration = .seconds(300)
    /// How long somebody whose connection broke counts as there: a page that is loaded again is no leave and no join.
    public var presenceGrace: Duration = .seconds(30)
    public var typingAge: Duration = .seconds(10)
    /// While more are on a channel, their coming and going is told together, every `presenceInterval`.
    public var announcedOccupants = 20
    public var presenceInterval: Duration = .seconds(10)
    /// What one user shows on one channel, in bytes of JSON text.
    public var presenceStateBytes = 4 * 1024
    /// Users on channels, inside open ones, and typing, all together: about 300 bytes each.
    public var presenceKeys = 1_000_000

    // Rates; zero: no limit. A key, or an app, may have a policy of its own.
    /// Requests of one key a second.
    public var keyRequestsPerSecond = 0
    /// Requests of all keys of one app a second.
    public var appRequestsPerSecond = 0
    /// Events emitted into one app a day.
    public var appEventsPerDay = 0

    // The audit log.
    public var auditKept: Duration = .seconds(90 * 24 * 3600)
    /// Entries of one app; the oldest go first.
    public var auditEntries = 100_000

    // Event types.
    public var typesPerApp = 1000
    /// The text of one schema.
    public var schemaBytes = 256 * 1024
    /// What the compiled schemas of an app may keep in memory, about: a thousand of the usual ones need 45 MB.
    public var schemaMemoryBytes = 256 * 1024 * 1024
    public var versionsPerType = 1000
    /// Examples of one version, and as many counter-examples.
    public var schemaExamples = 100
    /// How long a new version is compared with earlier ones, where the rule asks for all of them.
    public var schemaComparison: Duration = .seconds(5)

    // Records of the chat.
    /// One text of a record: a name, an address, a description. In characters, as schemas count them.
    public var recordTextLength = 2048
    /// One value of the app's own in a record, `custom` or `data`; and all texts of `metadata` together.
    public var recordValueBytes = 16 * 1024
    public var operatorsPerChannel = 100
    /// Users that one call invites, or makes members of a new channel.
    public var membersPerCall = 100
    /// Channels of one channel group.
    public var groupChannels = 2000
    /// Channels of all channel groups that one request names: some 2 µs each, for every such request.
    public var groupChannelsPerRequest = 5000

    public init() {}
}
