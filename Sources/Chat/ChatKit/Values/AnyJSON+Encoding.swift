public import ChatModel

extension AnyJSON: Encodable {
    /// Encodes a value as JSON, with the members that its `encode(to:)` writes.
    ///
    /// - Throws: `.malformed` when `encode(to:)` throws.
    public init(encoding value: some Encodable) throws(ChatError) {
        do {
            self = try JSONNode.of(value, [])
        } catch let error as ChatError {
            throw error
        } catch {
            throw ChatError(.malformed, "the value cannot be sent as JSON: \(error)", slug: "not_encodable")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .boolean(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object(let members): try container.encode(members)
        }
    }
}

/// The value that an encoder builds. A class, because nested containers write to it after the call that created them.
private final class JSONNode {
    private var value: AnyJSON?
    private var list: [JSONNode]?
    private var members: [String: JSONNode]?

    init(_ value: AnyJSON? = nil) { self.value = value }

    /// The built value; an empty object when nothing was written.
    var json: AnyJSON {
        if let value { return value }
        if let list { return .array(list.map(\.json)) }
        return .object((members ?? [:]).mapValues(\.json))
    }

    var count: Int { list?.count ?? 0 }

    static func of(_ value: some Encodable, _ path: [any CodingKey]) throws -> AnyJSON {
        if let value = value as? AnyJSON { return value }
        let node = JSONNode()
        try value.encode(to: JSONEncoder(node: node, codingPath: path))
        return node.json
    }

    static func of(_ value: some BinaryInteger, _ path: [any CodingKey]) throws -> AnyJSON {
        guard let number = Int64(exactly: value) else {
            throw EncodingError.invalidValue(
                value, .init(codingPath: path, debugDescription: "an integer must be in the range of Int64"))
        }
        return .integer(number)
    }

    func set(_ value: AnyJSON) { self.value = value }

    func beginList() { list = list ?? [] }

    func set(_ value: AnyJSON, for key: any CodingKey) { member(key).set(value) }

    func member(_ key: any CodingKey) -> JSONNode {
        let node = JSONNode()
        members = members ?? [:]
        members?[key.stringValue] = node
        return node
    }

    func append(_ value: AnyJSON? = nil) -> JSONNode {
        let node = JSONNode(value)
        beginList()
        list?.append(node)
        return node
    }
}

private struct JSONEncoder: Encoder {
    let node: JSONNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(KeyedContainer(node: node, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.beginList()
        return ListContainer(node: node, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        ValueContainer(node: node, codingPath: codingPath)
    }
}

private struct KeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: JSONNode
    let codingPath: [any CodingKey]

    private func path(_ key: any CodingKey) -> [any CodingKey] { codingPath + [key] }

    mutating func encodeNil(forKey key: Key) { node.set(.null, for: key) }
    mutating func encode(_ value: Bool, forKey key: Key) { node.set(.boolean(value), for: key) }
    mutating func encode(_ value: String, forKey key: Key) { node.set(.string(value), for: key) }
    mutating func encode(_ value: Double, forKey key: Key) { node.set(.double(value), for: key) }
    mutating func encode(_ value: Float, forKey key: Key) { node.set(.double(Double(value)), for: key) }

    private func write(_ value: some BinaryInteger, _ key: Key) throws {
        node.set(try JSONNode.of(value, path(key)), for: key)
    }

    mutating func encode(_ value: Int, forKey key: Key) throws { try write(value, key) }
    mutating func encode(_ value: Int8, forKey key: Key) throws { try write(value, key) }
    mutating func encode(_ value: Int16, forKey key: Key) throws { try write(value, key) }
    mutating func encode(_ value: Int32, forKey key: Key) throws { try write(value, key) }
    mutating func encode(_ value: Int64, forKey key: Key) throws { try write(value, key) }
    mutating func encode(_ value: UInt, forKey key: Key) throws { try write(value, key) }
    mutating func encode(_ value: UInt8, forKey key: Key) throws { try write(value, key) }
    mutating func encode(_ value: UInt16, forKey key: Key) throws { try write(value, key) }
    mutating func encode(_ value: UInt32, forKey key: Key) throws { try write(value, key) }
    mutating func encode(_ value: UInt64, forKey key: Key) throws { try write(value, key) }

    mutating func encode(_ value: some Encodable, forKey key: Key) throws {
        node.set(try JSONNode.of(value, path(key)), for: key)
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        JSONEncoder(node: node.member(key), codingPath: path(key)).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        JSONEncoder(node: node.member(key), codingPath: path(key)).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { encoder(for: SuperKey()) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { encoder(for: key) }

    private func encoder(for key: any CodingKey) -> any Encoder {
        JSONEncoder(node: node.member(key), codingPath: path(key))
    }
}

private struct ListContainer: UnkeyedEncodingContainer {
    let node: JSONNode
    let codingPath: [any CodingKey]
    var count: Int { node.count }

    mutating func encodeNil() { _ = node.append(.null) }
    mutating func encode(_ value: some Encodable) throws { _ = node.append(try JSONNode.of(value, codingPath)) }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        JSONEncoder(node: node.append(), codingPath: codingPath).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        JSONEncoder(node: node.append(), codingPath: codingPath).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { JSONEncoder(node: node.append(), codingPath: codingPath) }
}

private struct ValueContainer: SingleValueEncodingContainer {
    let node: JSONNode
    let codingPath: [any CodingKey]

    private func set(_ value: AnyJSON) { node.set(value) }
    private func write(_ value: some BinaryInteger) throws { set(try JSONNode.of(value, codingPath)) }

    mutating func encodeNil() { set(.null) }
    mutating func encode(_ value: Bool) { set(.boolean(value)) }
    mutating func encode(_ value: String) { set(.string(value)) }
    mutating func encode(_ value: Double) { set(.double(value)) }
    mutating func encode(_ value: Float) { set(.double(Double(value))) }
    mutating func encode(_ value: Int) throws { try write(value) }
    mutating func encode(_ value: Int8) throws { try write(value) }
    mutating func encode(_ value: Int16) throws { try write(value) }
    mutating func encode(_ value: Int32) throws { try write(value) }
    mutating func encode(_ value: Int64) throws { try write(value) }
    mutating func encode(_ value: UInt) throws { try write(value) }
    mutating func encode(_ value: UInt8) throws { try write(value) }
    mutating func encode(_ value: UInt16) throws { try write(value) }
    mutating func encode(_ value: UInt32) throws { try write(value) }
    mutating func encode(_ value: UInt64) throws { try write(value) }
    mutating func encode(_ value: some Encodable) throws { set(try JSONNode.of(value, codingPath)) }
}

/// The coding key for the data of a class's superclass.
struct SuperKey: CodingKey {
    var stringValue: String { "super" }
    var intValue: Int? { nil }

    init() {}
    init?(stringValue: String) { if stringValue != "super" { return nil } }
    init?(intValue: Int) { return nil }
}
