/// Makes room for numbers beyond every double, which are JSON all the same: `1e400`.
enum NumberBounding {
    /// The text with each of them replaced by the largest double of its sign; nil when it has none.
    static func bounded(_ bytes: [UInt8]) -> [UInt8]? {
        var output: [UInt8] = []
        var isString = false
        var index = 0
        var copied = 0
        while index < bytes.count {
            let start = index
            index += 1
            switch bytes[start] {
            case UInt8(ascii: "\\") where isString: index += 1
            case UInt8(ascii: "\""): isString.toggle()
            case UInt8(ascii: "-"), 0x30...0x39:
                guard !isString else { continue }
                while index < bytes.count, isNumeral(bytes[index]) { index += 1 }
                guard let largest = largest(for: bytes[start..<index]) else { continue }
                output += bytes[copied..<start] + largest
                copied = index
            default: break
            }
        }
        return copied == 0 ? nil : output + bytes[copied...]
    }

    private static func largest(for numeral: ArraySlice<UInt8>) -> [UInt8]? {
        let text = String(decoding: numeral, as: UTF8.self)
        // The conversion takes more than JSON does, as zeros in front.
        guard let value = Double(text), value.isInfinite,
            text.wholeMatch(of: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+\-]?[0-9]+)?/) != nil
        else { return nil }
        return Array((value < 0 ? -Double.greatestFiniteMagnitude : .greatestFiniteMagnitude).description.utf8)
    }

    private static func isNumeral(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }
}
