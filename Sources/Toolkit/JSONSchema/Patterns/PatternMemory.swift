extension Pattern {
    /// Owns the tables of a pattern, so that matching reads plain pointers and retains nothing.
    final class PatternMemory {
        private var blocks: [UnsafeMutableRawPointer] = []
        private(set) var byteCount = 0

        /// A copy that lives as long as the pattern. `Element` is trivial: it is never deinitialised.
        func keep<Element: BitwiseCopyable>(_ elements: [Element]) -> UnsafePointer<Element> {
            let size = max(1, elements.count) * MemoryLayout<Element>.stride
            let block = UnsafeMutableRawPointer.allocate(
                byteCount: size, alignment: MemoryLayout<Element>.alignment)
            blocks.append(block)
            byteCount += size
            let typed = block.bindMemory(to: Element.self, capacity: max(1, elements.count))
            elements.withUnsafeBufferPointer { source in
                if let base = source.baseAddress { typed.initialize(from: base, count: source.count) }
            }
            return UnsafePointer(typed)
        }

        deinit {
            for block in blocks { block.deallocate() }
        }
    }
}
