import JSON
import Testing

@testable import JSONSchema

@Suite("Access to a tree") struct NodeAccessTests {
    private let text = """
        {"name": "Ada", "empty": "", "nul": "a\\u0000b", "list": [1, -2.5, true, false, null, [], {}],
         "nested": {"a": {"b": {"é": 1e2}}}, "": 0, "1": 1, "2": 2, "3": 3, "4": 4, "5": 5}
        """

    @Test("trusts the layout of the installed library and finds it in a parsed tree")
    func layout() throws {
        #expect(LayoutAccess.isTrusted)
        let document = try JSONDocument(Array(text.utf8))
        #expect(withExtendedLifetime(document) { LayoutCheck<LayoutAccess>.agrees(on: document.root.node) })
    }

    @Test("distrusts a layout that differs in one field")
    func distrust() {
        #expect(LayoutCheck<LayoutAccess>.passes())
        #expect(!LayoutCheck<Skewed>.passes())
    }

    @Test("reads the layout only when permitted")
    func choice() {
        #expect(NodeAccessChoice.layout.readsLayout == LayoutAccess.isTrusted)
        #expect(NodeAccessChoice.automatic.readsLayout == LayoutAccess.isTrusted)
        #expect(!NodeAccessChoice.public.readsLayout)
    }

    @Test("shows everything a document holds, by both paths")
    func outline() throws {
        let document = try JSONDocument(Array(text.utf8))
        let expected =
            "{name:'Ada',empty:'',nul:'a\0b',list:[1,-2.5,true,false,null,[],{}],"
            + "nested:{a:{b:{é:100.0}}},:0,1:1,2:2,3:3,4:4,5:5}"
        withExtendedLifetime(document) {
            #expect(outlined(document.root.node, by: PublicAccess.self) == expected)
            #expect(outlined(document.root.node, by: LayoutAccess.self) == expected)
        }
    }

    @Test("finds members by name in small and large objects", arguments: [0, 1, 7, 8, 9, 40, 1_000])
    func members(count: Int) throws {
        let members = (0..<count).map { "\"m\($0)\": \($0)" }.joined(separator: ",")
        let document = try JSONDocument(Array("{\(members)}".utf8))
        withExtendedLifetime(document) {
            for index in 0..<count {
                #expect(found("m\(index)", in: document.root.node, by: PublicAccess.self) == Int64(index))
                #expect(found("m\(index)", in: document.root.node, by: LayoutAccess.self) == Int64(index))
            }
            for absent in ["m", "m01", "m\(count)", "", "m0\0"] {
                #expect(found(absent, in: document.root.node, by: PublicAccess.self) == nil)
                #expect(found(absent, in: document.root.node, by: LayoutAccess.self) == nil)
            }
        }
    }

    private func found<Access: NodeAccess>(_ name: String, in object: Node, by access: Access.Type) -> Int64? {
        // The terminator gives the empty name an address.
        (Array(name.utf8) + [0]).withUnsafeBufferPointer { bytes in
            bytes.baseAddress.flatMap { Access.member(of: object, named: $0, length: bytes.count - 1) }
                .map(Access.integer)
        }
    }

    private func outlined<Access: NodeAccess>(_ node: Node, by access: Access.Type) -> String {
        switch node.kind {
        case .object:
            var members: [String] = []
            var position = Access.firstEntry(in: node)
            while let entry = position {
                let name = String(decoding: Access.nameBytes(of: entry), as: UTF8.self)
                members.append("\(name):\(outlined(Access.value(of: entry), by: access))")
                position = Access.entry(after: entry, in: node)
            }
            #expect(members.count == Access.size(ofObject: node))
            return "{\(members.joined(separator: ","))}"
        case .array:
            let elements = (0..<Access.count(ofArray: node)).map {
                outlined(Access.element($0, of: node), by: access)
            }
            return "[\(elements.joined(separator: ","))]"
        case .string: return "'\(String(decoding: Access.text(ofString: node), as: UTF8.self))'"
        case .integer: return "\(Access.integer(node))"
        case .real: return "\(Access.real(node))"
        case .true: return "true"
        case .false: return "false"
        case .null: return "null"
        }
    }
}

/// A layout whose strings store their length at another offset. Everything else is correct.
private enum Skewed: NodeAccess {
    static func length(ofString string: Node) -> Int { LayoutAccess.length(ofString: string) ^ 1 }

    static func size(ofObject object: Node) -> Int { LayoutAccess.size(ofObject: object) }
    static func firstEntry(in object: Node) -> Entry? { LayoutAccess.firstEntry(in: object) }
    static func entry(after entry: Entry, in object: Node) -> Entry? { LayoutAccess.entry(after: entry, in: object) }
    static func name(of entry: Entry) -> UnsafePointer<UInt8> { LayoutAccess.name(of: entry) }
    static func nameLength(of entry: Entry) -> Int { LayoutAccess.nameLength(of: entry) }
    static func value(of entry: Entry) -> Node { LayoutAccess.value(of: entry) }
    static func member(of object: Node, named name: UnsafePointer<UInt8>, length: Int) -> Node? {
        LayoutAccess.member(of: object, named: name, length: length)
    }
    static func count(ofArray array: Node) -> Int { LayoutAccess.count(ofArray: array) }
    static func element(_ index: Int, of array: Node) -> Node { LayoutAccess.element(index, of: array) }
    static func bytes(ofString string: Node) -> UnsafePointer<UInt8> { LayoutAccess.bytes(ofString: string) }
    static func integer(_ node: Node) -> Int64 { LayoutAccess.integer(node) }
    static func real(_ node: Node) -> Double { LayoutAccess.real(node) }
}
