/// A service's way of signing what it posts.
///
/// A scheme decides over raw bytes, before anything is parsed. Adding one is a file here and a row in ``SignatureSchemes``.
public protocol SignatureScheme: Sendable {
    /// Returns how the sender names this delivery if the message is authentic.
    ///
    /// - Parameter now: unix seconds, for schemes that sign a timestamp.
    func verify(_ message: SignedMessage, at now: Int64) throws(SignatureRejection) -> DeliveryIdentity
}

/// Where a sender's own id of a delivery is found, by which a repeated delivery is recognised.
public enum DeliveryIdentity: Sendable, Equatable {
    /// The scheme has none, or the sender left it out.
    case none
    /// The id itself.
    case value(String)
    /// The id is in the body, at this JSON Pointer (RFC 6901). The body is authentic but not parsed yet.
    case bodyPointer(String)
}

/// A received message as a scheme sees it.
public struct SignedMessage {
    /// The body as received, after transfer coding and before everything else.
    public let body: [UInt8]
    /// The URL the sender was given, from configuration; never put together from what a request says about itself.
    public let url: String?
    private let lookUp: (String) -> String?

    /// - Parameter header: the value of the field with this name, compared case-insensitively.
    public init(body: [UInt8], url: String? = nil, header: @escaping (String) -> String?) {
        self.body = body
        self.url = url
        lookUp = header
    }

    /// A message with these header fields; a repeated name counts as one list (RFC 9110, 5.3).
    public init(body: [UInt8], url: String? = nil, headers: [(name: String, value: String)]) {
        self.init(body: body, url: url) { name in
            let values = headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
    }

    /// The value of a header field, without white space around it; `nil` if absent or empty.
    public func header(_ name: String) -> String? {
        guard let value = lookUp(name) else { return nil }
        let trimmed = value[...].trimmingBlanks()
        return trimmed.isEmpty ? nil : String(trimmed)
    }

    /// The value of a header field the scheme cannot do without.
    func required(_ name: String) throws(SignatureRejection) -> String {
        guard let value = header(name) else { throw .headerMissing(name) }
        return value
    }
}

extension Substring {
    /// Without spaces and tabs at either end (RFC 9110, 5.6.3).
    func trimmingBlanks() -> Substring {
        let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard let first = utf8.firstIndex(where: { !isBlank($0) }), let last = utf8.lastIndex(where: { !isBlank($0) })
        else { return self[endIndex...] }
        return self[first..<utf8.index(after: last)]
    }
}
