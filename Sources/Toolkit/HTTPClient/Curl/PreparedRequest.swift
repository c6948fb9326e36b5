internal import CCurl

/// A request in the form that libcurl reads. The header list, URL, method and body are in one block of memory with a
/// fixed address.
///
/// libcurl stores pointers to the header list and the body until the transfer has ended. The task that sends the
/// request builds the block, so that the loop thread copies nothing. The block needs only one allocation, instead of
/// two for each header field.
struct PreparedRequest: ~Copyable {
    /// The kinds of transfers that libcurl distinguishes. The kind depends on the method and the body.
    enum Shape { case get, head, withoutBody, withBody }

    let shape: Shape
    /// True when the method must be set explicitly, because libcurl would not choose it for this kind of transfer.
    let hasOwnMethod: Bool
    let bodyCount: Int
    private let memory: UnsafeMutableRawPointer
    private let urlOffset: Int
    private let methodOffset: Int
    private let bodyOffset: Int

    var headers: UnsafeMutablePointer<curl_slist> { memory.assumingMemoryBound(to: curl_slist.self) }
    var url: UnsafePointer<CChar> { text(at: urlOffset) }
    var method: UnsafePointer<CChar> { text(at: methodOffset) }
    /// The pointer to the body. It is not `nil` even for an empty body, because libcurl would otherwise read the body
    /// from standard input.
    var body: UnsafeMutableRawPointer { memory + bodyOffset }

    /// The header fields that libcurl must not add. `Expect` would require a round trip, and many receivers respond to
    /// it late or never. libcurl's `Content-Type` would declare a form.
    private static let suppressed = ["Expect", "Content-Type"]

    /// Checks a request and copies it into a new block of memory.
    ///
    /// - Throws: ``OutboundFailure/Reason/requestInvalid`` if the method or a header field is malformed.
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
                // For libcurl, `name:` means that the field is omitted, and `name;` that it is sent with an empty
                // value.
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
        guard isToken(request.method) else {
            throw OutboundFailure(.requestInvalid, detail: "the method is not a valid HTTP token")
        }
        guard request.method.utf8.count <= 32 else {
            throw OutboundFailure(.requestInvalid, detail: "the method is longer than 32 bytes")
        }
        for field in request.headers {
            guard isToken(field.name), isFieldValue(field.value) else {
                throw OutboundFailure(.requestInvalid, detail: "malformed header field \(field.name.prefix(64))")
            }
            switch field.name.utf8.count {
            case 14 where field.name.lowercased() == "content-length",
                17 where field.name.lowercased() == "transfer-encoding":
                throw OutboundFailure(.requestInvalid, detail: "the header \(field.name) is set by the gateway")
            default: break
            }
        }
    }

    /// Returns true for a token (RFC 9110, 5.6.2).
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && all(text) { byte in
                switch byte {
                // The allowed characters are visible ASCII without `"(),/:;<=>?@[\]{}`.
                case 0x21, 0x23...0x27, 0x2a, 0x2b, 0x2d, 0x2e, 0x30...0x39, 0x41...0x5a, 0x5e...0x7a, 0x7c, 0x7e: true
                default: false
                }
            }
    }

    /// Returns true for a valid field value (RFC 9110, 5.5): no control characters except the tab. CR, LF and NUL would
    /// let an attacker begin a new line.
    private static func isFieldValue(_ text: String) -> Bool {
        all(text) { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
    }

    /// Returns true when `isGood` is true for all bytes. Reads the bytes directly from the string's memory if possible,
    /// because access through the string's UTF-8 view takes several times as long.
    @inline(__always)
    private static func all(_ text: String, _ isGood: (UInt8) -> Bool) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { $0.allSatisfy(isGood) } ?? text.utf8.allSatisfy(isGood)
    }
}

/// Writes C strings one after another into a block of memory. The caller must have computed the required size.
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
