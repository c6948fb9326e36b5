import CZlib

/// Compresses request bodies with gzip (RFC 1952).
enum Gzip {
    /// Returns the compressed bytes, or nil when they are not shorter or there is not enough memory.
    static func compressed(_ bytes: [UInt8]) -> [UInt8]? {
        var stream = z_stream()
        // The parameter 31 is a window of 15 bits, plus 16 for the gzip format.
        guard shim_deflate_init(&stream, Z_DEFAULT_COMPRESSION, 31) == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        var input = bytes
        let output = [UInt8](unsafeUninitializedCapacity: bytes.count) { output, count in
            input.withUnsafeMutableBufferPointer { input in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                // If the output does not fit, the compressed bytes are not shorter than the original.
                count = deflate(&stream, Z_FINISH) == Z_STREAM_END ? output.count - Int(stream.avail_out) : 0
            }
        }
        return output.isEmpty || output.count >= bytes.count ? nil : output
    }
}
