/// A path with holes: `/v1/channels/{channel}/events`.
///
/// A segment is literal text, `{name}` for one non-empty segment, or, as the last one, `{name*}` for all that is left,
/// slashes included.
public struct RoutePattern: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
    enum Segment: Sendable, Hashable {
        case literal(String)
        case parameter(String)
        case rest(String)
    }

    /// The pattern as it was written.
    public let description: String
    let segments: [Segment]
    /// The names of the holes, in order.
    let names: [String]

    /// - Parameter text: starts with `/`; a programmer's error otherwise.
    public init(_ text: String) {
        precondition(text.hasPrefix("/"), "A route pattern starts with a slash: \(text)")
        description = text
        segments = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(Self.segment)
        let rests = segments.dropLast().contains { if case .rest = $0 { true } else { false } }
        names = segments.compactMap { segment in
            switch segment {
            case .literal: nil
            case .parameter(let name), .rest(let name): name
            }
        }
        precondition(!rests, "Only the last segment can take the rest: \(text)")
    }

    public init(stringLiteral value: String) {
        self.init(value)
    }

    private static func segment(_ text: Substring) -> Segment {
        guard text.hasPrefix("{"), text.hasSuffix("}") else { return .literal(String(text)) }
        let name = text.dropFirst().dropLast()
        return name.hasSuffix("*") ? .rest(String(name.dropLast())) : .parameter(String(name))
    }
}
