import JSON

/// Runs test files of the official JSON Schema test suite. A file is an array of cases with `description`, `schema` and
/// `tests`. Each test has `description`, `data` and `valid`.
public struct SuiteRun: Sendable {
    /// The failure of one test.
    public struct Failure: Sendable, Equatable {
        /// The cause of a failure.
        public enum Sort: String, Sendable {
            /// The verdict is wrong.
            case verdict
            /// The schema was rejected. All tests of the case then count as failed.
            case schemaRefused
            /// A limit stopped the evaluation.
            case exhausted
            /// The report is empty although the value is invalid, or contains violations although the value is valid.
            case report
            /// The file is not a test file or cannot be parsed.
            case file
        }

        /// The cause.
        public var sort: Sort
        /// The test file.
        public var file: String
        /// The description of the case; empty when the file or the case cannot be read.
        public var caseName: String
        /// The description of the test; empty when the file or the case cannot be read.
        public var test: String
        /// The expected result.
        public var expected: String
        /// The actual result.
        public var got: String
    }

    /// The number of files run so far.
    public private(set) var files = 0
    /// The number of cases run so far.
    public private(set) var cases = 0
    /// The number of tests run so far.
    public private(set) var tests = 0
    /// The number of tests passed so far.
    public private(set) var passed = 0
    /// The failures so far, in the order in which they occurred.
    public private(set) var failures: [Failure] = []

    private let options: SchemaOptions
    private var scratch = ScratchBox()

    /// Creates a run that has not run any file yet.
    ///
    /// - Parameter options: the options for compiling the schemas. They must include the library to which the schemas
    ///   refer.
    public init(options: SchemaOptions) { self.options = options }

    /// Runs all cases of one file. Integers outside 64 bits are read as doubles.
    public mutating func run(_ bytes: [UInt8], file: String) {
        files += 1
        let limits = JSONLimits(depth: 256)
        guard let document = try? JSONDocument(bytes, limits: limits, numbers: .lenient, duplicates: .lastWins),
            let cases = document.text.rawElements()
        else {
            return failures.append(
                Failure(sort: .file, file: file, caseName: "", test: "", expected: "test cases", got: "something else"))
        }
        for text in cases { run(case: text, file) }
    }

    /// Runs one case. The schema and the data are parsed separately, as in normal use.
    private mutating func run(case text: JSONText, _ file: String) {
        cases += 1
        guard let parts = try? Case(text) else {
            return failures.append(
                Failure(sort: .file, file: file, caseName: "", test: "", expected: "a test case", got: "something else")
            )
        }
        let schema: Schema
        do {
            schema = try Schema(parts.schema, options: options)
        } catch {
            tests += parts.tests.count
            failures += parts.tests.map { test in
                Failure(
                    sort: .schemaRefused, file: file, caseName: parts.name, test: test.name,
                    expected: Self.word(test.isValid), got: error.description)
            }
            return
        }
        for test in parts.tests {
            tests += 1
            if let failure = check(schema, test, file, parts.name) { failures.append(failure) } else { passed += 1 }
        }
    }

    private mutating func check(_ schema: Schema, _ test: Case.Test, _ file: String, _ caseName: String) -> Failure? {
        let verdict = scratch.verdict(of: schema, on: test.data.root)
        func failure(_ sort: Failure.Sort, _ got: String) -> Failure {
            Failure(
                sort: sort, file: file, caseName: caseName, test: test.name, expected: Self.word(test.isValid), got: got
            )
        }
        if case .exhausted(let budget) = verdict { return failure(.exhausted, "out of \(budget)") }
        guard verdict == (test.isValid ? .valid : .invalid) else {
            return failure(.verdict, Self.word(verdict == .valid))
        }
        let violations = schema.collected(on: test.data.root).violations
        guard violations.isEmpty == test.isValid else {
            return failure(.report, "\(violations.count) violations")
        }
        return nil
    }

    private static func word(_ isValid: Bool) -> String { isValid ? "valid" : "invalid" }

    private struct Case {
        struct Test {
            let name: String
            let data: JSONDocument
            let isValid: Bool
        }

        let name: String
        let schema: JSONDocument
        let tests: [Test]

        init(_ text: JSONText) throws(JSONError) {
            let malformed = JSONError(reason: .malformed, message: "this is no test case")
            guard let schema = text.rawMember("schema"), let listed = text.rawMember("tests")?.rawElements() else {
                throw malformed
            }
            name = try JSONDocument(text).root["description"]?.string ?? ""
            self.schema = try JSONDocument(schema)
            var tests: [Test] = []
            for test in listed {
                guard let data = test.rawMember("data"), let isValid = try JSONDocument(test).root["valid"]?.boolean
                else {
                    throw malformed
                }
                let name = try JSONDocument(test).root["description"]?.string ?? ""
                tests.append(Test(name: name, data: try JSONDocument(data), isValid: isValid))
            }
            self.tests = tests
        }
    }
}

/// A reference to scratch memory, which can be part of a copyable value. Only one thread at a time may use it.
private final class ScratchBox: @unchecked Sendable {
    // The box is not shared between threads, because a run is created, used and discarded by one function.
    private var scratch = Scratch()

    func verdict(of schema: Schema, on value: JSONValue) -> Verdict { schema.verdict(on: value, scratch: &scratch) }
}
