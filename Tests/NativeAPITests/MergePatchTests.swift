import HTTPServer
import JSON
import Testing

@testable import NativeAPI

/// `PATCH` of records as RFC 7396 has it; the table of that standard is in `JSONMergingTests`.
@Suite("Merge patches of records", .timeLimit(.minutes(2))) struct MergePatchTests {
    @Test(
        "merge custom values at every depth in a PATCH, and replace them in a PUT",
        arguments: ["/v1/users/eve", "/v1/channels/hall", "/v1/channels/room/members/eve"])
    func merging(_ address: String) async throws {
        try await APIFixture.run { api in
            _ = await api.call(.put, "/v1/channels/room", #"{"kind":"group"}"#)
            let kind = address == "/v1/channels/hall" ? #""kind":"group","# : ""
            _ = await api.call(.put, address, "{\(kind)" + #""custom":{"a":1.50,"b":{"c":1,"d":[1]},"e":2}}"#)
            let merged = await api.call(.patch, address, #"{"custom":{"b":{"c":null,"f":true},"e":null}}"#)
            #expect(merged.status == 200, "\(merged.text)")
            #expect(merged.raw("custom") == #"{"a":1.50,"b":{"d":[1],"f":true}}"#)
            let large = await api.call(
                .patch, address, #"{"custom":{"g":"\#(String(repeating: "x", count: 16_360))"}}"#)
            #expect(large.status == 413, "the sum is too large: \(large.text.prefix(200))")
            let replaced = await api.call(.put, address, "{\(kind)" + #""custom":{"h":null}}"#)
            #expect(replaced.raw("custom") == #"{"h":null}"#)
            #expect(await api.call(.patch, address, #"{"custom":null}"#).raw("custom") == "null")
        }
    }

    @Test("merge a user's metadata and a channel's data")
    func mergingOthers() async throws {
        try await APIFixture.run { api in
            _ = await api.call(.put, "/v1/users/eve", #"{"metadata":{"a":"1","b":"2"}}"#)
            let user = await api.call(.patch, "/v1/users/eve", #"{"metadata":{"a":null,"c":"3"}}"#)
            #expect(user["metadata"]?["a"] == nil && user["metadata"]?["b"]?.string == "2")
            #expect(user["metadata"]?["c"]?.string == "3")
            let refused = await api.call(.put, "/v1/users/eve", #"{"metadata":{"a":null}}"#)
            #expect(refused.code == "wrong_type" && refused["errors"]?[0]?["pointer"]?.string == "#/metadata/a")
            _ = await api.call(.put, "/v1/channels/hall", #"{"kind":"group","data":{"a":{"b":1}}}"#)
            let hall = await api.call(.patch, "/v1/channels/hall", #"{"data":{"a":{"b":null},"c":[null]}}"#)
            #expect(hall.raw("data") == #"{"a":{},"c":[null]}"#)
            #expect(await api.call(.patch, "/v1/channels/hall", #"{"data":[1]}"#).raw("data") == "[1]")
        }
    }
}

extension Answer {
    /// A member's bytes as text.
    fileprivate func raw(_ name: String) -> String? { JSONText(trusted: bytes).rawMember(name)?.description }
}
