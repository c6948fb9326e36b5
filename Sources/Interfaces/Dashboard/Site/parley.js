// parley.js follows a Parley gateway from a browser, with one stream for all tabs of a site; see docs/browsers.md.
//
// Every tab has a `Parley` with its own selection. One `Hub` (parley-hub.js) holds the stream for all of them: in a
// SharedWorker, otherwise in the tab that holds a Web Lock, otherwise, where the browser has neither or the page is not
// secure, in each tab. A new hub begins at the oldest position that a tab has reached, and tabs drop events that they
// have already received. So no event is lost or repeated when the stream, the gateway, or the tab with the hub ends.

import { after, Hub, tabLock } from "./parley-hub.js";

const SCOPE = ["url", "user", "device", "filter", "groups", "presence", "include"];

/** True when a name matches a pattern: the name itself, `a.b.*` for everything below `a.b`, or `*`. */
export const fits = (pattern, name) =>
  pattern === "*" || pattern === name || (pattern.endsWith(".*") && name.startsWith(pattern.slice(0, -1)));
const fitsAny = (patterns, name) => !patterns?.length || patterns.some((pattern) => fits(pattern, name));

/**
 * The stream of one tab. Dispatches `event` (detail: the envelope), `state` (detail: `{state, reason, retryAt}`)
 * and `gap` (detail: the part of the log that is no longer available).
 */
export class Parley extends EventTarget {
  #options;
  #wish;
  #id = crypto.getRandomValues(new Uint32Array(2)).join("-");
  #skip = null;
  #closed = false;
  #send = () => {};
  #leave = () => {};
  #let = () => {};

  /** The state of the stream: `connecting`, `live`, `waiting` before a retry, or `closed` for good. */
  state = "connecting";
  /** The reason why the stream waits or is closed; null in other states. */
  reason = null;
  /** The timetoken up to which this tab has received every event. */
  cursor = null;
  /** The stream's id on the gateway. */
  stream = null;

  constructor(options = {}) {
    super();
    this.#options = { ...options, url: String(options.url ?? new URL(import.meta.url).origin).replace(/\/$/, "") };
    this.#wish = wishOf(options);
    this.cursor = options.cursor ?? null;
    // The stream that other tabs share may be at an earlier position, so events up to here are skipped.
    this.#skip = this.cursor;
    this.#connect();
  }

  /** Calls `listener` with the envelope of every event whose type matches; returns a function that stops it. */
  on(pattern, listener) {
    const hear = ({ detail }) => {
      if (fits(pattern, detail.type)) listener(detail);
    };
    this.addEventListener("event", hear);
    return () => this.removeEventListener("event", hear);
  }

  /** Changes the followed channels and types; absent members stay unchanged. */
  follow(change) {
    this.#wish = wishOf({ ...this.#wish, ...change });
    this.#send({ say: "wish", wish: this.#wish });
  }

