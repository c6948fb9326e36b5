import Locking

extension Duration {
    /// Whole milliseconds, rounded up and at least one: libcurl reads zero as "no limit".
    var milliseconds: Int { Int(clamping: max((nanoseconds &+ 999_999) / 1_000_000, 1)) }
}
