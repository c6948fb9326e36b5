/// Whether something is to be given at all: `{"body/action":"opened","header/X-Event":["push","tag"]}`.
///
/// Every reference must be as its test says; of a list of such objects one must hold.
public struct TemplateCondition: Sendable {
    indirect enum Test: Sendable {
        /// Its text is one of these; nil stands for `null` and for no value.
        case isOneOf([String?])
        case exists(Bool)
        case not(Test)
    }

    let alternatives: [[(reference: TemplateReference, test: Test)]]
}

extension TemplateCondition.Test {
    /// - Parameters:
    ///   - text: the value as text; nil for `null`, for arrays and objects, and where there is nothing.
    ///   - exists: whether there is something other than `null`.
    func holds(_ text: String?, exists: Bool) -> Bool {
        switch self {
        case .isOneOf(let values): values.contains { $0 == nil ? !exists : $0 == text }
        case .exists(let expected): exists == expected
        case .not(let test): !test.holds(text, exists: exists)
        }
    }
}
