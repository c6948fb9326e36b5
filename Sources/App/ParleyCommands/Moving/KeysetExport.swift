import ChatModel
import ClientCommands
import GatewayClient
import JSON

/// A destination for the lines of an export.
protocol ExportSink {
    /// Writes a line. The line may be buffered.
    ///
    /// - Parameter bar: the progress bar, for printing messages above it.
    mutating func write(_ line: JSONText, _ bar: inout ProgressBar) async throws
    /// Returns when all lines written so far have been delivered.
    mutating func flush(_ bar: inout ProgressBar) async throws
}

/// Reads a keyset and exports its contents as lines. The lines of records come before the lines of messages, so that an
/// import creates the channels before their messages.
///
/// Only the names of all users and channels, and one page of other data, are in memory at the same time.
struct KeysetExport<Sink: ExportSink> {
    let access: KeysetAccess
    let parts: Set<KeysetPart>
    var sink: Sink
    private var state: ExportState
    private var bar: ProgressBar
    private(set) var counts = ExportCounts()
    private var users: [String] = []
    private var channels: OrderedNames

    init(
        _ access: KeysetAccess, parts: Set<KeysetPart>, channels: [String], state: ExportState, sink: Sink,
        bar: ProgressBar
    ) {
        self.access = access
        self.parts = parts
        self.channels = OrderedNames(channels)
        self.state = state
        self.sink = sink
        self.bar = bar
    }

    /// Exports the keyset.
    ///
    /// - Throws: the reason why the export was interrupted. The state then contains the progress before the
    ///   interruption.
    mutating func run() async throws {
        defer { bar.clear() }
        do {
            try await exportRecords()
            counts.doing = .messages
            if parts.contains(.messages) { try await exportMessages() }
            try await sink.flush(&bar)
        } catch let failure as CommandFailure {
            throw CommandFailure(
                failure.message,
                details: failure.details + [
                    "the export of \(counts.doing) failed; to leave this part out, add --without \(counts.doing)"
                ])
        }
    }

    private mutating func write(_ record: JSONText) async throws {
        counts.records += 1
        try await send(record)
    }

    private mutating func send(_ line: JSONText) async throws {
        bar.show(counts)
        try await sink.write(line, &bar)
    }

    // MARK: Records

    private mutating func exportRecords() async throws {
        counts.doing = .users
        if parts.contains(.users) || parts.contains(.memberships) { try await exportUsers() }
        counts.doing = .channels
        try await exportChannels()
        if parts.contains(.groups) {
            counts.doing = .groups
            try await exportGroups()
        }
        guard parts.contains(.memberships) else { return }
        counts.doing = .memberships
        // Memberships are read from the channels and from the users, because a channel or a user without metadata is
        // not listed.
        let listed = channels
        for channel in listed.all { try await exportMembers(of: channel) }
        for user in users { try await exportMemberships(of: user, besides: listed) }
        for channel in channels.all { try await exportRestrictions(of: channel) }
    }

    private mutating func exportUsers() async throws {
        var pages = PagedObjects(
            access, RequestPath("v2", "objects", access.subscribeKey, "uuids", root: ""), "custom,status,type")
        while let page = try await pages.next() {
            for (text, value) in page {
                guard let id = value["id"]?.string else { continue }
                users.append(id)
                if parts.contains(.users) { try await write(KeysetRecords.user(id, text)) }
            }
        }
    }

    private mutating func exportChannels() async throws {
        var pages = PagedObjects(
            access, RequestPath("v2", "objects", access.subscribeKey, "channels", root: ""), "custom,status,type")
        while let page = try await pages.next() {
            for (text, value) in page {
                guard let id = value["id"]?.string else { continue }
                guard !id.hasPrefix(KeysetRecords.restrictionsPrefix) else {
                    channels.insert(String(id.dropFirst(KeysetRecords.restrictionsPrefix.count)))
                    continue
                }
                channels.insert(id)
                if parts.contains(.channels) { try await write(KeysetRecords.channel(id, text)) }
            }
        }
    }

    private mutating func exportRestrictions(of channel: String) async throws {
        let moderation = KeysetRecords.restrictionsPrefix + channel
        var pages = PagedObjects(
            access, RequestPath("v2", "objects", access.subscribeKey, "channels", moderation, "uuids", root: ""),
            "custom")
        while let page = try await pages.next() {
            for (_, value) in page {
                guard let user = value["uuid"]?["id"]?.string,
                    let line = KeysetRecords.restriction(user, channel, value["custom"])
                else { continue }
                try await write(line)
            }
        }
    }

