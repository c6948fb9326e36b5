import FoundationEssentials
import Glibc
import JSONSchema
import Testing

/// The folders of the official suite for one dialect, and the number of their tests.
private struct SuiteSet: CustomTestStringConvertible, Sendable {
    let dialect: Dialect
    let folder: String
    let formats: FormatPolicy
    let tests: Int
    var testDescription: String { folder }

    static let all: [SuiteSet] = [
        SuiteSet(dialect: .draft202012, folder: "draft2020-12", formats: .annotate, tests: 1299),
        SuiteSet(dialect: .draft202012, folder: "draft2020-12/optional", formats: .annotate, tests: 162),
        SuiteSet(dialect: .draft202012, folder: "draft2020-12/optional/format", formats: .assert, tests: 764),
        SuiteSet(dialect: .draft201909, folder: "draft2019-09", formats: .annotate, tests: 1259),
        SuiteSet(dialect: .draft201909, folder: "draft2019-09/optional", formats: .annotate, tests: 158),
        SuiteSet(dialect: .draft201909, folder: "draft2019-09/optional/format", formats: .assert, tests: 757),
        SuiteSet(dialect: .draft07, folder: "draft7", formats: .annotate, tests: 927),
        SuiteSet(dialect: .draft07, folder: "draft7/optional", formats: .annotate, tests: 118),
        SuiteSet(dialect: .draft07, folder: "draft7/optional/format", formats: .assert, tests: 676),
        SuiteSet(dialect: .draft06, folder: "draft6", formats: .annotate, tests: 839),
        SuiteSet(dialect: .draft06, folder: "draft6/optional", formats: .annotate, tests: 106),
        SuiteSet(dialect: .draft06, folder: "draft6/optional/format", formats: .assert, tests: 325),
        SuiteSet(dialect: .draft04, folder: "draft4", formats: .annotate, tests: 618),
        SuiteSet(dialect: .draft04, folder: "draft4/optional", formats: .annotate, tests: 100),
        SuiteSet(dialect: .draft04, folder: "draft4/optional/format", formats: .assert, tests: 219),
    ]
}

@Suite("The official test suite") struct SuiteTests {
    @Test("is passed", .enabled(if: SuiteFolder.path != nil, "JSON_SCHEMA_TEST_SUITE names no test suite"))
    fileprivate func passed() throws {
        let root = try #require(SuiteFolder.path)
        var library = SchemaLibrary()
        try library.add(folder: root + "/remotes", base: "http://localhost:1234/")
        for set in SuiteSet.all {
            for access in [NodeAccessChoice.public, .layout] {
                var options = SchemaOptions(
                    dialect: set.dialect, formats: set.formats, library: library, access: access)
                // The optional content tests of draft-07 assert content. Elsewhere it must stay an annotation.
                options.assertsContent = set.folder == "draft7/optional"
                // Allows for a debug build on a busy machine.
                options.limits.compileMilliseconds = 10_000
                var run = SuiteRun(options: options)
                for file in SuiteFolder.files(in: root + "/tests/" + set.folder) {
                    run.run(SuiteFolder.bytes(file), file: String(file.dropFirst(root.count + 7)))
                }
                #expect(run.failures.isEmpty, "\(set.folder) by \(access): \(Self.summary(run.failures))")
                #expect(run.passed == set.tests, "\(set.folder)")
            }
        }
    }

    private static func summary(_ failures: [SuiteRun.Failure]) -> String {
        "\(failures.count) failures\n"
            + failures.prefix(40).map { failure in
                "\(failure.sort) \(failure.file): \(failure.caseName) | \(failure.test): \(failure.got)"
            }.joined(separator: "\n")
    }
}

/// The folder of the official test suite: `JSON_SCHEMA_TEST_SUITE`, or `shared` beside the checkout.
enum SuiteFolder {
    static let path: String? = {
        let near = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
        let places = [
            getenv("JSON_SCHEMA_TEST_SUITE").map { String(cString: $0) }, near + "/shared/json-schema-test-suite",
        ]
        return places.compactMap(\.self).first { FileManager.default.fileExists(atPath: $0 + "/tests") }
    }()

    /// The `.json` files directly in a folder of the suite, sorted.
    static func files(in folder: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(".json") }.sorted().map { folder + "/" + $0 }
    }

    static func bytes(_ path: String) -> [UInt8] { FileManager.default.contents(atPath: path).map(Array.init) ?? [] }
}
