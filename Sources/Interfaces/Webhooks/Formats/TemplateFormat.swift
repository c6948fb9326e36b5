import ChatModel
import JSON
import Templates

/// A format whose body the webhook's owner defines by a template. In the template, `event` is the envelope, and
/// `webhook` is an object with the webhook's `id`.
struct TemplateFormat: WebhookFormat {
    static let roots = ["event", "webhook"]
    /// The maximum size of a body, in bytes. A few references to a large payload could otherwise multiply its size.
    static let limitBytes = 256 * 1024

    private struct Context: TemplateContext {
        let envelope: JSONText
        let webhook: String

        func document(_ root: String) -> JSONText? {
            switch root {
            case "event": envelope
            case "webhook":
                JSONText { writer in
                    writer.beginObject()
                    writer.member("id", webhook)
                    writer.endObject()
                }
            default: nil
            }
        }

        func text(_ root: String, _ name: String) -> String? { nil }
    }

    private let template: Template

    init(_ template: Template) { self.template = template }

    var isBatchable: Bool { true }

    func content(
        of envelope: [UInt8], trace: TraceContext?, for subscriber: SubscriberID
    ) throws(FormatError) -> PostContent {
        do throws(TemplateError) {
            let context = Context(envelope: JSONText(trusted: envelope), webhook: subscriber.name)
            return PostContent(body: try template.render(context, limitBytes: Self.limitBytes).bytes)
        } catch {
            switch error {
            case .missing(let gaps):
                let named = gaps.prefix(5).map { "#\($0.pointer): \($0.detail)" }.joined(separator: "; ")
                throw FormatError("the template lacks a value: \(named)")
            case .tooLarge(let limit): throw FormatError("the result of the template is larger than \(limit) bytes")
            case .tooMuchWork: throw FormatError("the template's repetitions take too much work for this event")
            }
        }
    }
}
