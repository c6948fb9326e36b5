import ChatKit
import ChatModel
import GatewayClient
import Locking

/// The streams of one device of a user. Listeners share a stream where possible.
final class StreamPool: Sendable {
    /// The gateway's default maximum number of channel names and patterns per stream.
    private static let mostNames = 500
    /// The maximum bytes of names and filter in a URL. Many servers accept URLs of up to 8 KiB.
    private static let mostBytes = 6 * 1024

    /// A stream, with the names of channels and patterns that its listeners select.
    private struct Entry {
        let stream: SharedStream
        private(set) var listeners: [Int: [String]] = [:]
        /// The number of listeners for each channel or pattern.
        private var names: [String: Int] = [:]
        private var bytes = 0

        init(_ stream: SharedStream, _ key: StreamKey) {
            self.stream = stream
            bytes = key.filter.map { RequestPath.escaped($0).utf8.count } ?? 0
        }

        func hasCapacity(for wanted: [String]) -> Bool {
            let new = wanted.filter { names[$0] == nil }
            return names.count + new.count <= StreamPool.mostNames
                && new.reduce(bytes) { $0 + Self.size(of: $1) } <= StreamPool.mostBytes
        }

        mutating func add(_ number: Int, _ wanted: [String]) {
            listeners[number] = wanted
            for name in wanted {
                if names[name] == nil { bytes += Self.size(of: name) }
                names[name, default: 0] += 1
            }
        }

        /// Removes a listener. Returns true when it was present.
        mutating func remove(_ number: Int) -> Bool {
            guard let wanted = listeners.removeValue(forKey: number) else { return false }
            for name in wanted {
                let count = (names[name] ?? 1) - 1
                names[name] = count > 0 ? count : nil
                if count == 0 { bytes -= Self.size(of: name) }
            }
            return true
        }

        private static func size(of name: String) -> Int {
            RequestPath.escaped(name).utf8.count + "&channel=".utf8.count
        }
    }

    private struct State {
        var last = 0
        var entries: [StreamKey: [Entry]] = [:]
    }

    private let gateway: GatewayConnection
    private let device: (user: String, id: String)
    private let state = Lock(State())

    init(_ gateway: GatewayConnection, user: String, device: String) {
        self.gateway = gateway
        self.device = (user, device)
    }

    /// Creates a listener, which starts to connect.
    func listen(_ selection: EventSelection) -> StreamListener {
        let queue = ListenerQueue()
        let member = SharedStream.Member(selection, queue, since: selection.since)
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        place(number, member, besides: nil)
        let key = StreamKey(selection)
        let path = RequestPath("stream").following(StreamSelection([selection]), key, device)
        return StreamListener(gateway, queue, path) { [self] in remove(number, key) }
    }

    /// Adds a listener to the first stream that can include the listener's channels without exceeding the limits of a
    /// stream. If there is no such stream, adds the listener to a new stream.
    ///
    /// - Parameter refusing: the stream on which the gateway has rejected the listener's selection. Only the streams
    ///   after this stream in the list are tried. Nil tries all streams.
    private func place(_ number: Int, _ member: SharedStream.Member, besides refusing: SharedStream?) {
        let key = StreamKey(member.selection)
        let names = key.scope == .named ? member.selection.channels : []
        state.withLock { state in
            var entries = state.entries[key] ?? []
            defer { state.entries[key] = entries }
            var start = 0
            if let refusing, let index = entries.firstIndex(where: { $0.stream === refusing }) {
                // The listener was released in the meantime. If added to another stream, it would never be removed.
                guard entries[index].remove(number) else { return }
                start = index + 1
            }
            for index in entries.indices.dropFirst(start)
            where entries[index].hasCapacity(for: names) && entries[index].stream.add(number, member) {
                entries[index].add(number, names)
                return
            }
            let stream = SharedStream(gateway, key, device: device) { [weak self] stream, number, member in
                self?.place(number, member, besides: stream)
            }
            _ = stream.add(number, member)
            var entry = Entry(stream, key)
            entry.add(number, names)
            entries.append(entry)
            stream.start()
        }
    }

    private func remove(_ number: Int, _ key: StreamKey) {
        let stream = state.withLock { state in
            guard let index = state.entries[key]?.firstIndex(where: { $0.listeners[number] != nil }) else {
                return SharedStream?.none
            }
            _ = state.entries[key]?[index].remove(number)
            guard let entry = state.entries[key]?[index], entry.listeners.isEmpty else {
                state.entries[key]?[index].stream.remove(number)
                return nil
            }
            state.entries[key]?.remove(at: index)
            if state.entries[key]?.isEmpty ?? false { state.entries[key] = nil }
            return entry.stream
        }
        stream?.stop()
    }
}

/// A listener of a shared stream. Releasing this object removes the listener from the stream.
actor StreamListener {
    private let gateway: GatewayConnection
    private let queue: ListenerQueue
    /// The path of a stream with only this listener's selection, for reading missed events.
    private let path: RequestPath
    private let leave: @Sendable () -> Void
    /// Reads missed events; nil while there are none.
    private var missed: MissedEvents?

    init(
        _ gateway: GatewayConnection, _ queue: ListenerQueue, _ path: RequestPath, leave: @escaping @Sendable () -> Void
    ) {
        self.gateway = gateway
        self.queue = queue
        self.path = path
        self.leave = leave
    }

    deinit { leave() }

    func next() async throws(ChatError) -> LiveUpdate? {
        while true {
            if let missed {
                if let news = try await missed.next() { return news }
                self.missed = nil
            }
            switch await queue.next() {
            case .update(let news): return news
            case .behind(let after, let upTo): missed = MissedEvents(gateway, path, after: after, upTo: upTo)
            case .end(nil): return nil
            case .end(let error?): throw error
            }
        }
    }
}
