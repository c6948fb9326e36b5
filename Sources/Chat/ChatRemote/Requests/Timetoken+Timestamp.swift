import ChatModel

extension Timetoken {
    /// Reads a timestamp as `Timetoken.timestamp` prints one: UTC, to the microsecond. Nil for anything else.
    init?(timestamp: String) {
        let parts = timestamp.utf8.split { !(0x30...0x39).contains($0) }.compactMap { Int(String($0) ?? "") }
        guard timestamp.utf8.count == 27, timestamp.hasSuffix("Z"), parts.count == 7,
            let date = CivilDate(year: parts[0], month: parts[1], day: parts[2]), date.daysSince1970 >= 0
        else { return nil }
        let seconds = date.daysSince1970 * 86_400 + parts[3] * 3600 + parts[4] * 60 + parts[5]
        self.init(UInt64(seconds) * Self.ticksPerSecond + UInt64(parts[6]) * 10)
    }
}
