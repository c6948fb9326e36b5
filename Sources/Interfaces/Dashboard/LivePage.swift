/// The live page: what happens on the channels, as it happens, and a form to make something happen.
enum LivePage {
    static let html: StaticString = #"""
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Parley</title>
        <link rel="icon" href="data:,">
        <link rel="stylesheet" href="/dashboard/live.css">
        <script type="module" src="/dashboard/live.js"></script>
        </head>
        <body>
        <header>
        <h1>Parley</h1>
        <form id="connect">
        <label>API key <input name="key" type="password" autocomplete="off" required placeholder="dev"></label>
        <label>Channels <input name="channels" value="*" required></label>
        <label>Types <input name="types" value="*" required></label>
        <button>Watch</button>
        </form>
        <p id="state" role="status">not connected</p>
        </header>
        <main>
        <section aria-labelledby="live-title">
        <h2 id="live-title">Live</h2>
        <p class="tools"><button type="button" id="pause" aria-pressed="false">Pause</button>
        <button type="button" id="clear">Clear</button> <output id="count">0 events</output></p>
        <ol id="events" reversed aria-live="off"></ol>
        </section>
        <section aria-labelledby="emit-title">
        <h2 id="emit-title">Emit</h2>
        <form id="emit">
        <label>Channel <input name="channel" value="demo" required></label>
        <label>Type <input name="type" placeholder="a message when empty"></label>
        <label>User <input name="user"></label>
        <label>Data (JSON, or plain text for a message) <textarea name="data" rows="6" required>hello</textarea></label>
        <button>Emit</button>
        <p id="answer" role="status"></p>
        </form>
        </section>
        </main>
        </body>
        </html>
        """#

    static let css: StaticString = #"""
        :root { color-scheme: light dark; --line: #8884; --quiet: #767676; --accent: #2563eb; --bad: #c02626; }
        @media (prefers-color-scheme: dark) { :root { --quiet: #a0a0a0; --accent: #7aa5ff; --bad: #ff8a8a; } }
        * { box-sizing: border-box; }
        body { margin: 0; font: 16px/1.45 system-ui, sans-serif; }
        header { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: end; padding: .75rem 1rem;
          border-bottom: 1px solid var(--line); }
        h1 { margin: 0; font-size: 1.4rem; } h2 { margin: 0 0 .5rem; font-size: 1.1rem; }
        main { display: grid; grid-template-columns: minmax(0, 2fr) minmax(16rem, 1fr); gap: 1.5rem; padding: 1rem; }
        @media (max-width: 48rem) { main { grid-template-columns: minmax(0, 1fr); } }
        form { display: flex; flex-wrap: wrap; gap: .5rem; align-items: end; }
        #emit { display: grid; }
        label { display: grid; gap: .15rem; font-size: .875rem; }
        input, textarea, button { font: inherit; padding: .35rem .5rem; border: 1px solid var(--line);
          border-radius: .35rem; }
        textarea { font-family: ui-monospace, monospace; }
        button { cursor: pointer; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
        #state, #answer { margin: 0; color: var(--quiet); } .bad { color: var(--bad) !important; }
        .tools { margin: 0 0 .5rem; } #count { color: var(--quiet); margin-left: .5rem; }
        #events { list-style: none; margin: 0; padding: 0; }
        #events li { border-top: 1px solid var(--line); padding: .4rem 0; }
        #events .what { display: flex; flex-wrap: wrap; gap: .25rem .75rem; }
        #events .type { font-weight: 600; } #events .at { color: var(--quiet); font-size: .875rem; }
        #events pre { margin: .15rem 0 0; white-space: pre-wrap; overflow-wrap: anywhere;
          font: .875rem/1.4 ui-monospace, monospace; }
        """#

    static let script: StaticString = #"""
        // The live page. Speaks the public API only.
        const LINES = 500;
        const $ = id => document.getElementById(id);
        const list = $("events");
        let source, cursor, seen = 0, paused = false, waiting = [];

        function say(element, text, bad = false) {
          element.textContent = text;
          element.classList.toggle("bad", bad);
        }

        async function call(method, path, body) {
          const answer = await fetch(path, {
            method,
            headers: { "authorization": "Bearer " + key(), "content-type": "application/json" },
            body: JSON.stringify(body),
          });
          const json = await answer.json().catch(() => ({}));
          if (!answer.ok) throw new Error(json.detail || json.title || answer.statusText);
          return json;
        }

        const key = () => $("connect").elements.key.value || "dev";
        const words = name => $("connect").elements[name].value.split(/[\s,]+/).filter(Boolean);

        function show(event) {
          const item = document.createElement("li");
          const what = document.createElement("div");
          what.className = "what";
          for (const [name, text] of [["type", event.type], ["channel", event.channel], ["user", event.user],
            ["at", event.timestamp]]) {
            if (!text) continue;
            const part = document.createElement("span");
            part.className = name;
            part.textContent = text;
            what.append(part);
          }
          const data = document.createElement("pre");
          data.textContent = JSON.stringify(event.data, null, 1);
          item.append(what, data);
          list.prepend(item);
          while (list.children.length > LINES) list.lastChild.remove();
        }

        function receive(event) {
          cursor = event.timetoken;
          $("count").textContent = `${++seen} event${seen === 1 ? "" : "s"}`;
          if (!paused) return show(event);
          waiting.push(event);
          if (waiting.length > LINES) waiting.shift();
        }

        // Read with fetch, not EventSource: that one sends no Authorization header, and calls a listener per event
        // name, while the names here are open.
        async function watch() {
          source?.abort();
          const mine = source = new AbortController();
          let pause = 500;
          while (source === mine) {
            try {
              say($("state"), "connecting …");
              const query = new URLSearchParams([...words("channels").map(name => ["channel", name]),
                ...words("types").map(name => ["type", name]), ...(cursor ? [["cursor", cursor]] : [])]);
              const answer = await fetch("/v1/stream?" + query, {
                headers: { accept: "application/x-ndjson", authorization: "Bearer " + key() },
                signal: mine.signal,
              });
              if (!answer.ok) throw new Error((await answer.json()).detail);
              say($("state"), "live");
              pause = 500;
              const lines = answer.body.pipeThrough(new TextDecoderStream()).getReader();
              for (let rest = "";;) {
                const { value, done } = await lines.read();
                if (done) break;
                const parts = (rest + value).split("\n");
                rest = parts.pop();
                for (const line of parts.filter(Boolean)) {
                  const message = JSON.parse(line);
                  if (message.event === "stream.gap") say($("state"), "live, after a gap", true);
                  if (!message.event) receive(message);
                }
              }
              throw new Error("the stream ended");
            } catch (error) {
              if (mine.signal.aborted) return;
              say($("state"), `${error.message}; trying again`, true);
              await new Promise(done => setTimeout(done, pause));
              pause = Math.min(pause * 2, 15000);
            }
          }
        }

        $("connect").addEventListener("submit", event => {
          event.preventDefault();
          cursor = undefined;
          watch();
        });

        $("emit").addEventListener("submit", async event => {
          event.preventDefault();
          const form = event.target.elements;
          const channel = encodeURIComponent(form.channel.value);
          const user = form.user.value || undefined;
          let data, isJSON = true;
          try { data = JSON.parse(form.data.value); } catch { data = form.data.value; isJSON = false; }
          try {
            const answer = form.type.value
              ? await call("POST", `/v1/channels/${channel}/events`, { type: form.type.value, user, data })
              : await call("POST", `/v1/channels/${channel}/messages`, isJSON ? { data, user } : { text: data, user });
            say($("answer"), `accepted as ${answer.id}`);
          } catch (error) {
            say($("answer"), error.message, true);
          }
        });

        $("pause").addEventListener("click", () => {
          paused = !paused;
          $("pause").setAttribute("aria-pressed", paused);
          $("pause").textContent = paused ? "Continue" : "Pause";
          if (!paused) waiting.splice(0).forEach(show);
        });

        $("clear").addEventListener("click", () => list.replaceChildren());

        // On a machine of one's own the development key is tried by itself, so the page is live at once.
        if (["localhost", "127.0.0.1", "[::1]"].includes(location.hostname)) watch();
        """#
}
