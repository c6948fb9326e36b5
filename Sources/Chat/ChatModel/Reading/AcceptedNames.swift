import JSON

/// The names that a request may use at one place, for the error about any other name.
public struct AcceptedNames {
    /// The maximum number of names that an error lists.
    private static let listed = 20

    /// Pairs of names of the acting user: each route has one of the two.
    private static let actors = ["by": "user", "user": "by"]

    private let names: [String]

    /// - Parameter names: the accepted names, in the order in which a hint lists them.
    public init(_ names: [String]) {
        self.names = names
    }

    /// The end of a sentence about an unknown name: the name that was probably meant, or else the accepted names, at
    /// most 20 of them.
    public func hint(for name: String) -> String {
        if let other = Self.actors[name], names.contains(other) { return "; did you mean '\(other)'?" }
        if let nearest = NameSuggester(names).nearest(to: name) { return "; did you mean '\(nearest)'?" }
        guard !names.isEmpty else { return "; none is accepted here" }
        let list = names.prefix(Self.listed).map { "'\($0)'" }.joined(separator: ", ")
        let rest = names.count - Self.listed
        return "; accepted: \(list)" + (rest > 0 ? " and \(rest) more" : "")
    }
}
