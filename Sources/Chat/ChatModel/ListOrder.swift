/// The direction of a list: of its names, or of its times.
public enum ListOrder: String, Sendable, CaseIterable {
    case ascending = "asc"
    case descending = "desc"
}
