/// Creates texts that match the pattern, from its syntax tree.
extension TextPattern {
    /// Returns up to `count` matching texts. They have about `length` characters if the pattern's repetitions allow it.
    func examples(count: Int, length: Int = 0) -> [[UInt8]] {
        guard let root else { return [] }
        var texts: [[UInt8]] = []
        for variant in 0..<count * 2 {
            var maker = ExampleMaker(variant: variant, length: length)
            maker.add(root)
            guard maker.text.count <= ExampleMaker.longest, matches(maker.text) == true, !texts.contains(maker.text)
            else { continue }
            texts.append(maker.text)
            if texts.count == count { break }
        }
        return texts
    }
}

/// Creates one matching text of a pattern. The number `variant` selects the branches and the members of character
/// classes.
private struct ExampleMaker {
    let variant: Int
    var text: [UInt8] = []
    private var missing: Int

    static let longest = 20_000

    init(variant: Int, length: Int) {
        self.variant = variant
        missing = length
    }

    mutating func add(_ node: Pattern.Node) {
        guard text.count <= Self.longest else { return }
        switch node {
        case .empty, .edge, .lookaround, .backReference, .namedReference: return
        case .scalar(let scalar): append(scalar)
        case .set(let characters): append(anyOf: characters.members)
        case .sequence(let nodes): for node in nodes { add(node) }
        case .choice(let nodes): if !nodes.isEmpty { add(nodes[variant % nodes.count]) }
        case .group(_, let node): add(node)
        case .loop(let repetition, let node): for _ in 0..<rounds(repetition) { add(node) }
        }
    }

    private func rounds(_ repetition: Pattern.Repetition) -> Int {
        let wanted = max(repetition.least + variant % 3, repetition.least > 0 || repetition.most != nil ? missing : 1)
        return min(wanted, repetition.most ?? .max, repetition.least + Self.longest)
    }

    private mutating func append(_ scalar: UInt32) {
        guard let scalar = Unicode.Scalar(scalar) else { return }
        text += Array(String(Character(scalar)).utf8)
        missing -= 1
    }

    private mutating func append(anyOf members: Pattern.ScalarSet) {
        for plain: UInt32 in [0x61, 0x41, 0x30] where members.contains(plain) && variant % 2 == 0 {
            return append(plain)
        }
        guard !members.ranges.isEmpty else { return }
        let range = members.ranges[variant % members.ranges.count]
        append(variant % 4 < 2 ? range.lowerBound : range.upperBound)
    }
}

extension Format {
    /// Example texts of this format. If the format has several notations, the examples use two of them.
    var examples: [[UInt8]] {
        let texts: [String] =
            switch self {
            case .date: ["2024-02-29", "1999-12-31"]
            case .time: ["12:30:00Z", "23:59:59.5+01:00"]
            case .dateTime: ["2024-02-29T12:30:00Z", "1999-12-31T23:59:59.5+01:00"]
            case .duration: ["P1D", "PT1H30M"]
            case .email: ["a@b.example", "first.last@mail.example"]
            case .idnEmail: ["ü@b.example", "a@b.example"]
            case .plainHostname, .hostname: ["a.example", "localhost"]
            case .idnHostname: ["bücher.example", "a.example"]
            case .ipv4: ["192.0.2.1", "127.0.0.1"]
            case .ipv6: ["2001:db8::1", "::"]
            case .uri: ["https://a.example/b?c=d", "urn:x:y"]
            case .uriReference: ["../a", "https://a.example/"]
            case .iri: ["https://a.example/ü", "https://a.example/"]
            case .iriReference: ["../ü", "https://a.example/"]
            case .uuid: ["2eb8aa08-aa98-11ea-b4aa-73b441d16380"]
            case .uriTemplate: ["/a/{b}", "/a"]
            case .jsonPointer: ["/a/0", ""]
            case .relativeJSONPointer: ["0/a", "1#"]
            case .regex: ["^a+$", "a"]
            }
        return texts.map { Array($0.utf8) }
    }
}
