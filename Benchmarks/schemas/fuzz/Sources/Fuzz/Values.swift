/// Values that have been trouble in some program or other.
enum SampleValues {
    static let numbers = [
        "0", "-0", "-0.0", "1", "-1", "1.0", "2", "3", "0.5", "1.5", "0.1", "1e-10", "5e-324", "1e308",
        "-1.7976931348623157e308", "2147483647", "2147483648", "4294967295", "4294967296", "9007199254740993",
        "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1e19", "12345678901234567890123", "63",
        "64", "65", "1e2", "100", "1000000",
    ]

    static let strings = [
        "", "a", "b", "ab", "é", "e\u{301}", "\u{0}", "a\u{0}b", "\u{1F600}", "\u{10FFFF}", "\u{FEFF}", "constructor",
        "__proto__", "/", "~", "~0", "~1", "%", "%25", "%zz", "#", "#/", "#/$defs", "?", "$ref", "a b", "12345678",
        "123456789", "1234567890123456", "12345678901234567", String(repeating: "a", count: 300), "2024-02-30",
        "23:59:60Z", "1985-04-12T23:20:50.52Z", "P1Y2M3DT4H5M6S", "joe.bloggs@example.com", "\"joe \"@[IPv6:::1]",
        "www.example.com", "xn--ihqwcrb4cv8a8dqg056pqjye", "실〮례.테스트", "-a-.b", "1.2.3.256", "::ffff:1.2.3.4",
        "1::d6::42", "http://ex.com:80/%20?q#f", "urn:uuid:2eb8aa08-aa98-11ea-b4aa-73b441d16380", "//host",
        "http://[::1]:/", "{+a:3}{&b*}", "/a~1b/~0", "0#", "1/a", "^(a|b)+$", "(?=a)", "[a-", "\\p{L}", "eyJhIjoxfQ==",
        "{\"a\":1}", "{:}",
    ]

    static let names = ["a", "b", "c", "ab", "foo", "bar", "baz", "é", "", "a/b", "a~b", "a%b", "a_name_of_20_letters"]
}

extension Dice {
    mutating func value(depth: Int = 0) -> Tree {
        if depth == 0 { room = once(in: 20) ? 4_000 : 150 }
        room -= 1
        switch depth > 4 || room < 0 ? below(4) : below(7) {
        case 0: return .plain(pick(["null", "true", "false"]))
        case 1, 2: return .plain(pick(SampleValues.numbers))
        case 3: return .string(pick(SampleValues.strings))
        case 4: return .array((0..<size(depth > 1 ? 8 : 40)).map { _ in value(depth: depth + 1) })
        default:
            return .object(
                (0..<size(depth > 1 ? 8 : 80)).map { number in
                    Tree.Member(
                        name: number < 6 ? pick(SampleValues.names) : "member\(number)", value: value(depth: depth + 1))
                })
        }
    }

    /// The value a few steps away. `others` are where parts come from.
    mutating func mutation(of tree: Tree, with others: [Tree]) -> Tree {
        var tree = tree
        for _ in 0...below(4) {
            let whole = tree
            mutate(&tree, others)
            // What outgrows every limit is refused before anything is tried.
            if tree.count > 5_000 { tree = whole }
        }
        return tree
    }

    private mutating func mutate(_ tree: inout Tree, _ others: [Tree]) {
        let place = below(tree.count)
        let other = others.isEmpty ? value() : pick(others)
        let part = other.at(below(other.count))
        let inner = tree.at(below(tree.count))
        var dice = self
        _ = next()
        tree.change(place) { node in
            switch dice.below(8) {
            case 0: node = part
            case 1: node = inner
            case 2: node = dice.value(depth: 3)
            case 3: node = .array([node, part])
            case 4: node = .object([Tree.Member(name: dice.pick(SampleValues.names), value: node)])
            default: dice.nudge(&node, part)
            }
        }
    }

    /// A change that leaves the kind of the value as it is.
    private mutating func nudge(_ node: inout Tree, _ part: Tree) {
        switch node {
        case .plain: node = .plain(pick(SampleValues.numbers + ["true", "false", "null"]))
        case .string(let text):
            node = .string(
                once(in: 2) ? pick(SampleValues.strings) : String(decoding: mutation(of: Array(text.utf8)), as: UTF8.self))
        case .array(var elements):
            if once(in: 2) || elements.isEmpty {
                elements.insert(part, at: below(elements.count + 1))
            } else {
                elements.remove(at: below(elements.count))
            }
            node = .array(elements)
        case .object(var members):
            switch below(members.isEmpty ? 1 : 4) {
            case 0: members.append(Tree.Member(name: pick(SampleValues.names), value: part))
            case 1: members.remove(at: below(members.count))
            case 2: members[below(members.count)].name = pick(SampleValues.names)
            default: members.swapAt(below(members.count), below(members.count))
            }
            node = .object(members)
        }
    }

    // MARK: - Bytes

    private static let tokens =
        [
            "{", "}", "[", "]", "\"", ",", ":", "\\", "\\u0000", "\\ud800", "\\udc00\\ud800", "\\u12", "1e400", "-",
            "0123",
            "99999999999999999999", "\u{FEFF}", "\n", "\r\n", "\t", "nul", "true", "\"a\":", "[[[[[[[[", "}}}}", "/",
            "\0",
        ].map { Array($0.utf8) } + [
            [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5], [0xFF], [0xE2, 0x82], [0xF4, 0x90, 0x80, 0x80],
        ]

    mutating func noise(_ bound: Int) -> [UInt8] {
        (0..<size(bound)).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    /// Bytes a few steps away.
    mutating func mutation(of bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0...(once(in: 3) ? below(4) : 0) {
            let start = below(bytes.count + 1)
            let end = min(bytes.count, start + size(40))
            switch below(7) {
            case 0 where start < bytes.count: bytes[start] ^= 1 << UInt8(below(8))
            case 1 where start < bytes.count: bytes[start] = UInt8(truncatingIfNeeded: next())
            case 2: bytes.removeSubrange(start..<end)
            case 3: bytes.insert(contentsOf: bytes[start..<end], at: below(bytes.count + 1))
            case 4: bytes.insert(contentsOf: noise(8), at: start)
            case 5: bytes.removeLast(bytes.count - start)
            default: bytes.insert(contentsOf: pick(Self.tokens), at: start)
            }
        }
        return bytes
    }
}
