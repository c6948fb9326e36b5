import Foundation
import JSON
import Testing

@testable import JSONSchema

/// Returns the format's verdict on a text, or on bytes that may not be text.
func accepts(_ format: Format, _ text: String) -> Bool { accepts(format, Array(text.utf8)) }

func accepts(_ format: Format, _ bytes: [UInt8]) -> Bool { bytes.withUnsafeBufferPointer { format.accepts($0) } }

/// The published test suite: the folder that the environment names, otherwise the one beside the checkout.
private let suiteFolder: URL? = {
    let named = ProcessInfo.processInfo.environment["JSON_SCHEMA_TEST_SUITE"].map { URL(filePath: $0) }
    var checkout = URL(filePath: #filePath).resolvingSymlinksInPath()
    for _ in 0..<4 { checkout.deleteLastPathComponent() }
    let folder = named ?? checkout.appending(path: "../shared/json-schema-test-suite")
    return FileManager.default.fileExists(atPath: folder.appending(path: "tests").path) ? folder : nil
}()

@Suite(
    "The formats",
    .enabled(
        if: suiteFolder != nil,
        "the published suite is neither at JSON_SCHEMA_TEST_SUITE nor in ../shared/json-schema-test-suite"))
struct FormatSuiteTests {
    @Test("agree with the published suite", arguments: Dialect.allCases)
    func suite(_ dialect: Dialect) throws {
        let name = dialect < .draft201909 ? "draft\(Int(dialect.rawValue) ?? 0)" : "draft\(dialect.rawValue)"
        let folder = try #require(suiteFolder).appending(path: "tests/\(name)/optional/format")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        var strings = 0
        for file in files.sorted(by: { $0.path < $1.path }) where file.pathExtension == "json" {
            strings += try run(file, in: dialect)
        }
        // The smallest folder, draft-04's, holds about 170 of them.
        #expect(strings > 150)
    }

    /// Returns the number of checked strings. Values of other types are left out: every format accepts them.
    private func run(_ file: URL, in dialect: Dialect) throws -> Int {
        let document = try JSONDocument(Array(try Data(contentsOf: file)))
        var strings = 0
        for group in try #require(document.root.elements) {
            let schema = try #require(group["schema"])
            let name = try #require(schema["format"]?.string)
            #expect(schema.members?.allSatisfy { $0.name == "format" || $0.name == "$schema" } == true)
            let format = Format(name: name, in: dialect)
            for test in try #require(group["tests"]?.elements) {
                guard let text = test["data"]?.string, let expected = test["valid"]?.boolean else { continue }
                strings += 1
                let verdict = format.map { accepts($0, text) } ?? true
                #expect(verdict == expected, "\(file.lastPathComponent): \(test["description"]?.string ?? "")")
            }
        }
        return strings
    }
}
