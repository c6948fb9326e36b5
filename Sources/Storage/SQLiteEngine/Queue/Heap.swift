/// A binary heap: the smallest element first.
struct Heap<Element: Comparable> {
    private var elements: [Element] = []

    var first: Element? { elements.first }
    var count: Int { elements.count }
    var isEmpty: Bool { elements.isEmpty }

    mutating func removeAll() { elements.removeAll() }

    mutating func push(_ element: Element) {
        elements.append(element)
        var child = elements.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard elements[child] < elements[parent] else { return }
            elements.swapAt(child, parent)
            child = parent
        }
    }

    mutating func popFirst() -> Element? {
        guard let last = elements.popLast() else { return nil }
        guard let first = elements.first else { return last }
        elements[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in 2 * parent + 1...2 * parent + 2
            where child < elements.count && elements[child] < elements[least] { least = child }
            guard least != parent else { return first }
            elements.swapAt(least, parent)
            parent = least
        }
    }
}

extension Heap: Sendable where Element: Sendable {}
