/// Finds the known name that a misspelled name probably means.
///
/// A mistake is an inserted, missing or wrong character, or two adjacent characters in the wrong order (optimal string
/// alignment distance). If the shorter name has at most four characters, one mistake is allowed; otherwise two.
public struct NameSuggester {
    /// The maximum length of a name that is compared, in characters. The time of a comparison is quadratic in the
    /// length.
    private static let longest = 64
    /// The maximum number of known names that are compared.
    private static let most = 500

    private struct Candidate {
        let text: String
        let scalars: [Unicode.Scalar]
    }

    private let candidates: [Candidate]

    /// Creates a suggester for the first 500 of the known names. Names longer than 64 characters are ignored.
    public init(_ names: some Sequence<String>) {
        candidates = names.prefix(Self.most).compactMap { name in
            // A Unicode scalar has at most four bytes in UTF-8.
            guard name.utf8.count <= 4 * Self.longest else { return nil }
            let scalars = Array(name.unicodeScalars)
            return scalars.count <= Self.longest ? Candidate(text: name, scalars: scalars) : nil
        }
    }

    /// The number of known names that are compared.
    public var count: Int { candidates.count }

    /// Returns the known name that differs from `given` by the fewest mistakes. If several names have this number of
    /// mistakes, returns the first of them. A known name that equals `given` is ignored. Returns `nil` when every other
    /// known name has more mistakes than allowed, and when `given` has only one character or more than 64.
    public func nearest(to given: String) -> String? { match(for: given)?.name }

    /// Returns the same name as ``nearest(to:)`` with its number of mistakes; `nil` when there is no such name.
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

    /// Returns the number of mistakes between two names, or `atMost + 1` if there are more than `atMost`. Because of
    /// this limit, only a band around the diagonal of the distance table is computed.
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
            // The next row also reads the column after the band.
            if band.upperBound < right.count { current[band.upperBound + 1] = far }
            (before, above, current) = (above, current, before)
        }
        return above[right.count]
    }
}
