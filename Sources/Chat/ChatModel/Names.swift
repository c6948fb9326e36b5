/// The rules for what things may be called (`product.md` 9, `events.md` 2). Every way in checks here.
///
/// Lengths count characters (Unicode scalars), as schemas do: of UTF-8 there may be four times as many bytes.
public enum Names {
    /// A channel one emits into: 1..255 characters, no `,`, no control character, no `*`.
    public static func check(channel name: String) throws(ChatError) {
        try check(name, "channel", 1...255)
        guard !name.utf8.contains(UInt8(ascii: "*")) else {
            throw ChatError(
                .malformed, "channel must be one channel's name, without '*'; streams and webhooks take patterns",
                field: "channel")
        }
        guard name == ChannelID.systemName || name.utf8.first != UInt8(ascii: "$") else {
            throw ChatError(.malformed, "channel names beginning with '$' are reserved", field: "channel")
        }
    }

    /// A user: 1..92 characters of what names a channel as well, since every user has the one named alike.
    public static func check(user name: String) throws(ChatError) {
        try check(name, "user", 1...92)
        guard name.utf8.first != UInt8(ascii: "$"), !name.utf8.contains(UInt8(ascii: "*")) else {
            throw ChatError(.malformed, "user must not begin with '$' or contain '*'", field: "user")
        }
    }

    /// A channel group: 1..92 characters.
    public static func check(group name: String) throws(ChatError) { try check(name, "group", 1...92) }

    /// A device of a user: 1..128 characters.
    public static func check(device name: String) throws(ChatError) { try check(name, "device", 1...128) }

    /// An event type of a sender's own: `[A-Za-z0-9][A-Za-z0-9_.-]*`, 1..64, and not reserved.
    ///
    /// - Throws: `.malformed`; for a reserved name with the slug `type_reserved`.
    public static func check(customType name: String) throws(ChatError) {
        try check(type: name)
        guard !BuiltInTypes.isReserved(name) else { throw BuiltInTypes.refusal(of: name) }
    }

    /// An event type of either sort.
    public static func check(type name: String) throws(ChatError) {
        guard (1...64).contains(name.utf8.count), let first = name.utf8.first, first.isASCIIAlphanumeric,
            name.utf8.allSatisfy({ $0.isASCIIAlphanumeric || $0 == 0x5F || $0 == 0x2E || $0 == 0x2D })
        else {
            throw ChatError(
                .malformed, "type must be 1 to 64 of A-Z a-z 0-9 _ . - and begin with a letter or a digit",
                field: "type")
        }
    }

    private static func check(_ name: String, _ what: String, _ length: ClosedRange<Int>) throws(ChatError) {
        guard length.contains(name.unicodeScalars.count) else {
            throw ChatError(
                .malformed, "\(what) must be \(length.lowerBound) to \(length.upperBound) characters long", field: what)
        }
        guard name.unicodeScalars.allSatisfy({ !$0.isControl && $0 != "," }) else {
            throw ChatError(.malformed, "\(what) must not contain ',' or control characters", field: what)
        }
    }
}

extension Unicode.Scalar {
    /// C0, DEL and C1, and the two line separators that some readers of event streams take for a line end.
    var isControl: Bool {
        value < 0x20 || (0x7F...0x9F).contains(value) || value == 0x2028 || value == 0x2029
    }
}

extension UInt8 {
    var isASCIIAlphanumeric: Bool {
        (0x30...0x39).contains(self) || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self)
    }
}
