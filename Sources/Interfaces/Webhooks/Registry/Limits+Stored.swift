import ChatModel

extension Limits {
    /// For filters of records: what was accepted once stays, though the limits for new ones may have become narrower.
    static let ofStored: Limits = {
        var limits = Limits()
        limits.filterBytes = .max
        limits.filterDepth = 1000
        limits.filterSearches = .max
        return limits
    }()
}
