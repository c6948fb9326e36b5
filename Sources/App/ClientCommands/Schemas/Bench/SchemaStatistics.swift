import Glibc
import JSON
import JSONSchema

/// The CPU time of this process.
enum CPUTime {
    /// The CPU time so far, in nanoseconds. Unlike wall time, it excludes other processes.
    static var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}

/// The CPU time for one document, in nanoseconds.
struct SampledTime {
    let median: Double
    let minimum: Double
    /// The number of times that one sample processes all documents.
    let iterations: Int

    /// Measures `run`. First increases the number of iterations until one sample takes at least the minimum time. These
    /// iterations are also the warm-up. Then takes the samples.
    ///
    /// - Parameter run: processes all documents `iterations` times.
    init(_ sampling: Sampling, documents: Int, _ run: (_ iterations: Int) -> Void) {
        func sample(_ iterations: Int) -> Int {
            let start = CPUTime.now
            run(iterations)
            return CPUTime.now - start
        }
        var iterations = 1
        var taken = sample(iterations)
        while taken < sampling.nanoseconds {
            // The new number is a tenth above the estimate, but at most ten times the previous number, because a short
            // sample is imprecise.
            let factor = min(10, 1.1 * Double(sampling.nanoseconds) / Double(max(taken, 1)))
            iterations = max(iterations + 1, Int(Double(iterations) * factor))
            taken = sample(iterations)
        }
        let times = (0..<sampling.count).map { _ in Double(sample(iterations)) }.sorted()
        let middle = times.count / 2
        let median = times.count % 2 == 1 ? times[middle] : (times[middle - 1] + times[middle]) / 2
        let each = Double(iterations) * Double(documents)
        self.median = median / each
        minimum = (times.first ?? 0) / each
        self.iterations = iterations
    }
}

/// The measured costs of checking documents with a schema: the CPU time for parsing, for validating, and for both
/// together, and the number of allocations.
struct SchemaStatistics {
    let parse: SampledTime
    let validate: SampledTime
    let parseAndValidate: SampledTime
    /// One character for each document: `1` valid, `0` invalid, `p` rejected by the parser, `b` above a limit.
    let verdicts: String
    let bytes: Int
    /// The number of allocations for one document; nil when they cannot be counted.
    let allocations: Double?

    var times: [(name: String, time: SampledTime)] {
        [("parse", parse), ("validate", validate), ("parse_validate", parseAndValidate)]
    }

    /// Measures checking the documents in `lines` with the schema.
    ///
    /// - Returns: nil when the verdict on a document depends on whether the document was parsed in advance.
    init?(_ schema: Schema, _ lines: [[UInt8]], _ reading: SchemaInputOptions, _ sampling: Sampling) {
        let bench = Workload(schema, lines, reading)
        var early = bench.noVerdicts
        var late = bench.noVerdicts
        var scratch = Scratch()
        validate = SampledTime(sampling, documents: lines.count) { bench.validate($0, &scratch, into: &early) }
        parse = SampledTime(sampling, documents: lines.count) { bench.parse($0) }
        parseAndValidate = SampledTime(sampling, documents: lines.count) {
            bench.parseAndValidate($0, &scratch, into: &late)
        }
        guard early == late else { return nil }
        verdicts = String(decoding: early, as: UTF8.self)
        bytes = lines.reduce(0) { $0 + $1.count }
        allocations = AllocationCount.during { bench.validate(1, &scratch, into: &early) }.map {
            Double($0) / Double(lines.count)
        }
    }

    func count(of verdict: Unicode.Scalar) -> Int { verdicts.unicodeScalars.count { $0 == verdict } }
}

/// The documents of a benchmark, and the operations that are measured on them.
///
/// Validating is so fast that retaining and releasing the document's value for each validation would take a third of
/// the measured time. The gateway need not retain the value, because it already holds a reference to it. The values are
/// therefore stored as unmanaged references, and the scratch memory is a parameter.
private struct Workload {
    private final class Held {
        let value: JSONValue

        init(_ value: JSONValue) { self.value = value }
    }

    private let schema: Schema
    private let lines: [[UInt8]]
    private let reading: SchemaInputOptions
    /// The documents that the parser accepted.
    private let values: [Held]
    private let borrowed: [Unmanaged<Held>]
    /// The index of the line of each document in `values`.
    private let positions: [Int]
    /// For each document that the parser rejected, the character that represents the verdict; zero for all other
    /// documents.
    let noVerdicts: [UInt8]

    init(_ schema: Schema, _ lines: [[UInt8]], _ reading: SchemaInputOptions) {
        self.schema = schema
        self.lines = lines
        self.reading = reading
        var values: [Held] = []
        var positions: [Int] = []
        var verdicts = [UInt8](repeating: 0, count: lines.count)
        for (position, line) in lines.enumerated() {
            do throws(JSONError) {
                values.append(Held(try reading.value(line).root))
                positions.append(position)
            } catch {
                verdicts[position] = Self.letter(error)
            }
        }
        self.values = values
        borrowed = values.map { Unmanaged.passUnretained($0) }
        self.positions = positions
        noVerdicts = verdicts
    }

    /// Validates every document `iterations` times, in the order of the file.
    func validate(_ iterations: Int, _ scratch: inout Scratch, into verdicts: inout [UInt8]) {
        withExtendedLifetime(values) {
            for _ in 0..<iterations {
                for index in borrowed.indices {
                    let verdict = borrowed[index]._withUnsafeGuaranteedRef {
                        schema.verdict(on: $0.value, scratch: &scratch)
                    }
                    verdicts[positions[index]] = Self.letter(verdict)
                }
            }
        }
    }

    func parse(_ iterations: Int) {
        for _ in 0..<iterations {
            for line in lines {
                // A text that the parser rejects also has a cost, so it is included.
                withExtendedLifetime(try? reading.value(line)) {}
            }
        }
    }

    func parseAndValidate(_ iterations: Int, _ scratch: inout Scratch, into verdicts: inout [UInt8]) {
        for _ in 0..<iterations {
            for index in lines.indices { verdicts[index] = validateLine(lines[index], &scratch) }
        }
    }

    private func validateLine(_ line: [UInt8], _ scratch: inout Scratch) -> UInt8 {
        do throws(JSONError) {
            return Self.letter(schema.verdict(on: try reading.value(line).root, scratch: &scratch))
        } catch {
            return Self.letter(error)
        }
    }

    private static func letter(_ verdict: Verdict) -> UInt8 {
        switch verdict {
        case .valid: UInt8(ascii: "1")
        case .invalid: UInt8(ascii: "0")
        case .exhausted: UInt8(ascii: "b")
        }
    }

    private static func letter(_ error: JSONError) -> UInt8 {
        switch error.reason {
        case .malformed, .duplicateName, .numberOutOfRange: UInt8(ascii: "p")
        case .tooDeep, .tooLarge: UInt8(ascii: "b")
        }
    }
}
