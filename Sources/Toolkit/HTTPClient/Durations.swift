import Locking

extension Duration {
    /// The duration in whole milliseconds, rounded up. At least one, because libcurl treats zero as "no limit".
    var milliseconds: Int { Int(clamping: max((nanoseconds &+ 999_999) / 1_000_000, 1)) }
}
