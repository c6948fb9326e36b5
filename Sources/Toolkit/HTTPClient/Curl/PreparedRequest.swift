internal import CCurl

/// A request in the form that libcurl reads: header list, URL, method and body in one block of memory with a fixed
/// address.
///
/// libcurl keeps pointers to the header list and the body until the transfer is over. The block is built by the task
/// that sends, so that the single loop thread copies nothing. It needs one allocation instead of two for each header.
struct PreparedRequest: ~Copyable {
    /// The kind of transfer that libcurl is configured for, depending on method and body.
    enum Shape { case get, head, withoutBody, withBody }

    let shape: Shape
    /// True when libcurl must be given the method explicitly.
    let hasOwnMethod: Bool
    let bodyCount: Int
    private let memory: UnsafeMutableRawPointer
    private let urlOffset: Int
    private let methodOffset: Int
    private let bodyOffset: Int

    var headers: UnsafeMutablePointer<curl_slist> { memory.assumingMemoryBound(to: curl_slist.self) }
    var url: UnsafePointer<CChar> { text(at: urlOffset) }
    var method: UnsafePointer<CChar> { text(at: methodOffset) }
    /// The body. Not `nil` for an empty body either: without a pointer libcurl would read the body from standard
    /// input.
    var body: UnsafeMutableRawPointer { memory + bodyOffset }

    /// Header fields that libcurl must not add by itself: `Expect` would cost a round trip that many receivers answer
    /// late or never, and the `Content-Type` that libcurl would add declares a form.
    private static let suppressed = ["Expect", "Content-Type"]

    /// - Throws: ``OutboundFailure/Reason/requestInvalid`` for a method or field that would not stay within its line.
    init(_ request: borrowing OutboundRequest) throws(OutboundFailure) {
        try Self.check(request)
        switch request.method {
        case "GET" where request.body.isEmpty: shape = .get
        case "HEAD" where request.body.isEmpty: shape = .head
        case "POST", "PUT", "PATCH": shape = .withBody
        default: shape = request.body.isEmpty ? .withoutBody : .withBody
        }
        hasOwnMethod = shape == .withoutBody || shape == .withBody && request.method != "POST"
        let count = request.headers.count + Self.suppressed.count
        let listSize = count * MemoryLayout<curl_slist>.stride
        var textSize = request.url.utf8.count + 1 + request.method.utf8.count + 1
        for field in request.headers { textSize += field.name.utf8.count + 2 + field.value.utf8.count + 1 }
        for name in Self.suppressed { textSize += name.utf8.count + 1 + 1 }
        bodyCount = request.body.count
        memory = .allocate(byteCount: listSize + textSize + bodyCount, alignment: MemoryLayout<curl_slist>.alignment)

        let nodes = memory.bindMemory(to: curl_slist.self, capacity: count)
        var writer = Writer(position: memory + listSize)
        for index in 0..<count {
            let next = index + 1 < count ? nodes + (index + 1) : nil
            (nodes + index).initialize(to: curl_slist(data: writer.start(), next: next))
            if index < request.headers.count {
                let field = request.headers[index]
                writer.append(field.name)
                // libcurl reads `name:` as a request to omit the field; an empty field is written with a semicolon.
                writer.append(field.value.isEmpty ? ";" : ": ")
                writer.append(field.value)
            } else {
                writer.append(Self.suppressed[index - request.headers.count])
                writer.append(":")
            }
            writer.end()
        }
        urlOffset = writer.position - memory
        writer.append(request.url)
        writer.end()
        methodOffset = writer.position - memory
        writer.append(request.method)
        writer.end()
        bodyOffset = writer.position - memory
        request.body.withUnsafeBytes { bytes in
            if let base = bytes.baseAddress { writer.position.copyMemory(from: base, byteCount: bytes.count) }
        }
    }

    deinit { memory.deallocate() }

    private func text(at offset: Int) -> UnsafePointer<CChar> {
        UnsafePointer((memory + offset).assumingMemoryBound(to: CChar.self))
    }

    private static func check(_ request: borrowing OutboundRequest) throws(OutboundFailure) {
        guard isToken(request.method) else { throw OutboundFailure(.requestInvalid, detail: "method is not a token") }
        guard request.method.utf8.count <= 32 else { throw OutboundFailure(.requestInvalid, detail: "method too long") }
        for field in request.headers {
            guard isToken(field.name), isFieldValue(field.value) else {
                throw OutboundFailure(.requestInvalid, detail: "malformed header field \(field.name.prefix(64))")
            }
            switch field.name.utf8.count {
            case 14 where field.name.lowercased() == "content-length",
                17 where field.name.lowercased() == "transfer-encoding":
                throw OutboundFailure(.requestInvalid, detail: "\(field.name) is the client's to set")
            default: break
            }
        }
    }

    /// True for a token (RFC 9110, 5.6.2).
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && all(text) { byte in
                switch byte {
                // Visible ASCII without `"(),/:;<=>?@[\]{}`.
                case 0x21, 0x23...0x27, 0x2a, 0x2b, 0x2d, 0x2e, 0x30...0x39, 0x41...0x5a, 0x5e...0x7a, 0x7c, 0x7e: true
                default: false
                }
            }
    }

    /// True for a valid field value (RFC 9110, 5.5): no control characters except the tab. CR, LF and NUL would let an
    /// attacker begin a new line.
    private static func isFieldValue(_ text: String) -> Bool {
        all(text) { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
    }

    /// Tests all bytes in the string's own memory, where it has some: reading each byte through the string's view
    /// costs several times as much.
    @inline(__always)
    private static func all(_ text: String, _ isGood: (UInt8) -> Bool) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { $0.allSatisfy(isGood) } ?? text.utf8.allSatisfy(isGood)
    }
}

/// Writes C strings one after another into memory whose size was computed before.
private struct Writer {
    var position: UnsafeMutableRawPointer

    func start() -> UnsafeMutablePointer<CChar> { position.assumingMemoryBound(to: CChar.self) }

    mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            guard let base = bytes.baseAddress else { return }
            position.copyMemory(from: base, byteCount: bytes.count)
            position += bytes.count
        }
    }

    mutating func end() {
        position.storeBytes(of: 0, as: UInt8.self)
        position += 1
    }
}
