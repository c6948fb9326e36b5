import Testing
import Text

@Suite("An IP address") struct IPAddressTests {
    @Test(
        "is read in its canonical spellings",
        arguments: [
            ("127.0.0.1", IPAddress.v4(0x7f00_0001)), ("0.0.0.0", .v4(0)), ("255.255.255.255", .v4(.max)),
            ("::", .v6(0, 0)),
            ("::1", .v6(0, 1)), ("2001:db8::5", .v6(0x2001_0db8_0000_0000, 5)),
            ("::ffff:10.0.0.1", .v6(0, 0x0000_ffff_0a00_0001)), ("FE80::1", .v6(0xfe80_0000_0000_0000, 1)),
        ])
    func canonical(_ text: String, _ address: IPAddress) {
        #expect(IPAddress(text) == address)
        #expect(IPAddress(address.description) == address)
    }

    @Test(
        "is not read in any other",
        arguments: [
            "", "127.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "127.0.0.01", "127.0.0.1.",
            " 127.0.0.1",
            "127.0.0.256", "1.2.3.4.5", "::1%lo", "[::1]", ":::", "1::2::3", "::1\0", "127.0.0.1\0.example",
        ])
    func others(_ text: String) {
        #expect(IPAddress(text) == nil)
    }
}
