internal import Locking
public import Text

/// Decides which URLs and addresses a ``Client`` may connect to, so that URLs of untrusted users give no access to the
/// operator's internal network.
///
/// There are two checks. ``check(_:)`` examines a URL, when a webhook is registered and before every transfer. Each
/// time the client opens a connection, it calls ``permits(_:isPlain:)`` with the address that it connects to, so that a
/// name that later resolves to another address is also checked. After the list of allowed ranges was replaced, the
/// client also makes this check before each request on a reused connection. See docs/decisions/0010-address-guard.md.
public struct AddressGuard: Sendable {
    /// The address ranges that are allowed although ``BlockedRanges`` contains them. Plain `http` is also allowed for
    /// these ranges.
    ///
    /// An address that embeds an IPv4 address (NAT64, 6to4, Teredo) is permitted only if the embedded address is also
    /// permitted. For example, allowing the NAT64 prefix of a network does not allow access to 169.254.169.254 through
    /// it.
    ///
    /// All copies of a guard share one list, so a replacement takes effect in all copies. Requests that are already
    /// being sent are completed. No further request uses a connection to an address that is no longer permitted.
    public var allowed: [AddressBlock] { list.withLock { $0.allowed } }
    /// The number of times that the list of allowed ranges has been replaced by a different list. When the number
    /// changes, earlier results of ``check(_:)`` may be outdated.
    var generation: UInt64 { list.withLock { $0.generation } }
    private let list: Lock<(allowed: [AddressBlock], generation: UInt64)>
    /// False for a guard that permits everything.
    let isEnabled: Bool

    /// Creates a guard that permits public addresses over `https`, and the ranges in `allowed` over `https` and `http`.
    public init(allowing allowed: [AddressBlock] = []) {
        list = Lock((allowed, 0))
        isEnabled = true
    }

    /// A guard that permits everything. Use it only in programs whose user has chosen the URL, such as a command line
    /// client.
    public static let disabled = AddressGuard(enabled: false)

    private init(enabled: Bool) {
        list = Lock(([], 0))
        isEnabled = enabled
    }

    /// Replaces the list of allowed ranges in all copies of this guard.
    public func replace(allowed: [AddressBlock]) {
        list.withLock { list in
            if list.allowed != allowed { list = (allowed, list.generation + 1) }
        }
    }

    /// Checks a URL without resolving its host. Used to reject a URL when a webhook is registered.
    ///
    /// - Throws: ``URLRefusal`` if the URL is not permitted. Its message is safe to show to the user who has supplied
    ///   the URL.
    public func check(_ url: String) throws(URLRefusal) { _ = try review(url) }

    /// Returns true if a connection to this address may be opened.
    ///
    /// - Parameter isPlain: true when the connection would not use TLS.
    public func permits(_ address: IPAddress, isPlain: Bool) -> Bool {
        guard isEnabled else { return true }
        let address = address.unmapped
        if allowed.contains(where: { $0.contains(address) }) {
            return address.embedded.map { permits($0, isPlain: false) } ?? true
        }
        return !isPlain && !BlockedRanges.contain(address)
    }

    /// Checks a URL and returns its parts. Throws ``URLRefusal`` if the URL is not permitted.
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
            // These names always refer to loopback addresses (RFC 6761, 6.3).
            if name == "localhost" || name.hasSuffix(".localhost") {
                let loopback: [IPAddress] = [.v4(0x7f00_0001), .v6(0, 1)]
                if !loopback.contains(where: { permits($0, isPlain: isPlain) }) { throw URLRefusal(.address) }
            } else if isPlain, allowed.isEmpty {
                throw URLRefusal(.scheme)
            }
        }
    }
}

/// The reason why a URL may not be used.
public struct URLRefusal: Error, Sendable, Equatable {
    /// The class of a rejection.
    public enum Reason: Sendable, CaseIterable {
        /// The text is not an absolute URL in ASCII with a host.
        case malformed
        /// The scheme is not `https`. Plain `http` is permitted only for an address in an allowed range.
        case scheme
        /// The URL contains a user name or password.
        case userinfo
        /// The URL contains a fragment.
        case fragment
        /// The host is not a name and not a canonically written address.
        case host
        /// The port belongs to a service that must not be contacted.
        case port
        /// The address is in a blocked range.
        case address
    }

    /// The class of the rejection.
    public let reason: Reason

    init(_ reason: Reason) { self.reason = reason }

    /// One sentence about the rejection, for the user who has supplied the URL.
    public var message: String {
        switch reason {
        case .malformed: "The URL must be absolute and in ASCII, with a host: https://example.com/path"
        case .scheme: "The URL must begin with https://"
        case .userinfo: "The URL must not contain a user name or password"
        case .fragment: "The URL must not contain a fragment (#)"
        case .host: "The host must be a DNS name or an IP address such as 192.0.2.1 or [2001:db8::1]"
        case .port:
            "The port must be 443, 80 or above 1023, and not a well-known port of databases, mail or remote shells"
        case .address:
            "The address is private or reserved; the operator of the gateway can allow the address in the setting webhook.allow"
        }
    }
}

/// Decides which ports the client may connect to. The table contains the forbidden ports above 1023. Their services
/// might interpret an HTTP request as commands.
///
/// Below 1024, only the ports 80 and 443 are permitted, which blocks SMTP, SSH, LDAP and similar services. Ports of
/// Linux's ephemeral range (from 32768) are mostly not blocked, because few services have a conventional port in this
/// range.
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
