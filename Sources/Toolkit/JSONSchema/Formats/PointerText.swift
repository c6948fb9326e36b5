/// JSON Pointers (RFC 6901) and relative ones (draft-handrews-relative-json-pointer-01).
extension Format {
    static func isJSONPointer(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = text.first else { return true }
        guard first == UInt8(ascii: "/") else { return false }
        var scanner = Scanner(text)
        while !scanner.isAtEnd {
            scanner.move(to: scanner.distance(to: "~"))
            if scanner.take("~") { guard scanner.take("0") || scanner.take("1") else { return false } }
        }
        return true
    }

    static func isRelativeJSONPointer(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var scanner = Scanner(text)
        if !scanner.take("0") { guard scanner.skip(.digits) > 0 else { return false } }
        return scanner.take("#") ? scanner.isAtEnd : isJSONPointer(scanner.rest)
    }
}
