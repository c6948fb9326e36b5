import HTTPServer

/// How a request carries CloudEvents (CloudEvents HTTP protocol binding 1.0.2, section 3), told by its header.
enum CloudEventForm: Equatable {
    case binary, structured, batch
    /// A format of CloudEvents other than JSON.
    case foreign

    /// Nil when the request is no CloudEvent.
    init?(_ headers: Headers) {
        let media = MediaType(headers["Content-Type"] ?? "")
        // The batch prefix first: the other one is its beginning.
        if media.text.hasPrefix("application/cloudevents-batch") {
            self = media.isJSON ? .batch : .foreign
        } else if media.text.hasPrefix("application/cloudevents") {
            self = media.isJSON || media.text == "application/cloudevents" ? .structured : .foreign
        } else if headers.contains("ce-specversion") {
            self = .binary
        } else {
            return nil
        }
    }
}
