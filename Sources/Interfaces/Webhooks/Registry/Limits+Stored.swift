import ChatCore
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

extension Filter {
    /// The filter of a stored record; nil for one that no longer compiles.
    ///
    /// - Parameter compiles: false for a record that is only shown: a page of them would hold up everybody else for as long
    ///   as all their filters take to compile.
    init?(ofRecord text: String, compiles: Bool) {
        guard compiles else {
            self.init(uncompiled: text)
            return
        }
        // Why it does not compile is nothing that a reader of the record can act on.
        guard let filter = try? Filter(text, limits: .ofStored) else { return nil }
        self = filter
    }
}
