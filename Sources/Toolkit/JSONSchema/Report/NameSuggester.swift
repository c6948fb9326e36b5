/// Names, made ready to find the one that a misspelt one was probably meant to be.
struct NameSuggester {
    /// Comparing is quadratic in these.
    private static let longest = 64
    private static let most = 500

    private struct Candidate {
        let text: String
        let scalars: [Unicode.Scalar]
    }

    private let candidates: [Candidate]

    /// Takes the first of the names, as many as a misspelling is worth.
    init(_ names: some Sequence<String>) {
        candidates = names.prefix(Self.most).compactMap { name in
            // A scalar has at most four bytes.
            guard name.utf8.count <= 4 * Self.longest else { return nil }
            let scalars = Array(name.unicodeScalars)
            return scalars.count <= Self.longest ? Candidate(text: name, scalars: scalars) : nil
        }
    }

    /// How many names there are to compare with.
    var count: Int { candidates.count }

    func nearest(to given: String) -> String? {
        guard given.utf8.count <= 4 * Self.longest else { return nil }
        let given = Array(given.unicodeScalars)
        guard given.count >= 2, given.count <= Self.longest else { return nil }
        var best: (name: String, distance: Int)?
        for candidate in candidates {
            let allowed = min(given.count, candidate.scalars.count) <= 4 ? 1 : 2
            let distance = Self.distance(given, candidate.scalars, atMost: allowed)
            if distance <= allowed, distance > 0, distance < best?.distance ?? .max {
                best = (candidate.text, distance)
            }
        }
        return best?.name
    }

    /// Insertions, deletions, replacements and swaps of neighbours, as far as `atMost`: what is further is only told to be
    /// so. That leaves a band around the diagonal to look at.
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
            // The next row looks one place further.
            if band.upperBound < right.count { current[band.upperBound + 1] = far }
            (before, above, current) = (above, current, before)
        }
        return above[right.count]
    }
}
