// Requests to the gateway's public API with the credential of the signed-in user.

/** A refusal by the gateway, with its problem's text (RFC 9457). */
export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail ?? problem.title ?? `The gateway responded with status ${status}.`);
    Object.assign(this, { status, problem, code: problem.code });
  }
}

/** A template tag that encodes values as path segments: path`/v1/channels/${name}/events`. */
export const path = (parts, ...values) =>
  parts.reduce((all, part, index) => all + encodeURIComponent(values[index - 1]) + part);

/** A query string such as `?a=1&b=2` from the defined values; a list repeats its name. */
export function query(values) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const one of [value ?? []].flat()) if (one !== "") query.append(name, one);
  }
  return query.size ? "?" + query : "";
}

export async function call(method, path, body, headers = {}) {
  let answer;
  try {
    answer = await fetch(path, {
      method,
      cache: "no-store",
      headers: body === undefined ? headers : { "content-type": "application/json", ...headers },
      body: body === undefined || typeof body === "string" ? body : JSON.stringify(body),
    });
  } catch {
    throw new Error("The gateway cannot be reached.");
  }
  const text = await answer.text();
  const json = text && answer.headers.get("content-type")?.includes("json") ? JSON.parse(text) : null;
  if (answer.ok) return json ?? text;
  if (answer.status === 401) dispatchEvent(new Event("signed-out"));
  throw new Refused(answer.status, json ?? {});
}

export const get = (path) => call("GET", path);
export const post = (path, body) => call("POST", path, body);
export const put = (path, body = {}) => call("PUT", path, body);
export const patch = (path, body = {}) => call("PATCH", path, body);
export const remove = (path) => call("DELETE", path);

/** The result of a request, or null for a 404. */
export const found = (promise) =>
  promise.catch((error) => {
    if (error.status === 404) return null;
    throw error;
  });
