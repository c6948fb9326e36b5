/// The SQL functions that read fields of JSON bodies.
enum RecordFunctions {
    /// Creates the functions, which are a part of version 1 of the tables. Never edit a function after its release: give
    /// the changed one another name. The database must have the encoding UTF8.
    ///
    /// A field passes through the functions as JSON text, because the operator `#>` of the type `json` returns the
    /// original bytes of a value. The results have the order and the equality of SQLite's `json_extract`:
    ///
    /// - `parley_json` parses a body. PostgreSQL cannot read a field of a value that contains the escape `\u0000`.
    ///   Therefore the function replaces this escape by a mark, two escapes of U+000B that differ in the case of the
    ///   digit. The other functions end a string at the mark, as `json_extract` does, and turn the mark in arrays and
    ///   objects back into the escape.
    /// - `parley_member` reads a value with a path. Use it instead of `#>` for a path with a number, which `#>` would
    ///   use as the index of an array.
    /// - `parley_text` returns the characters of a string and the text of an array or object without white space; NULL
    ///   for other values.
    /// - `parley_number` returns a number, or 1 or 0 for `true` or `false`; NULL for other values. An integer of 64 bits
    ///   is exact. Any other number is rounded to double precision. A number with up to 15 digits needs no rounding.
    ///
    /// The planner replaces calls of `parley_json`, `parley_text` and `parley_number` by their definitions if the
    /// argument is a column. Otherwise each call would cost several microseconds.
    static let sql = #"""
        CREATE FUNCTION parley_json(body text) RETURNS json LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT CASE WHEN strpos(body, '\u0000') = 0 THEN body::json ELSE
                regexp_replace(body, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\u000B\\u000b', 'g')::json END
        $$;
        CREATE FUNCTION parley_member(document json, path text[]) RETURNS json
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT document #> path WHERE NOT EXISTS (
                SELECT 1 FROM generate_series(0, cardinality(path) - 1) AS depth
                WHERE json_typeof(document #> path[1:depth]) = 'array')
        $$;
        CREATE FUNCTION parley_unescaped(field text) RETURNS text
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT regexp_replace(field, '(?<!\\)((?:\\\\)*)\\u000B\\u000b.*', '\1"')::json #>> '{}'
        $$;
        CREATE FUNCTION parley_compact(field text) RETURNS text
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT regexp_replace(
                regexp_replace(field, '("(?:[^"\\]|\\.)*")|[ \t\r\n]+', '\1', 'g'),
                '(?<!\\)((?:\\\\)*)\\u000B\\u000b', '\1\\u0000', 'g')
        $$;
        CREATE FUNCTION parley_text(field text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT CASE
                WHEN ascii(field) = 34 THEN
                    CASE WHEN strpos(field, '\') = 0 THEN btrim(field, '"') ELSE parley_unescaped(field) END
                WHEN ascii(field) IN (91, 123) THEN parley_compact(field) END
        $$;
        CREATE FUNCTION parley_wide_number(field text) RETURNS numeric
        LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
            DECLARE
                whole numeric;
                value double precision;
            BEGIN
                IF octet_length(field) <= 20 AND field !~ '[.eE]' THEN
                    whole := field::numeric;
                    IF whole BETWEEN -9223372036854775808 AND 9223372036854775807 THEN RETURN whole; END IF;
                END IF;
                value := field::double precision;
                IF value >= -9223372036854775808 AND value < 9223372036854775808 AND abs(value) >= 9007199254740992 THEN
                    RETURN value::bigint;
                END IF;
                RETURN value::text::numeric;
            EXCEPTION WHEN numeric_value_out_of_range THEN
                RETURN CASE WHEN field ~ '[eE]-|^-?0' THEN 0 WHEN field LIKE '-%' THEN '-Infinity'::numeric
                    ELSE 'Infinity'::numeric END;
            END
        $$;
        CREATE FUNCTION parley_number(field text) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
            SELECT CASE
                WHEN ascii(field) BETWEEN 45 AND 57 THEN CASE
                    WHEN strpos(field, 'e') > 0 OR strpos(field, 'E') > 0 OR octet_length(field) > 300
                        THEN parley_wide_number(field)
                    WHEN octet_length(field) <= CASE strpos(field, '.') WHEN 0 THEN 18 ELSE 16 END THEN field::numeric
                    WHEN strpos(field, '.') BETWEEN 2 AND 16 THEN field::double precision::text::numeric
                    ELSE parley_wide_number(field) END
                WHEN field = 'true' THEN 1
                WHEN field = 'false' THEN 0 END
        $$;
        """#

    /// The statements of ``sql``, one for each function. A connection accepts one statement in a text.
    static var statements: [String] {
        sql.split(separator: "CREATE FUNCTION").map { "CREATE FUNCTION" + $0 }
    }
}
