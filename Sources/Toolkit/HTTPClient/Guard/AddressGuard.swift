/// Decides which URLs and addresses a ``Client`` may connect to, so that a stranger's URL cannot reach into our network.
public struct AddressGuard: Sendable {
    /// Ranges that are allowed although the table blocks them, and that may be reached over plain `http`.
    public let allowed: [AddressBlock]
    /// Whether anything is checked at all.
    public let isEnabled: Bool

    /// Permits public addresses over `https`, and everything in `allowed` over `http` too.
    public init(allowing allowed: [AddressBlock] = []) {
        self.allowed = allowed
        isEnabled = true
    }

    /// Permits everything. Only for programs whose user chose the URL, such as a command line client.
    public static let disabled = AddressGuard(enabled: false)

    private init(enabled: Bool) {
        allowed = []
        isEnabled = enabled
    }

    /// Checks what a URL alone can tell, without resolving its host: for refusing an endpoint when it is registered.
    ///
    /// - Throws: ``URLRefusal``, whose text is safe to show to whoever gave the URL.
    public func check(_ url: String) throws(URLRefusal) {}

    /// Whether a connection to this very address may be opened.
    ///
    /// - Parameter isPlain: whether the connection would be without TLS.
    public func permits(_ address: IPAddress, isPlain: Bool) -> Bool { true }
}

/// Why a URL may not be used.
public struct URLRefusal: Error, Sendable, Equatable {
    /// The class of a refusal.
    public enum Reason: Sendable, CaseIterable {
        /// Not an absolute URL in ASCII with a host.
        case malformed
        /// A scheme other than `https` (or `http` where that is allowed).
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

    public var reason: Reason
    /// One sentence for whoever gave the URL.
    public var message: String
}
