/// The direction of a list, by names or by times.
public enum ListOrder: String, Sendable, CaseIterable {
    case ascending = "asc"
    case descending = "desc"
}
