internal import Locking

/// The objects that callbacks of the client library belong to. The library holds a number instead of a pointer to the
/// object. So a callback that comes late finds nothing, and no object is kept for it.
final class CallbackTable<Object: AnyObject & Sendable>: Sendable {
    private struct State {
        var next: UInt = 1
        var objects: [UInt: Object] = [:]
    }

    private let state = Lock(State())

    /// Adds the object and returns its number, which is never used again.
    func add(_ object: Object) -> UInt {
        state.withLock { state in
            defer { state.next += 1 }
            state.objects[state.next] = object
            return state.next
        }
    }

    func remove(_ number: UInt) { state.withLock { $0.objects[number] = nil } }

    /// The object that a callback belongs to.
    ///
    /// - Parameter pointer: the number, as the library holds it.
    func find(_ pointer: UnsafeMutableRawPointer?) -> Object? {
        let number = UInt(bitPattern: pointer)
        return state.withLock { $0.objects[number] }
    }

    /// The number in the form that the library holds.
    static func pointer(_ number: UInt) -> UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: number) }
}
