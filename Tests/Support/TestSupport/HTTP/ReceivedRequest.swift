/// A request as it was received.
public struct ReceivedRequest: Sendable {
    /// The request line: method, target and version.
    public let line: String
    public let headers: [(name: String, value: String)]
    public private(set) var body: [UInt8] = []
    /// The number of bytes up to and including the empty line.
    public let headLength: Int
    /// The number of the connection that received it, from 0.
    public let connection: Int
    /// The number of requests that the server had read before this one.
    public internal(set) var number = 0

    /// Parses a request head. Returns nil until the empty line has arrived.
    public init?(head bytes: [UInt8], connection: Int = 0) {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        headLength = end.upperBound
        var lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        guard !lines.isEmpty else { return nil }
        line = String(lines.removeFirst())
        headers = lines.map { line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
        }
        self.connection = connection
    }

    func with(body: [UInt8]) -> ReceivedRequest {
        var request = self
        request.body = body
        return request
    }

    public var method: String { word(0) }
    /// Path and query as sent.
    public var target: String { word(1) }
    public var text: String { String(decoding: body, as: UTF8.self) }
    public var contentLength: Int { self["content-length"].flatMap { Int($0) } ?? 0 }

    /// The first field of this name, compared without case.
    public subscript(name: String) -> String? { values(name).first }

    public func values(_ name: String) -> [String] {
        headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    private func word(_ index: Int) -> String {
        let words = line.split(separator: " ")
        return words.indices.contains(index) ? String(words[index]) : ""
    }
}
