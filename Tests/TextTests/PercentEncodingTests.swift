import Testing
import Text

@Suite("Percent-encoding") struct PercentEncodingTests {
    @Test(
        "escapes everything but unreserved characters, in upper case",
        arguments: [
            ("", ""), ("azAZ09-._~", "azAZ09-._~"), ("a/b ?#%", "a%2Fb%20%3F%23%25"), ("é*", "%C3%A9%2A"),
            ("a\0b", "a%00b"), ("%41", "%2541"), ("👍", "%F0%9F%91%8D"),
        ])
    func unreserved(_ text: String, _ encoded: String) {
        #expect(PercentEncoding.encode(text) == encoded)
        #expect(PercentEncoding.decode(encoded.utf8) == text)
    }

    @Test("escapes what the use of the text does not allow")
    func kept() {
        #expect(PercentEncoding.encode("a~b", keeping: .unreservedWithoutTilde) == "a%7Eb")
        #expect(PercentEncoding.encode("a/b c\"%é", keeping: .fieldValue) == "a/b%20c%22%25%C3%A9")
    }

    @Test("decodes once, digits of either case")
    func once() {
        #expect(PercentEncoding.decode("%2541%c3%A9".utf8) == "%41é")
        #expect(PercentEncoding.decode("a+b".utf8) == "a+b")
        #expect(PercentEncoding.decode("a+b%2B".utf8, plusIsSpace: true) == "a b+")
        #expect(PercentEncoding.decode(Array("x%41y".utf8)[1...3]) == "A")
    }

    @Test(
        "rejects broken escapes and bytes that are not UTF-8",
        arguments: ["%", "%4", "a%", "%4g", "%g4", "%%41", "%+1", "%-1", "%FF", "%C3", "%ED%A0%80"])
    func malformed(_ text: String) {
        #expect(PercentEncoding.decode(text.utf8) == nil)
        #expect(PercentEncoding.decode(text.utf8, plusIsSpace: true) == nil)
    }

    @Test("decodes to bytes that need not be UTF-8, and leaves a plus sign")
    func bytes() {
        #expect(PercentEncoding.decodeBytes([0x61, 0x25, 0x66, 0x46, 0x2B, 0xC3]) == [0x61, 0xFF, 0x2B, 0xC3])
        #expect(PercentEncoding.decodeBytes([]) == [])
        #expect(PercentEncoding.decodeBytes([0x61, 0x25, 0x66]) == nil)
    }

    @Test("rejects a byte that is not UTF-8 without an escape as well")
    func raw() {
        #expect(PercentEncoding.decode([0x61, 0xFF]) == nil)
    }
}
