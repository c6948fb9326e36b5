/// In what a route differs from the others of its router: where one server speaks several wire languages.
public struct RouteOptions: Sendable {
    /// In place of the router's: whose pages may call it.
    public var cors: CORSPolicy?
    /// Whether the segments of the path are decoded for the handler. One that reads ``Request/path`` itself can say in its
    /// own words what is wrong with it, and take apart what is a list before it decodes it.
    public var decodesPath = true
    /// Whether a body is what its `Content-Encoding` says, and refused where it is not. Else one that does not begin as
    /// compressed ones do is taken as it is.
    public var trustsContentEncoding = true
    /// Whether this is an HTML page that is safe to open from a link on another site.
    public var isPage = false
    /// How a refusal is said that the handler has not made: a wrong method, a body that is too large, an error nobody
    /// foresaw. Nil: as problem+json.
    public var refusal: (@Sendable (Problem) -> Response)?
    /// Told of a request whose body is larger than the route takes: its handler never sees it. Without the body; on the loop,
    /// so it must not wait.
    public var noteTooLarge: (@Sendable (Request) -> Void)?

    public init(
        cors: CORSPolicy? = nil, decodesPath: Bool = true, refusal: (@Sendable (Problem) -> Response)? = nil
    ) {
        self.cors = cors
        self.decodesPath = decodesPath
        self.refusal = refusal
    }
}
