import TestSupport
import Testing

@testable import JSONSchema

@Suite("Every format under random bytes") struct FormatRandomTests {
    private static let seeds = [
        "2016-12-31T23:59:60.25+00:00", "P1Y2M3DT4H5M6S", "\"a b\"@[IPv6:::1.2.3.4]", "xn--9n2bp8q.xn--9t4b11yi5a",
        "münchen.de",
        "ب‌ي.א", "1:2::192.168.0.1", "http://u:p@[v1.f]:80/a%20b?c=d#e", "2eb8aa08-aa98-11ea-b4aa-73b441d16380",
        "a{+b:3,c*}%41", "/a~0b~1/0", "12#", "क्‍ष.tiếng",
    ].map { Array($0.utf8) }

    /// A part of a valid text with bytes changed, inserted or removed. It is often not valid UTF-8.
    private static func mutant(using random: inout SeededGenerator) -> [UInt8] {
        var bytes = seeds.randomElement(using: &random) ?? []
        if Int.random(in: 0..<4, using: &random) == 0 { bytes += seeds.randomElement(using: &random) ?? [] }
        for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
            default: bytes.remove(at: place)
            }
        }
        return bytes
    }

    /// Pairs of formats of which the second accepts everything that the first accepts.
    private static let inclusions: [(Format, Format)] = [
        (.uri, .uriReference), (.iri, .iriReference), (.uri, .iri), (.uriReference, .iriReference), (.email, .idnEmail),
        (.hostname, .plainHostname), (.plainHostname, .uriReference), (.ipv4, .plainHostname), (.uuid, .plainHostname),
    ]

    @Test("answers without a crash and keeps its relations", arguments: [1, 2, 3] as [UInt64])
    func mutants(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            let bytes = Self.mutant(using: &random)
            let verdicts = Format.allCases.map { accepts($0, bytes) }
            for (narrow, wide) in Self.inclusions where verdicts[Int(narrow.rawValue)] {
                #expect(verdicts[Int(wide.rawValue)], "\(narrow) but not \(wide): \(bytes), seed \(seed)")
            }
            if let cut = bytes.firstIndex(of: UInt8(ascii: "T")) {
                let isBoth = accepts(.date, Array(bytes[..<cut])) && accepts(.time, Array(bytes[(cut + 1)...]))
                #expect(accepts(.dateTime, bytes) == isBoth, "\(bytes), seed \(seed)")
            }
            let isRelative = accepts(.relativeJSONPointer, [UInt8(ascii: "0")] + bytes)
            let isPointer = accepts(.jsonPointer, bytes) || bytes == [UInt8(ascii: "#")]
            #expect(isRelative == isPointer, "\(bytes), seed \(seed)")
        }
    }

    @Test("reads no byte past the end", arguments: Format.allCases)
    func prefixes(_ format: Format) {
        for seed in Self.seeds {
            for count in 0...seed.count {
                // A new allocation of exactly this size, so that a sanitizer detects a read past the end.
                let text = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: count)
                defer { text.deallocate() }
                _ = text.initialize(from: seed[..<count])
                let verdict = format.accepts(UnsafeBufferPointer(text))
                #expect(verdict == accepts(format, Array(seed[..<count])))
            }
        }
    }
}
