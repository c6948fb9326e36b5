import Signing
import Testing

@Suite("Base64") struct Base64Tests {
    /// RFC 4648, section 10.
    @Test(
        "matches the standard's vectors",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func vectors(_ plain: String, _ encoded: String) {
        #expect(Base64.encode(Array(plain.utf8)) == encoded)
        #expect(Base64.decode(encoded) == Array(plain.utf8))
    }

    @Test("is read without padding too")
    func unpadded() {
        #expect(Base64.decode("Zg") == [0x66])
        #expect(Base64.decode("Zm8") == Array("fo".utf8))
    }

    @Test("has an alphabet for URLs, unpadded")
    func url() {
        let bytes: [UInt8] = [0xfb, 0xff, 0xbf]
        #expect(Base64.encode(bytes) == "+/+/")
        #expect(Base64.encodeURL(bytes) == "-_-_")
        #expect(Base64.decodeURL("-_-_") == bytes)
        #expect(Base64.encodeURL([0xff]) == "_w")
        #expect(Base64.encodeURL(Array("1|17000000001234567|asc".utf8)) == "MXwxNzAwMDAwMDAwMTIzNDU2N3xhc2M")
        #expect(Base64.decode("-_-_") == nil)
        #expect(Base64.decodeURL("+/+/") == nil)
    }

    @Test(
        "that is malformed is refused",
        arguments: [
            "Z", "Zg=", "Zm9v=", "Zm9v====", "====", "=", "Zg==Zg==", "Z g=", "Zg==\n", "Zh==", "Zm9=", "Zm9vé",
        ])
    func malformed(_ text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test("decodes to the random bytes that were encoded")
    func roundTrip() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var state = seed
        for length in 0..<200 {
            let bytes = (0..<length).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 40)
            }
            #expect(Base64.decode(Base64.encode(bytes)) == bytes, "seed \(seed)")
            #expect(Base64.decodeURL(Base64.encodeURL(bytes)) == bytes, "seed \(seed)")
        }
    }
}
