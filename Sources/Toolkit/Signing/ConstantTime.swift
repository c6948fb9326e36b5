/// Whether two byte strings are equal, in a time that depends on their length alone.
///
/// For decoded digests and tokens. Different lengths answer at once: the length of a digest is no secret.
public func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for index in left.indices { difference |= left[index] ^ right[index] }
    return difference == 0
}
