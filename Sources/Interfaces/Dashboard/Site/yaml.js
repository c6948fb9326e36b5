// Parses the subset of YAML that openapi.yaml uses: block and flow collections, quoted and plain scalars, literal and
// folded blocks, comments. No anchors, tags or multiple documents. A test compares it with a full parser.

export function parseYAML(text) {
  const lines = text.split("\n").map((line) => ({ indent: line.search(/\S|$/), text: line.trim(), raw: line }));
  return new Reader(lines).block(0);
}

class Reader {
  constructor(lines) {
    this.lines = lines;
    this.at = 0;
  }

  /** Returns the next line with content, without consuming it. */
  peek() {
    while (this.at < this.lines.length && (!this.lines[this.at].text || this.lines[this.at].text.startsWith("#"))) {
      this.at++;
    }
    return this.lines[this.at];
  }

  block(indent) {
    const line = this.peek();
    if (!line || line.indent < indent) return null;
    return /^-(\s|$)/.test(line.text) ? this.sequence(line.indent) : this.mapping(line.indent);
  }

  sequence(indent) {
    const items = [];
    for (let line; (line = this.peek()) && line.indent === indent && /^-(\s|$)/.test(line.text);) {
      const rest = line.text.slice(1).trimStart();
      if (!rest) {
        this.at++;
        items.push(this.block(indent + 1));
        continue;
      }
      // `- a: 1` begins a mapping whose indent is the column of `a`.
      const inner = line.raw.length - line.raw.slice(indent + 1).trimStart().length;
      if (keyOf(rest)) {
        this.lines[this.at] = { indent: inner, text: rest, raw: " ".repeat(inner) + rest };
        items.push(this.mapping(inner));
      } else {
        this.at++;
        items.push(this.value(rest, indent));
      }
    }
    return items;
  }

  mapping(indent) {
    const members = {};
    for (let line; (line = this.peek()) && line.indent === indent;) {
      const key = keyOf(line.text);
      if (!key) throw new Error(`line ${this.at + 1}: expected a key: ${line.text}`);
      this.at++;
      members[key.name] = this.value(key.rest, indent);
    }
    return members;
  }

  value(rest, indent) {
    if (/^[|>]/.test(rest)) return this.scalarBlock(rest, indent);
    if (!rest || rest.startsWith("#")) {
      const next = this.peek();
      // A sequence may have the same indent as its key.
      return next && (next.indent > indent || (next.indent === indent && /^-(\s|$)/.test(next.text)))
        ? this.block(next.indent)
        : null;
    }
    let text = rest;
    const more = () => text += " " + this.lines[this.at++].text;
    if (/^[[{'"]/.test(rest)) {
      while (!isWhole(text) && this.at < this.lines.length) more();
      return new Flow(text).whole();
    }
    while (this.at < this.lines.length && this.lines[this.at].text && this.lines[this.at].indent > indent) more();
    return scalar(text.replace(/\s+#.*$/, ""));
  }

  scalarBlock(head, indent) {
    const body = [];
    let inner = null;
    for (; this.at < this.lines.length; this.at++) {
      const line = this.lines[this.at];
      if (line.text && line.indent <= indent) break;
      if (line.text) inner ??= line.indent;
      body.push(line.text ? line.raw.slice(inner) : "");
    }
    while (body.length && !body.at(-1)) body.pop();
    const text = head[0] === "|" ? body.join("\n") : fold(body);
    return head.includes("-") ? text : text + "\n";
  }
}

/** Folds lines: line breaks become spaces, empty lines become line breaks. */
const fold = (lines) =>
  lines.reduce(
    (all, line, index) =>
      index === 0 ? line : line === "" ? all + "\n" : all.endsWith("\n") || all === "" ? all + line : all + " " + line,
    "",
  );

function keyOf(text) {
  const match = text.match(/^(?:'((?:[^']|'')*)'|"((?:[^"\\]|\\.)*)"|([^\s'"[\]{},#&*!|>%@`][^#]*?))\s*:(?:\s+(.*)|$)/);
  if (!match) return null;
  const name = match[1]?.replaceAll("''", "'") ?? (match[2] !== undefined ? JSON.parse(`"${match[2]}"`) : match[3]);
  return { name, rest: match[4] ?? "" };
}

/** True when every bracket and quote is closed. */
function isWhole(text) {
  let depth = 0, quote = null, before = " ";
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (quote) {
      if (quote === '"' && sign === "\\") at++;
      else if (sign === quote) {
        if (quote === "'" && text[at + 1] === "'") at++;
        else quote = null;
      }
    } else if ((sign === "'" || sign === '"') && /[\s,[{:]/.test(before)) quote = sign;
    else if (sign === "[" || sign === "{") depth++;
    else if (sign === "]" || sign === "}") depth--;
    before = sign;
  }
  return depth <= 0 && !quote;
}

class Flow {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  whole() {
    return this.value("");
  }
  blank() {
    while (/\s/.test(this.text[this.at] ?? "")) this.at++;
  }

  value(ends) {
    this.blank();
    const sign = this.text[this.at];
    if (sign === "[") return this.list();
    if (sign === "{") return this.members();
    if (sign === "'" || sign === '"') return this.quoted(sign);
    return scalar(this.plain(ends));
  }

  list() {
    const items = [];
    for (this.at++, this.blank(); this.text[this.at] !== "]"; this.next()) items.push(this.value(",]"));
    this.at++;
    return items;
  }

  members() {
    const members = {};
    for (this.at++, this.blank(); this.text[this.at] !== "}"; this.next()) {
      const sign = this.text[this.at];
      const name = sign === "'" || sign === '"' ? this.quoted(sign) : this.plain(":,}");
      this.blank();
      const has = this.text[this.at] === ":";
      if (has) this.at++;
      this.blank();
      members[name] = has && !/[,}]/.test(this.text[this.at]) ? this.value(",}") : null;
    }
    this.at++;
    return members;
  }

  next() {
    this.blank();
    if (this.text[this.at] === ",") this.at++;
    else if (!/[\]}]/.test(this.text[this.at] ?? "")) {
      throw new Error(`not understood: ${this.text.slice(this.at, this.at + 30)}`);
    }
    this.blank();
  }

  quoted(quote) {
    const from = ++this.at;
    for (;; this.at++) {
      if (this.at >= this.text.length) throw new Error("a quote is not closed");
      if (quote === '"' && this.text[this.at] === "\\") this.at++;
      else if (this.text[this.at] === quote) {
        if (quote === "'" && this.text[this.at + 1] === "'") this.at++;
        else break;
      }
    }
    const inner = this.text.slice(from, this.at++);
    return quote === "'" ? inner.replaceAll("''", "'") : JSON.parse(`"${inner}"`);
  }

  plain(ends) {
    const from = this.at;
    while (this.at < this.text.length) {
      const sign = this.text[this.at];
      if (
        sign === ":"
          ? ends.includes(":") && /[\s,}\]]|^$/.test(this.text[this.at + 1] ?? "")
          : ends.includes(sign) || (ends && /[[\]{}]/.test(sign))
      ) break;
      this.at++;
    }
    return this.text.slice(from, this.at).trim();
  }
}

function scalar(text) {
  if (/^(null|~|)$/.test(text)) return null;
  if (/^(true|false)$/.test(text)) return text === "true";
  return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? Number(text) : text;
}
