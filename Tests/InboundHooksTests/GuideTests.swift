import ChatModel
import FoundationEssentials
import InboundHooks
import JSON
import Testing

@Suite("The guide to sources") struct GuideTests {
    private static func blocks() throws -> [String] {
        let file = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let text = try String(contentsOfFile: "/\(file)/docs/sources.md", encoding: .utf8)
        return text.split(separator: "```json\n").dropFirst().compactMap { part in
            part.split(separator: "```").first.map(String.init)
        }
    }

    @Test("shows nothing but sources and mappings that are accepted")
    func examples() throws {
        let blocks = try Self.blocks()
        #expect(blocks.count >= 10)
        for block in blocks {
            let document = try JSONDocument(Array(block.utf8))
            if document.root["scheme"] != nil {
                #expect(throws: Never.self, "\(block)") { try SourceSettings(document) }
            } else if document.root["when"] == nil || document.root["channel"] != nil {
                #expect(throws: Never.self, "\(block)") { try Mapping(document.text) }
            }
        }
    }
}