    private mutating func exportGroups() async throws {
        let base = ["v1", "channel-registration", "sub-key", access.subscribeKey, "channel-group"]
        let listed = try await access.get(RequestPath(base, root: "")).root["payload"]?["groups"]?.strings ?? []
        for group in listed {
            let found = try await access.get(RequestPath(base + [group], root: "")).root["payload"]?["channels"]?
                .strings
            for channel in found ?? [] { channels.insert(channel) }
            if let found, !found.isEmpty { try await write(KeysetRecords.group(group, found)) }
        }
    }

    private mutating func exportMembers(of channel: String) async throws {
        var pages = PagedObjects(
            access, RequestPath("v2", "objects", access.subscribeKey, "channels", channel, "uuids", root: ""),
            "custom,status,type")
        while let page = try await pages.next() {
            for (text, value) in page {
                guard let user = value["uuid"]?["id"]?.string else { continue }
                try await write(KeysetRecords.membership(user, channel, text))
            }
        }
    }

    private mutating func exportMemberships(of user: String, besides listed: OrderedNames) async throws {
        var pages = PagedObjects(
            access, RequestPath("v2", "objects", access.subscribeKey, "uuids", user, "channels", root: ""),
            "custom,status,type")
        while let page = try await pages.next() {
            for (text, value) in page {
                guard let channel = value["channel"]?["id"]?.string else { continue }
                guard !channel.hasPrefix(KeysetRecords.restrictionsPrefix) else {
                    channels.insert(String(channel.dropFirst(KeysetRecords.restrictionsPrefix.count)))
                    continue
                }
                guard !listed.contains(channel) else { continue }
                channels.insert(channel)
                try await write(KeysetRecords.membership(user, channel, text))
            }
        }
    }

    // MARK: Messages

    /// The number of channels that one request checks for messages. It is limited by the length of a URL.
    private static var glance: Int { 50 }

    private mutating func exportMessages() async throws {
        // Chat SDKs use these channels for events of single users and for moderation.
        for user in users {
            channels.insert(user)
            channels.insert(KeysetRecords.restrictionNewsPrefix + user)
        }
        for channel in channels.all { channels.insert(KeysetRecords.restrictionsPrefix + channel) }
        channels.insert(KeysetRecords.oldReports)
        // Channels of threads are found while messages are exported. They are read after the other channels.
        var done = 0
        while done < channels.all.count {
            let next = Array(channels.all[done..<min(done + Self.glance, channels.all.count)])
            for channel in try await active(next) { try await exportHistory(of: channel) }
            done += next.count
        }
    }

    private func active(_ channels: [String]) async throws -> [String] {
        let list = channels.map(RequestPath.escaped).joined(separator: ",")
        let path = RequestPath("v3", "history", "sub-key", access.subscribeKey, "channel", root: "")
            .appending(escaped: list).adding("max", "1").adding("encode_channels", "false")
        let found = try await access.get(path).root["channels"]
        return channels.filter { (Self.member($0) { found?[$0] }?.count ?? 0) > 0 }
    }

    private mutating func exportHistory(of channel: String) async throws {
        counts.channel = channel
        var place = state[channel]
        if place.done > 0 { try await exportNewActions(on: channel, since: place.done) }
        // If a run was interrupted, the messages that it has left out are exported first, and then the newer messages.
        if place.top > 0 { try await exportMessages(of: channel, &place) }
        place.next = 0
        try await exportMessages(of: channel, &place)
    }

    /// Exports the messages of a channel that are newer than the timetoken `place.done`, one page after the other from
    /// the newest to the oldest. Continues an unfinished run at `place.next`.
    private mutating func exportMessages(of channel: String, _ place: inout ExportState.Channel) async throws {
        while true {
            var path = history(of: channel, most: 25)
            if place.next > 0 { path.add("start", String(place.next)) }
            if place.done > 0 { path.add("end", String(place.done + 1)) }
            let items = try await page(path, channel)
            guard let first = items.first?.place, let last = items.last?.place else { break }
            if place.top == 0 { place.top = last }
            for item in items.reversed() { try await export(item, of: channel) }
            place.next = first
            try await checkpoint(place, of: channel)
            guard first > place.done + 1 else { break }
        }
        place = ExportState.Channel(done: max(place.done, place.top))
        try await checkpoint(place, of: channel)
    }

