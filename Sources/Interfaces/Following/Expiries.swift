import ChatModel

/// When credentials end, the next one first: a heap, so that a second in which none ends costs nothing.
struct Expiries {
    private var heap: [(owner: ConnectionOwner, expires: Timetoken)] = []

    var count: Int { heap.count }

    mutating func insert(_ owner: ConnectionOwner, _ expires: Timetoken) {
        heap.append((owner, expires))
        var place = heap.count - 1
        while place > 0, heap[place].expires < heap[(place - 1) / 2].expires {
            heap.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    /// The one that ends first, if that is no later than `end`.
    mutating func removeFirst(upTo end: Timetoken) -> (owner: ConnectionOwner, expires: Timetoken)? {
        guard let first = heap.first, first.expires <= end else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var place = 0
        while true {
            let children = (2 * place + 1)..<min(2 * place + 3, max(heap.count, 2 * place + 1))
            guard let least = children.min(by: { heap[$0].expires < heap[$1].expires }),
                heap[least].expires < heap[place].expires
            else { return first }
            heap.swapAt(place, least)
            place = least
        }
    }
}
