import CLinux
import Glibc

/// A request whose text is created once. For each use, only the channel's digits and the mark are overwritten.
struct RequestTemplate {
    /// The request for channel 0.
    let bytes: [UInt8]
    private let channelDigits: [Int]
    private let mark: Int?

    private static let digits = 5

    /// Creates the text of the request for channel 0.
    ///
    /// - Parameter run: the text that distinguishes this run's channels from the channels of other runs.
    init(
        _ method: String, _ path: String, plan: BenchPlan, target: Target, run: String,
        headers: [(String, String)] = [],
        body: String? = nil
    ) throws(BenchFailure) {
        let name = "bench-\(run)-" + String(repeating: "0", count: Self.digits)
        var payload = String(repeating: "~", count: PayloadMark.length)
        payload += String(repeating: "x", count: plan.payloadBytes - PayloadMark.length)
        let body = body.map { Self.filling(Self.filling($0, "{channel}", name), "{payload}", payload) }
        var text = "\(method) \(Self.filling(path, "{channel}", name)) HTTP/1.1\r\nHost: \(target.authority)\r\n"
        if let key = plan.key { text += "Authorization: Bearer \(key)\r\n" }
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        if let body { text += "Content-Length: \(body.utf8.count)\r\n\r\n\(body)" }
        bytes = Array(text.utf8)
        channelDigits = Self.places(of: Array(name.utf8), in: bytes).map { $0 + name.utf8.count - Self.digits }
        mark = Self.places(of: Array(repeating: PayloadMark.sign, count: PayloadMark.length), in: bytes).first
        if body != nil, mark == nil { throw BenchFailure("--body must contain {payload}") }
    }

    /// Writes the channel into a copy of ``bytes``.
    func write(channel: Int, to bytes: UnsafeMutableRawPointer) {
        let bytes = bytes.assumingMemoryBound(to: UInt8.self)
        for place in channelDigits { PayloadMark.write(UInt64(channel), bytes + place, Self.digits) }
    }

    /// Writes the mark and the mark's channel into a copy of ``bytes``.
    func write(_ event: PayloadMark, to bytes: UnsafeMutableRawPointer) {
        write(channel: Int(event.channel), to: bytes)
        if let mark { event.write(to: bytes + mark) }
    }

    private static func filling(_ text: String, _ place: String, _ value: String) -> String {
        var bytes = Array(text.utf8)
        for start in places(of: Array(place.utf8), in: bytes).reversed() {
            bytes.replaceSubrange(start..<(start + place.utf8.count), with: value.utf8)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func places(of part: [UInt8], in bytes: [UInt8]) -> [Int] {
        var found: [Int] = []
        var index = 0
        while index + part.count <= bytes.count {
            if bytes[index..<(index + part.count)].elementsEqual(part) {
                found.append(index)
                index += part.count
            } else {
                index += 1
            }
        }
        return found
    }
}
