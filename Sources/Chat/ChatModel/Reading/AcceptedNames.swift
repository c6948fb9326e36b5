import JSON

/// The names that one part of a request accepts, such as the members of an object. Creates the hints in error messages
/// about unknown names.
public struct AcceptedNames {
    /// The maximum number of names that an error lists.
    private static let listed = 20

    /// The two names for the acting user, `by` and `user`, each mapped to the other. A route accepts only one of them,
    /// so a hint suggests the other.
    private static let actors = ["by": "user", "user": "by"]

    private let names: [String]

    /// Creates the list of names that one part of a request accepts.
    ///
    /// - Parameter names: the accepted names. A hint lists them in this order.
    public init(_ names: [String]) {
        self.names = names
    }

    /// The end of an error message about an unknown name: the most similar accepted name, or else a list of at most 20
    /// accepted names.
    public func hint(for name: String) -> String {
        if let other = Self.actors[name], names.contains(other) { return "; did you mean '\(other)'?" }
        if let nearest = NameSuggester(names).nearest(to: name) { return "; did you mean '\(nearest)'?" }
        guard !names.isEmpty else { return "; no names are accepted here" }
        let list = names.prefix(Self.listed).map { "'\($0)'" }.joined(separator: ", ")
        let rest = names.count - Self.listed
        return "; accepted: \(list)" + (rest > 0 ? " and \(rest) more" : "")
    }
}
