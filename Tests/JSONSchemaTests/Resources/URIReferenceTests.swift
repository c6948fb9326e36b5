import TestSupport
import Testing

@testable import JSONSchema

@Suite("A URI reference") struct URIReferenceTests {
    /// RFC 3986, 5.4, normal and abnormal examples; `http:g` as strict readers resolve it.
    @Test(
        "resolves as RFC 3986 shows",
        arguments: [
            ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
            (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
            ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
            ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"),
            ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."),
            ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"),
            ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
            ("g;x=1/../y", "http://a/b/c/y"), ("g?y/./x", "http://a/b/c/g?y/./x"),
            ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"),
            ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "http:g"),
        ])
    func standard(reference: String, expected: String) {
        let base = URIReference("http://a/b/c/d;p?q")
        #expect(URIReference(reference).resolved(against: base).text == expected)
    }

    @Test(
        "resolves against other bases",
        arguments: [
            ("urn:uuid:dead-beef", "#/a", "urn:uuid:dead-beef#/a"), ("urn:uuid:dead-beef", "", "urn:uuid:dead-beef"),
            ("urn:uuid:dead-beef", "urn:example:x?=a#b", "urn:example:x?=a#b"), ("urn:a/b", "c", "urn:a/c"),
            ("", "a.json", "a.json"), ("", "#a", "#a"), ("", "", ""), ("", "a/../b", "b"), ("", "../b", "b"),
            ("", "./", ""), ("", "a/..", ""), ("", "a/b/..", "a/"), ("", "http://h", "http://h"),
            ("http://h", "a", "http://h/a"), ("http://h?q", "#f", "http://h?q#f"), ("http://h/x", "", "http://h/x"),
            ("http://h:80/a/b", "c", "http://h:80/a/c"), ("file:///c:/f/a.json", "b.json", "file:///c:/f/b.json"),
            ("file:///f/a.json", "/b.json", "file:///b.json"), ("parley:/schema", "a", "parley:/a"),
            ("http://h/a/", "//[::1]:1/x", "http://[::1]:1/x"), ("http://h/a", "1:b", "http://h/1:b"),
            ("http://h/a", "é b", "http://h/é b"), ("http://h/a", "?", "http://h/a?"),
            ("http://h/a", "#", "http://h/a#"),
            ("http://h/a//b", "c", "http://h/a//c"), ("http://h/a//b", "../c", "http://h/a/c"),
        ])
    func bases(base: String, reference: String, expected: String) {
        #expect(URIReference(reference).resolved(against: URIReference(base)).text == expected)
    }

    @Test(
        "is compared in one form",
        arguments: [
            ("HTTP://User@EXAMPLE.com/A", "http://User@example.com/A"), ("http://h/a/./b/../c", "http://h/a/c"),
            ("http://h/%7ea%2fb%C3%a9", "http://h/~a%2Fb%C3%A9"), ("http://h/é", "http://h/%C3%A9"),
            ("http://h/a%2E%2e/b%2E", "http://h/a../b."), ("http://h/a/%2E%2E/b", "http://h/b"),
            ("http://h/?Q=%41%2B", "http://h/?Q=A%2B"), ("http://h/100%", "http://h/100%25"), ("http://h", "http://h"),
            ("http://H%C3%89/", "http://h%C3%89/"), ("URN:Example:A", "urn:Example:A"),
            ("http://h/%zz", "http://h/%25zz"), ("x:/..//a", "x:/.//a"),
        ])
    func normalised(text: String, expected: String) {
        #expect(URIReference(text).normalised.text == expected)
        #expect(URIReference(expected).normalised.text == expected)
    }

    @Test("restores any text from its parts")
    func roundTrip() {
        var draw = SeededGenerator(seed: 1986)
        let pieces = ["a", "B", "1", ":", "/", "//", "?", "#", "[", "@", "%41", "%", ".", "..", "é", " ", "+", "\u{0}"]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...9, using: &draw)).map { _ in pieces.randomElement(using: &draw) ?? "" }
                .joined()
            let reference = URIReference(text)
            #expect(Array(reference.text.utf8) == Array(text.utf8), "\(text) seed 1986")
            // Normalising a normalised reference changes nothing, also as text.
            #expect(reference.normalised.normalised == reference.normalised, "\(text) seed 1986")
            let resolved = reference.resolved(against: URIReference("x:/y")).normalised
            #expect(URIReference(resolved.text).normalised == resolved, "\(text) seed 1986")
        }
    }
}

@Suite("A reference in a schema") struct URITextTests {
    @Test("is split into its document and its fragment")
    func parts() throws {
        let base = "http://Example.com/dir/a.json#old"
        let other = try #require(URIText.resolve("b.json#/x%20y", against: base))
        #expect(other == ("http://example.com/dir/b.json", "/x%20y"))
        let same = try #require(URIText.resolve("#", against: base))
        #expect(same == ("http://example.com/dir/a.json", ""))
        let bare = try #require(URIText.resolve("", against: base))
        #expect(bare == ("http://example.com/dir/a.json", nil))
    }

    @Test("is refused when it cannot be one", arguments: ["a\nb", "a\u{0}", "%", "a%2", "#%gg", "%é"])
    func refused(text: String) { #expect(URIText.resolve(text, against: "http://h/") == nil) }

    @Test("keeps canonically equivalent spellings apart")
    func bytes() throws {
        let composed = try #require(URIText.resolve("\u{E9}", against: "http://h/"))
        let decomposed = try #require(URIText.resolve("e\u{301}", against: "http://h/"))
        #expect(composed.uri != decomposed.uri)
    }

    @Test("escapes a pointer for a fragment and reads it back")
    func fragments() {
        let pointer = "/a b/\"c\"/100%/é/x^y/~1#?/$defs"
        let fragment = URIText.fragment(pointer)
        #expect(fragment == "/a%20b/%22c%22/100%25/%C3%A9/x%5Ey/~1%23?/$defs")
        #expect(URIText.percentDecoded(fragment) == pointer)
        #expect(URIText.percentDecoded("%ff") == nil && URIText.percentDecoded("%4") == nil)
    }
}
