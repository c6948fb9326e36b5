import Testing

@testable import JSONSchema

@Suite("The syntax of patterns") struct SyntaxTests {
    @Test(
        "accepts what ECMA-262 accepts with the u flag",
        arguments: [
            "", "|", "()", "(?:)", "a|", "[]", "[^]", "[-a]", "[a-]", "[--a]", "[\\d-]", "[.*+?^${}()|]", "[\\b]",
            "[\\-]",
            "\\0", "\\cA", "\\cz", "\\x61", "\\u0061", "\\u{61}", "\\u{0010FFFF}", "\\ud83d\\udc32", "\\ud83d", "\\/",
            "/",
            "\\^\\$\\\\\\.\\*\\+\\?\\(\\)\\[\\]\\{\\}\\|", "a{0}", "a{2,2}", "a{00002,3}?", "a{5,}", "a*?", "a+?",
            "a??",
            "(?<n>a)\\k<n>", "\\k<n>(?<n>a)", "(?<$_a1>x)", "(?<π\\u0061\\u{62}>x)", "(?<\\ud835\\udc9c>.)", "\\1(a)",
            "(?=a)", "(?!a)", "(?<=a+)b", "(?<!a|bb)", "(?:(?=a))*", "((?=a))*", "\\p{L}", "\\p{Letter}", "\\p{gc=Lu}",
            "\\p{Script=Latin}", "\\p{sc=Latn}", "\\p{scx=Grek}", "\\P{ASCII}", "\\p{Any}", "\\p{digit}", "[\\p{L}\\d]",
            "a{99999999999999999999}", "中", "🐲+", "-", "<", ">", "=", "!", ":", ",", "&", "~", "#", "@", "%", "\"", "'",
            "`",
        ])
    func valid(_ pattern: String) {
        #expect(Pattern.isValid(pattern), "\(pattern)")
    }

    @Test(
        "refuses what ECMA-262 refuses with the u flag",
        arguments: [
            "(", ")", "a)", "(a", "[", "[a", "[^", "]", "{", "}", "a{", "a{1", "a{1,", "a{,2}", "a{x}", "a{2,1}", "{1}",
            "*", "+", "?", "a**", "a+*", "a{1}{2}", "^*", "$+", "\\b?", "\\B*", "(?=a)*", "(?!a)+", "(?<=a)?",
            "(?<!a){1}",
            "|*", "(*a)", "\\", "\\a", "\\e", "\\h", "\\Z", "\\A", "\\z", "\\Q..\\E", "\\-", "\\_", "\\ ", "\\\"",
            "\\é",
            "\\c", "\\c1", "\\cé", "[\\c]", "\\x", "\\x6", "\\xg0", "\\u", "\\u006", "\\u{", "\\u{}", "\\u{110000}",
            "\\u{61", "\\00", "\\01", "[\\00]", "[\\1]", "[\\k]", "[\\B]", "[\\a]", "[b-a]", "[\\d-z]", "[a-\\d]",
            "[\\w-\\d]",
            "\\1", "(a)\\2", "\\k", "\\k<", "\\k<n>", "\\k<>", "(?<n>a)\\k<m>", "(?<n>a)(?<n>b)", "(?<n>a)|(?<n>b)",
            "(?<>a)", "(?<1a>x)", "(?<a", "(?<a-b>x)", "(?<a\\x61>x)", "(?i)a", "(?i:a)", "(?>a)", "(?#c)", "(?P<n>a)",
            "(?P=n)", "(?", "(?a)", "a++", "a{99999999999999999999,99999999999999999998}", "\\p", "\\pL", "\\p{",
            "\\p{}",
            "\\p{l}", "\\p{letter}", "\\p{Lu", "\\p{Nope}", "\\p{Script}", "\\p{Latin}", "\\p{sc=}", "\\p{sc=latin}",
            "\\p{gc=ASCII}", "\\p{L=Lu}", "\\p{Block=ASCII}", "\\p{ L}", "\\p{L }", "\\p{^L}", "\\p{Is_L}",
            "\\p{Grapheme_Link}",
            "[\\p{L}-z]", "[[:alpha:]]\\", "^(abc]",
        ])
    func invalid(_ pattern: String) {
        #expect(!Pattern.isValid(pattern), "\(pattern)")
    }

    @Test(
        "names the place of a mistake",
        arguments: [
            ("ab(c", 2), ("é[a", 2), ("x\\a", 1), ("(a)\\2", 4), ("a{2,1}", 1), ("a[z-a]", 2), ("\\p{Nope}", 3),
            ("\\k<n>", 3), ("a)", 1), ("(?<n>a)(?<n>b)", 10),
        ])
    func offsets(_ pattern: String, offset: Int) {
        #expect(Pattern.refusal(pattern)?.offset == offset, "\(pattern)")
    }
}
