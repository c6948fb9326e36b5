import Testing

@testable import JSONSchema

@Suite("A Unicode property") struct UnicodePropertyTests {
    /// The number of code points with each property, from the files of Unicode 17.
    @Test(
        "has the members that Unicode gives it",
        arguments: [
            ("L", 145_672), ("Lu", 1_886), ("Nd", 770), ("P", 856), ("Cn", 814_730), ("Cs", 2_048), ("Zs", 17),
            ("Any", 1_114_112),
            ("ASCII", 128), ("Assigned", 299_382), ("Alphabetic", 147_421), ("White_Space", 25), ("Emoji", 1_438),
            ("ID_Start", 145_916),
            ("Hex_Digit", 44), ("Noncharacter_Code_Point", 66), ("Script=Greek", 518), ("scx=Greek", 531),
            ("sc=Han", 103_351), ("scx=Hani", 103_659), ("sc=Zyyy", 9_123), ("sc=Zinh", 684), ("sc=Zzzz", 954_246),
            ("scx=Deva", 221),
        ])
    func members(_ name: String, count: Int) throws {
        #expect(try property(name).members.size == count)
    }

    @Test(
        "is the same under all its names",
        arguments: [
            ["L", "Letter", "gc=L", "gc=Letter", "General_Category=Letter"], ["Nd", "Decimal_Number", "digit"],
            ["LC", "Cased_Letter"], ["P", "punct", "Punctuation"], ["M", "Mark", "Combining_Mark"],
            ["Cc", "cntrl", "Control"],
            ["Alpha", "Alphabetic"], ["space", "White_Space"], ["EPres", "Emoji_Presentation"],
            ["sc=Qaai", "Script=Inherited", "sc=Zinh"], ["sc=Qaac", "sc=Coptic"],
            ["scx=Thai", "Script_Extensions=Thai"],
        ])
    func aliases(_ names: [String]) throws {
        let first = try property(names[0]).members
        for name in names { #expect(try property(name).members == first, "\(name)") }
        #expect(!first.isEmpty)
    }

    @Test("divides all code points by category and by script")
    func partitions() throws {
        let categories = ["L", "M", "N", "P", "S", "Z", "C"]
        #expect(try categories.map { try property($0).members.size }.reduce(0, +) == 0x110000)
        var scripts = 0
        for script in 0..<175 { scripts += UnicodeProperty.script(script).members.size }
        #expect(scripts == 0x110000)
    }

    private func property(_ text: String) throws -> UnicodeProperty {
        let parts = text.split(separator: "=").map { Array($0.utf8) }
        let property = parts[0].withUnsafeBufferPointer { first in
            parts.count == 1
                ? UnicodeProperty(lone: first)
                : parts[1].withUnsafeBufferPointer { UnicodeProperty(name: first, value: $0) }
        }
        return try #require(property, "\(text)")
    }
}

extension Pattern.ScalarSet {
    fileprivate var size: Int { ranges.reduce(0) { $0 + $1.count } }
}
