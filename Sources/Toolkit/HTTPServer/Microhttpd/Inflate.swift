internal import CZlib

/// Decompresses a body while it arrives. Each call limits the size of its output, so that a small compressed body
/// cannot fill the memory.
final class Inflate {
    enum Failure: Error {
        case corrupt
        case outOfMemory
    }

    /// Allocated at a fixed address, because the library's state contains a pointer to the stream.
    private let stream: UnsafeMutablePointer<z_stream>
    private let isGzip: Bool
    private(set) var isFinished = false
    /// True when zlib may have further output that did not fit into the last buffer.
    private var holdsOutput = false

    /// Creates a decompressor for a content coding.
    ///
    /// - Parameter coding: the content coding: `gzip`, `x-gzip` or `deflate`, which means the zlib format (RFC 9110,
    ///   8.4.1.2). The result is `nil` for any other coding.
    init?(coding: String) throws(Failure) {
        switch coding {
        case "gzip", "x-gzip": isGzip = true
        case "deflate": isGzip = false
        default: return nil
        }
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 47 is a window of 15 bits, plus 32 to accept both the gzip and the zlib format: some clients declare zlib
        // data as gzip.
        guard shim_inflate_init(stream, isGzip ? 47 : 15) == Z_OK else { throw .outOfMemory }
    }

    /// Returns true when this byte can be the first byte of gzip data (RFC 1952, 2.3.1), or of zlib data with the usual
    /// window size (RFC 1950, 2.2).
    static func mayBegin(with byte: UInt8) -> Bool { byte == 0x1F || byte == 0x78 }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// True when more output is available without more input.
    var isPending: Bool { holdsOutput && !isFinished }

    /// Decompresses bytes of `input` and appends at most `limit` bytes to `output`. Returns the number of input bytes
    /// used.
    func inflate(_ input: UnsafeRawBufferPointer, limit: Int, into output: inout [UInt8]) throws(Failure) -> Int {
        var used = 0
        var left = limit
        var status = Z_OK
        while left > 0, used < input.count || holdsOutput, status == Z_OK {
            if isFinished {
                // A gzip body may consist of several members (RFC 1952, 2.2). Any other data after the end is invalid.
                guard isGzip, inflateReset(stream) == Z_OK else { throw .corrupt }
                isFinished = false
            }
            let step = step(input, from: used, limit: min(left, 32 * 1024), into: &output)
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
        // Z_BUF_ERROR only means that zlib needs more input or more output space.
        guard status == Z_OK || status == Z_BUF_ERROR else { throw .corrupt }
        if status == Z_BUF_ERROR { holdsOutput = false }
        return used
    }

    private func step(
        _ input: UnsafeRawBufferPointer, from start: Int, limit: Int, into output: inout [UInt8]
    ) -> (consumed: Int, produced: Int, status: Int32) {
        let count = min(input.count - start, Int(UInt32.max))
        return withUnsafeTemporaryAllocation(byteCount: limit, alignment: 16) { buffer in
            // zlib only reads from this pointer, although its type is not `const`.
            let base = input.baseAddress.map { UnsafeMutableRawPointer(mutating: $0 + start) }
            stream.pointee.next_in = base?.assumingMemoryBound(to: UInt8.self)
            stream.pointee.avail_in = UInt32(count)
            stream.pointee.next_out = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.pointee.avail_out = UInt32(limit)
            let status = CZlib.inflate(stream, Z_NO_FLUSH)
            let produced = limit - Int(stream.pointee.avail_out)
            output.append(contentsOf: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<produced]))
            return (count - Int(stream.pointee.avail_in), produced, status)
        }
    }
}
