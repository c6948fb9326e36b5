/// A binary heap with the smallest element first. Pushing and popping take O(log n).
public struct Heap<Element: Comparable> {
    @usableFromInline var elements: [Element] = []

    /// Creates an empty heap.
    @inlinable public init() {}

    /// The smallest element; `nil` when the heap is empty.
    @inlinable public var first: Element? { elements.first }
    /// The number of elements.
    @inlinable public var count: Int { elements.count }
    /// True when the heap is empty.
    @inlinable public var isEmpty: Bool { elements.isEmpty }

    /// Removes all elements.
    @inlinable public mutating func removeAll() { elements.removeAll() }

    /// Adds an element.
    @inlinable public mutating func push(_ element: Element) {
        elements.append(element)
        var child = elements.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard elements[child] < elements[parent] else { return }
            elements.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes and returns the smallest element; `nil` when the heap is empty.
    @inlinable public mutating func popFirst() -> Element? {
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
