/// A pattern for channel names or event types: an exact name, `a.b.*` (any depth below `a.b.`), or `*`.
///
/// Matching and comparison are byte for byte.
public enum NamePattern: Sendable {
    case exact(String)
    /// The pattern `a.b.*`. The associated value is the text before the `*`, including the last dot.
    case below(String)
    case all

    /// Parses a pattern. Nil when the text is empty, or contains a `*` anywhere except as the whole last part.
    public init?(_ text: String) {
        if text == "*" {
            self = .all
        } else if text.hasSuffix(".*"), text.utf8.count > 2 {
            let prefix = text.dropLast()
            guard !prefix.utf8.contains(UInt8(ascii: "*")) else { return nil }
            self = .below(String(prefix))
        } else {
            guard !text.isEmpty, !text.utf8.contains(UInt8(ascii: "*")) else { return nil }
            self = .exact(text)
        }
    }

    /// True when the pattern matches a name. `*` does not match `$system`, which must be named exactly.
    public func matches(_ name: String) -> Bool {
        switch self {
        case .exact(let exact): ExactText(name) == ExactText(exact)
        case .below(let prefix): name.utf8.count > prefix.utf8.count && name.utf8.starts(with: prefix.utf8)
        case .all: name != ChannelID.systemName
        }
    }

    /// True when this pattern matches every name that the other pattern can match.
    public func covers(_ other: NamePattern) -> Bool {
        switch (self, other) {
        case (_, .exact(let name)): matches(name)
        case (.all, _): true
        case (.below(let wide), .below(let narrow)): narrow.utf8.starts(with: wide.utf8)
        case (.below, .all), (.exact, _): false
        }
    }
}

extension NamePattern {
    /// Parses a list of patterns from a request. Returns them in their order, without duplicates.
    ///
    /// - Parameters:
    ///   - check: checks an exact name, or the text before `.*`.
    ///   - fault: called for each invalid pattern, with its index and a description. An error that it throws ends the
    ///     call.
    /// - Throws: the error that `fault` throws.
    public static func list<Failure: Error>(
        _ texts: [String], of check: (String) throws(ChatError) -> Void, fault: (Int, String) throws(Failure) -> Void
    ) throws(Failure) -> [NamePattern] {
        var patterns: [NamePattern] = []
        var seen: Set<NamePattern> = []
        for (index, text) in texts.enumerated() {
            guard let pattern = NamePattern(text) else {
                try fault(index, "'*' is allowed only as the whole pattern or as its last part, such as '*' or 'a.*'")
                continue
            }
            if let mistake = pattern.mistake(check) { try fault(index, mistake) }
            if seen.insert(pattern).inserted { patterns.append(pattern) }
        }
        return patterns
    }

    private func mistake(_ check: (String) throws(ChatError) -> Void) -> String? {
        do throws(ChatError) {
            switch self {
            case .all: break
            case .exact(let name): try check(name)
            case .below(let prefix): try check(String(prefix.dropLast()))
            }
            return nil
        } catch {
            return error.message
        }
    }
}

extension NamePattern: Hashable, Comparable {
    /// Orders patterns by the bytes of their texts.
    public static func < (left: NamePattern, right: NamePattern) -> Bool {
        ExactText(left.description) < ExactText(right.description)
    }

    public static func == (left: NamePattern, right: NamePattern) -> Bool {
        switch (left, right) {
        case (.exact(let left), .exact(let right)), (.below(let left), .below(let right)):
            ExactText(left) == ExactText(right)
        case (.all, .all): true
        case (.exact, _), (.below, _), (.all, _): false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .exact(let text):
            hasher.combine(0 as UInt8)
            hasher.combine(ExactText(text))
        case .below(let text):
            hasher.combine(1 as UInt8)
            hasher.combine(ExactText(text))
        case .all: hasher.combine(2 as UInt8)
        }
    }
}

extension NamePattern: CustomStringConvertible {
    public var description: String {
        switch self {
        case .exact(let name): name
        case .below(let prefix): prefix + "*"
        case .all: "*"
        }
    }
}

extension Sequence<NamePattern> {
    /// True when any of the patterns matches.
    @inlinable public func match(_ name: String) -> Bool { contains { $0.matches(name) } }

    /// True when a single pattern of this list covers the pattern `other`.
    @inlinable public func covers(_ other: NamePattern) -> Bool { contains { $0.covers(other) } }

    /// True when each pattern in `others` is covered by a pattern of this list. True when `others` is empty.
    @inlinable public func coversAll(_ others: some Sequence<NamePattern>) -> Bool {
        others.allSatisfy { covers($0) }
    }
}

extension NamePattern {
    /// True when a reader with this type pattern receives events of `type`. Only an exact name selects a type of
    /// ``BuiltInTypes/namedOnly``.
    public func selects(type: String) -> Bool {
        guard matches(type) else { return false }
        if case .exact = self { return true }
        return !BuiltInTypes.namedOnly.contains(type)
    }

    /// True when the pattern is the exact name of a type of ``BuiltInTypes/namedOnly``.
    public var isNamedOnly: Bool {
        if case .exact(let name) = self { BuiltInTypes.namedOnly.contains(name) } else { false }
    }
}
