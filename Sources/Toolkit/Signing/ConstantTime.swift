/// Compares two byte strings in a time that depends only on their length. Returns true when they are equal.
///
/// Use it for decoded digests and tokens. If the lengths differ, returns false immediately, because the length of a
/// digest is not secret.
public func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    constantTimeEqual(left.span, right.span)
}

/// Compares two byte strings like ``constantTimeEqual(_:_:)-([UInt8],[UInt8])``, without copies.
public func constantTimeEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for index in left.indices { difference |= left[index] ^ right[index] }
    return difference == 0
}
