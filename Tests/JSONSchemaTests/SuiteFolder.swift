import FoundationEssentials
import Glibc

/// Where the official test suite's data lies: `JSON_SCHEMA_TEST_SUITE`, or `shared` beside the checkout.
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
