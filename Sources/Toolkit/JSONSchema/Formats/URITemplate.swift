/// Checks of URI templates of all levels (RFC 6570). Reserved operators are accepted, because they are part of the
/// grammar.
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
                case UInt8(ascii: "{"): skipExpression(&scanner)
                case UInt8(ascii: "%"): scanner.skipPercentTriplet()
                default: skipWideLiteral(&scanner)
                }
            guard isPart else { return false }
        }
    }

    private static func skipWideLiteral(_ scanner: inout Scanner) -> Bool {
        guard let scalar = scanner.parseScalar() else { return false }
        return isIRICharacter(scalar) || isPrivateUse(scalar)
    }

    private static func skipExpression(_ scanner: inout Scanner) -> Bool {
        guard scanner.accept("{") else { return false }
        _ = scanner.accept(in: templateOperators)
        repeat {
            guard skipVariable(&scanner) else { return false }
        } while scanner.accept(",")
        return scanner.accept("}")
    }

    /// Skips a variable: a name whose parts are separated by dots, optionally followed by `*`, or by a colon and a
    /// length below 10,000. Returns false for an invalid variable.
    private static func skipVariable(_ scanner: inout Scanner) -> Bool {
        repeat {
            guard skipNamePart(&scanner) else { return false }
        } while scanner.accept(".")
        if scanner.accept("*") { return true }
        guard scanner.accept(":") else { return true }
        return scanner.accept(in: nonzeroDigits) && scanner.skip(.digits) <= 3
    }

    private static func skipNamePart(_ scanner: inout Scanner) -> Bool {
        let start = scanner.offset
        repeat { scanner.skip(templateNameBytes) } while scanner.skipPercentTriplet()
        return scanner.offset > start
    }
}
