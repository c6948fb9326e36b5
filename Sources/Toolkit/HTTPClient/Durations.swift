extension Duration {
    /// Whole milliseconds, rounded up and at least one: libcurl reads zero as "no limit".
    var milliseconds: Int { Int(clamping: max((nanoseconds &+ 999_999) / 1_000_000, 1)) }

    /// Whole nanoseconds, zero for negative durations and at most some 290 years.
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? UInt64(Int64.max) : min(whole + UInt64(attoseconds / 1_000_000_000), UInt64(Int64.max))
    }
}
