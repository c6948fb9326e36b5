public import ChatKit
import ChatModel
public import HTTPServer

/// The product's own wire language: JSON over HTTP under `/v1`, described by `openapi.yaml`.
///
/// This page is the table of its routes; each resource has a file of its own.
public struct NativeAPI: Sendable {
    let service: ChatService

    var limits: Limits { service.limits }

    /// - Parameter service: must be running (`ChatService.run`) before the first request.
    public init(service: ChatService) {
        self.service = service
    }

    /// Adds every route. A test holds them against `openapi.yaml` in both directions.
    public func addRoutes(to router: inout Router) {
        router.add(.get, "/livez", handler: asAnybody(getLiveness))
    }
}
