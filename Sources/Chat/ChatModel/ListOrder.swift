/// The direction of a sorted list.
public enum ListOrder: String, Sendable, CaseIterable {
    case ascending = "asc"
    case descending = "desc"
}
