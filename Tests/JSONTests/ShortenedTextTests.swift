import Testing

@testable import JSON

@Suite("A shortened text") struct ShortenedTextTests {
    private static let long = String(repeating: "x", count: 40)

    private static func shortened(_ text: String) -> String? {
        TextScan(Array(text.utf8), depth: 100, shortening: "data").shortened.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("leaves out the middle of long strings in one member") func member() {
        #expect(Self.shortened(#"{"data":"\#(Self.long)","b":1}"#) == #"{"data":"xxxxxx","b":1}"#)
        #expect(
            Self.shortened(#"{"a":"\#(Self.long)","data": [1, {"c" : "\#(Self.long)"}]}"#)
                == #"{"a":"\#(Self.long)","data": [1, {"c" : "xxxxxx"}]}"#)
    }

    @Test(
        "keeps a text whose member has no long string",
        arguments: [
            #"{"data":"short"}"#, #"{"a":"\#(long)"}"#, #"{"a":{"data":"\#(long)"}}"#, #"["data","\#(long)"]"#,
            #"{"data":{"\#(long)":1}}"#, "", "{", #"{"data":"#, #"{"data""#,
        ])
    func whole(_ text: String) { #expect(Self.shortened(text) == nil) }

    @Test("never joins two halves of a surrogate pair") func surrogates() {
        #expect(Self.shortened(#"{"data":"\ud83d\#(Self.long)\ude00"}"#) == #"{"data":"\ud83dxx\ude00"}"#)
    }

    /// Texts made of parts that are likely to break a scanner, seeded, compared with jansson on the whole text.
    @Test("is accepted and rejected exactly as the whole text", arguments: UInt64(1)...40)
    func sameVerdict(_ seed: UInt64) {
        var random = SplitMix(state: seed)
        let parts = [
            "{", "}", "[", "]", ",", ":", " ", "\n", "\"", "\\", "\\\"", "\\u00e9", "\\ud83d", "\\ude00", "\\u12", "é",
            "\u{1}", "1", "-1.5e3", "true", "nul", Self.long, Self.long + "\\n" + Self.long, "\"data\"", "\"data\":",
            "\"a\":", "\"\(Self.long)\"", "{\"data\":", "{\"data\":\"", "\",\"data\":\"",
        ]
        for _ in 0..<500 {
            var text = random.next() % 2 == 0 ? "{\"data\":" : ""
            for _ in 0..<(random.next() % 12) { text += parts[Int(random.next() % UInt64(parts.count))] }
            if random.next() % 2 == 0 { text += "}" }
            let bytes = Array(text.utf8)
            let whole = Result { () throws(JSONError) in try JSONDocument(bytes) }
            let passedOn = Result { () throws(JSONError) in try JSONDocument(bytes, passedOn: "data") }
            switch (whole, passedOn) {
            case (.success(let whole), .success(let passedOn)):
                #expect(whole.text == passedOn.text, "\(text)")
                #expect(passedOn.root["data"] == nil)
                #expect(passedOn.root["a"]?.string == whole.root["a"]?.string)
                let (members, raw) = (JSONMembers(passedOn)?.all, whole.text.rawMembers())
                #expect(
                    members?.map(\.name) == raw?.map(\.name) && members?.map(\.value) == raw?.map(\.value), "\(text)")
            case (.failure(let whole), .failure(let passedOn)): #expect("\(whole)" == "\(passedOn)", "\(text)")
            default: Issue.record("different verdicts: \(text)")
            }
        }
    }

    private struct SplitMix {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }
}
