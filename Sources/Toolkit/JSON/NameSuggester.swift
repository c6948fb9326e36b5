/// Known names, prepared for finding the one that a misspelt name probably means.
///
/// One mistake is allowed where the shorter of both names has at most four characters, otherwise two. A mistake is an inserted,
/// missing or wrong character, or two neighbors in the wrong order (optimal string alignment).
public struct NameSuggester {
    /// The longest name that is compared, in characters: comparing is quadratic in it.
    private static let longest = 64
    /// The number of names that are compared.
    private static let most = 500

    private struct Candidate {
        let text: String
        let scalars: [Unicode.Scalar]
    }

    private let candidates: [Candidate]

    /// Takes the first 500 of the names, without those longer than 64 characters.
    public init(_ names: some Sequence<String>) {
        candidates = names.prefix(Self.most).compactMap { name in
            // A scalar has at most four bytes.
            guard name.utf8.count <= 4 * Self.longest else { return nil }
            let scalars = Array(name.unicodeScalars)
            return scalars.count <= Self.longest ? Candidate(text: name, scalars: scalars) : nil
        }
    }

    /// The number of names that are compared.
    public var count: Int { candidates.count }

    /// The nearest name; of several equally near ones the first. Nil without a near one, for a name of one character, and for
    /// a name that is known.
    public func nearest(to given: String) -> String? { match(for: given)?.name }

    /// The nearest name and the number of mistakes, as ``nearest(to:)`` finds it.
    public func match(for given: String) -> (name: String, mistakes: Int)? {
        guard given.utf8.count <= 4 * Self.longest else { return nil }
        let given = Array(given.unicodeScalars)
        guard given.count >= 2, given.count <= Self.longest else { return nil }
        var best: (name: String, mistakes: Int)?
        for candidate in candidates {
            let allowed = min(given.count, candidate.scalars.count) <= 4 ? 1 : 2
            let distance = Self.distance(given, candidate.scalars, atMost: allowed)
            if distance <= allowed, distance > 0, distance < best?.mistakes ?? .max {
                best = (candidate.text, distance)
            }
        }
        return best
    }

    /// The number of mistakes between the names, or `atMost + 1` for more than that. The bound leaves a band around the diagonal
    /// of the table to compute.
    private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar], atMost: Int) -> Int {
        let far = atMost + 1
        if abs(left.count - right.count) > atMost { return far }
        var before = [Int](repeating: far, count: right.count + 1)
        var above = (0...right.count).map { min($0, far) }
        var current = before
        for row in left.indices {
            let band = max(0, row - atMost)..<min(right.count, row + atMost + 1)
            current[band.lowerBound] = band.lowerBound == 0 ? min(row + 1, far) : far
            for column in band {
                let replaced = above[column] + (left[row] == right[column] ? 0 : 1)
                var cost = min(above[column + 1] + 1, current[column] + 1, replaced)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    cost = min(cost, before[column - 1] + 1)
                }
                current[column + 1] = min(cost, far)
            }
            // The next row reads one column further.
            if band.upperBound < right.count { current[band.upperBound + 1] = far }
            (before, above, current) = (above, current, before)
        }
        return above[right.count]
    }
}
