import ChatCore
import ChatModel
import LongPolling
import HTTPServer
import JSON

/// One live stream as the API returns it.
struct StreamReport: Sendable {
    var id: String
    var selection: Selection
    var user: String?
    var credential: String
    var format: StreamFormat
    var included: Set<IncludedObject>
    var isCatchingUp: Bool
    var opened: Timetoken
    /// The position up to which all events were sent on the stream's connection; nil while the position is unknown.
    var cursor: Timetoken?
    var lag: UInt64
    var bytesSent: UInt64
    var remote: String

    /// The stream as the API returns it.
    var json: JSONText { JSONText { print(to: &$0) } }

    private func print(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("id", id)
        writer.member("channels", selection.channelPatterns.map(\.description))
        writer.member("types", selection.types.map(\.description))
        if let filter = selection.filter { writer.member("filter", filter.text) }
        if let user { writer.member("user", user) }
        if let device = selection.viewer?.device { writer.member("device", device) }
        writer.member("key", credential)
        writer.member("format", format.name)
        if !included.isEmpty { writer.member("include", IncludedObject.names(of: included)) }
        writer.member("state", isCatchingUp ? "catching_up" : "live")
        writer.member("opened_at", opened.timestamp)
        if let cursor { writer.member("cursor", cursor.description) } else { writer.nullMember("cursor") }
        writer.member("lag_bytes", lag)
        writer.member("bytes_sent", bytesSent)
        writer.member("remote", remote)
        writer.endObject()
    }
}

extension LiveStreams {
    private func report(_ stream: LiveStream) -> StreamReport {
        let lag = stream.connection.lag
        let cursor = stream.isCatchingUp ? stream.position : lag == 0 ? logPosition(of: stream.feed) : nil
        return StreamReport(
            id: id(of: stream.sequence), selection: stream.feed.selection, user: stream.owner.caller.user,
            credential: stream.owner.caller.credential, format: stream.feed.format,
            included: stream.feed.inclusion?.objects ?? [],
            isCatchingUp: stream.isCatchingUp, opened: stream.opened, cursor: cursor, lag: lag,
            bytesSent: stream.connection.bytesSent, remote: stream.connection.remoteAddress.description)
    }

    /// Returns true when the caller may see and change a stream. A credential covers its own streams. A credential with
    /// the scope `manage` also covers the streams of the app whose selection it may read. A device's stream follows its
    /// user into any channel, so such a stream requires a credential for all channels and all types.
    private func isShown(_ stream: LiveStream, to caller: Caller) -> Bool {
        let owner = stream.owner.caller
        guard stream.connection.isOpen, owner.app == caller.app else { return false }
        if caller.scopes.allow(.manage), caller.reachesWholeApp || follows(stream, within: caller) { return true }
        return owner.credential == caller.credential && (caller.user == nil || caller.hasSameUser(as: owner))
    }

    private func follows(_ stream: LiveStream, within caller: Caller) -> Bool {
        let selection = stream.feed.selection
        return selection.viewer == nil
            && caller.channels.coversAll(selection.channelPatterns) && caller.types.coversAll(selection.types)
    }

    /// Returns a page of this node's streams that the caller may see, in the order in which they were opened unless the
    /// list requests another order. `last` is the number of the page's last stream; nil when no streams follow.
    ///
    /// - Parameter start: the stream number after which the page begins; nil for the first page.
    func list(
        _ list: RecordList, behind start: UInt64?, for caller: Caller
    ) async -> (streams: [StreamReport], last: UInt64?) {
        var found: [StreamReport] = []
        var lastFound: UInt64 = 0
        var position = start
        repeat {
            let part = roll.part(behind: position, list.order ?? .ascending, limit: 2048)
            for stream in part.streams where isAsked(stream, by: list) && isShown(stream, to: caller) {
                guard found.count < list.limit else { return (found, lastFound) }
                found.append(report(stream))
                lastFound = stream.sequence
            }
            position = part.last
            if position != nil { await Task.yield() }
        } while position != nil
        return (found, nil)
    }

    private func isAsked(_ stream: LiveStream, by list: RecordList) -> Bool {
        (list.after.map { stream.opened > $0 } ?? true) && (list.before.map { stream.opened < $0 } ?? true)
    }

    /// Finds the stream with an id.
    ///
    /// - Throws: `.notFound` when the stream does not exist or the caller may not see it.
    private func stream(_ id: String, for caller: Caller) throws(ChatError) -> LiveStream {
        guard let stream = sequence(of: id).flatMap({ roll[$0] }), isShown(stream, to: caller) else {
            throw Self.unknownStream
        }
        return stream
    }

