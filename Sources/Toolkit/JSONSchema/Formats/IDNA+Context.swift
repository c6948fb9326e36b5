/// RFC 5892: which characters a label may hold, and which of them only in company (appendix A).
extension IDNA.Characters.Text {
    var obeysContextRules: Bool { indices.allSatisfy { isAllowed(at: $0) } }

    private func isAllowed(at index: Int) -> Bool {
        switch self[index] {
        case 0x200C: followsVirama(index) || joinsLetters(around: index)
        case 0x200D: followsVirama(index)
        case 0xB7: neighbour(of: index, by: -1) == 0x6C && neighbour(of: index, by: 1) == 0x6C
        case 0x375: script(neighbour(of: index, by: 1)) == .greek
        case 0x5F3, 0x5F4: script(neighbour(of: index, by: -1)) == .hebrew
        case 0x30FB: contains { script($0) == .eastAsian }
        case 0x660...0x669: !contains { (0x6F0...0x6F9).contains($0) }
        case 0x6F0...0x6F9: !contains { (0x660...0x669).contains($0) }
        case let scalar: IDNA.Characters.traits(of: scalar) != nil
        }
    }

    private func neighbour(of index: Int, by distance: Int) -> UInt32? {
        indices.contains(index + distance) ? self[index + distance] : nil
    }

    private func script(_ scalar: UInt32?) -> IDNA.Traits.Script? {
        scalar.flatMap { IDNA.Characters.traits(of: $0)?.script }
    }

    private func followsVirama(_ index: Int) -> Bool {
        neighbour(of: index, by: -1).flatMap { IDNA.Characters.traits(of: $0)?.isVirama } == true
    }

    /// Whether the nearest letters that are not transparent join towards `index` from both sides (appendix A.1).
    private func joinsLetters(around index: Int) -> Bool {
        let before = joining(from: index, by: -1)
        let after = joining(from: index, by: 1)
        return (before == .left || before == .dual) && (after == .right || after == .dual)
    }

    private func joining(from index: Int, by step: Int) -> IDNA.Traits.ConstraintJoin? {
        var index = index + step
        while indices.contains(index) {
            guard let joining = IDNA.Characters.traits(of: self[index])?.joining else { return nil }
            if joining != .transparent { return joining }
            index += step
        }
        return nil
    }
}
