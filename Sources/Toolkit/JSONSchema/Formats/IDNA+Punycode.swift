extension IDNA {
    /// Punycode (RFC 3492): the encoding of the text after `xn--`.
    enum Punycode {
        private static let base = 36
        private static let shortest = 1
        private static let longest = 26
        /// The limit of numbers. A larger number cannot represent a character.
        private static let ceiling = 0x7FFF_FFFF

        /// Decodes Punycode. Upper- and lower-case letters are equivalent, as in DNS.
        ///
        /// - Returns: the number of characters; nil for invalid code.
        static func decode(_ code: UnsafeBufferPointer<UInt8>, into scalars: UnsafeMutableBufferPointer<UInt32>) -> Int?
        {
            let delimiter = code.lastIndex(of: UInt8(ascii: "-"))
            var count = 0
            for byte in code[..<(delimiter ?? 0)] {
                guard count < scalars.count else { return nil }
                scalars[count] = UInt32(lowercased(byte))
                count += 1
            }
            var at = delimiter.map { $0 + 1 } ?? 0
            var position = 0
            var scalar = 0x80
            var bias = Bias()
            while at < code.count {
                let start = position
                guard let distance = parseNumber(code, at: &at, bias: bias) else { return nil }
                position += distance
                guard count < scalars.count else { return nil }
                count += 1
                bias.adapt(to: position - start, count: count, isFirst: start == 0)
                scalar += position / count
                position %= count
                guard scalar <= 0x10FFFF else { return nil }
                insert(UInt32(scalar), at: position, into: scalars, count: count)
                position += 1
            }
            return count
        }

        private static func insert(
            _ scalar: UInt32, at position: Int, into scalars: UnsafeMutableBufferPointer<UInt32>, count: Int
        ) {
            for index in stride(from: count - 1, to: position, by: -1) { scalars[index] = scalars[index - 1] }
            scalars[position] = scalar
        }

        private static func parseNumber(_ code: UnsafeBufferPointer<UInt8>, at: inout Int, bias: Bias) -> Int? {
            var number = 0
            var weight = 1
            var place = base
            while at < code.count, let digit = value(of: code[at]) {
                at += 1
                number += digit * weight
                guard number <= ceiling else { return nil }
                let threshold = bias.threshold(at: place)
                if digit < threshold { return number }
                weight *= base - threshold
                guard weight <= ceiling else { return nil }
                place += base
            }
            return nil
        }

        /// Returns the length of `text` in Punycode. Returns nil when the encoding is too long for a label, or when
        /// `code` is given and differs from the encoding.
        static func length(of text: Characters.Text, spelled code: UnsafeBufferPointer<UInt8>?) -> Int? {
            var output = Output(code: code)
            for scalar in text where scalar < 0x80 { output.put(UInt8(scalar)) }
            let basicCount = output.count
            if basicCount > 0 { output.put(UInt8(ascii: "-")) }
            var handled = basicCount
            var scalar: UInt32 = 0x80
            var distance = 0
            var bias = Bias()
            while handled < text.count {
                guard let next = text.lazy.filter({ $0 >= scalar }).min() else { return nil }
                distance += Int(next - scalar) * (handled + 1)
                scalar = next
                for other in text {
                    if other < scalar { distance += 1 }
                    guard other == scalar else { continue }
                    put(distance, to: &output, bias: bias)
                    bias.adapt(to: distance, count: handled + 1, isFirst: handled == basicCount)
                    distance = 0
                    handled += 1
                }
                distance += 1
                scalar += 1
            }
            return output.finish()
        }

        private static func put(_ distance: Int, to output: inout Output, bias: Bias) {
            var rest = distance
            var place = base
            while true {
                let threshold = bias.threshold(at: place)
                if rest < threshold { break }
                output.put(digit(threshold + (rest - threshold) % (base - threshold)))
                rest = (rest - threshold) / (base - threshold)
                place += base
            }
            output.put(digit(rest))
        }

        private static func value(of byte: UInt8) -> Int? {
            switch lowercased(byte) {
            case let letter where letter >= UInt8(ascii: "a") && letter <= UInt8(ascii: "z"):
                Int(letter - UInt8(ascii: "a"))
            case let digit where digit >= UInt8(ascii: "0") && digit <= UInt8(ascii: "9"):
                Int(digit - UInt8(ascii: "0")) + 26
            default: nil
            }
        }

        private static func digit(_ value: Int) -> UInt8 {
            value < 26 ? UInt8(ascii: "a") + UInt8(value) : UInt8(ascii: "0") + UInt8(value - 26)
        }

        fileprivate static func lowercased(_ byte: UInt8) -> UInt8 {
            byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
        }

        /// The bias of the encoding, which is adapted after each number (RFC 3492 section 6.1).
        private struct Bias {
            private var value = 72

            func threshold(at place: Int) -> Int { min(max(place - value, shortest), longest) }

            mutating func adapt(to distance: Int, count: Int, isFirst: Bool) {
                var delta = isFirst ? distance / 700 : distance / 2
                delta += delta / count
                var place = 0
                while delta > (base - shortest) * longest / 2 {
                    delta /= base - shortest
                    place += base
                }
                value = place + (base - shortest + 1) * delta / (delta + 38)
            }
        }
    }
}

extension IDNA.Punycode {
    /// Counts the characters of the encoding, and compares them with `code` if it is not nil.
    private struct Output {
        let code: UnsafeBufferPointer<UInt8>?
        private(set) var count = 0
        private var isSame = true

        init(code: UnsafeBufferPointer<UInt8>?) { self.code = code }

        mutating func put(_ byte: UInt8) {
            if let code { isSame = isSame && count < code.count && IDNA.Punycode.lowercased(code[count]) == byte }
            count += 1
        }

        func finish() -> Int? {
            guard count <= IDNA.Label.capacity, isSame, code == nil || count == code?.count else { return nil }
            return count
        }
    }
}
