public import ChatModel

extension AnyJSON: Decodable {
    /// Decodes the JSON value as a type of the program.
    ///
    /// ```swift
    /// let order = try event.payload.decode(Order.self)
    /// ```
    ///
    /// - Throws: `.malformed` when the JSON value does not have the form of the type. The message names the member.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws(ChatError) -> Value {
        do {
            return try JSONDecoder(json: self, codingPath: []).read(type)
        } catch let error as ChatError {
            throw error
        } catch {
            throw ChatError(.malformed, "the JSON cannot be decoded as \(Value.self): \(error)", slug: "not_decodable")
        }
    }

    public init(from decoder: any Decoder) throws {
        if let decoder = decoder as? JSONDecoder {
            self = decoder.json
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .double(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let values = try? container.decode([AnyJSON].self) {
            self = .array(values)
        } else {
            self = .object(try container.decode([String: AnyJSON].self))
        }
    }
}

private struct JSONDecoder: Decoder {
    let json: AnyJSON
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func mismatch<Value>(_ type: Any.Type) -> Result<Value, DecodingError> {
        .failure(.typeMismatch(type, .init(codingPath: codingPath, debugDescription: "the JSON value is \(json.text)")))
    }

    func boolean() throws -> Bool {
        guard case .boolean(let value) = json else { return try mismatch(Bool.self).get() }
        return value
    }

    func string() throws -> String {
        guard case .string(let value) = json else { return try mismatch(String.self).get() }
        return value
    }

    func number() throws -> Double {
        switch json {
        case .integer(let value): return Double(value)
        case .double(let value): return value
        default: return try mismatch(Double.self).get()
        }
    }

    func integer<Value: FixedWidthInteger>(_ type: Value.Type) throws -> Value {
        switch json {
        case .integer(let value):
            if let value = Value(exactly: value) { return value }
        case .double(let value):
            if let value = Value(exactly: value) { return value }
        default: break
        }
        return try mismatch(type).get()
    }

    func read<Value: Decodable>(_ type: Value.Type) throws -> Value { try type.init(from: self) }

    func inside(_ key: any CodingKey, _ value: AnyJSON) -> JSONDecoder {
        JSONDecoder(json: value, codingPath: codingPath + [key])
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let members) = json else { return try mismatch([String: AnyJSON].self).get() }
        return KeyedDecodingContainer(KeyedReader(decoder: self, members: members))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = json else { return try mismatch([AnyJSON].self).get() }
        return ListReader(decoder: self, elements: elements)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { ValueReader(decoder: self) }
}

private struct KeyedReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: JSONDecoder
    let members: [String: AnyJSON]
    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { members.keys.compactMap { Key(stringValue: $0) } }

    private func at(_ key: any CodingKey) throws -> JSONDecoder {
        guard let value = members[key.stringValue] else {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: codingPath, debugDescription: "the member '\(key.stringValue)' is missing"))
        }
        return decoder.inside(key, value)
    }

    func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try at(key).json == .null }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try at(key).boolean() }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try at(key).string() }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try at(key).number() }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { Float(try at(key).number()) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try at(key).integer(type) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try at(key).integer(type) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try at(key).integer(type) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try at(key).integer(type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try at(key).integer(type) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try at(key).integer(type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try at(key).integer(type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try at(key).integer(type) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try at(key).integer(type) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try at(key).integer(type) }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try at(key).read(type) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try at(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try at(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { decoder.inside(SuperKey(), members["super"] ?? .null) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try at(key) }
}

private struct ListReader: UnkeyedDecodingContainer {
    let decoder: JSONDecoder
    let elements: [AnyJSON]
    var currentIndex = 0
    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    init(decoder: JSONDecoder, elements: [AnyJSON]) {
        self.decoder = decoder
        self.elements = elements
    }

    private func current() throws -> JSONDecoder {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                AnyJSON.self,
                .init(codingPath: codingPath, debugDescription: "the JSON array has only \(elements.count) elements")
            )
        }
        return JSONDecoder(json: elements[currentIndex], codingPath: codingPath)
    }

    mutating func decodeNil() throws -> Bool {
        guard try current().json == .null else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try current().read(type)
        currentIndex += 1
        return value
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        let container = try current().container(keyedBy: type)
        currentIndex += 1
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try current().unkeyedContainer()
        currentIndex += 1
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = try current()
        currentIndex += 1
        return decoder
    }
}

private struct ValueReader: SingleValueDecodingContainer {
    let decoder: JSONDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.json == .null }
    func decode(_ type: Bool.Type) throws -> Bool { try decoder.boolean() }
    func decode(_ type: String.Type) throws -> String { try decoder.string() }
    func decode(_ type: Double.Type) throws -> Double { try decoder.number() }
    func decode(_ type: Float.Type) throws -> Float { Float(try decoder.number()) }
    func decode(_ type: Int.Type) throws -> Int { try decoder.integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try decoder.integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try decoder.integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try decoder.integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try decoder.integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try decoder.integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try decoder.integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try decoder.integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try decoder.integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try decoder.integer(type) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.read(type) }
}
