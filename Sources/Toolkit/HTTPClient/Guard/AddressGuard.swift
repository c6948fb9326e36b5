internal import Locking

/// Decides which URLs and addresses a ``Client`` may connect to, so that a stranger's URL cannot reach into our network.
///
/// Two checks. ``check(_:)`` looks at the URL, when an endpoint is registered and before every transfer.
/// ``permits(_:isPlain:)`` is asked by the client for the very address it is about to connect to, every time it opens a
/// connection: a name that resolves differently the second time gains nothing. Once the list was replaced, it is asked
/// before each request on a kept connection too.
public struct AddressGuard: Sendable {
    /// Ranges that are allowed although the table blocks them, and that may be reached over plain `http`.
    ///
    /// An address that embeds an IPv4 address (NAT64, 6to4, Teredo) needs that one to be permitted as well: listing the
    /// NAT64 prefix of an IPv6-only network does not open 169.254.169.254 through it.
    ///
    /// One list for all copies of this guard: who replaces it changes what each of them permits from then on. Requests that
    /// are on the wire end as they began; no other goes out on a connection to what is permitted no more.
    public var allowed: [AddressBlock] { list.withLock { $0.allowed } }
    /// How often the list has become another one: what it said before may no longer hold.
    var generation: UInt64 { list.withLock { $0.generation } }
    private let list: Lock<(allowed: [AddressBlock], generation: UInt64)>
    /// Whether anything is checked at all.
    let isEnabled: Bool

    /// Permits public addresses over `https`, and everything in `allowed` over `http` too.
    public init(allowing allowed: [AddressBlock] = []) {
        list = Lock((allowed, 0))
        isEnabled = true
    }

    /// Permits everything. Only for programs whose user chose the URL, such as a command line client.
    public static let disabled = AddressGuard(enabled: false)

    private init(enabled: Bool) {
        list = Lock(([], 0))
        isEnabled = enabled
    }

    /// Permits these ranges in place of those so far.
    public func replace(allowed: [AddressBlock]) {
        list.withLock { list in
            if list.allowed != allowed { list = (allowed, list.generation + 1) }
        }
    }

    /// Checks what a URL alone can tell, without resolving its host: for refusing an endpoint when it is registered.
    ///
    /// - Throws: ``URLRefusal``, whose text is safe to show to whoever gave the URL.
    public func check(_ url: String) throws(URLRefusal) { _ = try review(url) }

    /// Whether a connection to this very address may be opened.
    ///
    /// - Parameter isPlain: whether the connection would be without TLS.
    public func permits(_ address: IPAddress, isPlain: Bool) -> Bool {
        guard isEnabled else { return true }
        let address = address.unmapped
        if allowed.contains(where: { $0.contains(address) }) {
            return address.embedded.map { permits($0, isPlain: false) } ?? true
        }
        return !isPlain && !BlockedRanges.contain(address)
    }

    /// Checks a URL and hands back its parts.
    func review(_ text: String) throws(URLRefusal) -> OutboundURL {
        guard let url = OutboundURL(text) else { throw URLRefusal(.malformed) }
        guard let scheme = url.scheme else { throw URLRefusal(.scheme) }
        guard isEnabled else { return url }
        if url.hasUserinfo { throw URLRefusal(.userinfo) }
        if url.hasFragment { throw URLRefusal(.fragment) }
        if !BlockedPorts.permit(url.port) { throw URLRefusal(.port) }
        try review(url.host, isPlain: scheme == .http)
        return url
    }

    private func review(_ host: OutboundURL.Host, isPlain: Bool) throws(URLRefusal) {
        switch host {
        case .doubtful:
            throw URLRefusal(.host)
        case .address(let address):
            if permits(address, isPlain: isPlain) { return }
            throw URLRefusal(permits(address, isPlain: false) ? .scheme : .address)
        case .name(let name):
            // RFC 6761, 6.3: these names mean loopback wherever they are looked up.
            if name == "localhost" || name.hasSuffix(".localhost") {
                let loopback: [IPAddress] = [.v4(0x7f00_0001), .v6(0, 1)]
                if !loopback.contains(where: { permits($0, isPlain: isPlain) }) { throw URLRefusal(.address) }
            } else if isPlain, allowed.isEmpty {
                throw URLRefusal(.scheme)
            }
        }
    }
}

/// Why a URL may not be used.
public struct URLRefusal: Error, Sendable, Equatable {
    /// The class of a refusal.
    public enum Reason: Sendable, CaseIterable {
        /// Not an absolute URL in ASCII with a host.
        case malformed
        /// A scheme other than `https`, or `http` to an address that is not allowed by list.
        case scheme
        /// User name or password in the URL.
        case userinfo
        /// A fragment in the URL.
        case fragment
        /// A host that is neither a name nor a plainly spelled address.
        case host
        /// A port of a service that must not be spoken to.
        case port
        /// An address in a blocked range.
        case address
    }

    public let reason: Reason

    init(_ reason: Reason) { self.reason = reason }

    /// One sentence for whoever gave the URL.
    public var message: String {
        switch reason {
        case .malformed: "The URL must be absolute and in ASCII, with a host: https://example.com/path"
        case .scheme: "The URL must begin with https://"
        case .userinfo: "The URL must not contain a user name or password"
        case .fragment: "The URL must not contain a fragment (#)"
        case .host: "The host must be a name or an address in its usual spelling"
        case .port: "The port must be 443, 80 or above 1023, and not one of a database, mail or remote shell service"
        case .address:
            "The address is in a range that must not be connected to, unless the operator allows it (webhook.allow)"
        }
    }
}

/// Ports above 1023 whose services could be made to act on bytes that happen to be an HTTP request.
///
/// Below 1024 only 80 and 443 are permitted, which covers SMTP, SSH, LDAP and their kind. The ephemeral range of Linux
/// (from 32768) is left alone: whatever listens there was not put there by a service's convention.
enum BlockedPorts {
    private static let above1023: Set<UInt16> = [
        1433, 1434,  // SQL Server
        1521, 1522,  // Oracle
        1883,  // MQTT
        2049,  // NFS
        2181,  // ZooKeeper
        2222,  // SSH, commonly
        2375, 2376,  // Docker
        2379, 2380,  // etcd
        2525, 2587,  // SMTP submission, commonly
        3128,  // HTTP proxies
        3306, 33060,  // MySQL
        3389,  // remote desktop
        4222,  // NATS
        4369,  // Erlang port mapper
        5432, 5433, 6432,  // PostgreSQL and its pooler
        5672, 5671,  // AMQP
        5900, 5901,  // VNC
        5984,  // CouchDB
        5985, 5986,  // Windows remote management
        6000, 6001,  // X11
        6379, 6380, 16379,  // Redis
        9042, 9160,  // Cassandra
        8086,  // InfluxDB
        9092, 9093,  // Kafka
        9200, 9300,  // Elasticsearch
        10250, 10255,  // kubelet
        11211,  // memcached
        26257,  // CockroachDB
        27017, 27018, 27019,  // MongoDB
    ]

    static func permit(_ port: UInt16) -> Bool {
        port == 443 || port == 80 || (port >= 1024 && !above1023.contains(port))
    }
}
