package import ChatModel
import JSON

/// The log of the attempts of one delivery, packed into one column. It is written once per attempt and read only on
/// request.
///
/// The layout is a version byte, followed by the attempts. Each attempt consists of little-endian numbers and
/// length-prefixed bytes, in the order of ``append(_:)``.
package struct AttemptLog {
    private static let version: UInt8 = 1
    /// The maximum number of attempts in the log.
    private static let attemptsMost = 20
    /// The maximum number of bytes that are stored of the latest response.
    private static let latestBytes = 16 * 1024
    /// The maximum number of bytes that are stored of each earlier response.
    private static let earlierBytes = 1024

    package private(set) var attempts: [DeliveryAttempt] = []

    package init() {}

    /// Parses the bytes of ``packed``. If the bytes are damaged, the log contains only the attempts before the damage.
    package init(packed bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard reader.byte() == Self.version else { return }
        while let attempt = reader.attempt() { attempts.append(attempt) }
    }

    package mutating func append(_ attempt: DeliveryAttempt) {
        if let last = attempts.indices.last { attempts[last].cut(to: Self.earlierBytes) }
        attempts.append(attempt)
        attempts[attempts.count - 1].cut(to: Self.latestBytes)
        if attempts.count > Self.attemptsMost { attempts.removeFirst(attempts.count - Self.attemptsMost) }
    }

    package var packed: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(
            attempts.reduce(1) { $0 + 64 + $1.responseBody.count + ($1.details?.bytes.count ?? 0) })
        bytes.append(Self.version)
        for attempt in attempts { bytes.append(attempt) }
        return bytes
    }
}

extension DeliveryAttempt {
    fileprivate mutating func cut(to most: Int) {
        guard responseBody.count > most else { return }
        responseBody.removeSubrange(most...)
        isTruncated = true
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ attempt: DeliveryAttempt) {
        append(number: attempt.at.rawValue)
        append(number: UInt64(bitPattern: Int64(attempt.status ?? -1)))
        append(number: UInt64(bitPattern: Int64(attempt.durationMilliseconds)))
        append((attempt.isManual ? 1 : 0) | (attempt.isTruncated ? 2 : 0))
        append(part: attempt.error.map { Array($0.utf8) } ?? [])
        append(part: attempt.responseBody)
        append(part: attempt.details?.bytes ?? [])
    }

    private mutating func append(number: UInt64) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }

    private mutating func append(part: [UInt8]) {
        append(number: UInt64(part.count))
        append(contentsOf: part)
    }
}

private struct ByteReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func byte() -> UInt8? {
        guard position < bytes.count else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func attempt() -> DeliveryAttempt? {
        guard let at = number(), let status = number(), let duration = number(), let flags = byte(),
            let error = part(), let response = part(), let details = part()
        else { return nil }
        let statusCode = Int(Int64(bitPattern: status))
        return DeliveryAttempt(
            at: Timetoken(at), status: statusCode < 0 ? nil : statusCode,
            error: error.isEmpty ? nil : String(decoding: error, as: UTF8.self),
            durationMilliseconds: Int(Int64(bitPattern: duration)), isManual: flags & 1 != 0, responseBody: response,
            isTruncated: flags & 2 != 0, details: details.isEmpty ? nil : JSONText(trusted: details))
    }

    private mutating func number() -> UInt64? {
        guard bytes.count - position >= 8 else { return nil }
        defer { position += 8 }
        return (0..<8).reduce(0) { $0 | UInt64(bytes[position + $1]) << (8 * UInt64($1)) }
    }

    private mutating func part() -> [UInt8]? {
        guard let length = number(), length <= UInt64(bytes.count - position) else { return nil }
        defer { position += Int(length) }
        return Array(bytes[position..<position + Int(length)])
    }
}
