import ArgumentParser
import FoundationEssentials
import Glibc
import JSON
import JSONSchema

extension SchemaCommand {
    struct Suite: ParsableCommand, ReadOnlyCommand {
        static let configuration = CommandConfiguration(
            abstract: "Run test files in the format of the official JSON Schema test suite.",
            discussion: """
                parley schema suite --tests tests/draft2020-12 --remotes remotes --dialect 2020-12

                Without --formats, formats are asserted in files below optional/format and are annotations everywhere \
                else. Contents are asserted in optional/content.json. The official test suite expects both.
                """)

        @Option(help: ArgumentHelp("A test file, or a folder that is searched recursively.", valueName: "path"))
        var tests: String

        @OptionGroup var reading: SchemaInputOptions

        func run() throws {
            let files = try SuiteFiles.below(tests)
            var run = SuiteTotal()
            // Schemas of the test suite refer to this address.
            let options = try reading.options(formats: .annotate, base: "http://localhost:1234/")
            for file in files {
                var one = SuiteRun(options: meant(for: file.path, options))
                one.run(try InputText.file(file.path), file: file.name)
                run.add(one)
            }
            let sink = CommandEnvironment.current.console.output
            if reading.isJSON { sink.line(run.json.bytes) } else { run.printReport(sink) }
            if !run.failures.isEmpty { throw Answer.invalid.exit }
        }

        private func meant(for path: String, _ options: SchemaOptions) -> SchemaOptions {
            guard reading.formats == nil else { return options }
            var options = options
            if path.contains("/optional/format/") { options.formats = .assert }
            options.assertsContent = path.hasSuffix("/optional/content.json")
            return options
        }
    }
}

/// Finds the test files below a path.
private enum SuiteFiles {
    /// Returns the file at a path, or the `.json` files of a folder and its subfolders.
    ///
    /// - Returns: the files, sorted by path. Each file has a full path and a name for reports.
    static func below(_ path: String) throws(CommandFailure) -> [(path: String, name: String)] {
        let manager = FileManager.default
        guard let full = realPath(path) else { throw CommandFailure("\(path): no such file or folder") }
        var isFolder = false
        guard manager.fileExists(atPath: full, isDirectory: &isFolder), isFolder else { return [(full, path)] }
        let names: [String]
        do { names = try manager.subpathsOfDirectory(atPath: full) } catch {
            throw CommandFailure("\(path) cannot be read")
        }
        let files = names.filter { $0.hasSuffix(".json") }.sorted().map { (full + "/" + $0, $0) }
        guard !files.isEmpty else { throw CommandFailure("\(path) contains no test files") }
        return files
    }

    private static func realPath(_ path: String) -> String? {
        guard let real = Glibc.realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }
}

/// The totals over all files.
private struct SuiteTotal {
    private var files = 0
    private var cases = 0
    private var tests = 0
    private var passed = 0
    private(set) var failures: [SuiteRun.Failure] = []

    mutating func add(_ run: SuiteRun) {
        files += run.files
        cases += run.cases
        tests += run.tests
        passed += run.passed
        failures += run.failures
    }

    func printReport(_ sink: Sink) {
        for failure in failures {
            let place = [failure.file, failure.caseName, failure.test].joined(separator: ": ")
            sink.line(SanitizedText.safe("\(place): expected \(failure.expected), got \(failure.got)"))
        }
        let word = failures.isEmpty ? sink.style.good("ok") : sink.style.bad("failed")
        sink.line("\(word): \(passed) of \(tests) tests in \(cases) cases of \(files) files")
    }

    var json: JSONText {
        JSONText { writer in
            writer.beginObject()
            writer.member("files", files)
            writer.member("cases", cases)
            writer.member("tests", tests)
            writer.member("passed", passed)
            writer.key("failures")
            writer.beginArray()
            for failure in failures {
                writer.beginObject()
                writer.member("file", failure.file)
                writer.member("case", failure.caseName)
                writer.member("test", failure.test)
                writer.member("expected", failure.expected)
                writer.member("got", failure.got)
                writer.member("sort", failure.sort.rawValue)
                writer.endObject()
            }
            writer.endArray()
            writer.endObject()
        }
    }
}
