import HTTPClient
import Testing
import Text

@Suite("An address block") struct AddressBlockTests {
    @Test(
        "holds its first and last address and neither neighbour",
        arguments: [
            ("10.0.0.0/8", "10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"),
            ("192.168.1.64/26", "192.168.1.64", "192.168.1.127", "192.168.1.63", "192.168.1.128"),
            ("203.0.113.7/32", "203.0.113.7", "203.0.113.7", "203.0.113.6", "203.0.113.8"),
            ("fc00::/7", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fbff::", "fe00::"),
            ("2001:db8::/64", "2001:db8::", "2001:db8::ffff:ffff:ffff:ffff", "2001:db7::", "2001:db8:0:1::"),
            ("64:ff9b::/96", "64:ff9b::", "64:ff9b::ffff:ffff", "64:ff9a::", "64:ff9b::1:0:0"),
            ("::1", "::1", "::1", "::", "::2"),
        ])
    func edges(_ text: String, _ first: String, _ last: String, _ below: String, _ above: String) throws {
        let block = try #require(AddressBlock(text))
        for inside in [first, last] { #expect(block.contains(try #require(IPAddress(inside)))) }
        for outside in [below, above] { #expect(!block.contains(try #require(IPAddress(outside)))) }
    }

    @Test("of no bits holds everything of its family")
    func everything() throws {
        let v4 = try #require(AddressBlock("0.0.0.0/0"))
        let v6 = try #require(AddressBlock("::/0"))
        #expect(v4.contains(.v4(.max)) && !v4.contains(.v6(0, 1)))
        #expect(v6.contains(.v6(.max, .max)) && !v6.contains(.v4(1)))
    }

    @Test(
        "is refused when malformed or with bits beyond its prefix",
        arguments: [
            "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0.1/8", "10/8",
            "::/129",
            "fd00::1/8", "10.0.0.0/008 ", "localhost/8",
        ])
    func malformed(_ text: String) {
        #expect(AddressBlock(text) == nil)
    }
}

@Suite("The address guard") struct AddressGuardTests {
    /// First and last address of every blocked range, and the addresses just outside.
    @Test(
        "blocks a range from its first to its last address and not beyond",
        arguments: [
            ("0.0.0.0", "0.255.255.255", "1.0.0.0"), ("10.0.0.0", "10.255.255.255", "11.0.0.0"),
            ("100.64.0.0", "100.127.255.255", "100.128.0.0"), ("127.0.0.0", "127.255.255.255", "128.0.0.0"),
            ("169.254.0.0", "169.254.255.255", "169.255.0.0"), ("172.16.0.0", "172.31.255.255", "172.32.0.0"),
            ("192.0.0.0", "192.0.0.255", "192.0.1.0"), ("192.0.2.0", "192.0.2.255", "192.0.3.0"),
            ("192.88.99.0", "192.88.99.255", "192.88.100.0"), ("192.168.0.0", "192.168.255.255", "192.169.0.0"),
            ("198.18.0.0", "198.19.255.255", "198.20.0.0"), ("198.51.100.0", "198.51.100.255", "198.51.101.0"),
            ("203.0.113.0", "203.0.113.255", "203.0.114.0"), ("224.0.0.0", "239.255.255.255", "223.255.255.255"),
            ("240.0.0.0", "255.255.255.255", "223.255.255.255"),
            ("::", "::", "2606:4700::1111"), ("::1", "::1", "2606:4700::1111"),
            ("::ffff:0:0:0", "::ffff:0:255.255.255.255", "::ffff:1:0:0"),
            ("64:ff9b::", "64:ff9b::ffff:ffff", "64:ff9a::"),
            ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "64:ff9b:2::"),
            ("100::", "100::ffff:ffff:ffff:ffff", "100:0:0:1::"),
            ("2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", "2001:1::"),
            ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"),
            ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::"),
            ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::"),
            ("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "5f01::"),
            ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fbff::"),
            ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fe00::"),
            ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fe00::"),
            ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fe00::"),
        ])
    func ranges(_ first: String, _ last: String, _ outside: String) throws {
        let addressGuard = AddressGuard()
        for blocked in [first, last] {
            #expect(!addressGuard.permits(try #require(IPAddress(blocked)), isPlain: false), "\(blocked)")
        }
        #expect(addressGuard.permits(try #require(IPAddress(outside)), isPlain: false), "\(outside)")
    }

    @Test(
        "looks at the IPv4 address inside an IPv6 one",
        arguments: [
            ("::ffff:127.0.0.1", false), ("::ffff:169.254.169.254", false), ("::ffff:8.8.8.8", true),
            ("::127.0.0.1", false), ("::ffff:0:127.0.0.1", false), ("::ffff:0:8.8.8.8", false),
            ("64:ff9b::a9fe:a9fe", false), ("64:ff9b::808:808", false), ("2002:a9fe:a9fe::", false),
        ])
    func embedded(_ text: String, _ isPermitted: Bool) throws {
        #expect(AddressGuard().permits(try #require(IPAddress(text)), isPlain: false) == isPermitted)
    }

    @Test("prefers an allowed range, also for plain http, but not for an embedded address")
    func allowed() throws {
        let blocks = ["10.1.0.0/16", "fd00::/8", "64:ff9b::/96"].compactMap { AddressBlock($0) }
        let addressGuard = AddressGuard(allowing: blocks)
        for text in ["10.1.2.3", "::ffff:10.1.2.3", "fd00::1", "64:ff9b::808:808", "64:ff9b::a01:203"] {
            let address = try #require(IPAddress(text))
            #expect(
                addressGuard.permits(address, isPlain: true) && addressGuard.permits(address, isPlain: false), "\(text)"
            )
        }
        for text in ["10.2.0.0", "127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b::7f00:1"] {
            #expect(!addressGuard.permits(try #require(IPAddress(text)), isPlain: false), "\(text)")
        }
        #expect(!addressGuard.permits(.v4(0x0808_0808), isPlain: true))
    }

    @Test("that is disabled permits everything")
    func disabled() throws {
        #expect(AddressGuard.disabled.permits(.v4(0x7f00_0001), isPlain: true))
        try AddressGuard.disabled.check("http://user:word@localhost:6379/x#y")
    }

    private func refusal(_ url: String, _ allowed: [String] = []) -> URLRefusal.Reason? {
        do {
            try AddressGuard(allowing: allowed.compactMap { AddressBlock($0) }).check(url)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test(
        "accepts plain good URLs",
        arguments: [
            "https://example.com", "https://example.com/", "HTTPS://Example.COM/hook?a=b:c@d/..",
            "https://example.com./x",
            "https://a-b_c.example:8443/x", "https://93.184.215.14/", "https://[2606:4700::1111]:443/",
            "https://example.com:80/",
            "https://xn--bcher-kva.example/", "https://7.example/", "https://0xcafe.example/",
            "https://127.0.0.1.example/",
            "https://example.com?x", "https://example.com:/",
        ])
    func good(_ url: String) {
        #expect(refusal(url) == nil)
    }

    @Test(
        "refuses ambiguous URLs",
        arguments: [
            "", "example.com", "https:", "https:/example.com", "https:///example.com", "https://", "https://:443/",
            "//example.com", "https://exa mple.com", "https://example.com/\n", "https://example.com\\@127.0.0.1/",
            "https://example.com\t/", "https://ex%61mple.com/", "https://bücher.example/", "https://①②⑦.⓪.⓪.①/",
            "https://example.com/é", "https://[::1", "https://[::1]x/", "https://[127.0.0.1]/",
            "https://[fe80::1%25eth0]/",
            "https://[fe80::1%eth0]/", "https://example.com:0/", "https://example.com:65536/",
            "https://example.com:44a/",
            "https://example.com:+443/", "https://a..b/", "https://./", "https://-\u{7f}.example/", "https://a,b/",
            "https://\(String(repeating: "a", count: 64)).example/",
            "https://example.com/\(String(repeating: "a", count: 9000))",
        ])
    func malformed(_ url: String) {
        #expect(refusal(url) == .malformed)
    }

    @Test(
        "refuses host spellings that libc would read as an address",
        arguments: [
            "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0x7f.1", "127.0.0.1.", "127.0.0.01", "0X7F.0.0.1",
            "1.2.3.4.5",
            "example.0x7f", "256.256.256.256", "0",
        ])
    func spellings(_ host: String) {
        #expect(refusal("https://\(host)/") == .host)
        #expect(refusal("https://\(host)/", ["127.0.0.0/8", "0.0.0.0/0"]) == .host)
    }

    @Test("refuses other schemes, and http to anything not listed")
    func schemes() {
        for scheme in ["ftp", "file", "gopher", "dict", "ws", "httpss"] {
            #expect(refusal("\(scheme)://example.com/") == .scheme)
        }
        #expect(refusal("http://example.com/") == .scheme)
        #expect(refusal("http://8.8.8.8/") == .scheme)
        #expect(refusal("http://8.8.8.8/", ["10.0.0.0/8"]) == .scheme)
        #expect(refusal("http://10.0.0.1/") == .address)
        #expect(refusal("http://10.0.0.1/", ["10.0.0.0/8"]) == nil)
        // Only resolution shows that the name leads to a listed address.
        #expect(refusal("http://internal.example/", ["10.0.0.0/8"]) == nil)
    }

    @Test("refuses user names, passwords and fragments")
    func parts() {
        #expect(refusal("https://user@example.com/") == .userinfo)
        #expect(refusal("https://user:word@example.com/") == .userinfo)
        #expect(refusal("https://example.com@127.0.0.1/") == .userinfo)
        #expect(refusal("https://@example.com/") == .userinfo)
        #expect(refusal("https://example.com/#x") == .fragment)
        #expect(refusal("https://example.com#@127.0.0.1/") == .fragment)
    }

    @Test(
        "refuses ports of services that are not HTTP",
        arguments: [1, 22, 25, 81, 110, 465, 587, 1023, 3306, 5432, 6379, 11211, 27017])
    func ports(_ port: Int) {
        #expect(refusal("https://example.com:\(port)/") == .port)
        #expect(refusal("http://10.0.0.1:\(port)/", ["10.0.0.0/8"]) == .port)
    }

    @Test("accepts the ports of HTTP and those above 1023", arguments: [80, 443, 1024, 3000, 8080, 8443, 32768, 65535])
    func goodPorts(_ port: Int) {
        #expect(refusal("https://example.com:\(port)/") == nil)
    }

    @Test(
        "refuses addresses in blocked ranges and names that mean loopback",
        arguments: [
            "127.0.0.1", "169.254.169.254", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
            "[64:ff9b::a9fe:a9fe]",
            "[2002:a9fe:a9fe::]", "0.0.0.0", "localhost", "LOCALHOST", "localhost.", "x.localhost",
        ])
    func addresses(_ host: String) {
        #expect(refusal("https://\(host)/") == .address)
    }

    @Test("explains a refusal without repeating the URL", arguments: URLRefusal.Reason.allCases)
    func messages(_ reason: URLRefusal.Reason) {
        let urls: [URLRefusal.Reason: String] = [
            .malformed: "marker", .scheme: "ftp://marker/", .userinfo: "https://marker@example.com/",
            .fragment: "https://example.com/#marker", .host: "https://marker.1/", .port: "https://marker:22/",
            .address: "https://marker.localhost/",
        ]
        let refusal = #expect(throws: URLRefusal.self) { try AddressGuard().check(urls[reason] ?? "") }
        #expect(refusal?.reason == reason)
        #expect(refusal?.message.contains("marker") == false)
    }
}
