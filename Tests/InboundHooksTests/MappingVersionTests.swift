import ChatCore
import ChatModel
import JSON
import SQLiteEngine
import Testing

@testable import InboundHooks

@Suite("The mappings of a source") struct MappingVersionTests {
    private static func document(_ number: Int) -> String {
        #"{"scheme":"none","mapping":{"channel":"c\#(number)","type":"t","data":{}}}"#
    }

    @Test("are kept, the newest first and the latest twenty")
    func versions() async throws {
        try await InboundFixture.with { fixture in
            for number in 1...25 { try await fixture.put("s", Self.document(number)) }
            // An unchanged mapping adds no version.
            try await fixture.put("s", Self.document(25))
            let versions = try await fixture.registry.mappings(of: "s", by: InboundFixture.owner)
            #expect(versions.map(\.version) == Array((6...25).reversed()))
            #expect(versions.map(\.mapping.description)[0].contains("c25"))
            #expect(versions[0].credential == InboundFixture.owner.credential)
            // Returns to an older mapping.
            try await fixture.put("s", #"{"scheme":"none","mapping":\#(versions[19].mapping)}"#)
            #expect(try await fixture.registry.source("s", by: InboundFixture.owner).mappingVersion == 26)
        }
    }

    @Test("go with their source")
    func deleted() async throws {
        try await InboundFixture.with { fixture in
            for number in 1...3 { try await fixture.put("s", Self.document(number)) }
            try await fixture.registry.delete("s", by: InboundFixture.owner)
            let left = try await fixture.engine.directory.list(
                RecordQuery(.sourceMapping, in: InboundFixture.app, limit: 10))
            #expect(left.items.isEmpty)
            try await fixture.put("s", Self.document(9))
            #expect(try await fixture.registry.mappings(of: "s", by: InboundFixture.owner).map(\.version) == [1])
        }
    }

    @Test("of a source from before there were any begin with the one it has")
    func legacy() async throws {
        try await InboundFixture.with { fixture in
            let record =
                #"{"scheme":"github","secrets":["topsecret"],"window_seconds":300,"mapping":{"channel":"in","type":"t","data":{}},"description":"","channels":["*"],"types":["*"],"created":"17000000000000000"}"#
            _ = try await fixture.engine.directory.write([
                RecordChange(
                    RecordKey(.source, "s", in: InboundFixture.app), body: JSONText(trusted: Array(record.utf8)))
            ])
            #expect(try await fixture.registry.mappings(of: "s", by: InboundFixture.owner).map(\.version) == [1])
            let owner = Caller(
                app: InboundFixture.app, credential: "key_o", scopes: [.manage], channels: [.all], types: [.all])
            try await fixture.put(
                "s", #"{"scheme":"github","mapping":{"channel":"x","type":"t","data":{}}}"#, by: owner)
            let versions = try await fixture.registry.mappings(of: "s", by: InboundFixture.owner)
            #expect(versions.map(\.version) == [2, 1])
            #expect(versions[1].mapping.description.contains(#""in""#))
        }
    }
}
