import JSON

/// The known name a mistyped one most probably means.
public enum NameSuggestion {
    /// The nearest of `known` within a third of its length, at least one edit; nil when none is near.
    public static func nearest(to name: String, among known: [String]) -> String? {
        let best = known.map { (name: $0, distance: distance(name, $0)) }.min { $0.distance < $1.distance }
        guard let best, best.distance <= max(1, best.name.utf8.count / 3) else { return nil }
        return best.name
    }

    /// Edits (insert, remove, replace) between the two texts. Names longer than any of ours are simply far away:
    /// the table would grow with what a stranger sends.
    private static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.utf8)
        let right = Array(right.utf8)
        guard left.count <= 64 else { return .max }
        var row = Array(0...right.count)
        for (i, byte) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, other) in right.enumerated() {
                let replaced = diagonal + (byte == other ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, row[j] + 1, row[j + 1] + 1)
            }
        }
        return row[right.count]
    }
}

extension ChatError.FieldError {
    /// A member that no rule reads.
    ///
    /// - Parameters:
    ///   - object: the pointer of the object that has it, `#` for the document.
    ///   - known: the members that are read.
    public static func unknown(_ name: String, in object: String = "#", known: [String]) -> Self {
        let nearest = NameSuggestion.nearest(to: name, among: known).map { "; did you mean '\($0)'?" } ?? ""
        return Self(
            pointer: object + "/" + JSONPointer.escaped(String(name.prefix(64))), keyword: "unknown",
            detail: "unknown member\(nearest)")
    }
}
