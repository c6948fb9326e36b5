/// The rules for the names of channels, users, groups, devices and event types. All interfaces use them.
///
/// Lengths are in characters (Unicode scalars), as in schemas. In UTF-8, a name may have four times as many bytes.
public enum Names {
    /// Checks a channel name: 1 to 255 characters without `,`, `*` and control characters. Only the name `$system` may
    /// begin with `$`.
    ///
    /// - Throws: `.malformed` for any other name.
    public static func check(channel name: String) throws(ChatError) {
        // One pass over the bytes accepts most names.
        if (1...255).contains(name.utf8.count), name.utf8.first != UInt8(ascii: "$"),
            name.hasOnlyBytes({ 0x20..<0x7F ~= $0 && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "*") })
        {
            return
        }
        try check(name, "channel", 1...255)
        guard name.hasOnlyBytes({ $0 != UInt8(ascii: "*") }) else {
            throw ChatError(
                .malformed,
                "'channel' must be the name of one channel, without '*'; only streams and webhooks accept patterns",
                field: "channel")
        }
        guard name == ChannelID.systemName || name.utf8.first != UInt8(ascii: "$") else {
            throw ChatError(
                .malformed, "channel names that begin with '$' are reserved; use another name", field: "channel")
        }
    }

    /// Checks a user name: 1 to 92 characters with the rules for channel names, because every user has a channel of the
    /// same name.
    ///
    /// - Throws: `.malformed` for any other name.
    public static func check(user name: String) throws(ChatError) {
        try check(name, "user", 1...92)
        guard name.utf8.first != UInt8(ascii: "$"), !name.utf8.contains(UInt8(ascii: "*")) else {
            throw ChatError(.malformed, "a user's id must not begin with '$' or contain '*'", field: "user")
        }
    }

    /// Checks the name of a channel group: 1 to 92 characters without `,` and control characters.
    ///
    /// - Throws: `.malformed` for any other name.
    public static func check(group name: String) throws(ChatError) { try check(name, "group", 1...92) }

    /// Checks the name of a channel to follow. Rejects `NAME-pnpres`, PubNub's name for the presence of a channel,
    /// because it has no events.
    ///
    /// - Throws: `.malformed` for such a name. The message names the channel to follow instead.
    public static func check(followed name: String) throws(ChatError) {
        let suffix = "-pnpres"
        guard name.hasSuffix(suffix), name.utf8.count > suffix.utf8.count else { return }
        let channel = name.dropLast(suffix.count)
        throw ChatError(
            .malformed,
            "'\(name)' has no events of its own; to receive presence events, select channel '\(channel)' and the "
                + "type 'presence.*'", field: "channel")
    }

    /// True for a message label that PubNub accepts: 3 to 50 letters, digits, `-` and `_`. The first character is a
    /// letter or a digit, and the label does not begin with `pn_` or `pn-`.
    public static func isLabel(_ text: String) -> Bool {
        let bytes = text.utf8
        guard (3...50).contains(bytes.count), let first = bytes.first, first.isASCIIAlphanumeric,
            !text.hasPrefix("pn_"), !text.hasPrefix("pn-")
        else { return false }
        return bytes.allSatisfy { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    }

    /// Checks the label of a message; see ``isLabel(_:)``.
    ///
    /// - Throws: `.malformed` for any other text.
    public static func check(label: String) throws(ChatError) {
        guard isLabel(label) else {
            throw ChatError(
                .malformed,
                "a label must be 3 to 50 letters, digits, '_' or '-', begin with a letter or a digit, and not begin with pn_ or pn-; "
                    + "got '\(label)'", field: "custom_type")
        }
    }

    /// Checks the name of a user's device: 1 to 128 characters without `,` and control characters.
    ///
    /// - Throws: `.malformed` for any other name.
    public static func check(device name: String) throws(ChatError) { try check(name, "device", 1...128) }

    /// Checks an app's own event type: 1 to 64 characters, `[A-Za-z0-9][A-Za-z0-9_.-]*`, and not a reserved name.
    ///
    /// - Throws: `.malformed` for any other name. For a reserved name, the slug is `type_reserved`.
    public static func check(customType name: String) throws(ChatError) {
        try check(type: name)
        guard !BuiltInTypes.isReserved(name) else { throw BuiltInTypes.refusal(of: name) }
    }

    /// Checks an event type, built-in or declared by an app: 1 to 64 characters, `[A-Za-z0-9][A-Za-z0-9_.-]*`.
    ///
    /// - Throws: `.malformed` for any other name.
    public static func check(type name: String) throws(ChatError) {
        guard (1...64).contains(name.utf8.count), let first = name.utf8.first, first.isASCIIAlphanumeric,
            name.hasOnlyBytes({ $0.isASCIIAlphanumeric || $0 == 0x5F || $0 == 0x2E || $0 == 0x2D })
        else {
            throw ChatError(
                .malformed,
                "an event type must be 1 to 64 letters A-Z a-z, digits, '_', '.' or '-', and begin with a letter or a digit",
                field: "type")
        }
    }

    private static func check(_ name: String, _ what: String, _ length: ClosedRange<Int>) throws(ChatError) {
        // In a name of printable ASCII characters, each byte is a character.
        if length.contains(name.utf8.count), name.hasOnlyBytes({ 0x20..<0x7F ~= $0 && $0 != UInt8(ascii: ",") }) {
            return
        }
        guard length.contains(name.unicodeScalars.count) else {
            throw ChatError(
                .malformed, "\(what) must be \(length.lowerBound) to \(length.upperBound) characters long", field: what)
        }
        guard name.unicodeScalars.allSatisfy({ !$0.isControl && $0 != "," }) else {
            throw ChatError(.malformed, "\(what) must not contain ',' or control characters", field: what)
        }
    }
}

extension String {
    /// True when all bytes of the text in UTF-8 pass a test. Takes a fifth of the time of `utf8.allSatisfy`.
    fileprivate func hasOnlyBytes(_ test: (UInt8) -> Bool) -> Bool {
        let bytes = utf8Span.span
        for index in bytes.indices where !test(bytes[index]) { return false }
        return true
    }
}

extension Unicode.Scalar {
    /// True for the control characters C0, DEL and C1, and for the two line separators that some readers of event
    /// streams treat as a line end.
    var isControl: Bool {
        value < 0x20 || (0x7F...0x9F).contains(value) || value == 0x2028 || value == 0x2029
    }
}

extension UInt8 {
    var isASCIIAlphanumeric: Bool {
        // Setting the bit gives the lower case of a letter.
        (self | 0x20) &- UInt8(ascii: "a") < 26 || self &- UInt8(ascii: "0") < 10
    }
}