  /** Stops following. The shared stream ends when no tab follows it. */
  close() {
    if (this.#closed) return;
    this.#closed = true;
    this.#send({ say: "bye" });
    this.#leave();
    this.#let();
    this.#become("closed", null);
  }

  #connect() {
    const { share = true, token, ticket } = this.#options;
    const scope = Object.fromEntries(SCOPE.map((name) => [name, this.#options[name]]));
    scope.credential = ticket ? "ticket" : token ? "token" : "cookie";
    // A different fixed token, or a different `share` name, is a different user and gets a stream of its own.
    scope.who = [typeof token === "string" ? token : "", share === true ? "" : String(share)];
    if (share === false || !globalThis.navigator?.locks) return this.#alone(scope);
    // The browser releases the lock when the tab ends for any reason, which shows the hub that the tab has ended.
    navigator.locks.request(tabLock(this.#id), () =>
      new Promise((go) => {
        this.#let = go;
        if (this.#closed) return go();
        if (!this.#toWorker(scope)) this.#amongTabs(scope);
      }));
  }

  #alone(scope) {
    const hub = new Hub(scope, (message) => queueMicrotask(() => this.#receive(message)), false);
    this.#send = (message) => hub.receive({ ...message, from: this.#id });
    this.#leave = () => hub.stop();
    this.#hello(true);
  }

  #toWorker(scope) {
    if (!globalThis.SharedWorker) return false;
    let worker;
    try {
      // This call throws when the file of the worker comes from another origin.
      worker = new SharedWorker(trusted(new URL("parley-hub.js", import.meta.url).href), {
        type: "module",
        name: JSON.stringify(scope),
      });
    } catch {
      return false;
    }
    worker.addEventListener("error", () => {
      this.#leave();
      if (!this.#closed) this.#amongTabs(scope);
    }, { once: true });
    worker.port.onmessage = ({ data }) => this.#receive(data);
    this.#send = (message) => worker.port.postMessage({ ...message, from: this.#id });
    this.#leave = () => worker.port.close();
    this.#hello(true);
    return true;
  }

  #amongTabs(scope) {
    const name = "parley " + JSON.stringify(scope);
    const channel = new BroadcastChannel(name);
    let hub = null;
    channel.onmessage = ({ data }) => {
      if (data.to === undefined) return hub?.receive(data);
      if (data.to === "all" || data.to === this.#id) this.#receive(data);
    };
    this.#send = (message) => {
      const signed = { ...message, from: this.#id };
      if (hub) hub.receive(signed);
      else channel.postMessage(signed);
    };
    const leaving = new AbortController();
    this.#leave = () => {
      leaving.abort();
      hub?.stop();
    };
    navigator.locks.request(name, { signal: leaving.signal }, () =>
      new Promise((go) => {
        hub = new Hub(scope, (message) => {
          if (message.to !== this.#id) channel.postMessage(message);
          if (message.to === "all" || message.to === this.#id) queueMicrotask(() => this.#receive(message));
        });
        leaving.signal.addEventListener("abort", go, { once: true });
        hub.post({ to: "all", say: "begin" });
      })).catch(() => {});
    this.#hello(true);
  }

  #hello(isNew) {
    this.#send({ say: "hello", wish: this.#wish, cursor: this.cursor, isNew });
  }

  #receive(message) {
    if (this.#closed) return;
    switch (message.say) {
      case "begin":
        this.#skip = this.cursor;
        return this.#hello(false);
      case "rewind":
        this.#skip = this.cursor;
        return;
      case "state":
        this.stream = message.stream ?? this.stream;
        return this.#become(message.state, message.reason, message.retryAt);
      case "gap":
        return this.dispatchEvent(new CustomEvent("gap", { detail: message.gap }));
      case "place":
        if (after(message.cursor, this.cursor)) this.cursor = message.cursor;
        return;
      case "ask":
        return this.#answer(message);
      case "event":
        return this.#hear(message.event);
    }
  }

  #hear(event) {
    if (this.#skip && !after(event.timetoken, this.#skip)) return;
    if (after(event.timetoken, this.cursor)) this.cursor = event.timetoken;
    const { channels, types } = this.#wish;
    // With groups, channels are not compared, because only the gateway knows the channels of a group.
    if (!fitsAny(types, event.type) || !(this.#options.groups || fitsAny(channels, event.channel))) return;
    this.dispatchEvent(new CustomEvent("event", { detail: event }));
  }

  async #answer({ question, wish, cursor }) {
    const { ticket, token } = this.#options;
    try {
      const give = ticket ?? token;
      const value = typeof give === "function" ? await give(ticket && cursor ? { ...wish, cursor } : wish) : give;
      this.#send({ say: "answer", question, value });
    } catch (error) {
      this.#send({ say: "answer", question, error: String(error?.message ?? error) });
    }
  }

  #become(state, reason = null, retryAt = null) {
    if (state === this.state && reason === this.reason) return;
    Object.assign(this, { state, reason });
    this.dispatchEvent(new CustomEvent("state", { detail: { state, reason, retryAt } }));
  }
}

const wishOf = ({ channels, types }) => ({ channels: [...(channels ?? [])], types: [...(types ?? [])] });

/** Creates the policy `parley`, which pages that require trusted types must allow. It can be created only once. */
let policy;
function trusted(url) {
  try {
    policy ??= globalThis.trustedTypes?.createPolicy("parley", { createScriptURL: (text) => text });
  } catch { /* the page allows none, and may demand none */ }
  return policy?.createScriptURL(url) ?? url;
}
