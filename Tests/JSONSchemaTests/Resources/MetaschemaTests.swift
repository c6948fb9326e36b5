import JSON
import Testing

@testable import JSONSchema

@Suite("The embedded metaschemas") struct MetaschemaTests {
    @Test("parse and carry the identifier they are found by", arguments: Metaschemas.all.map(\.uri))
    func parse(uri: String) throws {
        let document = try Metaschemas.parse(try #require(Metaschemas.text(for: uri)))
        let identifier = try #require(document.root["$id"]?.string ?? document.root["id"]?.string)
        #expect(URIText.resolve(identifier, against: "")?.uri == uri)
        #expect(Metaschemas.document(at: uri)?.text == document.text)
        #expect(Metaschemas.document(at: uri + "#")?.text == document.text)
    }

    @Test("are one for each dialect, and one for each vocabulary of those that have any")
    func complete() throws {
        #expect(Set(Metaschemas.all.map(\.uri)).count == 3 + 7 + 9)
        for dialect in ["draft-04", "draft-06", "draft-07"] {
            #expect(Metaschemas.document(at: "http://json-schema.org/\(dialect)/schema") != nil)
        }
        for dialect in ["2019-09", "2020-12"] {
            let uri = "https://json-schema.org/draft/\(dialect)/schema"
            let root = try #require(Metaschemas.document(at: uri)).root
            let parts = try #require(root["allOf"]?.elements).compactMap { $0["$ref"]?.string }
            #expect(parts.count == root["$vocabulary"]?.count)
            for part in parts {
                #expect(Metaschemas.document(at: try #require(URIText.resolve(part, against: uri)).uri) != nil)
            }
        }
    }

    @Test("are found by no other identifier")
    func unknown() {
        #expect(Metaschemas.document(at: "https://json-schema.org/draft/2020-12/Schema") == nil)
        #expect(Metaschemas.text(for: "") == nil)
    }
}
