/// Which members (by their place in the object) or elements of one value have been evaluated.
///
/// The first 64 are bits of one word; more lie in the scratch, which the owner of the marks has set aside.
struct Marks {
    var all = false
    /// Everything before this place.
    var below = 0
    var bits: UInt64 = 0
    /// For places from 64 on; nil where the value has no more.
    var more: UnsafeMutablePointer<UInt64>?
    var moreCount = 0

    @inline(__always) mutating func insert(_ place: Int) {
        if place < 64 {
            bits |= 1 << UInt64(place)
        } else if let more {
            more[place >> 6 - 1] |= 1 << UInt64(place & 63)
        }
    }

    @inline(__always) func contains(_ place: Int) -> Bool {
        if all || place < below { return true }
        if place < 64 { return bits & 1 << UInt64(place) != 0 }
        return more.map { $0[place >> 6 - 1] & 1 << UInt64(place & 63) != 0 } ?? false
    }

    mutating func formUnion(_ other: Marks) {
        all = all || other.all
        below = max(below, other.below)
        bits |= other.bits
        guard let more, let others = other.more else { return }
        for word in 0..<moreCount { more[word] |= others[word] }
    }
}
