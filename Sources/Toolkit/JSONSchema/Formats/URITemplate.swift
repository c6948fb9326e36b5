/// URI templates of every level (RFC 6570). Its grammar includes the reserved operators, so they are accepted.
extension Format {
    private static let templateLiteral = ByteSet.printable.subtracting(ByteSet(" \"%<>\\^`{|}"))
    private static let templateOperators = ByteSet("+#./;?&=,!@|")
    private static let templateNameBytes = ByteSet.alphanumerics + ByteSet("_")
    private static let nonzeroDigits = ByteSet("123456789")

    static func isURITemplate(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var scanner = Scanner(text)
        while true {
            scanner.skip(templateLiteral)
            guard let next = scanner.next else { return true }
            let isPart =
                switch next {
                case UInt8(ascii: "{"): takeExpression(&scanner)
                case UInt8(ascii: "%"): scanner.takePercentTriplet()
                default: takeWideLiteral(&scanner)
                }
            guard isPart else { return false }
        }
    }

    private static func takeWideLiteral(_ scanner: inout Scanner) -> Bool {
        guard let scalar = scanner.takeScalar() else { return false }
        return isIRICharacter(scalar) || isPrivateUse(scalar)
    }

    private static func takeExpression(_ scanner: inout Scanner) -> Bool {
        guard scanner.take("{") else { return false }
        _ = scanner.take(in: templateOperators)
        repeat {
            guard takeVariable(&scanner) else { return false }
        } while scanner.take(",")
        return scanner.take("}")
    }

    /// Reads a name with dots between its parts, followed by `*` or a length below 10,000.
    private static func takeVariable(_ scanner: inout Scanner) -> Bool {
        repeat {
            guard takeNamePart(&scanner) else { return false }
        } while scanner.take(".")
        if scanner.take("*") { return true }
        guard scanner.take(":") else { return true }
        return scanner.take(in: nonzeroDigits) && scanner.skip(.digits) <= 3
    }

    private static func takeNamePart(_ scanner: inout Scanner) -> Bool {
        let start = scanner.offset
        repeat { scanner.skip(templateNameBytes) } while scanner.takePercentTriplet()
        return scanner.offset > start
    }
}
