import Text

/// A request path and query built from texts that may hold any character.
package struct RequestPath: Equatable, Sendable {
    package private(set) var text = ""
    private var hasQuery = false

    /// - Parameter segments: the path segments. A `/` inside a segment is escaped, since channel names may hold one.
    package init(_ segments: String...) { self.init(segments: segments) }

    package init(segments: [String]) {
        for segment in segments { text += "/" + Self.escaped(segment) }
    }

    /// Returns the path with one more segment, escaped where necessary.
    package func appending(escaped segment: String) -> RequestPath {
        var path = self
        path.text += "/" + segment
        return path
    }

    package mutating func add(_ name: String, _ value: String?) {
        guard let value else { return }
        text += (hasQuery ? "&" : "?") + name + "=" + Self.escaped(value)
        hasQuery = true
    }

    package mutating func add(_ name: String, each values: [String]) {
        for value in values { add(name, value) }
    }

    package func adding(_ name: String, _ value: String?) -> RequestPath {
        var path = self
        path.add(name, value)
        return path
    }

    /// Percent-encodes everything but the unreserved characters of RFC 3986, section 2.3.
    package static func escaped(_ text: String) -> String {
        let escaped = PercentEncoding.encode(text)
        // A segment of dots would change the path (RFC 3986, section 5.2.4).
        return escaped == "." || escaped == ".." ? escaped.replacing(".", with: "%2E") : escaped
    }
}