    /// The stream with an id, as the API returns it.
    ///
    /// - Throws: `.notFound` when the stream does not exist or the caller may not see it.
    func report(_ id: String, for caller: Caller) throws(ChatError) -> StreamReport {
        report(try stream(id, for: caller))
    }

    /// Changes a stream's selection. The new selection must be within the rights of the stream's own credential, not of
    /// the caller's.
    ///
    /// The stream keeps its position. Every event up to the position was sent under the old selection, and every later
    /// event is sent under the new selection. A channel in both selections therefore neither misses nor repeats an
    /// event.
    func change(
        _ id: String, channels: [String]?, types: [String]?, for caller: Caller
    ) throws(ChatError) -> StreamReport {
        let stream = try stream(id, for: caller)
        let selection = try service.chat(for: stream.owner.caller).selection(
            changing: stream.feed.selection, channels: channels, types: types)
        guard isInForce(stream.owner.caller, selection) else {
            throw ChatError(.forbidden, "the stream's credential has no access to these channels or types")
        }
        // A request that names channels replaces the groups as well.
        if channels != nil {
            stream.groups = nil
            groupStreams.remove(stream.sequence)
        }
        if selection != stream.feed.selection {
            stream.needsRecheck = selection.isOfUser
            move(stream, to: selection)
        }
        return report(stream)
    }

    func move(_ stream: LiveStream, to selection: Selection) {
        let old = stream.feed
        deviceMoves(stream, to: selection)
        stream.feed = enterFeed(
            selection, old.format, old.inclusion, isChunked: old.log.isChunked, stream.sequence)
        // All of this runs in one iteration of the loop, so the old feed's log contains exactly the events up to its
        // position.
        old.flush()
        if !stream.isCatchingUp { stream.position = logPosition(of: old) }
        guard stream.connection.leave() else { return leaveFeed(old, stream.sequence) }
        let block = ControlMessage.changed(self.id(of: stream.sequence), selection, cursor: stream.position)
        stream.connection.send(old.format.control(block))
        leaveFeed(old, stream.sequence)
        if !stream.isCatchingUp { follow(stream) }
    }

    /// The stream's credential and its viewer (the device as which the stream listens). The viewer is nil if the stream
    /// does not belong to a device.
    func listener(of id: String, for caller: Caller) throws(ChatError) -> (owner: Caller, viewer: Viewer?) {
        let stream = try stream(id, for: caller)
        return (stream.owner.caller, stream.feed.selection.viewer)
    }

    func remove(_ id: String, for caller: Caller) throws(ChatError) {
        close(try stream(id, for: caller), .deleted)
    }
}

extension NativeAPI {
    /// `GET /v1/streams`: returns a page of the open streams that the caller may see.
    func getStreams(_ request: Request, _ caller: Caller) async throws -> Response {
        try caller.require(.read)
        let listing = try Listing(Parameters(request.query, known: Listing.timedNames), of: request, limits: limits)
        let page = try await streams.page(StreamListQuery(listing.list, by: caller))
        return Listing.response(page, to: request) { $1.raw($0.json) }
    }

    /// `GET /v1/streams/{id}`: returns an open stream.
    func getOpenStream(_ request: Request, _ caller: Caller) async throws -> Response {
        try caller.require(.read)
        _ = try Parameters(request.query, known: [])
        return .json(try await streams.perform(StreamCommand(.show, request.name("id"), by: caller)).bytes)
    }

    static let streamMembers = ["channels", "types"]

    /// `PATCH /v1/streams/{id}`: changes the channels or types of an open stream, and returns the stream.
    func patchStream(_ request: Request, _ caller: Caller) async throws -> Response {
        try caller.require(.read)
        _ = try Parameters(request.query, known: [])
        let fields = try requiredFields(request, known: Self.streamMembers)
        let change = StreamCommand.Action.change(
            channels: try fields.patterns("channels"), types: try fields.patterns("types"))
        return .json(try await streams.perform(StreamCommand(change, request.name("id"), by: caller)).bytes)
    }

    /// `DELETE /v1/streams/{id}`: closes a stream permanently. Returns no content.
    func deleteStream(_ request: Request, _ caller: Caller) async throws -> Response {
        try caller.require(.read)
        _ = try Parameters(request.query, known: [])
        _ = try await streams.perform(StreamCommand(.end, request.name("id"), by: caller))
        return .empty()
    }
}

extension Fields {
    /// Reads the names and patterns of a member. An empty list is rejected, because it would select all names.
    func patterns(_ name: String) throws(ChatError) -> [String]? {
        let texts = try strings(name)
        guard texts?.isEmpty != true else { throw fault(name, "minItems", "must not be empty; leave it out") }
        return texts
    }
}
