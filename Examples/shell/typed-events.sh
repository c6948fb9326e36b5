#!/usr/bin/env bash
# Declares an event type with a JSON Schema, emits one event that fits and one that does not.
set -euo pipefail
url=${PARLEY_URL:-http://127.0.0.1:8080}
key=${PARLEY_KEY:-dev}
api() { path=$1; shift; curl -sS -H "Authorization: Bearer $key" "$@" "$url$path"; echo; }

api /v1/event-types/order.paid -X PUT --json '{"description": "An order was paid.", "mode": "enforce"}'
api /v1/event-types/order.paid/versions --json '{
    "schema": {
        "type": "object",
        "required": ["amount", "currency"],
        "properties": {"amount": {"type": "integer", "minimum": 1}, "currency": {"enum": ["EUR", "USD"]}}
    },
    "examples": [{"amount": 4200, "currency": "EUR"}]
}'
api /v1/channels/orders/events --json '{"type": "order.paid", "data": {"amount": 4200, "currency": "EUR"}}'
# 422: says where the event is wrong, and nothing is stored.
api /v1/channels/orders/events --json '{"type": "order.paid", "data": {"amount": "4200"}}'
