import Templates

/// A compiled mapping.
indirect enum MappingNode: Sendable {
    /// A branch that gives no event.
    case nothing
    case event(EventTemplate)
    case list([MappingNode])
    case choice(TemplateChoice<MappingNode>, at: String)
}

/// One event, or one for each element of an array.
struct EventTemplate: Sendable {
    let pointer: String
    let repetition: TemplateRepetition?
    /// Looked at for each element where there is a repetition.
    let condition: TemplateCondition?
    let channel: Template
    let type: Template
    let user: Template?
    let data: Template
    let meta: Template?
    let isStored: Bool
}
