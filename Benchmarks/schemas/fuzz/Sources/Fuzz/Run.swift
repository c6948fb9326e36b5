import Glibc

/// Tries the parts in turn until the time is over.
struct Run: ~Copyable {
    private struct Tally {
        var cases = 0
        var accepted = 0
        var failures = 0
        var nanoseconds = 0
        var slowest = (nanoseconds: 0, number: 0, bytes: 0)
    }

    private static var parts: [any Part.Type] {
        [
            DocumentsPart.self, PatternsPart.self, FormatsPart.self, SchemasPart.self, VerdictsPart.self,
            InferencePart.self, ComparisonsPart.self,
        ]
    }

    let seed: UInt64
    let corpus: Corpus
    let record: Record
    private var tallies = [Tally](repeating: Tally(), count: Run.parts.count)

    init(seed: UInt64, corpus: Corpus, record: consuming Record) {
        self.seed = seed
        self.corpus = corpus
        self.record = record
    }

    /// - Returns: whether nothing was wrong.
    mutating func all(seconds: Int) -> Bool {
        let start = time(nil)
        var told = 0
        while time(nil) - start < seconds {
            // By time, not by number: a document takes a hundredth of a comparison.
            let part = tallies.indices.min { tallies[$0].nanoseconds < tallies[$1].nanoseconds } ?? 0
            for _ in 0..<32 { one(part, tallies[part].cases) }
            let minutes = (time(nil) - start) / 60
            if minutes > told {
                told = minutes
                say(
                    "\(minutes) min: \(tallies.reduce(0) { $0 + $1.cases }) cases, \(Record.residentMiB()) MiB resident"
                )
            }
        }
        table()
        return tallies.allSatisfy { $0.failures == 0 }
    }

    /// Replays one case.
    mutating func one(named name: String, _ number: Int) -> Bool {
        guard let part = Self.parts.firstIndex(where: { $0.name == name }) else { return false }
        one(part, number)
        table()
        return tallies[part].failures == 0
    }

    private mutating func one(_ part: Int, _ number: Int) {
        let type = Self.parts[part]
        let before = Record.cpuNanoseconds()
        var dice = Dice(seed: seed, part: part, number: number)
        let input = type.input(&dice, corpus)
        let place = "--seed \(seed) --part \(type.name) --case \(number)"
        let texts = Array(([input.bytes] + input.others).joined(separator: [0x0A]))
        record.begin(place, texts, seconds: type.secondsPerInput)
        let start = Record.cpuNanoseconds()
        let outcome = type.run(input, &dice, corpus)
        let spent = Record.cpuNanoseconds() - start
        record.end()
        tallies[part].cases += 1
        tallies[part].nanoseconds += start + spent - before
        if outcome.isAccepted { tallies[part].accepted += 1 }
        if spent > tallies[part].slowest.nanoseconds { tallies[part].slowest = (spent, number, input.bytes.count) }
        if let complaint = outcome.complaint {
            tallies[part].failures += 1
            say("\(place): \(complaint)\n  \(String(decoding: input.bytes, as: UTF8.self))")
        }
    }

    private func table() {
        say("| part | cases | accepted | failures | CPU s, making included | slowest ms | its case | its bytes |")
        say("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        for (part, tally) in zip(Self.parts, tallies) where tally.cases > 0 {
            let slowest = Double(tally.slowest.nanoseconds / 10_000) / 100
            say(
                "| \(part.name) | \(tally.cases) | \(tally.accepted) | \(tally.failures) | "
                    + "\(tally.nanoseconds / 1_000_000_000) | \(slowest) | \(tally.slowest.number) | \(tally.slowest.bytes) |"
            )
        }
        say("seed \(seed), \(Record.residentMiB()) MiB resident")
    }
}

/// Prints a line at once: what is buffered is lost in a crash.
func say(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
}
