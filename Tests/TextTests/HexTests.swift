import Testing
import Text

@Suite("Hex") struct HexTests {
    @Test("is written in lower case and read in either")
    func bothCases() {
        #expect(Hex.encode([0x00, 0x9f, 0xab, 0xff]) == "009fabff")
        #expect(Hex.decode("009fabff") == [0x00, 0x9f, 0xab, 0xff])
        #expect(Hex.decode("009FABff") == [0x00, 0x9f, 0xab, 0xff])
        #expect(Hex.encode([]) == "")
        #expect(Hex.decode("") == [])
    }

    @Test("that is malformed is refused", arguments: ["0", "0g", "0x00", " 00", "00 ", "é0", "00\n", "-1"])
    func malformed(_ text: String) {
        #expect(Hex.decode(text) == nil)
    }

    @Test("decodes to the bytes that were encoded")
    func roundTrip() {
        for length in 0...256 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
            #expect(Hex.decode(Hex.encode(bytes)) == bytes)
        }
    }
}
