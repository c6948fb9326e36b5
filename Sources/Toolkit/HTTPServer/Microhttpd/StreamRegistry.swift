import Synchronization

/// The live streams of a server. libmicrohttpd has forgotten them, so their limits are kept here.
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

    /// Throws what a client is told when it cannot have one more stream.
    func check(_ address: RemoteAddress) throws(Problem) {
        guard streams.count < limits.streams else {
            throw .overloaded("The server has as many live streams as it can carry", retryAfterSeconds: 10)
        }
        guard let limit = limits.streamsPerAddress, addressCounts[address, default: 0] >= limit else { return }
        throw Problem(
            status: 429, code: "too_many_streams", title: "Too many live streams",
            detail: "At most \(limit) streams may be open from one address", isRetryable: true,
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
