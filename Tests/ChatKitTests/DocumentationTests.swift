import Foundation
import Testing

private let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

@Suite("The documentation") struct DocumentationTests {
    private func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Code without white space, so that its layout does not matter.
    private func bare(_ code: some StringProtocol) -> String { String(code.filter { !$0.isWhitespace }) }

    private func examples(in page: String) -> [String] {
        page.components(separatedBy: "```swift\n").dropFirst().compactMap { $0.components(separatedBy: "```").first }
    }

    @Test("shows examples that compile")
    func compiled() throws {
        let files = ["Tests/ChatKitTests/DocumentedExamples.swift", "Tests/ChatKitCompatTests/DocumentedExample.swift"]
        let code = bare(try files.map(text).joined())
        let folder = "Sources/Chat/ChatKit/ChatKit.docc/"
        let articles = try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)
        let pages = ["docs/swift.md"] + articles.filter { $0.hasSuffix(".md") }.map { folder + $0 }
        var count = 0
        for page in pages {
            for example in examples(in: try text(page)) {
                count += 1
                #expect(code.contains(bare(example)), "\(page): \(example)")
            }
        }
        #expect(count >= 10)
    }

    @Test("names only existing calls: each call in its table is in a listing that compiles")
    func table() throws {
        let listing = bare(try text("Tests/ChatKitTests/KnownNames.swift"))
        let rows = try text("docs/swift.md").components(separatedBy: "| there | here |\n")[1]
            .split(separator: "\n").filter { $0.hasPrefix("|") }.dropFirst()
        #expect(rows.count > 20)
        for row in rows {
            let here = row.split(separator: "|")[1]
            for name in here.components(separatedBy: "`").enumerated().filter({ !$0.offset.isMultiple(of: 2) }) {
                let call = name.element.prefix { $0 != "(" }
                #expect(listing.contains(call), "\(call)")
            }
        }
    }
}
