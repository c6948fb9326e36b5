import ChatCore
import ChatModel
import JSON
import Testing

@Suite("A native filter") struct FilterTests {
    static let event = sampleEvent(
        data: #"""
            {"score":81,"price":99.5,"text":"Hello World","empty":"","zero":0,"numeric":"42","yes":true,"no":false,
             "none":null,"tags":["Red","blue",7],"nested":{"a b":{"c":[10,20]}},"big":17324123456789013,
             "pattern":"hello\\*","and":1,"größe":"XL","star":"a*b","back":"C:\\dir"}
            """#,
        meta: #"{"lang":"en","region":"eu-west","hidden":false,"age":"18"}"#, customType: "invoice")

    static func selects(_ row: FilterCase) throws -> Bool { try Filter(row.text).accepts(event) }

    @Test(
        "reads the envelope's fields",
        arguments: [
            FilterCase("type == 'order.paid'", true), FilterCase("type == 'order.Paid'", false),
            FilterCase("type LIKE 'order.*'", true), FilterCase("channel == \"orders.eu\"", true),
            FilterCase("user == 'ana'", true), FilterCase("user != 'ana'", false),
            FilterCase("custom_type == 'invoice'", true), FilterCase("data.score == 81", true),
            FilterCase("meta.lang == 'en'", true), FilterCase("meta[\"lang\"] == 'en'", true),
            FilterCase("data.nested[\"a b\"].c[1] == 20", true), FilterCase("data.nested['a b']['c'][0] == 10", true),
            FilterCase("data.nested['a b'].c[2] == 20", false), FilterCase("data.and == 1", true),
            FilterCase("data.größe == 'xl'", false), FilterCase("data.größe == 'XL'", true),
        ])
    func names(_ row: FilterCase) throws { #expect(try Self.selects(row) == row.selects) }

    @Test("reads a payload that is no object by its bare name")
    func scalarPayload() throws {
        #expect(try Filter("data == 5").accepts(sampleEvent(data: "5")))
        #expect(try Filter("data[0] == 'x' && data CONTAINS 'y'").accepts(sampleEvent(data: #"["x","Y"]"#)))
        #expect(try !Filter("data.x == 5").accepts(sampleEvent(data: "5")))
    }

    @Test(
        "makes every comparison with a missing name false",
        arguments: ["==", "!=", "<", ">", "<=", ">=", "LIKE", "CONTAINS"])
    func undefined(_ operation: String) throws {
        for text in [
            "data.missing \(operation) 'x'", "'x' \(operation) meta.missing", "data.missing \(operation) null",
            "(data.missing + 1) \(operation) 1", "data.score.deeper \(operation) 1",
            "data.missing \(operation) data.missing",
        ] {
            #expect(try !Filter(text).accepts(Self.event), "\(text)")
            #expect(try Filter("!(\(text))").accepts(Self.event), "\(text)")
        }
        #expect(try !Filter("user \(operation) 'ana'").accepts(sampleEvent(user: nil)))
    }

    @Test(
        "compares for equality",
        arguments: [
            FilterCase("data.score == 81.0", true), FilterCase("data.price == 99.50", true),
            FilterCase("data.price == 9.95e1", true), FilterCase("data.score != 80", true),
            // Integers compare exactly; as doubles these two would be equal.
            FilterCase("data.big == 17324123456789013", true), FilterCase("data.big == 17324123456789012", false),
            FilterCase("data.text == 'Hello World'", true), FilterCase("data.text == 'hello world'", false),
            FilterCase("data.yes == true", true), FilterCase("data.yes != false", true),
            FilterCase("data.yes == TRUE", true), FilterCase("data.numeric == 42", true),
            FilterCase("42.0 == data.numeric", true), FilterCase("meta.age == 18", true),
            FilterCase("data.text == 42", false), FilterCase("data.text != 42", true),
            FilterCase("data.numeric == '42.0'", false), FilterCase("data.none == null", true),
            FilterCase("data.none != null", false), FilterCase("data.score != null", true),
            FilterCase("data.none == 0", false), FilterCase("data.none == ''", false),
            FilterCase("data.yes == 1", false),
            FilterCase("data.yes != 1", true), FilterCase("data.yes == 'true'", false),
            FilterCase("data.tags == 'Red'", false), FilterCase("data.tags != 'Red'", false),
            FilterCase("data.nested != 1", false), FilterCase("('a','b') != 'a'", false),
            FilterCase("('a') == 'a'", true), FilterCase("data.star == 'a*b'", true),
            FilterCase("data.star == 'a\\*b'", true), FilterCase("data.back == 'C:\\dir'", true),
            FilterCase("data.back == 'C:\\\\dir'", true), FilterCase(#"'it\'s' == "it's""#, true),
        ])
    func equality(_ row: FilterCase) throws { #expect(try Self.selects(row) == row.selects) }

    @Test("compares texts by their bytes, not by their appearance")
    func exactTexts() throws {
        #expect(try !Filter("data == 'é'").accepts(sampleEvent(data: "\"e\u{301}\"")))
        #expect(try Filter("data == 'é'").accepts(sampleEvent(data: "\"\u{E9}\"")))
    }

    @Test(
        "orders numbers, and texts that spell one",
        arguments: [
            FilterCase("data.score > 80", true), FilterCase("data.score > 81", false),
            FilterCase("data.score >= 81", true), FilterCase("data.score < 81.5", true),
            FilterCase("data.score <= 80", false), FilterCase("meta.age >= 18", true),
            FilterCase("meta.age < '19'", true), FilterCase("data.big > 17324123456789012", true),
            FilterCase("data.text > 1", false), FilterCase("data.text < 1", false),
            FilterCase("'b' > 'a'", false), FilterCase("data.yes > 0", false), FilterCase("data.none <= 0", false),
            FilterCase("'inf' > 1", false), FilterCase("'0x10' > 1", false), FilterCase("' 2' > 1", false),
            FilterCase("'1e2' > 99", true), FilterCase("'-2' < -1.5", true), FilterCase("'2.' > 1", false),
        ])
    func order(_ row: FilterCase) throws { #expect(try Self.selects(row) == row.selects) }

    @Test(
        "matches patterns without regard to case",
        arguments: [
            FilterCase("meta.region LIKE 'eu-*'", true), FilterCase("meta.region like 'EU-*'", true),
            FilterCase("meta.region LIKE 'eu'", false), FilterCase("meta.region LIKE '*west'", true),
            FilterCase("meta.region LIKE '*-*'", true), FilterCase("meta.region LIKE '*'", true),
            FilterCase("meta.region LIKE 'eu-west*'", true), FilterCase("meta.region LIKE 'eu-we*west'", false),
            FilterCase("data.text LIKE 'h*o*w*d'", true), FilterCase("data.text LIKE '*lo wo*'", true),
            FilterCase("data.text LIKE 'h**d'", true), FilterCase("data.empty LIKE ''", true),
            FilterCase("data.empty LIKE '*'", true), FilterCase("data.star LIKE 'a\\*b'", true),
            FilterCase("data.text LIKE 'hello\\*'", false), FilterCase("data.star LIKE data.pattern", false),
            FilterCase("'HELLO*' LIKE data.pattern", true), FilterCase("'HELLOX' LIKE data.pattern", false),
            FilterCase("data.größe LIKE 'x*'", true), FilterCase("'GRÖSSE' LIKE 'grö*'", true),
            FilterCase("('x','yes') LIKE 'Y*'", true), FilterCase("('x','no') LIKE 'Y*'", false),
            FilterCase("data.tags LIKE 'RE*'", true), FilterCase("data.tags LIKE '7'", false),
            FilterCase("data.score LIKE '8*'", false), FilterCase("data.text LIKE 5", false),
        ])
    func like(_ row: FilterCase) throws { #expect(try Self.selects(row) == row.selects) }

    @Test(
        "finds members and parts",
        arguments: [
            FilterCase("('a','b','c') CONTAINS 'B'", true), FilterCase("('a','b','c') CONTAINS 'd'", false),
            FilterCase("(1,2,3) CONTAINS 2.0", true), FilterCase("(1,2,3) CONTAINS '2'", true),
            FilterCase("(81,'x') CONTAINS data.score", true), FilterCase("data.tags CONTAINS 'RED'", true),
            FilterCase("data.tags CONTAINS 7", true), FilterCase("data.tags CONTAINS 're'", false),
            FilterCase("data.text CONTAINS 'WORLD'", true), FilterCase("data.text CONTAINS 'worlds'", false),
            FilterCase("data.text CONTAINS ''", true), FilterCase("data.numeric CONTAINS 4", true),
            FilterCase("data.numeric CONTAINS 2.0", true), FilterCase("data.score CONTAINS 8", false),
            FilterCase("data.text CONTAINS null", false), FilterCase("('abc') CONTAINS 'b'", false),
            FilterCase("('abc') CONTAINS 'ABC'", true), FilterCase("(data.score, data.missing) CONTAINS 81", true),
            FilterCase("(true, null) CONTAINS data.none", true), FilterCase("data.nested CONTAINS 'c'", false),
            FilterCase("data.größe CONTAINS 'l'", true), FilterCase("'GRÖSSE' CONTAINS 'rö'", true),
        ])
    func contains(_ row: FilterCase) throws { #expect(try Self.selects(row) == row.selects) }

    @Test(
        "combines conditions, && before ||, ! before a comparison's whole",
        arguments: [
            FilterCase("true || false && false", true), FilterCase("(true || false) && false", false),
            FilterCase("!data.score == 1", true), FilterCase("!!data.yes", true), FilterCase("NOT data.yes", false),
            FilterCase("data.yes and NOT data.no or false", true), FilterCase("data.no OR data.yes", true),
            FilterCase("true == (1 == 1)", true), FilterCase("(1 < 2) == (2 > 1)", true),
        ])
    func logic(_ row: FilterCase) throws { #expect(try Self.selects(row) == row.selects) }

    @Test(
        "takes a bare operand as a condition",
        arguments: [
            FilterCase("data.yes", true), FilterCase("data.no", false), FilterCase("data.score", true),
            FilterCase("data.zero", false), FilterCase("data.text", true), FilterCase("data.empty", false),
            FilterCase("data.none", false), FilterCase("data.tags", false), FilterCase("data.nested", false),
            FilterCase("data.missing", false), FilterCase("(true)", true), FilterCase("(0)", false),
            FilterCase("('a','b')", false), FilterCase("'x'", true),
        ])
    func bareOperands(_ row: FilterCase) throws { #expect(try Self.selects(row) == row.selects) }

    @Test(
        "calculates",
        arguments: [
            FilterCase("1 + 2 * 3 == 7", true), FilterCase("(1 + 2) * 3 == 9", true),
            FilterCase("10 - 3 - 2 == 5", true),
            FilterCase("7 / 2 == 3.5", true), FilterCase("6 / 2 == 3", true), FilterCase("7 % 3 == 1", true),
            FilterCase("7.5 % 2 == 1.5", true), FilterCase("6 & 3 == 2", true), FilterCase("(6 | 1) == 7", true),
            FilterCase("6 | 1 == 7", true), FilterCase("(6 ^ 3) == 5", true), FilterCase("~0 == -1", true),
            FilterCase("-data.score == -81", true), FilterCase("- -2 == 2", true), FilterCase("2--2 == 4", true),
            FilterCase("data.score - 1 > 79", true), FilterCase("data.numeric + 1 == 43", true),
            FilterCase("1 / 0 == 1", false), FilterCase("1 / 0 != 1", false), FilterCase("1 % 0 == 0", false),
            FilterCase("1.5 & 1 == 1", false), FilterCase("data.text + 1 != 0", false),
            FilterCase("9223372036854775807 + 1 > 9e18", true),
            FilterCase("-9223372036854775808 / -1 > 0", true), FilterCase("-9223372036854775808 % -1 == 0", true),
            FilterCase("9007199254740993 - 9007199254740992 == 1", true), FilterCase("1e308 * 10 != 0", false),
            FilterCase("data.yes + 1 != 0", false),
        ])
    func arithmetic(_ row: FilterCase) throws { #expect(try Self.selects(row) == row.selects) }

    @Test("parses nothing of an event whose members it does not name")
    func laziness() throws {
        // Text that the parser rejects proves that it is not read: its members would be undefined.
        let event = sampleEvent(data: "not JSON", meta: #"{"a":1}"#)
        #expect(try Filter("type == 'order.paid' && meta.a == 1").accepts(event))
        #expect(try !Filter("data.x == 1 || data == 1").accepts(event))
    }

    @Test("shares one subject with others")
    func sharedSubject() throws {
        let subject = FilterSubject(Self.event)
        #expect(try Filter("data.score > 80").accepts(subject))
        #expect(try !Filter("data.score > 90").accepts(subject))
        #expect(try Filter("data.score > 80", dialect: .pubnub).accepts(subject))
    }

    @Test("equals another with the same text and dialect")
    func equality() throws {
        #expect(try Filter("meta.a") == Filter("meta.a"))
        #expect(
            try Set([Filter("meta.a"), Filter("meta.a", dialect: .pubnub), Filter("meta.b"), Filter("meta.a")]).count
                == 3)
        #expect(try Filter("meta.é == 1") != Filter("meta.e\u{301} == 1"))
        #expect(try Filter(" meta.a ").text == " meta.a ")
    }
}
