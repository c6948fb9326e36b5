/// The Unicode tables. They are unpacked (about 100 KB) when the first pattern needs them.
enum UnicodeData {
    /// The properties of a code point. There are only about 250 different records.
    struct Record: Sendable {
        let category: UInt8
        /// Bit n represents the n-th entry of `UnicodeTables.binaries`.
        let binaries: UInt64
    }

    /// A run: adjacent code points with the same value. A run ends at the start of the next run.
    struct Run: Sendable {
        let start: UInt32
        let value: UInt16
    }

    static let records: [Record] = {
        var numbers = UnicodeNumbers(UnicodeTables.records)
        var records: [Record] = []
        while let category = numbers.next(), let binaries = numbers.next() {
            records.append(Record(category: UInt8(category), binaries: binaries))
        }
        return records
    }()

    /// The sets of scripts that Script_Extensions uses. The first set is empty. A code point with the empty set belongs
    /// only to its script in ``scriptRuns``.
    static let extensions: [[UInt16]] = {
        var numbers = UnicodeNumbers(UnicodeTables.extensions)
        var sets: [[UInt16]] = []
        while let count = numbers.next() {
            sets.append((0..<count).compactMap { _ in numbers.next().map { UInt16($0) } })
        }
        return sets
    }()

    static let recordRuns = runs(UnicodeTables.recordRuns)
    static let scriptRuns = runs(UnicodeTables.scriptRuns)
    static let extensionRuns = runs(UnicodeTables.extensionRuns)

    private static func runs(_ text: StaticString) -> [Run] {
        var numbers = UnicodeNumbers(text)
        var runs: [Run] = []
        var start: UInt32 = 0
        while let length = numbers.next(), let value = numbers.next() {
            runs.append(Run(start: start, value: UInt16(value)))
            start += UInt32(length) + 1
        }
        return runs
    }

    /// Returns the code points of all runs for whose value `isMember` returns true.
    static func members(of runs: [Run], where isMember: (Int) -> Bool) -> Pattern.ScalarSet {
        var ranges: [ClosedRange<UInt32>] = []
        for (index, run) in runs.enumerated() where isMember(Int(run.value)) {
            let next = index + 1 < runs.count ? runs[index + 1].start : Pattern.ScalarSet.last + 1
            ranges.append(run.start...(next - 1))
        }
        return Pattern.ScalarSet(ranges)
    }

    static func record(of scalar: UInt32) -> Record {
        var low = 0
        var high = recordRuns.count
        while low + 1 < high {
            let middle = (low + high) / 2
            if recordRuns[middle].start <= scalar { low = middle } else { high = middle }
        }
        return records[Int(recordRuns[low].value)]
    }
}
