import ChatModel
import StorageCore
import Testing

@Suite("Stored and opaque text forms") struct StoredFormTests {
    @Test("a cursor of a list returns its values, also with its own separators in a text")
    func cursor() {
        let values: [SQLValue] = [
            .null, .integer(.min), .double(-0.1), .text(""), .text("\u{1F}a\u{1B}b\u{1B}\u{1F}"), .text("ü"),
        ]
        #expect(ListCursor.values(ListCursor.text(values)) == values)
        for text in ["", "zz", "6e", "691f", "781f"] { #expect(ListCursor.values(text) == nil) }
    }

    @Test(
        "an audience is read as it was stored",
        arguments: [
            Audience.subscribers, .insiders, .webhooks, .wire, .rule(.joined),
            .rule(.joinedAndSubjects, subjects: ["ana", "ben"]),
        ])
    func audience(_ audience: Audience) { #expect(Audience(stored: audience.stored) == audience) }

    @Test("an audience of a later version is read as one that no user belongs to")
    func unknownAudience() { #expect(Audience(stored: ":unknown\nana") == .webhooks) }

    @Test("timetokens are packed into eight bytes each, least significant byte first")
    func packed() {
        let timetokens: [Timetoken] = [0, 258, .distantFuture]
        #expect(timetokens.packed.count == 24)
        #expect(timetokens.packed[8...9] == [2, 1])
        #expect([Timetoken](packed: timetokens.packed) == timetokens)
    }
}
