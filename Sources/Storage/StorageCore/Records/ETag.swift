/// Functions for etags, which are stored as numbers and returned to clients as text.
package enum ETag {
    /// Returns a new etag of 64 random bits.
    package static func random() -> Int64 { .random(in: .min ... .max) }

    /// Returns the hexadecimal text of an etag.
    package static func text(_ tag: Int64) -> String { String(UInt64(bitPattern: tag), radix: 16) }
}
