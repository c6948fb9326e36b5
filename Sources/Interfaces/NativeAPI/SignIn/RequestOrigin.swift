import HTTPServer

/// Whose page has made a browser send a request.
enum RequestOrigin: Equatable {
    /// A page of this gateway.
    case own
    /// Nobody's: an address that was typed, or no browser at all.
    case nobody
    case foreign

    /// - Parameter publicURL: where a proxy changes the `Host` field, what browsers have for it; empty when not set.
    init(_ request: Request, publicURL: String) {
        // Source: Fetch Metadata. Scripts cannot set the field; browsers send it to https and to this machine only.
        if let site = request.headers["Sec-Fetch-Site"] {
            self = site == "same-origin" ? .own : site == "none" ? .nobody : .foreign
        } else if let origin = request.headers["Origin"] {
            // `null`, and an HTTP/1.0 request without `Host`, have no authority: two that are missing are not the same.
            let isOwn =
                Self.authority(of: origin).map { $0 == request.headers["Host"] } ?? false
                || Self.begins(publicURL, with: origin)
            self = isOwn ? .own : .foreign
        } else {
            self = .nobody
        }
    }

    private static func authority(of origin: String) -> String? {
        for scheme in ["https://", "http://"] where origin.hasPrefix(scheme) {
            return String(origin.dropFirst(scheme.count))
        }
        return nil
    }

    static func begins(_ url: String, with origin: String) -> Bool {
        url == origin || url.hasPrefix(origin + "/")
    }
}

extension Request {
    /// Whether it only reads (RFC 9110, 9.2.1).
    var isSafe: Bool { [.get, .head, .options].contains(method) }
}
