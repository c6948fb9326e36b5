#!/usr/bin/env bash
# Posts a message and reads what was said in the channel, newest first.
# usage: say.sh CHANNEL TEXT
set -euo pipefail
url=${PARLEY_URL:-http://127.0.0.1:8080}
key=${PARLEY_KEY:-dev}
channel=$1
text=$2

# A repeat with the same Idempotency-Key says nothing twice: safe to send again when the answer got lost.
jq -n --arg text "$text" '{text: $text, user: "ana"}' |
    curl -sS --fail-with-body -H "Authorization: Bearer $key" -H "Idempotency-Key: $(cat /proc/sys/kernel/random/uuid)" \
        --json @- "$url/v1/channels/$channel/messages"
echo
curl -sS --fail-with-body -H "Authorization: Bearer $key" "$url/v1/channels/$channel/events?order=desc&limit=10" |
    jq -r '.data[] | "\(.timestamp)  \(.user // "-"): \(.data.text // .data)"'