    /// Exports messages again that have received actions after the timetoken `done`. Messages that are newer than
    /// `done` are left out.
    private mutating func exportNewActions(on channel: String, since done: UInt64) async throws {
        var messages: Set<UInt64> = []
        var start: String?
        while true {
            var path = RequestPath("v1", "message-actions", access.subscribeKey, "channel", channel, root: "")
            path.add("start", start)
            path.add("end", String(done + 1))
            path.add("limit", "100")
            let root = try await access.get(path).root
            for action in root["data"]?.elements ?? [] {
                guard let message = action["messageTimetoken"]?.string.flatMap({ UInt64($0) }) else { continue }
                if message <= done { messages.insert(message) }
            }
            guard let next = root["more"]?["start"]?.string, next != start else { break }
            start = next
        }
        for message in messages.sorted() {
            let path = history(of: channel, most: 1).adding("start", String(message + 1)).adding("end", String(message))
            for item in try await page(path, channel) { try await export(item, of: channel) }
        }
    }

    private func history(of channel: String, most: Int) -> RequestPath {
        var path = RequestPath(
            "v3", "history-with-actions", "sub-key", access.subscribeKey, "channel", channel, root: "")
        path.add("max", String(most))
        for member in ["meta", "uuid", "message_type", "custom_message_type"] { path.add("include_" + member, "true") }
        path.add("encode_channels", "false")
        return path
    }

    /// Calls `find` with a channel's name and, if it returns nil, with the percent-encoded name. The service may return
    /// names percent-encoded although the request disabled the encoding.
    private static func member<Value>(_ channel: String, _ find: (String) -> Value?) -> Value? {
        find(channel) ?? find(RequestPath.escaped(channel))
    }

    private struct Item {
        let text: JSONText
        let value: JSONValue
        let place: UInt64
    }

    private func page(_ path: RequestPath, _ channel: String) async throws -> [Item] {
        let document = try await access.get(path)
        let listed = document.text.rawMember("channels")
        let values = Self.member(channel) { document.root["channels"]?[$0] }?.elements ?? []
        let texts = Self.member(channel) { listed?.rawMember($0) }?.rawElements() ?? []
        return zip(texts, values).compactMap { text, value in
            value["timetoken"]?.string.flatMap { UInt64($0) }.map { Item(text: text, value: value, place: $0) }
        }
    }

    private mutating func export(_ item: Item, of channel: String) async throws {
        for thread in KeysetRecords.threads(of: item.value) { channels.insert(thread) }
        let lines = KeysetRecords.message(channel, item.value, item.text)
        if lines.isEmpty { counts.unreadable += 1 } else { counts.messages += 1 }
        for line in lines { try await send(line) }
    }

    /// Stores the progress of a channel, after its lines were delivered.
    private mutating func checkpoint(_ place: ExportState.Channel, of channel: String) async throws {
        guard state.path != nil else { return }
        try await sink.flush(&bar)
        state[channel] = place
        try state.save()
    }
}

/// The progress of an export, for the progress bar.
struct ExportCounts: ProgressLine {
    var records = 0
    var messages = 0
    /// The number of messages that no gateway can accept.
    var unreadable = 0
    var doing = KeysetPart.users
    /// The channel whose messages are being exported.
    var channel = ""

    func line(elapsed: Duration, width: Int) -> String {
        let place = channel.isEmpty ? "\(doing)" : SanitizedText.safe(channel)
        let text = "\(records) records, \(messages) messages; \(place)"
        return String(text.prefix(width))
    }
}

/// A list of names without duplicates, in the order of their first occurrence.
struct OrderedNames {
    private(set) var all: [String] = []
    private var known: Set<ExactText> = []

    init(_ names: [String]) { for name in names { insert(name) } }

    func contains(_ name: String) -> Bool { known.contains(ExactText(name)) }

    mutating func insert(_ name: String) {
        if known.insert(ExactText(name)).inserted { all.append(name) }
    }
}

/// A list of objects, read page by page.
struct PagedObjects {
    private let access: KeysetAccess
    private let path: RequestPath
    private var cursor: String?
    private var isOver = false

    init(_ access: KeysetAccess, _ path: RequestPath, _ include: String) {
        self.access = access
        self.path = path.adding("include", include).adding("limit", "100")
    }

    /// Returns the next page, or nil at the end.
    mutating func next() async throws -> [(JSONText, JSONValue)]? {
        guard !isOver else { return nil }
        let document = try await access.get(path.adding("start", cursor))
        let values = document.root["data"]?.elements ?? []
        let next = document.root["next"]?.string
        isOver = values.count < 100 || next == nil || next == cursor
        cursor = next
        guard !values.isEmpty else { return nil }
        return Array(zip(document.text.rawMember("data")?.rawElements() ?? [], values))
    }
}
