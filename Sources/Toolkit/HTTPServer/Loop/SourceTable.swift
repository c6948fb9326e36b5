internal import CLinux
import Glibc

/// An object with a descriptor in the loop's epoll set.
protocol LoopSource: AnyObject {
    func ready(_ events: UInt32)
}

/// The index of an entry in the table, with the number of times that the entry has been reused. The number prevents an
/// event of a removed source from being delivered to the next source with the same index.
struct SourceID: Equatable {
    var slot: UInt32
    var generation: UInt32

    var tag: UInt64 { UInt64(generation) << 32 | UInt64(slot) }
}

/// The sources that wait for events of descriptors, indexed by ``SourceID/slot``.
struct SourceTable {
    private struct Place {
        var source: (any LoopSource)?
        var generation: UInt32
    }

    /// The value that epoll reports for events of the loop's eventfd, which is not in the table.
    static let alarm = UInt64.max

    private let epoll: Int32
    private var places: [Place] = []
    private var free: [UInt32] = []

    init(epoll: Int32) {
        self.epoll = epoll
    }

    func source(of tag: UInt64) -> (any LoopSource)? {
        let slot = Int(truncatingIfNeeded: tag & 0xFFFF_FFFF)
        guard slot < places.count, places[slot].generation == UInt32(truncatingIfNeeded: tag >> 32) else { return nil }
        return places[slot].source
    }

    func source(at slot: UInt32) -> (any LoopSource)? {
        places[Int(slot)].source
    }

    mutating func add(_ descriptor: Int32, events: UInt32, _ source: any LoopSource) throws(ServerError) -> SourceID {
        let id = place(source)
        var event = epoll_event(events: events, data: epoll_data_t(u64: id.tag))
        guard epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0 else {
            let error = ServerError.last("epoll_ctl")
            remove(id, descriptor: -1)
            throw error
        }
        return id
    }

    mutating func place(_ source: any LoopSource) -> SourceID {
        let slot = free.popLast() ?? UInt32(places.count)
        if slot == places.count { places.append(Place(source: nil, generation: 0)) }
        places[Int(slot)].source = source
        return SourceID(slot: slot, generation: places[Int(slot)].generation)
    }

    mutating func remove(_ id: SourceID, descriptor: Int32) {
        guard places[Int(id.slot)].generation == id.generation else { return }
        // Closing the descriptor would not remove it from epoll if a duplicate keeps the socket open.
        if descriptor >= 0 { epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, nil) }
        places[Int(id.slot)] = Place(source: nil, generation: id.generation &+ 1)
        free.append(id.slot)
    }
}
