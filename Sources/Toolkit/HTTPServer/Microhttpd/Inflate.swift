internal import CZlib

/// Decompresses a body while it comes, never more of it than asked for, so that a small body cannot become a large one
/// in memory.
final class Inflate {
    enum Failure: Error {
        case corrupt
        case outOfMemory
    }

    /// At one address for life: the library's state points back to it.
    private let stream: UnsafeMutablePointer<z_stream>
    private let isGzip: Bool
    private(set) var isFinished = false
    /// The library may hold output back that fits no more into the last buffer.
    private var holdsOutput = false

    /// - Parameter coding: `gzip`, `x-gzip` or `deflate` (which means zlib: RFC 9110, 8.4.1.2); `nil` for any other.
    init?(coding: String) throws(Failure) {
        switch coding {
        case "gzip", "x-gzip": isGzip = true
        case "deflate": isGzip = false
        default: return nil
        }
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 15 bits of window, + 32 for either wrapper: some clients call a zlib stream gzip.
        guard shim_inflate_init(stream, isGzip ? 47 : 15) == Z_OK else { throw .outOfMemory }
    }

    /// Whether gzip (RFC 1952, 2.3.1) or zlib with its usual window (RFC 1950, 2.2) begins so.
    static func mayBegin(with byte: UInt8) -> Bool { byte == 0x1F || byte == 0x78 }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Whether it would give more output without more input.
    var isPending: Bool { holdsOutput && !isFinished }

    /// Reads from `input` and appends at most `room` bytes to `output`; returns how much of `input` was used.
    func inflate(_ input: UnsafeRawBufferPointer, room: Int, into output: inout [UInt8]) throws(Failure) -> Int {
        var used = 0
        var left = room
        var status = Z_OK
        while left > 0, used < input.count || holdsOutput, status == Z_OK {
            if isFinished {
                // A gzip body may be several members in a row (RFC 1952, 2.2); anything else behind the end is rubbish.
                guard isGzip, inflateReset(stream) == Z_OK else { throw .corrupt }
                isFinished = false
            }
            let step = step(input, from: used, room: min(left, 32 * 1024), into: &output)
            used += step.consumed
            left -= step.produced
            status = step.status
            holdsOutput = step.produced == min(left + step.produced, 32 * 1024) && status == Z_OK
            if status == Z_STREAM_END {
                isFinished = true
                holdsOutput = false
                status = Z_OK
            }
        }
        // Z_BUF_ERROR only says that it wants more input or more room.
        guard status == Z_OK || status == Z_BUF_ERROR else { throw .corrupt }
        if status == Z_BUF_ERROR { holdsOutput = false }
        return used
    }

    private func step(
        _ input: UnsafeRawBufferPointer, from start: Int, room: Int, into output: inout [UInt8]
    ) -> (consumed: Int, produced: Int, status: Int32) {
        let count = min(input.count - start, Int(UInt32.max))
        return withUnsafeTemporaryAllocation(byteCount: room, alignment: 16) { buffer in
            // zlib only reads from here; its header forgot the const.
            let base = input.baseAddress.map { UnsafeMutableRawPointer(mutating: $0 + start) }
            stream.pointee.next_in = base?.assumingMemoryBound(to: UInt8.self)
            stream.pointee.avail_in = UInt32(count)
            stream.pointee.next_out = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.pointee.avail_out = UInt32(room)
            let status = CZlib.inflate(stream, Z_NO_FLUSH)
            let produced = room - Int(stream.pointee.avail_out)
            output.append(contentsOf: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<produced]))
            return (count - Int(stream.pointee.avail_in), produced, status)
        }
    }
}
