// The hub of parley.js: holds the stream that all tabs share, in a SharedWorker or in one of the tabs.

const PATIENCE = 15000;

/** True when timetoken `a` is after `b`, or when there is no `b`. */
export const after = (a, b) => !b || (a.length === b.length ? a > b : a.length > b.length);
/** The name of the lock that a tab holds while it exists. */
export const tabLock = (id) => "parley tab " + id;
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** An error response of the gateway. `isFinal` is true when a retry is useless. */
class Refusal extends Error {
  constructor(status, problem, retryAfter) {
    super(problem.detail ?? problem.title ?? `status ${status}`);
    Object.assign(this, { status, retryAfter, isFinal: ![401, 408, 425, 429].includes(status) && status < 500 });
  }
}

/** Opens one stream for all tabs and sends its events to the tabs. */
export class Hub {
  #scope;
  #watches;
  #tabs = new Map();
  #cursor = null;
  #origin = null;
  #stream = null;
  #state = null;
  #followed = null;
  #ticket = null;
  #isFresh = false;
  #stopped = false;
  #running = false;
  #reading = null;
  #wake = () => {};
  #questions = new Map();
  #asked = 0;
  #settling = false;
  #isChanging = false;

  /** `watches`: true to wait for the locks of the tabs, which shows when a tab is closed. */
  constructor(scope, post, watches = true) {
    this.#scope = scope;
    this.#watches = watches;
    this.post = post;
    globalThis.addEventListener?.("online", () => this.#wake());
  }

  stop() {
    this.#stopped = true;
    this.#reading?.abort();
    this.#wake();
  }

  receive({ from, say, ...message }) {
    if (this.#stopped) return;
    switch (say) {
      case "hello":
        return this.#enroll(from, message);
      case "wish":
        if (this.#tabs.has(from)) this.#tabs.set(from, message.wish);
        return this.#settle();
      case "bye":
        return this.#forget(from);
      case "answer":
        return this.#questions.get(message.question)?.(message);
    }
  }

  #enroll(from, { wish, cursor, isNew }) {
    if (this.#watches && !this.#tabs.has(from)) navigator.locks.request(tabLock(from), () => this.#forget(from));
    this.#tabs.set(from, wish);
    // A tab that was connected before has received everything since this hub began; a new tab receives only events from
    // now on.
    const place = isNew ? this.#cursor : this.#origin;
    if (cursor && (!place || after(place, cursor))) this.#rewind(cursor);
    if (this.#state) this.post({ ...this.#state, to: from });
    this.#settle();
  }

  #rewind(cursor) {
    this.post({ to: "all", say: "rewind" });
    this.#cursor = this.#origin = cursor;
    // A ticket's stream begins at the position for which the ticket was created.
    this.#ticket = null;
    this.#reading?.abort();
  }

  #forget(id) {
    if (!this.#tabs.delete(id)) return;
    if (this.#tabs.size) return this.#settle();
    // The next tab begins a new stream.
    this.#cursor =
      this.#origin =
      this.#ticket =
      this.#state =
        null;
    this.#reading?.abort();
    this.#wake();
  }

  /** Adjusts the stream to the tabs' selections, after a short wait for the selections of other tabs. */
  async #settle() {
    if (this.#settling || this.#isChanging) return;
    this.#settling = true;
    await pause(25);
    this.#settling = false;
    if (this.#stopped || !this.#tabs.size) return;
    if (!this.#running) return this.#run();
    const wanted = this.#union();
    if (!this.#followed || JSON.stringify(wanted) === JSON.stringify(this.#followed)) return;
    this.#isChanging = true;
    await this.#change(wanted);
    this.#isChanging = false;
    this.#settle();
  }

  /** The union of all tabs' selections. An empty list in a selection selects everything. */
  #union() {
    const all = (name) => {
      const lists = [...this.#tabs.values()].map((wish) => wish[name]);
      return lists.some((list) => !list.length) ? [] : [...new Set(lists.flat())].sort();
    };
    return { channels: all("channels"), types: all("types") };
  }

  async #change(wanted) {
    const before = this.#followed;
    this.#followed = wanted;
    const names = ["channels", "types"].filter((name) => String(wanted[name]) !== String(before[name]));
    const canPatch = this.#stream && !this.#ticket && !this.#scope.groups &&
      names.every((name) => wanted[name].length && before[name].length);
    const isDone = canPatch && await this.#patch(Object.fromEntries(names.map((name) => [name, wanted[name]])));
    // A ticket is bound to its selection, and an empty list means everything. So a new stream is opened at the same
    // position.
    if (isDone) return;
    this.#ticket = null;
    this.#reading?.abort();
  }

  async #patch(change) {
    try {
      const headers = { "content-type": "application/json", ...await this.#authorization() };
      const answer = await fetch(`${this.#scope.url}/v1/streams/${this.#stream}`, {
        method: "PATCH",
        headers,
        body: JSON.stringify(change),
      });
      return answer.ok;
    } catch {
      return false;
    }
  }

  async #run() {
    this.#running = true;
    for (let failures = 0; !this.#stopped && this.#tabs.size;) {
      let wait = 0;
      try {
        this.#tell("connecting");
        wait = await this.#read(() => {
          failures = 0;
        }) ?? 0;
      } catch (error) {
        if (this.#reading?.signal.aborted) continue;
        if (error.isFinal || (error.status === 401 && !this.#canRenew)) {
          this.#tell("closed", error.message);
          break;
        }
        // The ticket may have expired: a new one is requested at once, but only once.
        const wasOld = error.status === 401 && this.#ticket && !this.#isFresh;
        if (error.status === 401) this.#ticket = null;
        wait = wasOld
          ? 0
          : Math.max(error.retryAfter ?? 0, Math.min(500 * 2 ** failures++, 30000) * (0.5 + Math.random() / 2));
        this.#tell("waiting", error.message, Date.now() + wait);
      }
      if (wait) {
        await Promise.race([
          pause(wait),
          new Promise((done) => {
            this.#wake = done;
          }),
        ]);
      }
    }
    this.#running = false;
  }

  /**
   * Opens the stream and distributes its events. Returns the time to wait before reconnecting when the gateway closes
   * it.
   */
  async #read(isUp) {
    const reading = this.#reading = new AbortController();
    this.#stream = null;
    this.#followed = this.#union();
    const answer = await this.#open(reading.signal);
    let silence = PATIENCE, timer;
    const lines = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    try {
      for (let rest = "";;) {
        clearTimeout(timer);
        timer = setTimeout(() => lines.cancel().catch(() => {}), silence);
        const { value, done } = await lines.read();
        if (done) throw new Error("the connection of the stream was lost");
        const parts = (rest + value).split("\n");
        rest = parts.pop();
        for (const line of parts) {
          if (reading.signal.aborted) return 0;
          if (!line) continue;
          const said = JSON.parse(line);
          if (!said.event) {
            this.#hand(said);
            continue;
          }
          if (said.event === "stream.closing" || said.event === "stream.lagged") return this.#closing(said.data);
          if (said.event === "stream.ready") {
            isUp();
            silence = said.data.heartbeat_seconds * 2500;
          }
          this.#control(said.event, said.data);
        }
      }
    } finally {
      clearTimeout(timer);
      lines.cancel().catch(() => {});
    }
  }

  async #open(signal) {
    const { url, user, device, filter, groups, presence, include, credential } = this.#scope;
    const query = new URLSearchParams();
    const add = (name, values) => [values ?? []].flat().forEach((value) => query.append(name, value));
    add("channel", this.#followed.channels);
    add("type", this.#followed.types);
    Object.entries({ user, device, filter, group: groups, presence, include })
      .forEach(([name, value]) => add(name, value));
    const headers = { accept: "application/x-ndjson" };
    if (credential === "ticket") {
      this.#isFresh = !this.#ticket;
      this.#ticket ??= await this.#ask();
      query.set("ticket", this.#ticket);
      // With this field, a ticket resumes the stream that it has opened.
      if (!this.#isFresh && this.#cursor) headers["last-event-id"] = this.#cursor;
    }
    if (this.#cursor && !headers["last-event-id"]) query.set("cursor", this.#cursor);
    Object.assign(headers, await this.#authorization());
    const answer = await fetch(`${url}/v1/stream?${query}`, { headers, signal, cache: "no-store" });
    if (answer.status === 204) throw Object.assign(new Error("the gateway ended the stream"), { isFinal: true });
    if (!answer.ok) {
      const problem = await answer.json().catch(() => ({}));
      throw new Refusal(answer.status, problem, 1000 * Number(answer.headers.get("retry-after") ?? 0));
    }
    return answer;
  }

  #control(name, data) {
    if (name === "stream.ready") {
      this.#stream = data.stream;
      this.#place(data.cursor);
      this.#origin ??= data.cursor;
      this.#tell("live");
      this.#settle();
    }
    if (name === "stream.gap") this.post({ to: "all", say: "gap", gap: data });
  }

  #hand(event) {
    if (after(event.timetoken, this.#cursor)) this.#cursor = event.timetoken;
    this.post({ to: "all", say: "event", event });
  }

  #place(cursor) {
    if (!after(cursor, this.#cursor)) return;
    this.#cursor = cursor;
    this.post({ to: "all", say: "place", cursor });
  }

  // `final` applies to the present credential. A credential that the page can renew (a ticket, a token from a function)
  // is requested again; if the gateway refuses that one too, the hub stops.
  #closing({ reason, final, retry_ms }) {
    const canRenew = reason === "unauthorized" && this.#canRenew;
    if (final && !canRenew) {
      throw Object.assign(new Error(`the gateway ended the stream: ${reason}`), { isFinal: true });
    }
    if (canRenew) this.#ticket = null;
    this.#tell("waiting", reason, Date.now() + (retry_ms ?? 0));
    return retry_ms || 1;
  }

  /** True when a page can provide another credential: not for a cookie, and not for a token that is a fixed text. */
  get #canRenew() {
    const { credential, who } = this.#scope;
    return credential === "ticket" || (credential === "token" && !who[0]);
  }

  async #authorization() {
    return this.#scope.credential === "token" ? { authorization: "Bearer " + await this.#ask() } : {};
  }

  /** Asks the tabs for a credential, beginning with the tab that sent the last message, which is probably active. */
  async #ask() {
    let reason = "no tab responded to the request for a credential";
    for (const tab of [...this.#tabs.keys()].reverse()) {
      const question = ++this.#asked;
      const answer = await Promise.race([
        pause(PATIENCE),
        new Promise((done) => {
          this.#questions.set(question, done);
          this.post({ to: tab, say: "ask", question, wish: this.#followed, cursor: this.#cursor });
        }),
      ]);
      this.#questions.delete(question);
      if (answer?.value) return answer.value;
      reason = answer?.error ?? reason;
    }
    throw new Error(reason);
  }

  #tell(state, reason = null, retryAt = null) {
    this.#state = { to: "all", say: "state", state, reason, retryAt, stream: this.#stream };
    this.post(this.#state);
  }
}

if (globalThis.SharedWorkerGlobalScope && globalThis instanceof SharedWorkerGlobalScope) {
  const ports = new Map();
  const hub = new Hub(JSON.parse(self.name), (message) => {
    const to = message.to === "all" ? [...ports.values()] : [ports.get(message.to)];
    to.forEach((port) => port?.postMessage(message));
  });
  self.onconnect = ({ ports: [port] }) => {
    port.onmessage = ({ data }) => {
      if (data.say === "bye") ports.delete(data.from);
      else ports.set(data.from, port);
      hub.receive(data);
    };
  };
}
