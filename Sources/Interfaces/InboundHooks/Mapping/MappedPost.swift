import JSON
import Signing
import Templates

/// A verified post as a mapping sees it.
struct MappedPost: TemplateContext {
    let source: String
    let message: SignedMessage
    let query: [InboundPost.Field]
    let body: PostBody

    func document(_ root: String) -> JSONText? {
        switch PostRoot(rawValue: root) {
        case .body: body.json
        case .cloudevent: body.cloudEvent?.text
        default: nil
        }
    }

    func text(_ root: String, _ name: String) -> String? {
        switch PostRoot(rawValue: root) {
        case .header: message.header(name)
        case .query: query.first { $0.name == name }?.value
        case .form: body.form?.first { $0.name == name }?.value
        case .source: source
        default: nil
        }
    }
}
