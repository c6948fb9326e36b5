import JSON
import Testing
import YAML

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// `openapi.yaml` for tests, with a light check of responses: types, required and undeclared members, enums.
struct Description {
    struct Operation {
        var method: String
        var path: String
        var node: YAMLNode
        var item: YAMLNode

        func response(_ status: Int) -> YAMLNode? { node["responses"]?[String(status)] }

        var needsCredential: Bool { node["security"]?.sequence?.isEmpty != true }
    }

    let root: YAMLNode

    static func text() throws -> String {
        let top = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: top.appending(path: "openapi.yaml"), encoding: .utf8)
    }

    init() throws {
        root = try #require(try YAMLNode.parse(Self.text()))
    }

    var operations: [Operation] {
        var operations: [Operation] = []
        for (path, item) in root["paths"]?.mapping ?? [] {
            for (method, node) in item.mapping ?? [] where method.string != "parameters" {
                operations.append(
                    Operation(method: method.string ?? "", path: path.string ?? "", node: node, item: item))
            }
        }
        return operations
    }

    func hasLocation(_ response: YAMLNode) -> Bool { resolved(response)["headers"]?["Location"] != nil }

    func parameters(of operation: Operation) -> [YAMLNode] {
        let listed = [operation.item, operation.node].flatMap { Array($0["parameters"]?.sequence ?? []) }
        return listed.map(resolved)
    }

    func parameterNames(of operation: Operation) -> [String] {
        parameters(of: operation).compactMap { $0["name"]?.string }
    }

    var references: [String] { Self.references(in: root) }

    private static func references(in node: YAMLNode) -> [String] {
        switch node.value {
        case .mapping(let mapping):
            mapping.flatMap { $0.key.string == "$ref" ? [$0.value.string ?? ""] : references(in: $0.value) }
        case .sequence(let sequence): sequence.flatMap(references(in:))
        case .scalar: []
        }
    }

    func resolve(_ reference: String) -> YAMLNode? {
        guard reference.hasPrefix("#/") else { return nil }
        return reference.dropFirst(2).split(separator: "/").reduce(root as YAMLNode?) { $0?[String($1)] }
    }

    private func resolved(_ node: YAMLNode) -> YAMLNode {
        node["$ref"]?.string.flatMap(resolve) ?? node
    }
}

// MARK: - Checking answers

extension Description {
    /// The differences between a response and the description.
    func check(_ answer: Answer, to method: String, _ path: String) -> [String] {
        guard let operation = operations.first(where: { $0.method == method && $0.path == path }) else {
            return ["no such operation"]
        }
        guard let response = operation.response(answer.status).map(resolved) else {
            return ["status \(answer.status) is not declared"]
        }
        guard let content = response["content"] else {
            return answer.bytes.isEmpty ? [] : ["a body is not declared"]
        }
        let type = answer.header("Content-Type") ?? ""
        guard let schema = content[type]?["schema"] else {
            return ["'\(type)' is not declared"]
        }
        guard let value = answer.json else { return ["the body is no JSON"] }
        return check(value, schema, at: "#")
    }

    private func check(_ value: JSONValue, _ node: YAMLNode, at place: String) -> [String] {
        let schema = resolved(node)
        if let choices = schema["oneOf"]?.sequence {
            let verdicts = choices.map { check(value, $0, at: place) }
            return verdicts.contains { $0.isEmpty } ? [] : verdicts.flatMap { $0 }
        }
        let types = schema["type"].map { $0.sequence?.compactMap(\.string) ?? [$0.string ?? ""] } ?? []
        guard types.isEmpty || types.contains(where: value.isOf) else { return ["\(place) is not of type \(types)"] }
        if let words = schema["enum"]?.sequence?.compactMap(\.string), let text = value.string, !words.contains(text) {
            return ["\(place) is '\(text)'"]
        }
        switch value.kind {
        case .object: return checkMembers(of: value, schema, at: place)
        case .array:
            guard let items = schema["items"], let elements = value.elements else { return [] }
            return elements.enumerated().flatMap { check($1, items, at: "\(place)/\($0)") }
        default: return []
        }
    }

    private func checkMembers(of value: JSONValue, _ schema: YAMLNode, at place: String) -> [String] {
        let parts = flattened(schema)
        let properties = parts.reduce(into: [String: YAMLNode]()) { properties, part in
            for (name, node) in part["properties"]?.mapping ?? [] { properties[name.string ?? ""] = node }
        }
        var problems: [String] = []
        for name in parts.flatMap({ $0["required"]?.sequence?.compactMap(\.string) ?? [] }) where value[name] == nil {
            problems.append("\(place)/\(name) is missing")
        }
        // A schema without named members allows any.
        for (name, member) in value.members ?? [] {
            if let node = properties[name] ?? schema["additionalProperties"].flatMap({ $0.mapping == nil ? nil : $0 }) {
                problems += check(member, node, at: "\(place)/\(name)")
            } else if !properties.isEmpty {
                problems.append("\(place)/\(name) is not declared")
            }
        }
        return problems
    }

    /// A schema and all schemas that it combines.
    private func flattened(_ schema: YAMLNode) -> [YAMLNode] {
        [schema] + (schema["allOf"]?.sequence ?? []).flatMap { flattened(resolved($0)) }
    }
}

extension JSONValue {
    fileprivate func isOf(_ type: String) -> Bool {
        switch type {
        case "object": kind == .object
        case "array": kind == .array
        case "string": kind == .string
        case "integer": kind == .integer
        case "number": double != nil
        case "boolean": kind == .boolean
        case "null": isNull
        default: false
        }
    }
}
