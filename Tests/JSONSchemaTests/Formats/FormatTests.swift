import Testing

@testable import JSONSchema

@Suite("A format") struct FormatTests {
    @Test("is known since the draft that named it")
    func dialects() {
        let oldest = Set(Format.known(in: .draft04).map(\.name))
        #expect(oldest == ["date-time", "email", "hostname", "ipv4", "ipv6", "uri"])
        #expect(Format.known(in: .draft06).count == 9)
        #expect(Format.known(in: .draft07).count == 17)
        #expect(Format.known(in: .draft201909).count == 19)
        #expect(Format.known(in: .draft202012) == Format.known(in: .draft201909))
        #expect(Format(name: "uuid", in: .draft07) == nil)
        #expect(Format(name: "Date", in: .draft202012) == nil)
        #expect(Format(name: "hostname", in: .draft06) == .plainHostname)
        #expect(Format(name: "hostname", in: .draft07) == .hostname)
    }

    @Test("has one meaning for a name in every dialect", arguments: Dialect.allCases)
    func names(_ dialect: Dialect) {
        let known = Format.known(in: dialect)
        #expect(Set(known.map(\.name)).count == known.count)
        for format in known { #expect(Format(name: format.name, in: dialect) == format) }
    }

    @Test(
        "accepts texts of its grammar",
        arguments: [
            (Format.date, ["0000-02-29", "2000-02-29", "9999-12-31"]),
            (.time, ["00:59:60+01:00", "22:59:60-01:00", "23:59:60-00:00", "00:00:00.0z", "12:00:00+23:59"]),
            (.dateTime, ["2017-01-01T00:59:60+01:00", "2016-12-31t23:59:60.999z", "0000-01-01T00:00:00-00:00"]),
            (.duration, ["P52W", "p1y2m3dt4h5m6s", "PT5S", "P0000000000000000000001Y"]),
            (.email, ["\"\"@a", "\"a\\\"b\"@a.b", "a@[ipv6:::]", "a/b=c@1.2", "a@xn--x"]),
            (.idnEmail, ["用户@例え.jp", "\"ü \\a\"@a", "a@[127.0.0.1]", "ü@a"]),
            (.plainHostname, ["xn--x", "ab--cd", "1.2.3.4"]),
            (.hostname, ["ab--cd", "1.2.3.4", "XN--9N2BP8Q.xn--9t4b11yi5a", "xn--mnchen-3ya.de"]),
            (.idnHostname, ["münchen.de", "XN--MNCHEN-3YA.de", "EXAMPLE.com", "क्‌ष", "নাম", "tiếng-việt.vn"]),
            (.ipv4, ["0.0.0.0", "255.255.255.255"]),
            (.ipv6, ["::", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1:2:3:4:5:6:1.2.3.4", "::1.2.3.4", "ABCD::EF01"]),
            (.uri, ["a:", "a://", "a:b:c", "a:?#", "http://a:/", "http://@a", "x://[v1.a:b]:80", "a:/:@", "a://h#?/"]),
            (.uriReference, ["?", "a/b:c", "//", "///", "/:", "#:", "@", "%41", "//[::1]:8080"]),
            (.iri, ["http://é.fr/é?é#é", "a:?\u{E000}", "a:\u{1FFFD}"]),
            (.iriReference, ["é", "?\u{10FFFD}", "//ü@ü:80"]),
            (.uuid, ["00000000-0000-0000-0000-000000000000", "FFFFFFFF-ffff-FFFF-ffff-FFFFFFFFFFFF"]),
            (.uriTemplate, ["{=a}", "{%41.b:9999,c*}", "{?a*,b:1}", "\u{E000}", "[]~", "{_}"]),
            (.jsonPointer, ["", "//", "/~0~1", "/\u{0}"]),
            (.relativeJSONPointer, ["0", "10#", "0/", "123456789012345678901234567890"]),
        ] as [(Format, [String])])
    func accepted(_ format: Format, _ texts: [String]) {
        for text in texts { #expect(accepts(format, text), "\(format.name): \(text)") }
    }

    @Test(
        "refuses texts that only look right",
        arguments: [
            (Format.date, ["1900-02-29", "2001-02-29", "2001-04-31", "2001-00-01", "2001-01-00", "20010101--"]),
            (.time, ["23:59:60+01:00", "12:00:00.Z", "12:00:00+2359", "12:00:00+24:00", "12:00:60Z", "12:00Z"]),
            (.dateTime, ["2016-12-31 23:59:59Z", "2016-12-31T23:59:59", "2016-12-31T22:59:60Z", "2016-12-31"]),
            (.duration, ["P", "PT", "P1YT", "P1Y2D", "PT1H2S", "P1W1D", "P1.5D", "+P1D", "P1DT", "P1", "T1S"]),
            (.email, ["a@", "@a", "a@a.", "a@-a", "a@[1.2.3]", "a@[IPv6:1]", "\"a@b", "\"a\"b@c", "ü@a", "a@["]),
            (.email, ["a@[]", "a@[IPv6:]", "a..b@c", "a@b@c", "a@[::1]", "\"\\\"@a"]),
            (.idnEmail, ["a@ü..a", "a@a。b", "a@\u{302E}a", "ü", "ü@"]),
            (.plainHostname, ["a_b", "a.", ".a", "a..b", "-a", "a-", "é", ""]),
            (.hostname, ["xn--", "xn--a-", "xn--x", "xn--0000000000", "xn--99999999999", "xn--l-fda"]),
            (.idnHostname, ["ab--cd", "Ünder", "cafe\u{301}", "ê\u{323}a", "a\u{5D0}", "-é", "é-", "xn--a"]),
            (.ipv4, ["01.2.3.4", "1.2.3", "1.2.3.4.", "256.1.1.1", "1.2.3.1000", "1.2.3.4\n", "1.2.3.4\u{0}"]),
            (.ipv6, [":", ":::", "1::2::3", "1:2:3:4:5:6:7:8::", "::1.2.3.04", "[::1]", "::%1", "1.2.3.4", "::1:"]),
            (.uri, ["", ":", "1a:b", "a b:c", "a://[::1", "a://[::1]a", "a://[]", "a://a:b", "a:%", "a:%0", "é:"]),
            (.uriReference, [":", "1:a", "a|b", "//[::1]x", "//a@b@c", "\\", "^", "`", "a#b#c", "[", "//[v1.]"]),
            (.iri, ["é", "a:\u{E000}", "a:\u{FFFE}", "a:#\u{E000}", "é:a", "a://[é]"]),
            (.iriReference, ["\u{E000}", "\u{80}", "é é", "#\u{10FFFD}"]),
            (.uuid, ["0000000-00000-0000-0000-000000000000", "00000000-0000-0000-0000-00000000000g", "0-0-0-0-0"]),
            (.uriTemplate, ["{", "}", "{a", "{}", "{a.}", "{.}", "{a:0}", "{a:10000}", "{a*:1}", "{%4}", "{é}", "%"]),
            (.jsonPointer, ["a", "/~", "/~2", "#/a", "/a~"]),
            (.relativeJSONPointer, ["", "00", "01", "-1", "1##", "1#/a", "1a", "/a", "1/~", "1+1"]),
        ] as [(Format, [String])])
    func refused(_ format: Format, _ texts: [String]) {
        for text in texts { #expect(!accepts(format, text), "\(format.name): \(text)") }
    }

    @Test("accepts no foreign digit, no final newline and no NUL")
    func strangeBytes() {
        let samples: [(Format, String)] = [
            (.date, "2020-01-02"), (.time, "10:20:30Z"), (.dateTime, "2020-01-02T10:20:30Z"), (.duration, "P2D"),
            (.email, "a@b.c"), (.plainHostname, "a2.b"), (.hostname, "a2.b"), (.idnHostname, "ä2.b"),
            (.ipv4, "1.2.3.4"), (.ipv6, "::2"), (.uri, "a:2"), (.uriReference, "a2"),
            (.iri, "a:2"), (.iriReference, "a2"),
            (.uuid, "22222222-2222-2222-2222-222222222222"), (.uriTemplate, "{a:2}"), (.relativeJSONPointer, "2"),
        ]
        for (format, text) in samples {
            #expect(accepts(format, text), "\(format.name)")
            for strange in [text + "\n", text + "\u{0}", "\u{0}" + text, " " + text, text + " "] {
                #expect(!accepts(format, strange), "\(format.name): \(strange)")
            }
            let bengali = text.replacing("2", with: "২")
            let takesLetters: Set<Format> = [.iri, .iriReference, .idnHostname]
            if bengali != text, !takesLetters.contains(format) {
                #expect(!accepts(format, bengali), "\(format.name): \(bengali)")
            }
        }
    }

    @Test("counts the length of names on the wire")
    func lengths() {
        let label = String(repeating: "a", count: 63)
        let longest = "\(label).\(label).\(label).\(label.dropLast(2))"
        for format in [Format.plainHostname, .hostname, .idnHostname] {
            #expect(accepts(format, longest))
            #expect(!accepts(format, longest + "a"))
            #expect(!accepts(format, label + "a"))
        }
        #expect(accepts(.email, "\(label)a@b"))
        #expect(!accepts(.email, "\(label)aa@b"))
        // The A-label of 57 times "ü" has 63 octets.
        #expect(accepts(.idnHostname, String(repeating: "ü", count: 57)))
        #expect(!accepts(.idnHostname, String(repeating: "ü", count: 58)))
    }
}
