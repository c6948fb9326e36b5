import Synchronization

/// The live streams of a server. Their limits are enforced here, because libmicrohttpd no longer counts their
/// connections.
struct StreamRegistry {
    private static let lastID = Atomic<UInt64>(0)

    private let limits: ServerOptions.Limits
    private var streams: [UInt64: StreamConnection] = [:]
    private var addressCounts: [RemoteAddress: Int] = [:]

    init(limits: ServerOptions.Limits) {
        self.limits = limits
    }

    static func nextID() -> UInt64 {
        lastID.add(1, ordering: .relaxed).newValue
    }

    var count: Int { streams.count }

    var all: [StreamConnection] { Array(streams.values) }

    /// Throws a ``Problem`` if the client at this address may not open another stream.
    func check(_ address: RemoteAddress) throws(Problem) {
        guard streams.count < limits.streams else {
            throw .overloaded(
                "The server has reached its limit of open streams; try again later", retryAfterSeconds: 10)
        }
        guard let limit = limits.streamsPerAddress, addressCounts[address, default: 0] >= limit else { return }
        throw Problem(
            status: 429, code: "too_many_streams", title: "Too many live streams",
            detail: "At most \(limit) streams may be open from one address; close some first", isRetryable: true,
            headers: [("Retry-After", "10")])
    }

    mutating func add(_ stream: StreamConnection) {
        streams[stream.id] = stream
        if limits.streamsPerAddress != nil { addressCounts[stream.remoteAddress, default: 0] += 1 }
    }

    mutating func remove(_ stream: StreamConnection) {
        guard streams.removeValue(forKey: stream.id) != nil else { return }
        guard limits.streamsPerAddress != nil, let count = addressCounts[stream.remoteAddress] else { return }
        addressCounts[stream.remoteAddress] = count > 1 ? count - 1 : nil
    }
}
