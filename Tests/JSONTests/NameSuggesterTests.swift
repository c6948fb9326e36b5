import JSON
import Testing

@Suite("Suggested names") struct NameSuggesterTests {
    @Test(
        "find names with up to two mistakes, one in a short name",
        arguments: [
            ("colour", "color", true), ("colour", "coulor", true), ("colour", "colur", true),
            ("colour", "xcolouy", true),
            ("colour", "olourx", true), ("colour", "clr", false), ("colour", "xyzour", false), ("name", "nmae", true),
            ("name", "nme", true), ("name", "nm", false), ("name", "name", false), ("straße", "strasse", true),
            ("ab", "ba", true), ("created_at", "craeted_ta", true), ("created_at", "creatde_at_x", false),
        ])
    func distances(_ name: String, _ given: String, _ isFound: Bool) {
        #expect((NameSuggester([name]).nearest(to: given) == name) == isFound)
        #expect((NameSuggester([given]).nearest(to: name) == given) == isFound)
    }

    @Test("prefer the nearer name, then the earlier")
    func nearest() {
        #expect(NameSuggester(["amounts", "amount", "amoun"]).nearest(to: "amont") == "amount")
        #expect(NameSuggester(["bat", "cat"]).nearest(to: "rat") == "bat")
    }

    @Test("are limited to short names and short lists")
    func bounds() {
        let long = String(repeating: "é", count: 65)
        #expect(NameSuggester([long, String(repeating: "x", count: 1_000)]).count == 0)
        #expect(NameSuggester([String(repeating: "é", count: 64)]).count == 1)
        #expect(NameSuggester((0..<600).map(String.init)).count == 500)
    }

    @Test("are nil for names that are far away or too long")
    func farAway() {
        let known = ["type", "data", "user", "ttl_hours"]
        #expect(NameSuggester(known).nearest(to: "usr") == "user")
        #expect(NameSuggester(known).nearest(to: "ttl_hour") == "ttl_hours")
        #expect(NameSuggester(known).nearest(to: "payload") == nil)
        #expect(NameSuggester(known).nearest(to: String(repeating: "x", count: 100_000)) == nil)
    }
}
