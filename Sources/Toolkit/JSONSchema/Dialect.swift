/// A published version of JSON Schema. The raw value is its short name on the command line.
public enum Dialect: String, Sendable, CaseIterable {
    case draft202012 = "2020-12"
    case draft201909 = "2019-09"
    case draft07 = "07"
    case draft06 = "06"
    case draft04 = "04"
}

extension Dialect: Comparable {
    /// Earlier versions are smaller.
    public static func < (left: Dialect, right: Dialect) -> Bool { left.age > right.age }

    private var age: Int {
        switch self {
        case .draft202012: 0
        case .draft201909: 1
        case .draft07: 2
        case .draft06: 3
        case .draft04: 4
        }
    }
}
