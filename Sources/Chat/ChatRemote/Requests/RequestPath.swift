/// A path and query built from texts that may hold any character.
struct RequestPath: Sendable {
    private(set) var text: String
    private var hasQuery = false

    var withoutQuery: String { String(text.prefix { $0 != "?" }) }

    /// - Parameter segments: each one segment below `/v1`; a `/` inside is escaped, since channels may hold one.
    init(_ segments: String...) { self.init(segments) }

    init(_ segments: [String]) { text = segments.reduce(into: "/v1") { $0 += "/" + Self.escaped($1) } }

    func adding(_ name: String, _ value: String?) -> RequestPath {
        guard let value else { return self }
        var path = self
        path.text += (hasQuery ? "&" : "?") + name + "=" + Self.escaped(value)
        path.hasQuery = true
        return path
    }

    func adding(_ name: String, each values: [String]) -> RequestPath {
        values.reduce(self) { $0.adding(name, $1) }
    }

    /// Everything but the unreserved characters of RFC 3986 section 2.3, percent-encoded.
    static func escaped(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
            }
        }
        let escaped = String(decoding: bytes, as: UTF8.self)
        // A segment of dots would be walked instead of named (RFC 3986 section 5.2.4).
        return escaped == "." || escaped == ".." ? escaped.replacing(".", with: "%2E") : escaped
    }
}
