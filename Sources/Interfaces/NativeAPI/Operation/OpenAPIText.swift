// swift-format-ignore-file
// Made by scripts/embed-openapi from openapi.yaml; change that one.

enum OpenAPIText {
    static let yaml: StaticString = #"""
        openapi: 3.1.0
        info:
          title: Parley
          version: 0.1.0
          summary: A self-hosted chat-event gateway
          description: |
            Anything that can make an HTTP request becomes part of the chat: what it posts becomes a durable event,
            browsers watch over Server-Sent Events, other services are told by signed webhooks.

            JSON is read strictly: unknown members, unknown query parameters and names that occur twice in one object are
            refused, with the nearest known name. Payloads (`data`, `meta`) are stored and handed on byte for byte.

            Every failure is a problem (RFC 9457, `application/problem+json`) with a short stable `code`. Every answer
            carries `X-Request-Id`.
          license: {name: Apache-2.0, identifier: Apache-2.0}
        servers:
          - {url: /, description: this gateway}
        security:
          - apiKey: []
          - session: []
        tags:
          - {name: emit, description: Put events into channels. An answer comes after the event is durable.}
          - {name: read, description: Read what was emitted.}
          - {name: messages, description: 'What becomes of messages, and what is kept with their channels.'}
          - {name: stream, description: Follow what is emitted. One cursor for all three ways.}
          - {name: presence, description: 'Who is on a channel, inside an open one, or types. In memory: nothing of it is kept.'}
          - {name: keys, description: API keys and apps.}
          - {name: webhooks, description: Tell other services of events.}
          - {name: subscriptions, description: Pull deliveries instead of being told.}
          - {name: sources, description: Take posts of other services in.}
          - {name: event types, description: Declare what events look like; payloads are held against it.}
          - {name: users, description: 'Users as an app keeps them, and whom they block.'}
          - {name: channels, description: 'Channels as an app keeps them, and groups of them.'}
          - {name: members, description: 'Who belongs to a channel, is invited, or has left.'}
          - {name: moderation, description: 'Bans, mutes, frozen channels.'}
          - {name: receipts, description: 'What has been delivered and read, and what has not.'}
          - {name: operation, description: Probes, figures, this description.}

        paths:
          /v1/channels/{channel}/messages:
            parameters: [{$ref: '#/components/parameters/channel'}]
            post:
              operationId: postMessage
              tags: [emit]
              summary: Send a chat message
              description: Becomes an event of type `message.created`. Needs the scope `emit`.
              parameters:
                - {$ref: '#/components/parameters/dryRun'}
                - {$ref: '#/components/parameters/idempotencyKey'}
              requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/NewMessage'}}}}
              responses:
                '200': {$ref: '#/components/responses/Forecast'}
                '201': {$ref: '#/components/responses/Emitted'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '409': {$ref: '#/components/responses/Conflict'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}
            get:
              operationId: getMessages
              tags: [messages]
              summary: List a channel's messages
              description: |
                As they are now: edited, marked as deleted, with reactions counted and threads. Replies are among them. Oldest first
                unless asked otherwise. Needs the scope `read`.
              parameters:
                - {$ref: '#/components/parameters/user'}
                - {$ref: '#/components/parameters/after'}
                - {$ref: '#/components/parameters/before'}
                - {$ref: '#/components/parameters/order'}
                - {$ref: '#/components/parameters/limit'}
                - {$ref: '#/components/parameters/pageCursor'}
              responses:
                '200':
                  description: A page of messages
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content: {application/json: {schema: {$ref: '#/components/schemas/MessagePage'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/messages/{timetoken}:
            parameters: [{$ref: '#/components/parameters/channel'}, {$ref: '#/components/parameters/message'}]
            get:
              operationId: getMessage
              tags: [messages]
              summary: Read a message as it is now
              description: |
                Needs the scope `read`.
              parameters:
                - {$ref: '#/components/parameters/ifNoneMatch'}
              responses:
                '200': {$ref: '#/components/responses/Message'}
                '304': {description: 'Not changed since the version that `If-None-Match` names'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}
            patch:
              operationId: patchMessage
              tags: [messages]
              summary: Edit a message
              description: |
                Becomes `message.updated`. With `text` the rest of the payload stays as it is. For its author, and who moderates the
                channel.
              parameters:
                - {$ref: '#/components/parameters/ifMatch'}
              requestBody:
                required: true
                content: {application/json: {schema: {$ref: '#/components/schemas/MessageEdit'}}}
              responses:
                '200': {$ref: '#/components/responses/Message'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '410': {$ref: '#/components/responses/Deleted'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}
            delete:
              operationId: deleteMessage
              tags: [messages]
              summary: Delete a message
              description: |
                Becomes `message.deleted`. Marked only, unless `hard`: then it is gone from history. Once more is harmless. A pin of
                it goes as well. For its author, and who moderates the channel.
              parameters:
                - {$ref: '#/components/parameters/ifMatch'}
                - {$ref: '#/components/parameters/by'}
                - {name: hard, in: query, description: Remove it for good., schema: {type: boolean, default: false}}
              responses:
                '204': {description: Deleted}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/messages/{timetoken}/thread:
            parameters: [{$ref: '#/components/parameters/channel'}, {$ref: '#/components/parameters/message'}]
            get:
              operationId: getThread
              tags: [messages]
              summary: List the replies to a message
              description: |
                Oldest first. Needs the scope `read`.
              parameters:
                - {$ref: '#/components/parameters/limit'}
                - {$ref: '#/components/parameters/pageCursor'}
              responses:
                '200':
                  description: A page of messages
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content: {application/json: {schema: {$ref: '#/components/schemas/MessageList'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/messages/{timetoken}/pin:
            parameters: [{$ref: '#/components/parameters/channel'}, {$ref: '#/components/parameters/message'}]
            put:
              operationId: pinMessage
              tags: [messages]
              summary: Show a message first in its channel
              description: |
                In the place of any other; the channel must have a record. Becomes `channel.updated`. For who moderates the channel;
                in a direct channel for both.
              parameters:
                - {$ref: '#/components/parameters/by'}
              responses:
                '204': {description: Pinned}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '410': {$ref: '#/components/responses/Deleted'}
                '503': {$ref: '#/components/responses/Unavailable'}
            delete:
              operationId: unpinMessage
              tags: [messages]
              summary: Show a message first no more
              description: |
                Harmless where another one, or none, is shown.
              parameters:
                - {$ref: '#/components/parameters/by'}
              responses:
                '204': {description: Not pinned}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/messages/{timetoken}/forward:
            parameters: [{$ref: '#/components/parameters/channel'}, {$ref: '#/components/parameters/message'}]
            post:
              operationId: forwardMessage
              tags: [messages]
              summary: Send a message to another channel
              description: |
                Becomes a message there, whose `meta` says where it comes from: `originalPublisher`, `originalChannelId`.
              requestBody:
                required: true
                content: {application/json: {schema: {$ref: '#/components/schemas/Forwarding'}}}
              responses:
                '201': {$ref: '#/components/responses/Emitted'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '410': {$ref: '#/components/responses/Deleted'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/messages/{timetoken}/report:
            parameters: [{$ref: '#/components/parameters/channel'}, {$ref: '#/components/parameters/message'}]
            post:
              operationId: reportMessage
              tags: [messages]
              summary: Report a message to the moderators
              description: |
                Becomes `report.created` on `PUBNUB_INTERNAL_MODERATION_` and the channel's name, where other chat clients look for
                it. The same user's report of the same message counts once a day.
              requestBody:
                required: true
                content: {application/json: {schema: {$ref: '#/components/schemas/Report'}}}
              responses:
                '201': {$ref: '#/components/responses/Emitted'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '410': {$ref: '#/components/responses/Deleted'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/reports:
            parameters: [{$ref: '#/components/parameters/channel'}]
            get:
              operationId: getReports
              tags: [messages]
              summary: List the reports of a channel's messages
              description: |
                For who moderates the channel.
              parameters:
                - {$ref: '#/components/parameters/user'}
                - {$ref: '#/components/parameters/after'}
                - {$ref: '#/components/parameters/before'}
                - {$ref: '#/components/parameters/order'}
                - {$ref: '#/components/parameters/limit'}
                - {$ref: '#/components/parameters/pageCursor'}
                - {$ref: '#/components/parameters/by'}
              responses:
                '200':
                  description: A page of events
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content: {application/json: {schema: {$ref: '#/components/schemas/EventPage'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/messages/{timetoken}/reactions:
            parameters: [{$ref: '#/components/parameters/channel'}, {$ref: '#/components/parameters/message'}]
            get:
              operationId: getReactions
              tags: [messages]
              summary: List the reactions to a message
              description: |
                By value and user. Needs the scope `read`.
              parameters:
                - {$ref: '#/components/parameters/limit'}
                - {$ref: '#/components/parameters/pageCursor'}
              responses:
                '200':
                  description: A page of reactions
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content: {application/json: {schema: {$ref: '#/components/schemas/ActionList'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/messages/{timetoken}/reactions/{value}:
            parameters: [{$ref: '#/components/parameters/channel'}, {$ref: '#/components/parameters/message'}, {$ref: '#/components/parameters/reaction'}]
            put:
              operationId: putReaction
              tags: [messages]
              summary: React to a message
              description: |
                Becomes `reaction.added`; once more is harmless.
              parameters:
                - {$ref: '#/components/parameters/whose'}
              responses:
                '200': {$ref: '#/components/responses/Action'}
                '201': {$ref: '#/components/responses/Action'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '410': {$ref: '#/components/responses/Deleted'}
                '429': {$ref: '#/components/responses/TooMany'}
                '503': {$ref: '#/components/responses/Unavailable'}
            delete:
              operationId: deleteReaction
              tags: [messages]
              summary: Take a reaction back
              description: |
                Becomes `reaction.removed`; harmless where there is none.
              parameters:
                - {$ref: '#/components/parameters/whose'}
              responses:
                '204': {description: Taken back}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/messages/{timetoken}/actions:
            parameters: [{$ref: '#/components/parameters/channel'}, {$ref: '#/components/parameters/message'}]
            get:
              operationId: getActions
              tags: [messages]
              summary: List what is attached to a message
              description: |
                Reactions are among it. Needs the scope `read`.
              parameters:
                - {$ref: '#/components/parameters/limit'}
                - {$ref: '#/components/parameters/pageCursor'}
              responses:
                '200':
                  description: A page of actions
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content: {application/json: {schema: {$ref: '#/components/schemas/ActionList'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}
            post:
              operationId: postAction
              tags: [messages]
              summary: Attach something to a message
              description: |
                Becomes `action.added`. The types `reactions`, `edited`, `threadRootId`, and `deleted` with the value `deleted`, do
                what they say instead, as clients expect that know messages by their actions.
              requestBody:
                required: true
                content: {application/json: {schema: {$ref: '#/components/schemas/NewAction'}}}
              responses:
                '201': {$ref: '#/components/responses/Action'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '409': {$ref: '#/components/responses/Conflict'}
                '410': {$ref: '#/components/responses/Deleted'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '429': {$ref: '#/components/responses/TooMany'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/messages/{timetoken}/actions/{action}:
            parameters: [{$ref: '#/components/parameters/channel'}, {$ref: '#/components/parameters/message'}, {$ref: '#/components/parameters/action'}]
            delete:
              operationId: deleteAction
              tags: [messages]
              summary: Take from a message what was attached
              description: |
                Becomes `action.removed`. An edit or a deletion goes by its timetoken too; the message is then as it was before. For
                whose it is, and who moderates the channel.
              parameters:
                - {$ref: '#/components/parameters/whose'}
              responses:
                '204': {description: Removed}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/metadata:
            parameters: [{$ref: '#/components/parameters/channel'}]
            get:
              operationId: getMetadata
              tags: [messages]
              summary: Read a channel's metadata
              description: |
                Needs the scope `read`.
              parameters:
                - {$ref: '#/components/parameters/ifNoneMatch'}
              responses:
                '200':
                  description: By key
                  headers: {ETag: {$ref: '#/components/headers/ETag'}}
                  content: {application/json: {schema: {$ref: '#/components/schemas/Metadata'}}}
                '304': {description: 'Not changed since the version that `If-None-Match` names'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '503': {$ref: '#/components/responses/Unavailable'}
            post:
              operationId: postMetadata
              tags: [messages]
              summary: Add metadata to a channel
              description: |
                Becomes `channel.metadata.created`. None of the keys may be there. For who moderates the channel.
              parameters:
                - {$ref: '#/components/parameters/ifMatch'}
              requestBody:
                required: true
                content: {application/json: {schema: {$ref: '#/components/schemas/NewMetadata'}}}
              responses:
                '201':
                  description: What was added
                  headers: {Location: {$ref: '#/components/headers/Location'}}
                  content: {application/json: {schema: {$ref: '#/components/schemas/Metadata'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '409': {$ref: '#/components/responses/Conflict'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '429': {$ref: '#/components/responses/TooMany'}
                '503': {$ref: '#/components/responses/Unavailable'}
            patch:
              operationId: patchMetadata
              tags: [messages]
              summary: Change a channel's metadata
              description: |
                Becomes `channel.metadata.updated` for keys that are there, `channel.metadata.created` for those that `upsert` adds; without it
                they are left out of the answer.
                For who moderates the channel.
              parameters:
                - {$ref: '#/components/parameters/ifMatch'}
              requestBody:
                required: true
                content: {application/json: {schema: {$ref: '#/components/schemas/MetadataChange'}}}
              responses:
                '200':
                  description: What was changed
                  content: {application/json: {schema: {$ref: '#/components/schemas/Metadata'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '409': {$ref: '#/components/responses/Conflict'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '429': {$ref: '#/components/responses/TooMany'}
                '503': {$ref: '#/components/responses/Unavailable'}
            delete:
              operationId: deleteMetadata
              tags: [messages]
              summary: Remove a channel's metadata
              description: |
                Becomes `channel.metadata.deleted`. For who moderates the channel.
              parameters:
                - {$ref: '#/components/parameters/ifMatch'}
                - {$ref: '#/components/parameters/by'}
              responses:
                '204': {description: Removed}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/metadata/{key}:
            parameters: [{$ref: '#/components/parameters/channel'}, {$ref: '#/components/parameters/key'}]
            put:
              operationId: putMetadataKey
              tags: [messages]
              summary: Set one text of a channel
              description: |
                For who moderates the channel.
              parameters:
                - {$ref: '#/components/parameters/ifMatch'}
              requestBody:
                required: true
                content: {application/json: {schema: {$ref: '#/components/schemas/MetadataValue'}}}
              responses:
                '200':
                  description: It was there
                  content: {application/json: {schema: {$ref: '#/components/schemas/Metadata'}}}
                '201':
                  description: It is new
                  content: {application/json: {schema: {$ref: '#/components/schemas/Metadata'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '429': {$ref: '#/components/responses/TooMany'}
                '503': {$ref: '#/components/responses/Unavailable'}
            delete:
              operationId: deleteMetadataKey
              tags: [messages]
              summary: Remove one text of a channel
              description: |
                Harmless where there is none. For who moderates the channel.
              parameters:
                - {$ref: '#/components/parameters/ifMatch'}
                - {$ref: '#/components/parameters/by'}
              responses:
                '204': {description: Removed}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/metacounters:
            parameters: [{$ref: '#/components/parameters/channel'}]
            get:
              operationId: getMetacounters
              tags: [messages]
              summary: Read a channel's metacounters
              description: |
                Needs the scope `read`.
              parameters:
                - {$ref: '#/components/parameters/ifNoneMatch'}
              responses:
                '200':
                  description: By key
                  headers: {ETag: {$ref: '#/components/headers/ETag'}}
                  content: {application/json: {schema: {$ref: '#/components/schemas/Metacounters'}}}
                '304': {description: 'Not changed since the version that `If-None-Match` names'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '503': {$ref: '#/components/responses/Unavailable'}
            post:
              operationId: postMetacounters
              tags: [messages]
              summary: Add metacounters to a channel
              description: |
                Becomes `channel.metacounter.created`. None of the keys may be there. For who moderates the channel.
              parameters:
                - {$ref: '#/components/parameters/ifMatch'}
              requestBody:
                required: true
                content: {application/json: {schema: {$ref: '#/components/schemas/NewMetacounters'}}}
              responses:
                '201':
                  description: What was added
                  headers: {Location: {$ref: '#/components/headers/Location'}}
                  content: {application/json: {schema: {$ref: '#/components/schemas/Metacounters'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '409': {$ref: '#/components/responses/Conflict'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '429': {$ref: '#/components/responses/TooMany'}
                '503': {$ref: '#/components/responses/Unavailable'}
            patch:
              operationId: patchMetacounters
              tags: [messages]
              summary: Change a channel's metacounters
              description: |
                Becomes `channel.metacounter.updated` for keys that are there, `channel.metacounter.created` for those that `upsert` adds; without it
                they are left out of the answer.
                Counts in one step: nothing is lost when many count at once. Counting is for everybody who may emit in the channel,
                setting and adding for who moderates it.
              parameters:
                - {$ref: '#/components/parameters/ifMatch'}
              requestBody:
                required: true
                content: {application/json: {schema: {$ref: '#/components/schemas/MetacountersChange'}}}
              responses:
                '200':
                  description: What was changed
                  content: {application/json: {schema: {$ref: '#/components/schemas/Metacounters'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '409': {$ref: '#/components/responses/Conflict'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '429': {$ref: '#/components/responses/TooMany'}
                '503': {$ref: '#/components/responses/Unavailable'}
            delete:
              operationId: deleteMetacounters
              tags: [messages]
              summary: Remove a channel's metacounters
              description: |
                Becomes `channel.metacounter.deleted`. For who moderates the channel.
              parameters:
                - {$ref: '#/components/parameters/ifMatch'}
                - {$ref: '#/components/parameters/by'}
              responses:
                '204': {description: Removed}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/metacounters/{key}:
            parameters: [{$ref: '#/components/parameters/channel'}, {$ref: '#/components/parameters/key'}]
            put:
              operationId: putMetacounter
              tags: [messages]
              summary: Set one counter of a channel
              description: |
                For who moderates the channel.
              parameters:
                - {$ref: '#/components/parameters/ifMatch'}
              requestBody:
                required: true
                content: {application/json: {schema: {$ref: '#/components/schemas/MetacounterValue'}}}
              responses:
                '200':
                  description: It was there
                  content: {application/json: {schema: {$ref: '#/components/schemas/Metacounters'}}}
                '201':
                  description: It is new
                  content: {application/json: {schema: {$ref: '#/components/schemas/Metacounters'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '429': {$ref: '#/components/responses/TooMany'}
                '503': {$ref: '#/components/responses/Unavailable'}
            delete:
              operationId: deleteMetacounter
              tags: [messages]
              summary: Remove one counter of a channel
              description: |
                Harmless where there is none. For who moderates the channel.
              parameters:
                - {$ref: '#/components/parameters/ifMatch'}
                - {$ref: '#/components/parameters/by'}
              responses:
                '204': {description: Removed}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/events:
            parameters: [{$ref: '#/components/parameters/channel'}]
            post:
              operationId: postEvent
              tags: [emit]
              summary: Emit a typed event
              description: Needs the scope `emit`.
              parameters:
                - {$ref: '#/components/parameters/dryRun'}
                - {$ref: '#/components/parameters/idempotencyKey'}
              requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/NewEvent'}}}}
              responses:
                '200': {$ref: '#/components/responses/Forecast'}
                '201': {$ref: '#/components/responses/Emitted'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '409': {$ref: '#/components/responses/Conflict'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}
            get:
              operationId: getHistory
              tags: [read]
              summary: Read a channel's history
              description: Kept events, oldest first unless asked otherwise. Needs the scope `read`.
              parameters:
                - {$ref: '#/components/parameters/types'}
                - {$ref: '#/components/parameters/user'}
                - {$ref: '#/components/parameters/after'}
                - {$ref: '#/components/parameters/before'}
                - {name: order, in: query, schema: {type: string, enum: [asc, desc], default: asc}}
                - {$ref: '#/components/parameters/limit'}
                - {$ref: '#/components/parameters/pageCursor'}
              responses:
                '200':
                  description: A page of events
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content: {application/json: {schema: {$ref: '#/components/schemas/EventPage'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '503': {$ref: '#/components/responses/Unavailable'}
            delete:
              operationId: deleteHistory
              tags: [read]
              summary: Remove events from a channel's history
              description: |
                Hides the kept events strictly between the two timetokens, at once and for good; without them, all there are.
                Needs the scope `manage`.
              parameters:
                - {$ref: '#/components/parameters/after'}
                - {$ref: '#/components/parameters/before'}
              responses:
                '200':
                  description: How many there were
                  content:
                    application/json:
                      schema: {type: object, required: [deleted], properties: {deleted: {type: integer}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/events/count:
            parameters: [{$ref: '#/components/parameters/channel'}]
            get:
              operationId: getCount
              tags: [read]
              summary: Count a channel's events
              description: Needs the scope `read`.
              parameters:
                - {$ref: '#/components/parameters/types'}
                - {$ref: '#/components/parameters/user'}
                - {$ref: '#/components/parameters/after'}
                - {$ref: '#/components/parameters/before'}
              responses:
                '200':
                  description: How many kept events there are
                  content:
                    application/json:
                      schema: {type: object, required: [count], properties: {count: {type: integer}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/signals:
            parameters: [{$ref: '#/components/parameters/channel'}]
            post:
              operationId: postSignal
              tags: [emit]
              summary: Send a signal
              description: |
                Small and ephemeral: whoever listens gets it, history does not. Becomes `signal.sent`. Needs the scope `emit`.
              parameters:
                - {$ref: '#/components/parameters/dryRun'}
                - {$ref: '#/components/parameters/idempotencyKey'}
              requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/NewSignal'}}}}
              responses:
                '200': {$ref: '#/components/responses/Forecast'}
                '202': {$ref: '#/components/responses/Emitted'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '409': {$ref: '#/components/responses/Conflict'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/fire:
            parameters: [{$ref: '#/components/parameters/channel'}]
            post:
              operationId: postFire
              tags: [emit]
              summary: Emit for webhooks alone
              description: No subscriber sees the event and history does not have it. Needs the scope `emit`.
              parameters:
                - {$ref: '#/components/parameters/dryRun'}
                - {$ref: '#/components/parameters/idempotencyKey'}
              requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/FiredEvent'}}}}
              responses:
                '200': {$ref: '#/components/responses/Forecast'}
                '202': {$ref: '#/components/responses/Emitted'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '409': {$ref: '#/components/responses/Conflict'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/events:
            post:
              operationId: postAnyChannel
              tags: [emit]
              summary: Emit into channels the body names, or take CloudEvents in
              description: |
                With several `channels` all or none of the events are stored.

                CloudEvents 1.0 are told by the header: structured (`application/cloudevents+json`), batch
                (`application/cloudevents-batch+json`), or binary (`ce-…` fields). `subject` names the channel unless
                `?channel=` does; a repeat with the same `source` and `id` on the same channel gives back the first event. The
                attributes are kept in `meta.cloudevent`. Needs the scope `emit`.
              parameters:
                - {$ref: '#/components/parameters/dryRun'}
                - {$ref: '#/components/parameters/idempotencyKey'}
                - name: channel
                  in: query
                  description: Of CloudEvents only; in the place of their `subject`.
                  schema: {$ref: '#/components/schemas/ChannelName'}
              requestBody:
                required: true
                content:
                  application/json: {schema: {$ref: '#/components/schemas/AddressedEvent'}}
                  application/cloudevents+json: {schema: {$ref: '#/components/schemas/CloudEvent'}}
                  application/cloudevents-batch+json:
                    schema: {type: array, minItems: 1, maxItems: 500, items: {$ref: '#/components/schemas/CloudEvent'}}
              responses:
                '200': {$ref: '#/components/responses/Forecasts'}
                '201':
                  description: Stored; one object, or a list for several channels and batches
                  headers: {Idempotency-Replayed: {$ref: '#/components/headers/IdempotencyReplayed'}}
                  content:
                    application/json:
                      schema:
                        oneOf: [{$ref: '#/components/schemas/Emitted'}, {$ref: '#/components/schemas/EmittedList'}]
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '409': {$ref: '#/components/responses/Conflict'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '415': {$ref: '#/components/responses/UnsupportedMediaType'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/events/batch:
            post:
              operationId: postBatch
              tags: [emit]
              summary: Emit up to 500 events in one commit
              description: Needs the scope `emit`.
              parameters:
                - {$ref: '#/components/parameters/dryRun'}
                - {$ref: '#/components/parameters/idempotencyKey'}
              requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Batch'}}}}
              responses:
                '200':
                  description: One result per event, in their order
                  headers: {Idempotency-Replayed: {$ref: '#/components/headers/IdempotencyReplayed'}}
                  content:
                    application/json:
                      schema:
                        oneOf: [{$ref: '#/components/schemas/BatchResults'}, {$ref: '#/components/schemas/ForecastList'}]
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '409': {$ref: '#/components/responses/Conflict'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/import:
            post:
              operationId: postImport
              tags: [emit]
              summary: Take in up to 500 records and messages from elsewhere
              description: |
                Lines of `parley export`, in their order. A message keeps its timetoken, unless another event has that: then it gets
                the next free one. It is in history alone: no stream, poll or webhook is told of it, and no schema of the app is asked. What
                is here already is left as it is, so that the same may be sent again; a message that is here is given what is
                attached to it now and was not before. Of records nobody is told either. What is refused has a problem in its
                place and keeps no other out. Needs the scope `manage`, and `emit` for messages.
              requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Import'}}}}
              responses:
                '200':
                  description: One result per record, in their order
                  content: {application/json: {schema: {$ref: '#/components/schemas/ImportResults'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '429': {$ref: '#/components/responses/TooMany'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/events/validate:
            post:
              operationId: postValidation
              tags: [emit]
              summary: Say what an emit would do
              description: As `POST /v1/events?dry_run=true`. Nothing is stored. Needs the scope `emit`.
              requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/BatchEvent'}}}}
              responses:
                '200': {$ref: '#/components/responses/Forecast'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '413': {$ref: '#/components/responses/TooLarge'}

          /v1/events/{id}:
            parameters: [{$ref: '#/components/parameters/id'}]
            get:
              operationId: getEvent
              tags: [read]
              summary: Read one event
              description: An event never changes. Needs the scope `read`.
              parameters: [{$ref: '#/components/parameters/ifNoneMatch'}]
              responses:
                '200':
                  description: The event
                  headers: {ETag: {$ref: '#/components/headers/ETag'}}
                  content: {application/json: {schema: {$ref: '#/components/schemas/Event'}}}
                '304': {description: The client has it already}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/events/{id}/explain:
            parameters: [{$ref: '#/components/parameters/id'}]
            get:
              operationId: getExplanation
              tags: [read]
              summary: Say what became of an event
              description: |
                Its schema, what is owed to webhooks for it, and who is told of it. Of an event that is kept no more (passed, expired
                or deleted) it says what its deliveries know: `kept` is false then. Needs the scopes `read` and `manage`.
              responses:
                '200':
                  description: The explanation
                  content: {application/json: {schema: {$ref: '#/components/schemas/Explanation'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/history:
            post:
              operationId: postHistory
              tags: [read]
              summary: Read the first page of several channels
              description: |
                At most 2,500 events in all, so many channels lower the limit of each. The pages' cursors continue at
                `GET /v1/channels/{channel}/events`. Needs the scope `read`.
              requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/HistoryQuery'}}}}
              responses:
                '200':
                  description: A page per channel
                  content:
                    application/json:
                      schema:
                        type: object
                        required: [channels]
                        properties:
                          channels: {type: object, additionalProperties: {$ref: '#/components/schemas/EventPage'}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/stream:
            get:
              operationId: getStream
              tags: [stream]
              summary: Follow events as they come
              description: |
                Server-Sent Events or lines of JSON, as `Accept` says. The first block is `stream.ready`; blocks named
                `stream.…` speak about the stream and carry no id. Every other block is an event with its envelope as data and
                its cursor as id. `Last-Event-ID`, else `cursor`, says where to continue; `earliest` and `latest` are words for
                the ends. A position that is no longer kept is told by `stream.gap`. Quiet streams carry heartbeats.

                The blocks about the stream, each with a JSON object as data (a line of NDJSON is
                `{"event":"stream.…","data":{…}}`):

                | block | data |
                | --- | --- |
                | `stream.ready` | `stream`, its id; `cursor`, where it starts; `heartbeat_seconds`, after how much silence at most something comes; for a device its `session` |
                | `stream.gap` | `requested`; `resumed_from`, the cursor it starts at instead; `missed`, how many events lie between: `unknown` |
                | `stream.changed` | `stream`, `channels`, `types`: what it follows from `cursor` on |
                | `stream.lagged` | the last block: `reason` `slow_consumer`. Come back with the last cursor |
                | `stream.closing` | the last block: `reason`, `final`, and unless that is true `retry_ms`, when to come back. `draining`, `store_unavailable`, `too_many_streams`: later; final are `deleted`, `replaced`, and `unauthorized`, after which only another credential helps |

                A ticket stands for a key: it opens one stream, once, within 60 seconds; with `Last-Event-ID` it resumes that
                stream until 120 seconds after it broke. Needs the scope `read`.

                With `user`, it is the stream of that user's device, and hears what is meant for it: of the channels the user has
                a place in (all, or those that patterns among `channel` pick), of the user's own channel, and of channels that
                are named and not for members only, each event whose audience the device belongs to. It follows the user into
                channels and out of them.
              security: [{apiKey: []}, {session: []}, {ticket: []}]
              parameters:
                - {$ref: '#/components/parameters/channels'}
                - {$ref: '#/components/parameters/types'}
                - {$ref: '#/components/parameters/filter'}
                - {$ref: '#/components/parameters/streamCursor'}
                - {$ref: '#/components/parameters/lastEventID'}
                - {$ref: '#/components/parameters/listener'}
                - {$ref: '#/components/parameters/device'}
                - {$ref: '#/components/parameters/groups'}
                - {$ref: '#/components/parameters/presence'}
              responses:
                '200':
                  description: A live stream
                  headers: {Gateway-Cursor: {$ref: '#/components/headers/GatewayCursor'}}
                  content:
                    text/event-stream: {schema: {type: string}}
                    application/x-ndjson: {schema: {type: string}}
                '204': {description: The ticket's stream was ended for good; do not come back}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '406': {$ref: '#/components/responses/NotAcceptable'}
                '429': {$ref: '#/components/responses/TooMany'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/poll:
            get:
              operationId: getPoll
              tags: [stream]
              summary: Fetch the next events, waiting for them if need be
              description: |
                Held while there are none, 25 seconds at most. Without a cursor it answers at once with the one to begin from. A past
                without an event that is wanted is looked through for two seconds at a time: the cursor of an empty answer says how
                far that came.
                A held poll ends with 401 when its key is removed or expires, and empty when the gateway stops. Streams and held
                polls together are bounded per address, app, key and user (429), and in all (503). Needs the scope `read`.
              parameters:
                - {$ref: '#/components/parameters/channels'}
                - {$ref: '#/components/parameters/types'}
                - {$ref: '#/components/parameters/filter'}
                - {$ref: '#/components/parameters/streamCursor'}
                - {$ref: '#/components/parameters/lastEventID'}
                - {$ref: '#/components/parameters/listener'}
                - {$ref: '#/components/parameters/device'}
                - {$ref: '#/components/parameters/presence'}
                - {$ref: '#/components/parameters/groups'}
                - {$ref: '#/components/parameters/limit'}
              responses:
                '200':
                  description: Events, or none, and where to continue
                  headers: {Gateway-Cursor: {$ref: '#/components/headers/GatewayCursor'}}
                  content: {application/json: {schema: {$ref: '#/components/schemas/PollBatch'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '429': {$ref: '#/components/responses/TooMany'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/users/{user}/sessions:
            parameters: [{name: user, in: path, required: true, schema: {$ref: '#/components/schemas/UserName'}}]
            get:
              operationId: getSessions
              tags: [stream]
              summary: List the sessions of a user's devices
              description: |
                A session is open while its device has a stream, and can be resumed for 120 seconds after the last one broke. The
                user's devices hear of it on the user's own channel (`connection.opened`, `.reconnecting`, `.reconnected`,
                `.failed`, `.canceled`). Needs the scope `read`; a credential of a user's own sees that user's.
              parameters: [{$ref: '#/components/parameters/limit'}, {$ref: '#/components/parameters/pageCursor'}]
              responses:
                '200':
                  description: A page of sessions in the order of their opening
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content:
                    application/json:
                      schema:
                        allOf: [{$ref: '#/components/schemas/Listing'}]
                        properties: {data: {type: array, items: {$ref: '#/components/schemas/DeviceSession'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}

          /v1/users/{user}/sessions/{session}:
            parameters:
              - {name: user, in: path, required: true, schema: {$ref: '#/components/schemas/UserName'}}
              - {name: session, in: path, required: true, schema: {type: string}}
            delete:
              operationId: deleteSession
              tags: [stream]
              summary: End a session and its streams for good
              description: |
                The user's other devices hear `connection.canceled`. A credential of a user's own ends that user's; any other
                needs the scope `manage`.
              responses:
                '204': {description: It is ended}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}

          /v1/streams:
            get:
              operationId: getStreams
              tags: [stream]
              summary: List live streams
              description: |
                Those of the same credential; with the scope `manage` all of the app. Needs the scope `read`.
              parameters: [{$ref: '#/components/parameters/limit'}, {$ref: '#/components/parameters/pageCursor'}]
              responses:
                '200':
                  description: A page of streams in the order of their opening
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content:
                    application/json:
                      schema:
                        allOf: [{$ref: '#/components/schemas/Listing'}]
                        properties: {data: {type: array, items: {$ref: '#/components/schemas/Stream'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}

          /v1/streams/{id}:
            parameters: [{$ref: '#/components/parameters/id'}]
            patch:
              operationId: patchStream
              tags: [stream]
              summary: Change what an open stream follows
              description: |
                Its next block is `stream.changed`. A member left out stays as it was. Needs the scope `read`.
              requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/StreamPatch'}}}}
              responses:
                '200':
                  description: The stream
                  content: {application/json: {schema: {$ref: '#/components/schemas/Stream'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '413': {$ref: '#/components/responses/TooLarge'}
            delete:
              operationId: deleteStream
              tags: [stream]
              summary: Cut a live stream
              description: Its last block is `stream.closing`. Needs the scope `read`.
              responses:
                '204': {description: Cut}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}

          /v1/stream-tickets:
            post:
              operationId: postStreamTicket
              tags: [stream]
              summary: Make a ticket for a browser's EventSource
              description: For `GET /v1/stream?ticket=…`. It sees what is named here and no more. Needs the scope `read`.
              requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/NewTicket'}}}}
              responses:
                '201':
                  description: The ticket
                  content: {application/json: {schema: {$ref: '#/components/schemas/Ticket'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '413': {$ref: '#/components/responses/TooLarge'}

          /v1/channels/{channel}/presence:
            parameters: [{$ref: '#/components/parameters/channel'}]
            get:
              operationId: getOccupants
              tags: [presence]
              summary: List who is present
              description: |
                By name, with what each shows; `total` is how many there are. Needs the scope `read`.
              parameters: [{$ref: '#/components/parameters/limit'}, {$ref: '#/components/parameters/pageCursor'}]
              responses:
                '200': 
                  description: A page of users
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content:
                    application/json:
                      schema:
                        allOf: [{$ref: '#/components/schemas/Listing'}]
                        properties: {data: {type: array, items: {$ref: '#/components/schemas/Occupant'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}

          /v1/channels/{channel}/presence/{user}:
            parameters: [{$ref: '#/components/parameters/channel'}, {$ref: '#/components/parameters/occupant'}]
            get:
              operationId: getOccupant
              tags: [presence]
              summary: Look whether a user is present
              description: |
                Needs the scope `read`.
              responses:
                '200': {description: The user and what the user shows, content: {application/json: {schema: {$ref: '#/components/schemas/Occupant'}}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
            put:
              operationId: putOccupant
              tags: [presence]
              summary: Give a sign of life
              description: |
                The user is present from now on (`presence.joined`), until the time is over (`presence.timed_out`), or until they leave
                (`presence.left`). While more than 20 are on a channel their coming and going is told together, as
                `presence.interval`. Needs the scope `emit`; a credential of a user speaks for that user alone.
              requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/SignOfLife'}}}}
              responses:
                '201': {description: Came, headers: {Location: {$ref: '#/components/headers/Location'}}}
                '204': {description: Was there already}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}
            delete:
              operationId: deleteOccupant
              tags: [presence]
              summary: Leave a channel
              description: |
                With all devices. Harmless for who is not there. Needs the scope `emit`.
              responses:
                '204': {description: Gone}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/presence/{user}/state:
            parameters: [{$ref: '#/components/parameters/channel'}, {$ref: '#/components/parameters/occupant'}]
            get:
              operationId: getPresenceState
              tags: [presence]
              summary: Read what a user shows
              description: |
                An empty object when it is nothing. Needs the scope `read`.
              responses:
                '200': {description: The state, content: {application/json: {schema: {type: object}}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
            put:
              operationId: putPresenceState
              tags: [presence]
              summary: Show something
              description: |
                In place of what was there; an empty object is nothing. A change is told as `presence.state_changed`. It goes when
                the user goes. Needs the scope `emit`.
              requestBody: {required: true, content: {application/json: {schema: {type: object}}}}
              responses:
                '200': {description: The state, content: {application/json: {schema: {type: object}}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/users/{user}/presence:
            parameters: [{$ref: '#/components/parameters/occupant'}]
            get:
              operationId: getWhereabouts
              tags: [presence]
              summary: List where a user is present
              description: |
                As far as the credential reaches. Needs the scope `read`.
              parameters: [{$ref: '#/components/parameters/limit'}, {$ref: '#/components/parameters/pageCursor'}]
              responses:
                '200': 
                  description: A page of channels by name
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content:
                    application/json:
                      schema:
                        allOf: [{$ref: '#/components/schemas/Listing'}]
                        properties: {data: {type: array, items: {type: object, required: [channel], properties: {channel: {$ref: '#/components/schemas/ChannelName'}}}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}

          /v1/channels/{channel}/participants:
            parameters: [{$ref: '#/components/parameters/channel'}]
            get:
              operationId: getParticipants
              tags: [presence]
              summary: List who is inside an open channel
              description: |
                By name; `total` is how many there are. Needs the scope `read`.
              parameters: [{$ref: '#/components/parameters/limit'}, {$ref: '#/components/parameters/pageCursor'}]
              responses:
                '200': 
                  description: A page of users
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content:
                    application/json:
                      schema:
                        allOf: [{$ref: '#/components/schemas/Listing'}]
                        properties: {data: {type: array, items: {type: object, required: [user], properties: {user: {type: string}}}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '409': {$ref: '#/components/responses/Conflict'}

          /v1/channels/{channel}/participants/{user}:
            parameters: [{$ref: '#/components/parameters/channel'}, {$ref: '#/components/parameters/occupant'}]
            put:
              operationId: putParticipant
              tags: [presence]
              summary: Enter an open channel
              description: |
                `participant.entered`, then `channel.participant_count.updated`. The user stays inside while one of their streams
                lasts, and half a minute beyond; without any stream, 300 s from the last of these calls. Needs the scope `emit`.
              requestBody: {content: {application/json: {schema: {type: object, additionalProperties: false}}}}
              responses:
                '200': {description: Was inside already, content: {application/json: {schema: {$ref: '#/components/schemas/Entrance'}}}}
                '201': {description: Entered, content: {application/json: {schema: {$ref: '#/components/schemas/Entrance'}}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '409': {$ref: '#/components/responses/Conflict'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}
            delete:
              operationId: deleteParticipant
              tags: [presence]
              summary: Leave an open channel
              description: |
                With all devices: `participant.exited`, then `channel.participant_count.updated`. Harmless for who is not inside. Needs
                the scope `emit`.
              responses:
                '204': {description: Gone}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/typing/{user}:
            parameters: [{$ref: '#/components/parameters/channel'}, {$ref: '#/components/parameters/occupant'}]
            put:
              operationId: putTyping
              tags: [presence]
              summary: Say that a user types
              description: |
                `typing.started`; said again it is renewed in silence. It ends by itself after 10 s. Needs the scope `emit`.
              requestBody: {content: {application/json: {schema: {type: object, additionalProperties: false}}}}
              responses:
                '204': {description: Known}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}
            delete:
              operationId: deleteTyping
              tags: [presence]
              summary: Say that a user types no more
              description: |
                `typing.stopped`. Harmless for who does not type. Needs the scope `emit`.
              responses:
                '204': {description: Known}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/session:
            get:
              operationId: getSignIn
              tags: [keys]
              summary: Say who is signed in
              description: Whom the cookie, or the `Authorization` header, stands for.
              responses:
                '200': {$ref: '#/components/responses/Session'}
                '204': {description: Nobody is signed in}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
            post:
              operationId: signIn
              tags: [keys]
              summary: Sign a page in
              description: |
                Exchanges an API key for a cookie that no script can read and that no other site's page can use. It counts
                wherever a key does, for twelve hours or as long as its key.
              security: []
              requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/NewSession'}}}}
              responses:
                '200': {$ref: '#/components/responses/Session'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '413': {$ref: '#/components/responses/TooLarge'}
            delete:
              operationId: signOut
              tags: [keys]
              summary: Sign a page out
              security: []
              responses:
                '204': {description: The cookie is removed}
                '400': {$ref: '#/components/responses/BadRequest'}
                '403': {$ref: '#/components/responses/Forbidden'}

          /v1/keys:
            get:
              operationId: getKeys
              tags: [keys]
              summary: List the app's API keys
              description: Never with their texts. Needs the scope `admin`.
              parameters: [{$ref: '#/components/parameters/limit'}, {$ref: '#/components/parameters/pageCursor'}]
              responses:
                '200':
                  description: A page of keys, oldest first
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content:
                    application/json:
                      schema:
                        allOf: [{$ref: '#/components/schemas/Listing'}]
                        properties: {data: {type: array, items: {$ref: '#/components/schemas/Key'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
            post:
              operationId: postKey
              tags: [keys]
              summary: Make an API key
              description: |
                The text is shown here and never again. With `jwt` it is a key that signs tokens of users elsewhere: it has no text,
                and tokens name it in their header by `kid`, its id. Needs the scope `admin`.
              requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/NewKey'}}}}
              responses:
                '201':
                  description: The key
                  headers: {Location: {$ref: '#/components/headers/Location'}}
                  content: {application/json: {schema: {$ref: '#/components/schemas/IssuedKey'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/keys/{id}:
            parameters: [{$ref: '#/components/parameters/id'}]
            get:
              operationId: getKey
              tags: [keys]
              summary: Read an API key
              description: Without its text. Needs the scope `admin`.
              responses:
                '200':
                  description: The key
                  content: {application/json: {schema: {$ref: '#/components/schemas/Key'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
            patch:
              operationId: patchKey
              tags: [keys]
              summary: Change what an API key is held to
              description: The rest of a key is what it was made with. Needs the scope `admin`.
              requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Rates'}}}}
              responses:
                '200':
                  description: The key
                  content: {application/json: {schema: {$ref: '#/components/schemas/Key'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}
            delete:
              operationId: deleteKey
              tags: [keys]
              summary: Remove an API key
              description: What it opened is closed. A key cannot remove itself. Needs the scope `admin`.
              responses:
                '204': {description: Removed}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '409': {$ref: '#/components/responses/Conflict'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/tokens:
            post:
              operationId: postToken
              tags: [keys]
              summary: Make a token of a user
              description: |
                A JWT for a browser or an app in a user's hands: it speaks for that user alone, may do at most what the API key it
                was made with may do now, and ends with that key. Signed with the app's `secret_key` (HS256); a program that has
                the secret can sign such tokens itself, with the claims `iss` (the app's id), `sub` (the user) and `exp`, and as it
                likes `nbf`, `scope` (`read`, `emit`, or both with a space between; default `read`), `channels` and `types`. Where
                the gateway has a public address, `aud` must be that; where it has none, there must be no `aud`. Needs an API key, and each scope that it hands on.
              requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/NewToken'}}}}
              responses:
                '201':
                  description: The token
                  content: {application/json: {schema: {$ref: '#/components/schemas/Token'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '413': {$ref: '#/components/responses/TooLarge'}

          /v1/apps:
            get:
              operationId: getApps
              tags: [keys]
              summary: List the apps
              description: Without their keys. Needs an `admin` key of the first app.
              parameters: [{$ref: '#/components/parameters/limit'}, {$ref: '#/components/parameters/pageCursor'}]
              responses:
                '200':
                  description: A page of apps in the order of their ids
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content:
                    application/json:
                      schema:
                        allOf: [{$ref: '#/components/schemas/Listing'}]
                        properties: {data: {type: array, items: {$ref: '#/components/schemas/App'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
            post:
              operationId: postApp
              tags: [keys]
              summary: Make an app
              description: With an admin key, shown here and never again. Needs an `admin` key of the first app.
              requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/NewApp'}}}}
              responses:
                '201':
                  description: The app
                  headers: {Location: {$ref: '#/components/headers/Location'}}
                  content: {application/json: {schema: {$ref: '#/components/schemas/IssuedApp'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/apps/{id}:
            parameters: [{$ref: '#/components/parameters/id'}]
            get:
              operationId: getApp
              tags: [keys]
              summary: Read an app
              description: |
                An `admin` key of the app itself reads its keys again. An `admin` key of the first app sees every app, without
                their keys.
              responses:
                '200':
                  description: The app
                  content: {application/json: {schema: {$ref: '#/components/schemas/AppWithKeys'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
            patch:
              operationId: patchApp
              tags: [keys]
              summary: Change an app
              description: |
                Needs an `admin` key of the app itself; `rate_limit` and `event_quota`, to which all its callers together are held,
                one of the first app.
              requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/AppPatch'}}}}
              responses:
                '200':
                  description: The app
                  content: {application/json: {schema: {$ref: '#/components/schemas/App'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}
            delete:
              operationId: deleteApp
              tags: [keys]
              summary: Remove an app
              description: Its keys hold no longer. The first app stays. Needs an `admin` key of the first app.
              responses:
                '204': {description: Removed}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '409': {$ref: '#/components/responses/Conflict'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/audit:
            get:
              operationId: getAudit
              tags: [keys]
              summary: Read the audit log
              description: |
                What was changed by administration: who did what to which resource, when and from where; and what was refused for
                want of a right. Without bodies and secrets. Sign-ins with credentials that do not hold (`sign_in`) stand among the
                entries of the first app, as far as they are not too many to be kept. Entries stay for 90 days unless the gateway is
                set otherwise. Needs the scope `admin`.
              parameters:
                - name: actor
                  in: query
                  description: The id of a credential.
                  schema: {type: string}
                - name: action
                  in: query
                  description: An action, or all of a subject, `key.*`.
                  schema: {type: string}
                - {name: resource, in: query, schema: {type: string}}
                - {name: result, in: query, schema: {enum: [done, refused]}}
                - {$ref: '#/components/parameters/after'}
                - {$ref: '#/components/parameters/before'}
                - {$ref: '#/components/parameters/limit'}
                - {$ref: '#/components/parameters/pageCursor'}
              responses:
                '200':
                  description: A page of entries, newest first
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content:
                    application/json:
                      schema:
                        allOf: [{$ref: '#/components/schemas/Listing'}]
                        properties: {data: {type: array, items: {$ref: '#/components/schemas/AuditEntry'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}

          /v1/webhooks:
            get:
              operationId: getWebhooks
              tags: [webhooks]
              summary: List the app's webhooks
              description: |
                Those whose channels and types the key reaches. A page may hold fewer than `limit`, and still have a next one. Needs the
                scope `manage`.
              parameters: [{$ref: '#/components/parameters/limit'}, {$ref: '#/components/parameters/pageCursor'}]
              responses:
                '200':
                  description: A page of webhooks in the order of their ids
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content:
                    application/json:
                      schema:
                        allOf: [{$ref: '#/components/schemas/Listing'}]
                        properties: {data: {type: array, items: {$ref: '#/components/schemas/Webhook'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '503': {$ref: '#/components/responses/Unavailable'}
            post:
              operationId: postWebhook
              tags: [webhooks]
              summary: Register a webhook
              description: |
                It is told of later events. Its secret is shown here and on rotation only. An
                `Idempotency-Key` is refused. Needs the scope `manage`.
              requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/WebhookSettings'}}}}
              responses:
                '201':
                  description: The webhook with its secret
                  headers:
                    Location: {$ref: '#/components/headers/Location'}
                    ETag: {$ref: '#/components/headers/ETag'}
                  content: {application/json: {schema: {$ref: '#/components/schemas/IssuedWebhook'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/webhooks/{id}:
            parameters: [{$ref: '#/components/parameters/id'}]
            get:
              operationId: getWebhook
              tags: [webhooks]
              summary: Read a webhook
              description: |
                Its ETag is for `If-Match`: it does not change with what is told of its circuit. Needs the scope `manage`, and a key
                that reaches the channels and types of the webhook.
              responses:
                '200': {$ref: '#/components/responses/Webhook'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}
            patch:
              operationId: patchWebhook
              tags: [webhooks]
              summary: Change a webhook
              description: |
                A merge patch (RFC 7396). A member left out stays as it was; but where `url` gets another scheme, host or port, the
                values of `headers` and `auth` have to be given again, or removed with null. Needs the scope `manage`.
              parameters: [{$ref: '#/components/parameters/ifMatch'}]
              requestBody:
                required: true
                content:
                  application/merge-patch+json: {schema: {$ref: '#/components/schemas/WebhookPatch'}}
                  application/json: {schema: {$ref: '#/components/schemas/WebhookPatch'}}
              responses:
                '200': {$ref: '#/components/responses/Webhook'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}
            delete:
              operationId: deleteWebhook
              tags: [webhooks]
              summary: Remove a webhook
              description: What was still owed to it turns `dead`. Needs the scope `manage`.
              parameters: [{$ref: '#/components/parameters/ifMatch'}]
              responses:
                '204': {description: Removed}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/webhooks/{id}/enable:
            parameters: [{$ref: '#/components/parameters/id'}]
            post:
              operationId: enableWebhook
              tags: [webhooks]
              summary: Let a webhook's deliveries go out
              description: |
                One whose receiver has yet to consent becomes `pending_verification`. Needs the scope `manage`.
              requestBody:
                required: false
                content:
                  application/json:
                    schema:
                      type: object
                      additionalProperties: false
                      properties:
                        held:
                          type: string
                          enum: [deliver, dead]
                          default: deliver
                          description: What becomes of deliveries that were held. Dead ones can be replayed.
              responses:
                '200': {$ref: '#/components/responses/Webhook'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '409': {$ref: '#/components/responses/Conflict'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/webhooks/{id}/disable:
            parameters: [{$ref: '#/components/parameters/id'}]
            post:
              operationId: disableWebhook
              tags: [webhooks]
              summary: Hold a webhook's deliveries back
              description: They go out when it is enabled again. Needs the scope `manage`.
              responses:
                '200': {$ref: '#/components/responses/Webhook'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/signing-key/rotate:
            post:
              operationId: rotateSigningKey
              tags: [webhooks]
              summary: Change to another Ed25519 key
              description: |
                The app's key for the signatures `standard_ed25519`. The present one signs beside it for a while, and is in the
                published set for as long; one from before that ends. Needs the scope `manage`, and a key that reaches all channels and
                types.
              requestBody:
                required: false
                content:
                  application/json:
                    schema:
                      type: object
                      properties:
                        overlap_seconds: {type: integer, minimum: 0, maximum: 604800, default: 86400}
              responses:
                '200':
                  description: What is public of the key
                  content:
                    application/json:
                      schema:
                        type: object
                        required: [key_id, public_key, previous_key_id, previous_until]
                        properties:
                          key_id: {type: string, description: Its `kid`.}
                          public_key: {type: string, description: '`whpk_…`'}
                          previous_key_id: {type: [string, 'null']}
                          previous_until: {type: [string, 'null'], format: date-time, description: Until when that signs too.}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '409': {$ref: '#/components/responses/Conflict'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/webhooks/{id}/rotate-secret:
            parameters: [{$ref: '#/components/parameters/id'}]
            post:
              operationId: rotateSecret
              tags: [webhooks]
              summary: Change to another secret
              description: |
                The present one signs beside it for a while. Needs the scope `manage`, and as every change of a webhook a key
                that reaches all its channels and types.
              requestBody:
                required: false
                content:
                  application/json:
                    schema:
                      type: object
                      properties:
                        overlap_seconds: {type: integer, minimum: 0, maximum: 604800, default: 86400}
                        secret:
                          type: string
                          writeOnly: true
                          description: >-
                            A secret of your own, `whsec_` and the base64 of 24 to 64 bytes, so that receivers that knew another
                            sender's need no change; left out, a new one is made.
              responses:
                '200':
                  description: The webhook with its new secret
                  headers: {ETag: {$ref: '#/components/headers/ETag'}}
                  content: {application/json: {schema: {$ref: '#/components/schemas/IssuedWebhook'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/webhooks/{id}/test:
            parameters: [{$ref: '#/components/parameters/id'}]
            post:
              operationId: testWebhook
              tags: [webhooks]
              summary: Post a sample event to a webhook
              description: |
                Waits for the receiver's answer and says how it went. Not queued and not repeated. Needs the scope `manage`.
                Refused before a receiver that must consent has.
              responses:
                '200':
                  description: The attempt
                  content: {application/json: {schema: {$ref: '#/components/schemas/Attempt'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '409': {$ref: '#/components/responses/Conflict'}
                '429': {$ref: '#/components/responses/TooMany'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/webhooks/{id}/preview:
            parameters: [{$ref: '#/components/parameters/id'}]
            post:
              operationId: previewWebhook
              tags: [webhooks]
              summary: Show what a webhook would be sent
              description: |
                The exact request for an event of the log, or for a made-up one, whether the webhook asks for it or not; secrets
                and signatures are masked. Nothing is sent. Needs the scope `manage`, and a key that reaches channel and type.
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      type: object
                      additionalProperties: false
                      properties:
                        event: {$ref: '#/components/schemas/EventID'}
                        type: {type: string}
                        channel: {type: string, default: preview}
                        data: {}
                        user: {type: string}
                        meta: {}
              responses:
                '200':
                  description: The request
                  content: {application/json: {schema: {$ref: '#/components/schemas/PostPreview'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/webhooks/{id}/verify:
            parameters: [{$ref: '#/components/parameters/id'}]
            post:
              operationId: verifyWebhook
              tags: [webhooks]
              summary: Ask a webhook's receiver for its consent
              description: |
                `echo`: a signed post of `{"type":"webhook.verification","challenge":…}` must be answered with success and the
                challenge, as text or as the member `challenge`. `cloudevents`: an `OPTIONS` request, answered by
                `WebHook-Allowed-Origin` and `WebHook-Allowed-Rate`. Consent enables the webhook, and what was held goes out. It is
                for the address: another one needs another consent. Needs the scope `manage`.
              responses:
                '200': {$ref: '#/components/responses/Webhook'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '409': {$ref: '#/components/responses/Conflict'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '429': {$ref: '#/components/responses/TooMany'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /.well-known/jwks.json:
            get:
              operationId: getKeySet
              tags: [webhooks]
              summary: Public keys of Ed25519 signatures
              description: |
                As JSON Web Keys. Each app signs with a key of its own: a receiver must know the `kid` of its app, or ask for that
                app's alone, since any other app's signature is as valid.
              security: []
              parameters:
                - {name: app, in: query, schema: {type: string}, description: The id of an app.}
              responses:
                '200':
                  description: The keys
                  headers: {Cache-Control: {schema: {type: string}}}
                  content:
                    application/json:
                      schema:
                        type: object
                        required: [keys]
                        properties: {keys: {type: array, items: {type: object}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/webhooks/{id}/replay:
            parameters: [{$ref: '#/components/parameters/id'}]
            post:
              operationId: replayWebhook
              tags: [webhooks]
              summary: Send events to a webhook again
              description: |
                Begins a job. `only: failed` (the default) takes what is not delivered, `dead` what was given up, `all` every
                event of the log that the webhook asks for now, whether it was ever owed to it or not. Deliveries keep their
                ids, so receivers recognise them. Nothing later than the call is part of it. Needs the scope `manage`.
              requestBody:
                required: true
                content: {application/json: {schema: {$ref: '#/components/schemas/ReplayOrder'}}}
              responses:
                '200':
                  description: The count of a dry run
                  content: {application/json: {schema: {$ref: '#/components/schemas/JobBegun'}}}
                '202':
                  description: The job has begun
                  headers: {Location: {schema: {type: string}}}
                  content: {application/json: {schema: {$ref: '#/components/schemas/JobBegun'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/webhooks/{id}/stats:
            parameters: [{$ref: '#/components/parameters/id'}]
            get:
              operationId: getWebhookStats
              tags: [webhooks]
              summary: Read how a webhook is doing
              description: |
                What is owed to it by state, the oldest that waits, and its attempts of the last five minutes, hour and day on
                this gateway since its start. Needs the scope `manage`.
              responses:
                '200':
                  description: The figures
                  content: {application/json: {schema: {$ref: '#/components/schemas/WebhookStats'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/subscriptions:
            get:
              operationId: getSubscriptions
              tags: [subscriptions]
              summary: List the app's subscriptions
              description: Needs the scope `manage`.
              parameters: [{$ref: '#/components/parameters/limit'}, {$ref: '#/components/parameters/pageCursor'}]
              responses:
                '200':
                  description: A page of subscriptions in the order of their ids
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content:
                    application/json:
                      schema:
                        allOf: [{$ref: '#/components/schemas/Listing'}]
                        properties: {data: {type: array, items: {$ref: '#/components/schemas/Subscription'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '503': {$ref: '#/components/responses/Unavailable'}
            post:
              operationId: postSubscription
              tags: [subscriptions]
              summary: Make a subscription
              description: |
                Later events are kept for it until somebody pulls and acknowledges them. Needs the scope `manage`, and that the
                credential reaches what the subscription is told of.
              requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/SubscriptionSettings'}}}}
              responses:
                '201':
                  description: The subscription
                  headers:
                    Location: {$ref: '#/components/headers/Location'}
                    ETag: {$ref: '#/components/headers/ETag'}
                  content: {application/json: {schema: {$ref: '#/components/schemas/Subscription'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/subscriptions/{id}:
            parameters: [{$ref: '#/components/parameters/id'}]
            get:
              operationId: getSubscription
              tags: [subscriptions]
              summary: Read a subscription
              description: Needs the scope `manage`.
              parameters: [{$ref: '#/components/parameters/ifNoneMatch'}]
              responses:
                '200':
                  description: The subscription
                  headers: {ETag: {$ref: '#/components/headers/ETag'}}
                  content: {application/json: {schema: {$ref: '#/components/schemas/Subscription'}}}
                '304': {description: The client has it already}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}
            patch:
              operationId: patchSubscription
              tags: [subscriptions]
              summary: Change a subscription
              description: |
                A merge patch (RFC 7396). A member left out stays as it was; null puts the default back. What waits follows a new
                ordering. Needs the scope `manage`.
              parameters: [{$ref: '#/components/parameters/ifMatch'}]
              requestBody:
                required: true
                content:
                  application/merge-patch+json: {schema: {$ref: '#/components/schemas/SubscriptionSettings'}}
                  application/json: {schema: {$ref: '#/components/schemas/SubscriptionSettings'}}
              responses:
                '200':
                  description: The subscription
                  headers: {ETag: {$ref: '#/components/headers/ETag'}}
                  content: {application/json: {schema: {$ref: '#/components/schemas/Subscription'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '409': {$ref: '#/components/responses/Conflict'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}
            delete:
              operationId: deleteSubscription
              tags: [subscriptions]
              summary: Remove a subscription
              description: What still waited for it turns `dead`. Needs the scope `manage`.
              parameters: [{$ref: '#/components/parameters/ifMatch'}]
              responses:
                '204': {description: Removed}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/subscriptions/{id}/pull:
            parameters: [{$ref: '#/components/parameters/id'}]
            post:
              operationId: pullSubscription
              tags: [subscriptions]
              summary: Take deliveries
              description: |
                What is due, oldest first; waits up to `wait_seconds` for some. Each is to be acknowledged within the
                subscription's deadline, or it is given out again with another `ack_id`. Needs the scope `read`, and that the
                credential reaches what the subscription is told of.
              requestBody: {required: false, content: {application/json: {schema: {$ref: '#/components/schemas/Pull'}}}}
              responses:
                '200':
                  description: The deliveries; none when the time was over
                  content: {application/json: {schema: {$ref: '#/components/schemas/PulledEvents'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/subscriptions/{id}/ack:
            parameters: [{$ref: '#/components/parameters/id'}]
            post:
              operationId: ackSubscription
              tags: [subscriptions]
              summary: Acknowledge deliveries
              description: |
                `lost`: the deadline had passed, or it was acknowledged before. It is given out again, or was. Needs the scope
                `read`.
              requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/AckIds'}}}}
              responses:
                '200':
                  description: What became of each id, in their order
                  content: {application/json: {schema: {$ref: '#/components/schemas/AckResults'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/subscriptions/{id}/nack:
            parameters: [{$ref: '#/components/parameters/id'}]
            post:
              operationId: nackSubscription
              tags: [subscriptions]
              summary: Give deliveries back
              description: |
                They are given out again after `delay_seconds`, or are dead after `max_attempts`. Needs the scope `read`.
              requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Nack'}}}}
              responses:
                '200':
                  description: What became of each id, in their order
                  content: {application/json: {schema: {$ref: '#/components/schemas/AckResults'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/subscriptions/{id}/extend:
            parameters: [{$ref: '#/components/parameters/id'}]
            post:
              operationId: extendSubscription
              tags: [subscriptions]
              summary: Move deadlines
              description: |
                The deliveries wait for their acknowledgement for `seconds` from now. Needs the scope `read`.
              requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Extend'}}}}
              responses:
                '200':
                  description: What became of each id, in their order
                  content: {application/json: {schema: {$ref: '#/components/schemas/AckResults'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/subscriptions/{id}/seek:
            parameters: [{$ref: '#/components/parameters/id'}]
            post:
              operationId: seekSubscription
              tags: [subscriptions]
              summary: Go back or ahead in the log
              description: |
                What waits up to the position is skipped (`dead`, reason `skipped`), what lies behind it is due, whatever became
                of it before; what is out at consumers is left alone. At most 100,000 events are looked at, up to the first that
                has no room to wait: `complete` says whether that was all, `reached` how far it came. Needs the scope `manage`.
              requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Seek'}}}}
              responses:
                '200':
                  description: What was done
                  content: {application/json: {schema: {$ref: '#/components/schemas/SeekResult'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/deliveries:
            get:
              operationId: getDeliveries
              tags: [webhooks]
              summary: List what is and was owed to webhooks
              description: |
                Newest event first, unless `order=asc`. Deliveries of channels and types that the key does not reach are left
                out, so a page may hold fewer than `limit` and still have a next one. Needs the scope `manage`.
              parameters:
                - {name: webhook, in: query, description: Of this webhook only., schema: {type: string}}
                - name: status
                  in: query
                  description: Repeatable; any of them.
                  schema: {type: array, items: {$ref: '#/components/schemas/DeliveryStatus'}}
                - {name: event, in: query, description: Of this event only., schema: {$ref: '#/components/schemas/EventID'}}
                - {name: after, in: query, description: Events after this one., schema: {$ref: '#/components/schemas/Timetoken'}}
                - {name: before, in: query, description: Events before this one., schema: {$ref: '#/components/schemas/Timetoken'}}
                - {name: order, in: query, description: By event., schema: {type: string, enum: [asc, desc], default: desc}}
                - {$ref: '#/components/parameters/limit'}
                - {$ref: '#/components/parameters/pageCursor'}
              responses:
                '200':
                  description: A page of deliveries
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content:
                    application/json:
                      schema:
                        allOf: [{$ref: '#/components/schemas/Listing'}]
                        properties: {data: {type: array, items: {$ref: '#/components/schemas/Delivery'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/deliveries/{id}:
            parameters: [{$ref: '#/components/parameters/id'}]
            get:
              operationId: getDelivery
              tags: [webhooks]
              summary: Read a delivery with its attempts
              description: The last 20 attempts are kept. Needs the scope `manage`.
              responses:
                '200':
                  description: The delivery
                  content: {application/json: {schema: {$ref: '#/components/schemas/DeliveryWithAttempts'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/deliveries/{id}/retry:
            parameters: [{$ref: '#/components/parameters/id'}]
            post:
              operationId: retryDelivery
              tags: [webhooks]
              summary: Make a delivery due now
              description: Whatever became of it; its id stays. Needs the scope `manage`.
              responses:
                '202':
                  description: Due now
                  content: {application/json: {schema: {$ref: '#/components/schemas/Delivery'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '409': {$ref: '#/components/responses/Conflict'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/deliveries/redrive:
            post:
              operationId: redriveDeliveries
              tags: [webhooks]
              summary: Send dead deliveries again
              description: |
                Begins a job over the dead deliveries (`only: failed`: also those that wait for a retry) of one webhook or of all.
                Without `webhook` the key must reach every channel and type. Needs the scope `manage`.
              requestBody:
                required: true
                content: {application/json: {schema: {$ref: '#/components/schemas/RedriveOrder'}}}
              responses:
                '200':
                  description: The count of a dry run
                  content: {application/json: {schema: {$ref: '#/components/schemas/JobBegun'}}}
                '202':
                  description: The job has begun
                  headers: {Location: {schema: {type: string}}}
                  content: {application/json: {schema: {$ref: '#/components/schemas/JobBegun'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/deliveries/purge:
            post:
              operationId: purgeDeliveries
              tags: [webhooks]
              summary: Remove dead deliveries
              description: |
                Begins a job that removes dead deliveries, with their attempts. The body says which by one member at least, or `all`.
                Without `webhook` the key must reach every channel and type. Needs the scope `manage`.
              requestBody:
                required: true
                content: {application/json: {schema: {$ref: '#/components/schemas/PurgeOrder'}}}
              responses:
                '200':
                  description: The count of a dry run
                  content: {application/json: {schema: {$ref: '#/components/schemas/JobBegun'}}}
                '202':
                  description: The job has begun
                  headers: {Location: {schema: {type: string}}}
                  content: {application/json: {schema: {$ref: '#/components/schemas/JobBegun'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/jobs:
            get:
              operationId: getJobs
              tags: [webhooks]
              summary: List jobs
              description: Newest first. The last 100 that are over can still be seen. Needs the scope `manage`.
              parameters: [{$ref: '#/components/parameters/limit'}, {$ref: '#/components/parameters/pageCursor'}]
              responses:
                '200':
                  description: A page of jobs
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content:
                    application/json:
                      schema:
                        allOf: [{$ref: '#/components/schemas/Listing'}]
                        properties: {data: {type: array, items: {$ref: '#/components/schemas/Job'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/jobs/{id}:
            parameters: [{$ref: '#/components/parameters/id'}]
            get:
              operationId: getJob
              tags: [webhooks]
              summary: Read a job and how far it has come
              description: Needs the scope `manage`.
              responses:
                '200':
                  description: The job
                  content: {application/json: {schema: {$ref: '#/components/schemas/Job'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/jobs/{id}/pause:
            parameters: [{$ref: '#/components/parameters/id'}]
            post:
              operationId: pauseJob
              tags: [webhooks]
              summary: Let a job rest
              description: Nothing happens when it is so already. Needs the scope `manage`.
              responses:
                '200':
                  description: The job
                  content: {application/json: {schema: {$ref: '#/components/schemas/Job'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '409': {$ref: '#/components/responses/Conflict'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/jobs/{id}/resume:
            parameters: [{$ref: '#/components/parameters/id'}]
            post:
              operationId: resumeJob
              tags: [webhooks]
              summary: Let a job go on
              description: Nothing happens when it is so already. Needs the scope `manage`.
              responses:
                '200':
                  description: The job
                  content: {application/json: {schema: {$ref: '#/components/schemas/Job'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '409': {$ref: '#/components/responses/Conflict'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/jobs/{id}/cancel:
            parameters: [{$ref: '#/components/parameters/id'}]
            post:
              operationId: cancelJob
              tags: [webhooks]
              summary: End a job; what it has done stays done
              description: Nothing happens when it is so already. Needs the scope `manage`.
              responses:
                '200':
                  description: The job
                  content: {application/json: {schema: {$ref: '#/components/schemas/Job'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '409': {$ref: '#/components/responses/Conflict'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/sources:
            get:
              operationId: getSources
              tags: [sources]
              summary: List the app's sources
              description: Needs the scope `manage`.
              parameters: [{$ref: '#/components/parameters/limit'}, {$ref: '#/components/parameters/pageCursor'}]
              responses:
                '200':
                  description: A page of sources in the order of their ids
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content:
                    application/json:
                      schema:
                        allOf: [{$ref: '#/components/schemas/Listing'}]
                        properties: {data: {type: array, items: {$ref: '#/components/schemas/Source'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/sources/{id}:
            parameters: [{$ref: '#/components/parameters/id'}]
            get:
              operationId: getSource
              tags: [sources]
              summary: Read a source
              description: Never with its secrets. Needs the scope `manage`.
              parameters: [{$ref: '#/components/parameters/ifNoneMatch'}]
              responses:
                '200': {$ref: '#/components/responses/Source'}
                '304': {description: The client has it already}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}
            put:
              operationId: putSource
              tags: [sources]
              summary: Make or change a source
              description: |
                Of a source that is there, what is left out stays as it is, and null puts the default back. Another `scheme` needs
                `secrets` of its own. An id is unique in the gateway. Needs the scope `manage`.
              parameters: [{$ref: '#/components/parameters/ifMatch'}]
              requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/SourceSettings'}}}}
              responses:
                '200': {$ref: '#/components/responses/Source'}
                '201': {$ref: '#/components/responses/Source'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '409': {$ref: '#/components/responses/Conflict'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}
            delete:
              operationId: deleteSource
              tags: [sources]
              summary: Remove a source
              description: |
                Its id is free again. Needs the scope `manage`, and as every change of a source a key that reaches all the source
                may emit.
              parameters: [{$ref: '#/components/parameters/ifMatch'}]
              responses:
                '204': {description: Removed}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/sources/{id}/test:
            parameters: [{$ref: '#/components/parameters/id'}]
            post:
              operationId: testSource
              tags: [sources]
              summary: Try a post out
              description: |
                Says whether the post is verified and by which secret, what the mapping makes of it, whether that would be
                accepted, and who would receive it. The post is described here, or is a `request` of the log. A `mapping` is tried
                in the place of the source's. Nothing is stored. Needs the scope `manage`.
              requestBody:
                required: true
                content: {application/json: {schema: {$ref: '#/components/schemas/TrialPost'}}}
              responses:
                '200':
                  description: What the post would become
                  content: {application/json: {schema: {$ref: '#/components/schemas/Trial'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/sources/{id}/mappings:
            parameters: [{$ref: '#/components/parameters/id'}]
            get:
              operationId: getSourceMappings
              tags: [sources]
              summary: List the mappings a source has had
              description: The newest first; the latest 20 are kept. To go back, put an older one. Needs the scope `manage`.
              responses:
                '200':
                  description: The mappings
                  content:
                    application/json:
                      schema:
                        type: object
                        required: [data]
                        properties: {data: {type: array, items: {$ref: '#/components/schemas/MappingVersion'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/sources/{id}/requests:
            parameters: [{$ref: '#/components/parameters/id'}]
            get:
              operationId: getSourceRequests
              tags: [sources]
              summary: List the latest requests to a source
              description: |
                The newest first, rejected ones too. They are kept in memory: at most 100 that were verified and 20 that were not,
                fewer where bodies are large; beside them 500 that were verified and turned away (`rejected`, `failed`), whole, which
                alone outlive a restart. Needs the scope `manage`, and a key that reaches all the source may emit.
              parameters:
                - name: outcome
                  in: query
                  description: Only those with this outcome.
                  schema: {$ref: '#/components/schemas/InboundOutcome'}
                - {$ref: '#/components/parameters/limit'}
                - {$ref: '#/components/parameters/pageCursor'}
              responses:
                '200':
                  description: A page of requests
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content:
                    application/json:
                      schema:
                        allOf: [{$ref: '#/components/schemas/Listing'}]
                        properties: {data: {type: array, items: {$ref: '#/components/schemas/InboundRequest'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/sources/{id}/requests/{request}:
            parameters:
              - {$ref: '#/components/parameters/id'}
              - {name: request, in: path, required: true, description: The request's id., schema: {type: string}}
            get:
              operationId: getSourceRequest
              tags: [sources]
              summary: Read a request to a source
              description: Needs the scope `manage`, and a key that reaches all the source may emit.
              responses:
                '200':
                  description: The request
                  content: {application/json: {schema: {$ref: '#/components/schemas/InboundRequest'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/sources/{id}/requests/{request}/replay:
            parameters:
              - {$ref: '#/components/parameters/id'}
              - {name: request, in: path, required: true, description: The request's id., schema: {type: string}}
            post:
              operationId: replaySourceRequest
              tags: [sources]
              summary: Take a request in once more
              description: |
                With the source's present mapping. The signature is not checked again, so only what was verified when it came can
                be replayed; a delivery that became events before gives them back. Needs the scope `manage`, and a key that
                reaches all the source may emit.
              responses:
                '202':
                  description: Stored
                  content: {application/json: {schema: {$ref: '#/components/schemas/Receipt'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /in/{source}:
            parameters:
              - {name: source, in: path, required: true, description: The source's id., schema: {type: string}}
            post:
              operationId: postInbound
              tags: [sources]
              summary: Take a post of another service in
              description: |
                The post's own signature is its credential. A wrong one is 401 and stores nothing; a delivery that came before
                gives back the first one's events. A provider's question whether the address is right gets its answer.
              security: []
              requestBody: {required: true, content: {'*/*': {schema: {}}}}
              responses:
                '200':
                  description: The answer to a provider's question
                  content: {'*/*': {schema: {}}}
                '202':
                  description: Stored
                  content: {application/json: {schema: {$ref: '#/components/schemas/Receipt'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '415':
                  description: A body with a `Content-Encoding`, to a source whose scheme signs bodies
                  content: {application/problem+json: {schema: {$ref: '#/components/schemas/Problem'}}}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}
            get:
              operationId: greetInbound
              tags: [sources]
              summary: Answer a provider's question
              description: |
                For sources with the handshake `meta` or `x`. Everything else is 405.
              security: []
              responses:
                '200':
                  description: The answer
                  content: {'*/*': {schema: {}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '403': {description: The token is not the source's `verify_token`}
                '404': {$ref: '#/components/responses/NotFound'}
                '405':
                  description: The source answers no such question
                  content: {application/problem+json: {schema: {$ref: '#/components/schemas/Problem'}}}
            options:
              operationId: optionsInbound
              tags: [sources]
              summary: Consent to CloudEvents
              description: For sources with the handshake `cloudevents`, to a request with `WebHook-Request-Origin`.
              security: []
              responses:
                '200':
                  description: The consent
                  headers:
                    WebHook-Allowed-Origin: {schema: {type: string}}
                    WebHook-Allowed-Rate: {schema: {type: string}}
                '204': {description: No such question}
                '400': {$ref: '#/components/responses/BadRequest'}
                '404': {$ref: '#/components/responses/NotFound'}

          /v1/event-types:
            get:
              operationId: getEventTypes
              tags: [event types]
              summary: List event types
              description: |
                The app's and the gateway's own, in the order of their names. Needs the scope `read`, `emit` or `manage`.
              parameters:
                - {name: prefix, in: query, description: 'What the name begins with: `order.`', schema: {type: string}}
                - name: built_in
                  in: query
                  description: The gateway's own types only, or the app's only.
                  schema: {type: boolean}
                - {$ref: '#/components/parameters/limit'}
                - {$ref: '#/components/parameters/pageCursor'}
              responses:
                '200':
                  description: A page of event types
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content:
                    application/json:
                      schema:
                        allOf: [{$ref: '#/components/schemas/Listing'}]
                        properties: {data: {type: array, items: {$ref: '#/components/schemas/EventType'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}

          /v1/event-types/{type}:
            parameters: [{$ref: '#/components/parameters/eventType'}]
            get:
              operationId: getEventType
              tags: [event types]
              summary: Read an event type
              description: Needs the scope `read`, `emit` or `manage`.
              parameters: [{$ref: '#/components/parameters/ifNoneMatch'}]
              responses:
                '200': {$ref: '#/components/responses/EventType'}
                '304': {description: The client has it already}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
            put:
              operationId: putEventType
              tags: [event types]
              summary: Declare an event type, or replace its settings
              description: |
                What is left out takes its default; versions stay. Counts at once. The gateway's own types cannot be declared:
                403 with code `built_in_type`. Needs the scope `manage`.
              parameters: [{$ref: '#/components/parameters/ifMatch'}]
              requestBody:
                content:
                  application/json:
                    schema: {$ref: '#/components/schemas/EventTypeSettings'}
                    example: {description: An order was paid in full, owner: payments, mode: enforce, compatibility: backward}
              responses:
                '200': {$ref: '#/components/responses/EventType'}
                '201': {$ref: '#/components/responses/EventType'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '409': {$ref: '#/components/responses/Conflict'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}
            delete:
              operationId: deleteEventType
              tags: [event types]
              summary: Remove an event type
              description: |
                Its events are no longer checked. A type with versions, which stored events may name, is removed only with
                `If-Match`; without it the answer is 409 with code `event_type_in_use`. Its versions stay readable, and when the
                type is declared again their numbers go on. Needs the scope `manage`.
              parameters: [{$ref: '#/components/parameters/ifMatch'}]
              responses:
                '204': {description: Removed}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '409': {$ref: '#/components/responses/Conflict'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/event-types/{type}/versions:
            parameters: [{$ref: '#/components/parameters/eventType'}]
            get:
              operationId: getSchemaVersions
              tags: [event types]
              summary: List the versions of a type's schema
              description: Oldest first, without the schemas. Needs the scope `read`, `emit` or `manage`.
              parameters: [{$ref: '#/components/parameters/limit'}, {$ref: '#/components/parameters/pageCursor'}]
              responses:
                '200':
                  description: A page of versions
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content:
                    application/json:
                      schema:
                        allOf: [{$ref: '#/components/schemas/Listing'}]
                        properties: {data: {type: array, items: {$ref: '#/components/schemas/SchemaVersion'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}
            post:
              operationId: postSchemaVersion
              tags: [event types]
              summary: Add a version to a type's schema
              description: |
                Events are held against it from now on. It must compile (422 `schema_invalid`, the errors point into the
                schema), accept every example and refuse every counter-example (422 `example_invalid`), and be to the earlier
                versions what the type's `compatibility` says (409 `incompatible_schema`). What cannot be decided counts as
                incompatible.
                The newest version's very schema once more is no new version and answers 200; so does a dry run, with the version
                that would be made. Needs the scope `manage`.
              parameters: [{$ref: '#/components/parameters/dryRun'}]
              requestBody:
                required: true
                content:
                  application/json:
                    schema: {$ref: '#/components/schemas/SchemaProposal'}
                    example:
                      schema:
                        type: object
                        required: [amount, currency]
                        properties: {amount: {type: integer, minimum: 1}, currency: {enum: [EUR, USD]}}
                      examples: [{amount: 4200, currency: EUR}]
                      counter_examples: [{amount: '4200', currency: EUR}]
              responses:
                '200': {$ref: '#/components/responses/SchemaVersion'}
                '201': {$ref: '#/components/responses/SchemaVersion'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '409': {$ref: '#/components/responses/IncompatibleSchema'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/event-types/{type}/versions/{version}:
            parameters:
              - {$ref: '#/components/parameters/eventType'}
              - {name: version, in: path, required: true, schema: {type: integer, minimum: 1}}
            get:
              operationId: getSchemaVersion
              tags: [event types]
              summary: Read a version of a type's schema
              description: |
                A version never changes. `Accept: application/schema+json` gets the schema alone, byte for byte as it was
                declared. Needs the scope `read`, `emit` or `manage`.
              parameters: [{$ref: '#/components/parameters/ifNoneMatch'}]
              responses:
                '200':
                  description: The version
                  headers: {ETag: {$ref: '#/components/headers/ETag'}}
                  content:
                    application/json: {schema: {$ref: '#/components/schemas/SchemaVersionWithSchema'}}
                    application/schema+json: {schema: {$ref: '#/components/schemas/Schema'}}
                '304': {description: The client has it already}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/event-types/{type}/validate:
            parameters: [{$ref: '#/components/parameters/eventType'}]
            post:
              operationId: postTypeValidation
              tags: [event types]
              summary: Hold a payload against a schema
              description: |
                Whatever the type's mode; nothing is stored. `POST /v1/events/validate` also says who would be told of the
                event. Needs the scope `read`, `emit` or `manage`.
              requestBody:
                required: true
                content:
                  application/json:
                    schema: {$ref: '#/components/schemas/PayloadToValidate'}
                    example: {data: {amount: 4200, curency: EUR}}
              responses:
                '200':
                  description: What the schema says of it
                  content:
                    application/json:
                      schema: {$ref: '#/components/schemas/Validation'}
                      example:
                        valid: false
                        type: order.paid
                        version: 1
                        errors:
                          - pointer: '#'
                            keyword: required
                            detail: missing property currency
                            schema: '#/required'
                        truncated: false
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/event-types/{type}/infer:
            parameters: [{$ref: '#/components/parameters/eventType'}]
            post:
              operationId: postInference
              tags: [event types]
              summary: Draft a schema from the last events of a type
              description: |
                The draft accepts every event it was drawn from; read it before you declare it. The type need not be declared.
                Needs the scope `read`.
              requestBody:
                content:
                  application/json:
                    schema:
                      type: object
                      additionalProperties: false
                      properties:
                        last: {type: integer, minimum: 1, maximum: 1000, default: 100, description: Events to draw it from.}
                        closed: {type: boolean, default: false, description: Refuse members that appeared in no event.}
              responses:
                '200':
                  description: The draft, in the dialect 2020-12
                  content:
                    application/json:
                      schema:
                        type: object
                        required: [type, events, schema]
                        properties:
                          type: {type: string}
                          events: {type: integer, description: How many events it was drawn from.}
                          schema: {$ref: '#/components/schemas/Schema'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/event-types/{type}/candidate:
            parameters: [{$ref: '#/components/parameters/eventType'}]
            get:
              operationId: getCandidate
              tags: [event types]
              summary: Say what a schema on trial would have done
              description: |
                Counted since it was set, or since this node of the gateway started. Needs the scope `manage`: the samples quote
                what others sent.
              responses:
                '200': {$ref: '#/components/responses/Candidate'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
            put:
              operationId: putCandidate
              tags: [event types]
              summary: Put a schema on trial
              description: |
                From now on the type's stored events are held against it as well, and nothing comes of it but a count. Takes the
                place of an earlier candidate and counts anew. Needs the scope `manage`.
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      type: object
                      required: [schema]
                      additionalProperties: false
                      properties: {schema: {$ref: '#/components/schemas/Schema'}}
                    example: {schema: {type: object, required: [amount, currency, shop]}}
              responses:
                '200': {$ref: '#/components/responses/Candidate'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '409': {$ref: '#/components/responses/Conflict'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}
            delete:
              operationId: deleteCandidate
              tags: [event types]
              summary: End a trial without a result
              description: Needs the scope `manage`.
              responses:
                '204': {description: Ended}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/event-types/{type}/candidate/promote:
            parameters: [{$ref: '#/components/parameters/eventType'}]
            post:
              operationId: promoteCandidate
              tags: [event types]
              summary: Make the schema on trial the newest version
              description: Passes the same checks as `POST …/versions`, and ends the trial. Needs the scope `manage`.
              requestBody:
                content:
                  application/json:
                    schema:
                      type: object
                      additionalProperties: false
                      properties: {force: {$ref: '#/components/schemas/ForceReason'}}
              responses:
                '200': {$ref: '#/components/responses/SchemaVersion'}
                '201': {$ref: '#/components/responses/SchemaVersion'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '409': {$ref: '#/components/responses/IncompatibleSchema'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/asyncapi.json:
            get:
              operationId: getAsyncAPI
              tags: [event types]
              summary: Describe the app's events for AsyncAPI tools
              description: |
                An AsyncAPI 3.0 document of the event types the credential reaches, the gateway's own among them: each a message
                with the newest version of its schema as payload and the envelope as header fields. Made anew for each request;
                `info.version` changes with every change of the types.

                AsyncAPI tools read JSON Schema as of draft 07: `schemaFormat` says so of each, `x-dialect` says what it was
                written in. Schemas that such tools cannot read, and those beyond 16 MiB in all, are named by their address.
                Needs the scope `read`, `emit` or `manage`.
              parameters: [{$ref: '#/components/parameters/ifNoneMatch'}]
              responses:
                '200':
                  description: The document
                  headers: {ETag: {$ref: '#/components/headers/ETag'}}
                  content:
                    application/json:
                      schema:
                        type: object
                        required: [asyncapi, info, channels, operations, components]
                        properties:
                          asyncapi: {type: string}
                          info: {type: object}
                          defaultContentType: {type: string}
                          servers: {type: object, description: Absent while the gateway has no public address.}
                          channels: {type: object}
                          operations: {type: object}
                          components: {type: object}
                '304': {description: The client has it already}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/restrictions:
            parameters: [{$ref: '#/components/parameters/channel'}]
            get:
              operationId: getRestrictions
              tags: [moderation]
              summary: List who is restricted in a channel
              description: By user. Needs the scope `read`; a credential of a user, also to be an operator of the channel.
              parameters: [{$ref: '#/components/parameters/limit'}, {$ref: '#/components/parameters/pageCursor'}]
              responses:
                '200':
                  description: A page; those that are over are left out, so that it may hold fewer than its limit
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content:
                    application/json:
                      schema:
                        allOf: [{$ref: '#/components/schemas/Listing'}]
                        properties: {data: {type: array, items: {$ref: '#/components/schemas/Restriction'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/users/{user}/restrictions:
            parameters: [{name: user, in: path, required: true, description: A user's id., schema: {$ref: '#/components/schemas/UserName'}}]
            get:
              operationId: getUserRestrictions
              tags: [moderation]
              summary: List where a user is restricted
              description: By channel, as far as the credential reaches those. Needs the scope `read`.
              parameters: [{$ref: '#/components/parameters/limit'}, {$ref: '#/components/parameters/pageCursor'}]
              responses:
                '200':
                  description: A page; those that are over are left out, so that it may hold fewer than its limit
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content:
                    application/json:
                      schema:
                        allOf: [{$ref: '#/components/schemas/Listing'}]
                        properties: {data: {type: array, items: {$ref: '#/components/schemas/Restriction'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/restrictions/{user}:
            parameters: [{$ref: '#/components/parameters/channel'}, {name: user, in: path, required: true, description: A user's id., schema: {$ref: '#/components/schemas/UserName'}}]
            get:
              operationId: getRestriction
              tags: [moderation]
              summary: Read a user's restriction in a channel
              description: Needs the scope `read`.
              parameters: [{$ref: '#/components/parameters/ifNoneMatch'}]
              responses:
                '200': {$ref: '#/components/responses/Restriction'}
                '304': {description: The client has this version}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}
            put:
              operationId: putRestriction
              tags: [moderation]
              summary: Ban or mute a user in a channel
              description: |
                In place of the restriction in force. A ban ends the membership and keeps the user from writing, hearing and joining; a
                mute keeps from writing alone. Told by `user.banned`, `user.muted` and what follows; at the end by `user.unbanned`,
                `user.unmuted` with the reason `expired`. For operators of the channel, or with the scope `manage`.
              parameters: [{$ref: '#/components/parameters/ifMatch'}, {name: by, in: query, description: 'Who does this, where the credential may name somebody and the body does not.', schema: {$ref: '#/components/schemas/UserName'}}]
              requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/NewRestriction'}}}}
              responses:
                '200': {$ref: '#/components/responses/Restriction'}
                '201': {$ref: '#/components/responses/Restriction'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}
            delete:
              operationId: deleteRestriction
              tags: [moderation]
              summary: Lift a user's restriction
              description: Once more changes nothing. For operators of the channel, or with the scope `manage`.
              parameters: [{$ref: '#/components/parameters/ifMatch'}, {name: by, in: query, description: 'Who does this, where the credential may name somebody and the body does not.', schema: {$ref: '#/components/schemas/UserName'}}]
              responses:
                '204': {description: The user is under no restriction}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/freeze:
            parameters: [{$ref: '#/components/parameters/channel'}]
            put:
              operationId: putFreeze
              tags: [moderation]
              summary: Freeze a channel
              description: Only its operators may write then. For operators of the channel, or with the scope `manage`.
              parameters: [{name: by, in: query, description: 'Who does this, where the credential may name somebody and the body does not.', schema: {$ref: '#/components/schemas/UserName'}}]
              requestBody: {required: false, content: {application/json: {schema: {$ref: '#/components/schemas/ByWhom'}}}}
              responses:
                '200':
                  description: The channel is frozen
                  headers: {ETag: {$ref: '#/components/headers/ETag'}}
                  content:
                    application/json:
                      schema:
                        type: object
                        required: [channel, frozen]
                        properties: {channel: {$ref: '#/components/schemas/ChannelName'}, frozen: {type: boolean}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}
            delete:
              operationId: deleteFreeze
              tags: [moderation]
              summary: Unfreeze a channel
              description: For operators of the channel, or with the scope `manage`.
              parameters: [{name: by, in: query, description: 'Who does this, where the credential may name somebody and the body does not.', schema: {$ref: '#/components/schemas/UserName'}}]
              responses:
                '204': {description: The channel is not frozen}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/members/{user}/read:
            parameters: [{$ref: '#/components/parameters/channel'}, {name: user, in: path, required: true, description: A user's id., schema: {$ref: '#/components/schemas/UserName'}}]
            put:
              operationId: putRead
              tags: [receipts]
              summary: Say up to which message a member has read
              description: |
                The mark only goes forward. Told by `receipt.read`. A user marks for itself; a credential with the scope `manage`, for
                anybody.
              parameters: [{name: by, in: query, description: 'Who does this, where the credential may name somebody and the body does not.', schema: {$ref: '#/components/schemas/UserName'}}]
              requestBody: {required: false, content: {application/json: {schema: {$ref: '#/components/schemas/NewMark'}}}}
              responses:
                '200':
                  description: The marks as they are
                  headers: {ETag: {$ref: '#/components/headers/ETag'}}
                  content: {application/json: {schema: {$ref: '#/components/schemas/Marks'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/members/{user}/delivered:
            parameters: [{$ref: '#/components/parameters/channel'}, {name: user, in: path, required: true, description: A user's id., schema: {$ref: '#/components/schemas/UserName'}}]
            put:
              operationId: putDelivered
              tags: [receipts]
              summary: Say up to which message a member has got
              description: |
                The mark only goes forward. Told by `receipt.delivered`. A user marks for itself; a credential with the scope `manage`, for
                anybody.
              parameters: [{name: by, in: query, description: 'Who does this, where the credential may name somebody and the body does not.', schema: {$ref: '#/components/schemas/UserName'}}]
              requestBody: {required: false, content: {application/json: {schema: {$ref: '#/components/schemas/NewMark'}}}}
              responses:
                '200':
                  description: The marks as they are
                  headers: {ETag: {$ref: '#/components/headers/ETag'}}
                  content: {application/json: {schema: {$ref: '#/components/schemas/Marks'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/members/{user}/unread:
            parameters: [{$ref: '#/components/parameters/channel'}, {name: user, in: path, required: true, description: A user's id., schema: {$ref: '#/components/schemas/UserName'}}]
            get:
              operationId: getChannelUnread
              tags: [receipts]
              summary: Count what a member has not read in a channel
              description: Messages of others since the mark. Needs the scope `read`.
              responses:
                '200':
                  description: How many
                  content:
                    application/json:
                      schema: {type: object, required: [unread_count], properties: {unread_count: {type: integer, minimum: 0}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/users/{user}/unread:
            parameters: [{name: user, in: path, required: true, description: A user's id., schema: {$ref: '#/components/schemas/UserName'}}]
            get:
              operationId: getUnread
              tags: [receipts]
              summary: Count what a user has not read
              description: In all channels the user has joined and not hidden for good. Needs the scope `read`.
              responses:
                '200':
                  description: How many, in all and by the channels' custom types
                  content: {application/json: {schema: {$ref: '#/components/schemas/Unread'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/users/{user}/read-all:
            parameters: [{name: user, in: path, required: true, description: A user's id., schema: {$ref: '#/components/schemas/UserName'}}]
            post:
              operationId: postReadAll
              tags: [receipts]
              summary: Mark everything as read
              description: As of now, in the channels named, or in all where something is unread.
              parameters: [{name: by, in: query, description: 'Who does this, where the credential may name somebody and the body does not.', schema: {$ref: '#/components/schemas/UserName'}}]
              requestBody: {required: false, content: {application/json: {schema: {$ref: '#/components/schemas/NewReadAll'}}}}
              responses:
                '200':
                  description: Where the mark moved
                  content:
                    application/json:
                      schema:
                        type: object
                        required: [channels]
                        properties: {channels: {type: array, items: {$ref: '#/components/schemas/ChannelName'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /livez:
            get:
              operationId: getLiveness
              tags: [operation]
              summary: Whether the process answers
              security: []
              responses:
                '200': {$ref: '#/components/responses/Healthy'}

          /readyz:
            get:
              operationId: getReadiness
              tags: [operation]
              summary: Whether an event written now reaches a subscriber
              description: Writes one and sees it come out. The result holds for a second.
              security: []
              responses:
                '200': {$ref: '#/components/responses/Healthy'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /metrics:
            get:
              operationId: getMetrics
              tags: [operation]
              summary: Figures in the Prometheus text format
              description: Needs an `admin` key of the first app, unless asked from the gateway's own machine.
              security: [{}, {apiKey: []}]
              responses:
                '200':
                  description: The figures
                  content: {text/plain: {schema: {type: string}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}

          /openapi.yaml:
            get:
              operationId: getDescription
              tags: [operation]
              summary: This description
              security: []
              responses:
                '200':
                  description: OpenAPI 3.1
                  content: {application/yaml: {schema: {type: string}}}

          /problems/{code}:
            get:
              operationId: getProblem
              tags: [operation]
              summary: What a problem means
              description: The page the `type` of a problem points at.
              security: []
              parameters:
                - {name: code, in: path, required: true, description: With `-` for `_`., schema: {type: string}}
              responses:
                '200':
                  description: An explanation for people
                  content: {text/plain: {schema: {type: string}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '404': {$ref: '#/components/responses/NotFound'}

          /v1/users:
            get:
              operationId: getUsers
              tags: [users]
              summary: List users
              description: |
                Users with a record, by id unless sorted otherwise. Filters know `name`, `profile_url`, `email`, `external_id`, `type`,
                `status`, `auto_accepts_invites`, `created_timetoken`, `custom.…` and `metadata.…`. Needs the scope `read`.
              parameters:
                - {$ref: '#/components/parameters/recordFilter'}
                - {$ref: '#/components/parameters/recordSort'}
                - {$ref: '#/components/parameters/recordTotal'}
                - {$ref: '#/components/parameters/limit'}
                - {$ref: '#/components/parameters/pageCursor'}
              responses:
                '200': 
                  description: A page of users
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content:
                    application/json:
                      schema:
                        allOf: [{$ref: '#/components/schemas/Listing'}]
                        properties:
                          data: {type: array, items: {$ref: '#/components/schemas/User'}}
                          total: {type: integer, description: 'All of them, on every page; with `total=true`.'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/users/{user}:
            parameters: [{$ref: '#/components/parameters/userPath'}]
            get:
              operationId: getUser
              tags: [users]
              summary: Read a user
              description: |
                Nobody needs a record: users are known by their ids alone. Needs the scope `read`.
              parameters:
                - {$ref: '#/components/parameters/ifNoneMatch'}
              responses:
                '200': {$ref: '#/components/responses/User'}
                '304': {description: The client has it already}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}
            put:
              operationId: putUser
              tags: [users]
              summary: Make or replace a user
              description: |
                What is left out is cleared. `If-None-Match: *` makes a new one only. For the user, with the scope `emit`, and for
                programs with `manage`. Becomes `user.created` or `user.updated` on the channel named like the user.
              parameters:
                - {$ref: '#/components/parameters/ifMatch'}
                - {$ref: '#/components/parameters/actor'}
              requestBody:
                content:
                  application/json:
                    schema: {$ref: '#/components/schemas/NewUser'}
                    example: {name: Ana, custom: {floor: 3}}
              responses:
                '200': {$ref: '#/components/responses/User'}
                '201': {$ref: '#/components/responses/User'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}
            patch:
              operationId: patchUser
              tags: [users]
              summary: Change a user
              description: |
                What is absent stays, `null` clears, `custom` and `metadata` are replaced as a whole.
              parameters:
                - {$ref: '#/components/parameters/ifMatch'}
                - {$ref: '#/components/parameters/actor'}
              requestBody:
                required: true
                content:
                  application/json:
                    schema: {$ref: '#/components/schemas/NewUser'}
                    example: {status: away, email: null}
              responses:
                '200': {$ref: '#/components/responses/User'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}
            delete:
              operationId: deleteUser
              tags: [users]
              summary: Delete a user
              description: |
                The record goes (`user.deleted`); memberships and events stay, they name users by their ids. Repeating it does nothing.
              parameters:
                - {$ref: '#/components/parameters/ifMatch'}
                - {$ref: '#/components/parameters/actor'}
              responses:
                '204': {description: Deleted}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/users/{user}/memberships:
            parameters: [{$ref: '#/components/parameters/userPath'}]
            get:
              operationId: getMemberships
              tags: [users]
              summary: List a user's channels
              description: |
                Memberships and invitations. Filters know `channel`, `state`, `role`, `inviter`, `type`, `status`,
                `joined_timetoken`, `invited_timetoken` and `custom.…`. Needs the scope `read`.
              parameters:
                - {$ref: '#/components/parameters/recordFilter'}
                - {$ref: '#/components/parameters/recordSort'}
                - {$ref: '#/components/parameters/recordTotal'}
                - {$ref: '#/components/parameters/limit'}
                - {$ref: '#/components/parameters/pageCursor'}
              responses:
                '200': 
                  description: A page of memberships
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content:
                    application/json:
                      schema:
                        allOf: [{$ref: '#/components/schemas/Listing'}]
                        properties:
                          data: {type: array, items: {$ref: '#/components/schemas/Membership'}}
                          total: {type: integer, description: 'All of them, on every page; with `total=true`.'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/users/{user}/blocks:
            parameters: [{$ref: '#/components/parameters/userPath'}]
            get:
              operationId: getBlocks
              tags: [users]
              summary: List whom a user has blocked
              description: |
                By name. Needs the scope `read`.
              parameters:
                - {$ref: '#/components/parameters/limit'}
                - {$ref: '#/components/parameters/pageCursor'}
              responses:
                '200': 
                  description: A page of blocks
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content:
                    application/json:
                      schema:
                        allOf: [{$ref: '#/components/schemas/Listing'}]
                        properties:
                          data: {type: array, items: {$ref: '#/components/schemas/Block'}}
                          total: {type: integer, description: 'All of them, on every page; with `total=true`.'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/users/{user}/blocks/{other}:
            parameters: [{$ref: '#/components/parameters/userPath'}, {$ref: '#/components/parameters/otherUser'}]
            put:
              operationId: putBlock
              tags: [users]
              summary: Block a user
              description: |
                For the user, and for programs with `manage`. Becomes `user.blocked`, which only the user's own devices hear. Streams
                of the user's devices leave out messages and mentions by the other from then on.
              parameters:
                - {$ref: '#/components/parameters/actor'}
              requestBody:
                content:
                  application/json:
                    schema: {type: object, properties: {by: {$ref: '#/components/schemas/Actor'}}}
              responses:
                '200': {$ref: '#/components/responses/Block'}
                '201': {$ref: '#/components/responses/Block'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}
            delete:
              operationId: deleteBlock
              tags: [users]
              summary: Lift a block
              description: |
                Becomes `user.unblocked`. Repeating it does nothing.
              parameters:
                - {$ref: '#/components/parameters/actor'}
              responses:
                '204': {description: Lifted}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels:
            get:
              operationId: getChannels
              tags: [channels]
              summary: List channels
              description: |
                Channels with a record, as far as the credential reaches them: a page may be shorter than its limit. Filters know
                `kind`, `name`, `description`, `custom_type`, `cover_url`, `type`, `status`, `frozen`, `created_by`, `created_timetoken`,
                `custom.…` and `data.…`. Needs the scope `read`.
              parameters:
                - {$ref: '#/components/parameters/recordFilter'}
                - {$ref: '#/components/parameters/recordSort'}
                - {$ref: '#/components/parameters/recordTotal'}
                - {$ref: '#/components/parameters/limit'}
                - {$ref: '#/components/parameters/pageCursor'}
              responses:
                '200': 
                  description: A page of channels
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content:
                    application/json:
                      schema:
                        allOf: [{$ref: '#/components/schemas/Listing'}]
                        properties:
                          data: {type: array, items: {$ref: '#/components/schemas/Channel'}}
                          total: {type: integer, description: 'All of them, on every page; with `total=true`.'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '503': {$ref: '#/components/responses/Unavailable'}
            post:
              operationId: postChannel
              tags: [channels]
              summary: Make a channel
              description: |
                Who makes it (`by`) joins it as its operator, and `users` are invited; made for nobody in particular, with the scope
                `manage`, `users` are members at once. There is one direct channel for each two users: asked for again, it is the answer,
                with 200. A name under which something was said already, or that is another user's, takes the scope `manage` (403
                `name_in_use`). Becomes `channel.created`, `member.invited`, `member.joined` and `channel.member_count.updated`.
              requestBody:
                required: true
                content:
                  application/json:
                    schema: {$ref: '#/components/schemas/FirstChannel'}
                    example: {kind: group, name: Crew, users: [ben, carl], by: ana}
              responses:
                '200': {$ref: '#/components/responses/Channel'}
                '201': {$ref: '#/components/responses/Channel'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '409': {$ref: '#/components/responses/Conflict'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}:
            parameters: [{$ref: '#/components/parameters/channel'}]
            get:
              operationId: getChannel
              tags: [channels]
              summary: Read a channel's record
              description: |
                A channel without one exists by being used, and answers 404 here. Needs the scope `read`.
              responses:
                '200': {$ref: '#/components/responses/Channel'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}
            put:
              operationId: putChannel
              tags: [channels]
              summary: Make or replace a channel's record
              description: |
                Who makes it joins it as its operator; replacing is for operators and programs with `manage`. What is left out is
                cleared; operators, members and freezing stay. `group` and `public` may take each other's place, other kinds are fixed
                (409 `kind_fixed`). `If-None-Match: *` makes a new one only. Becomes `channel.created` or `channel.updated`.
              parameters:
                - {$ref: '#/components/parameters/ifMatch'}
              requestBody:
                required: true
                content:
                  application/json:
                    schema: {$ref: '#/components/schemas/NewChannel'}
                    example: {kind: public, name: Lobby}
              responses:
                '200': {$ref: '#/components/responses/Channel'}
                '201': {$ref: '#/components/responses/Channel'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '409': {$ref: '#/components/responses/Conflict'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}
            patch:
              operationId: patchChannel
              tags: [channels]
              summary: Change a channel's record
              description: |
                What is absent stays, `null` clears, `custom` and `data` are replaced as a whole. For operators and programs with
                `manage`. Becomes `channel.updated` with what changed.
              parameters:
                - {$ref: '#/components/parameters/ifMatch'}
              requestBody:
                required: true
                content:
                  application/json:
                    schema: {$ref: '#/components/schemas/ChannelChange'}
                    example: {description: Where we meet}
              responses:
                '200': {$ref: '#/components/responses/Channel'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '503': {$ref: '#/components/responses/Unavailable'}
            delete:
              operationId: deleteChannel
              tags: [channels]
              summary: Delete a channel
              description: |
                The record goes with members, restrictions, metadata and counters (`channel.deleted`); events stay. Repeating it does
                nothing.
              parameters:
                - {$ref: '#/components/parameters/ifMatch'}
                - {$ref: '#/components/parameters/actor'}
              responses:
                '204': {description: Deleted}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/operators/{user}:
            parameters: [{$ref: '#/components/parameters/channel'}, {$ref: '#/components/parameters/userPath'}]
            put:
              operationId: putOperator
              tags: [channels]
              summary: Make a user an operator
              description: |
                For operators and programs with `manage`; a member's role follows. Becomes `channel.updated` with the key `operators`.
              parameters:
                - {$ref: '#/components/parameters/actor'}
              requestBody:
                content:
                  application/json:
                    schema: {type: object, properties: {by: {$ref: '#/components/schemas/Actor'}}}
              responses:
                '200': {$ref: '#/components/responses/Channel'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}
            delete:
              operationId: deleteOperator
              tags: [channels]
              summary: End that a user is an operator
              description: |
                Membership stays. Repeating it does nothing.
              parameters:
                - {$ref: '#/components/parameters/actor'}
              responses:
                '204': {description: No operator}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/members:
            parameters: [{$ref: '#/components/parameters/channel'}]
            get:
              operationId: getMembers
              tags: [members]
              summary: List a channel's members
              description: |
                The invited ones too: `filter=state == 'joined'`. Filters know `user`, `state`, `role`, `inviter`, `type`, `status`,
                `joined_timetoken`, `invited_timetoken` and `custom.…`. Needs the scope `read`.
              parameters:
                - {$ref: '#/components/parameters/recordFilter'}
                - {$ref: '#/components/parameters/recordSort'}
                - {$ref: '#/components/parameters/recordTotal'}
                - {$ref: '#/components/parameters/limit'}
                - {$ref: '#/components/parameters/pageCursor'}
              responses:
                '200': 
                  description: A page of members
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content:
                    application/json:
                      schema:
                        allOf: [{$ref: '#/components/schemas/Listing'}]
                        properties:
                          data: {type: array, items: {$ref: '#/components/schemas/Membership'}}
                          total: {type: integer, description: 'All of them, on every page; with `total=true`.'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/members/{user}:
            parameters: [{$ref: '#/components/parameters/channel'}, {$ref: '#/components/parameters/userPath'}]
            get:
              operationId: getMember
              tags: [members]
              summary: Read a membership
              description: |
                Needs the scope `read`.
              parameters:
                - {$ref: '#/components/parameters/ifNoneMatch'}
              responses:
                '200': {$ref: '#/components/responses/Membership'}
                '304': {description: The client has it already}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}
            put:
              operationId: putMember
              tags: [members]
              summary: Join a channel
              description: |
                A public channel by anyone; a group by who is invited, or let in by an operator or a program with `manage`; a direct
                one by its two. Repeating it changes only what the body says. 403 says why with `banned`, `not_invited`, `not_operator`
                or `not_of_pair`; an open channel has no members (422 `no_members`). Becomes `member.joined` and
                `channel.member_count.updated`.
              parameters:
                - {$ref: '#/components/parameters/actor'}
              requestBody:
                content:
                  application/json:
                    schema: {$ref: '#/components/schemas/NewMembership'}
                    example: {by: ben}
              responses:
                '200': {$ref: '#/components/responses/Membership'}
                '201': {$ref: '#/components/responses/Membership'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}
            patch:
              operationId: patchMember
              tags: [members]
              summary: Change a membership
              description: |
                Its own fields by the member or an operator, the role by an operator. Becomes `membership.updated`.
              parameters:
                - {$ref: '#/components/parameters/ifMatch'}
                - {$ref: '#/components/parameters/actor'}
              requestBody:
                required: true
                content:
                  application/json:
                    schema: {$ref: '#/components/schemas/NewMembership'}
                    example: {role: operator, by: ana}
              responses:
                '200': {$ref: '#/components/responses/Membership'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}
            delete:
              operationId: deleteMember
              tags: [members]
              summary: Leave a channel, or be removed
              description: |
                By the member, or by an operator with a reason. An invitation is declined or withdrawn by it. Who is no member is no
                operator. Becomes `member.left` (or `member.declined`) and `channel.member_count.updated`. Repeating it does nothing.
              parameters:
                - {$ref: '#/components/parameters/actor'}
                - {$ref: '#/components/parameters/leaveReason'}
              responses:
                '204': {description: No member}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/members/{user}/hidden:
            parameters: [{$ref: '#/components/parameters/channel'}, {$ref: '#/components/parameters/userPath'}]
            put:
              operationId: putHidden
              tags: [members]
              summary: Hide a channel from a member's list
              description: |
                For the member, and for programs with `manage`. Becomes `channel.hidden`, which only the member's devices hear.
              parameters:
                - {$ref: '#/components/parameters/actor'}
              requestBody:
                content:
                  application/json:
                    schema: {$ref: '#/components/schemas/Hiding'}
                    example: {hide_previous_messages: true}
              responses:
                '200': {$ref: '#/components/responses/Membership'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}
            delete:
              operationId: deleteHidden
              tags: [members]
              summary: Show a hidden channel again
              description: |
                Becomes `channel.updated` with the key `hidden` for the member's devices. Repeating it does nothing.
              parameters:
                - {$ref: '#/components/parameters/actor'}
              responses:
                '204': {description: Shown}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/invites:
            parameters: [{$ref: '#/components/parameters/channel'}]
            post:
              operationId: postInvites
              tags: [members]
              summary: Invite users
              description: |
                By a joined member, an operator or a program with `manage`; at most 100 at once. Members and invited ones are left
                alone; who accepts every invitation joins at once. One who is banned is refused with all the others. Becomes
                `member.invited` on the channel and on the channel of each who is invited, and `channel.member_count.updated`.
              requestBody:
                required: true
                content:
                  application/json:
                    schema: {$ref: '#/components/schemas/Invitation'}
                    example: {users: [ben, carl], by: ana}
              responses:
                '200': 
                  description: The memberships of all who are named
                  content:
                    application/json:
                      schema:
                        type: object
                        required: [data]
                        properties: {data: {type: array, items: {$ref: '#/components/schemas/Membership'}}}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/invites/{user}/accept:
            parameters: [{$ref: '#/components/parameters/channel'}, {$ref: '#/components/parameters/userPath'}]
            post:
              operationId: acceptInvite
              tags: [members]
              summary: Accept an invitation
              description: |
                For the invited, and for programs with `manage`. 404 `no_such_member` without an invitation. Becomes `member.joined`.
              parameters:
                - {$ref: '#/components/parameters/actor'}
              requestBody:
                content:
                  application/json:
                    schema: {type: object, properties: {by: {$ref: '#/components/schemas/Actor'}}}
              responses:
                '200': {$ref: '#/components/responses/Membership'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channels/{channel}/invites/{user}/decline:
            parameters: [{$ref: '#/components/parameters/channel'}, {$ref: '#/components/parameters/userPath'}]
            post:
              operationId: declineInvite
              tags: [members]
              summary: Decline an invitation
              description: |
                For the invited, and for programs with `manage`. 404 `no_such_member` without an invitation, 409 `already_joined` after
                joining. Becomes `member.declined`.
              parameters:
                - {$ref: '#/components/parameters/actor'}
              requestBody:
                content:
                  application/json:
                    schema: {type: object, properties: {by: {$ref: '#/components/schemas/Actor'}}}
              responses:
                '204': {description: Declined}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '409': {$ref: '#/components/responses/Conflict'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channel-groups:
            get:
              operationId: getGroups
              tags: [channels]
              summary: List channel groups
              description: |
                By name, without their channels. Needs the scope `read`.
              parameters:
                - {$ref: '#/components/parameters/limit'}
                - {$ref: '#/components/parameters/pageCursor'}
              responses:
                '200': 
                  description: A page of groups
                  headers: {Link: {$ref: '#/components/headers/Link'}}
                  content:
                    application/json:
                      schema:
                        allOf: [{$ref: '#/components/schemas/Listing'}]
                        properties:
                          data: {type: array, items: {$ref: '#/components/schemas/ChannelGroupEntry'}}
                          total: {type: integer, description: 'All of them, on every page; with `total=true`.'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '503': {$ref: '#/components/responses/Unavailable'}

          /v1/channel-groups/{group}:
            parameters: [{$ref: '#/components/parameters/group'}]
            get:
              operationId: getGroup
              tags: [channels]
              summary: Read a channel group
              description: |
                Needs the scope `read`.
              parameters:
                - {$ref: '#/components/parameters/ifNoneMatch'}
              responses:
                '200': {$ref: '#/components/responses/ChannelGroup'}
                '304': {description: The client has it already}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '503': {$ref: '#/components/responses/Unavailable'}
            put:
              operationId: putGroup
              tags: [channels]
              summary: Make a channel group, or replace its channels
              description: |
                At most 2000 channels (422 `group_full`). Needs the scope `manage`.
              parameters:
                - {$ref: '#/components/parameters/ifMatch'}
              requestBody:
                required: true
                content:
                  application/json:
                    schema: {$ref: '#/components/schemas/ChannelNames'}
                    example: {channels: [news.eu, news.us]}
              responses:
                '200': {$ref: '#/components/responses/ChannelGroup'}
                '201': {$ref: '#/components/responses/ChannelGroup'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}
            patch:
              operationId: patchGroup
              tags: [channels]
              summary: Add and remove channels of a group
              description: |
                Makes the group where there is none. A channel both added and removed is there. Needs the scope `manage`.
              parameters:
                - {$ref: '#/components/parameters/ifMatch'}
              requestBody:
                required: true
                content:
                  application/json:
                    schema: {$ref: '#/components/schemas/ChannelGroupChange'}
                    example: {add: [news.uk], remove: [news.eu]}
              responses:
                '200': {$ref: '#/components/responses/ChannelGroup'}
                '201': {$ref: '#/components/responses/ChannelGroup'}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '413': {$ref: '#/components/responses/TooLarge'}
                '422': {$ref: '#/components/responses/Unprocessable'}
                '503': {$ref: '#/components/responses/Unavailable'}
            delete:
              operationId: deleteGroup
              tags: [channels]
              summary: Delete a channel group
              description: |
                Its channels stay. Repeating it does nothing. Needs the scope `manage`.
              parameters:
                - {$ref: '#/components/parameters/ifMatch'}
              responses:
                '204': {description: Deleted}
                '400': {$ref: '#/components/responses/BadRequest'}
                '401': {$ref: '#/components/responses/Unauthorized'}
                '403': {$ref: '#/components/responses/Forbidden'}
                '404': {$ref: '#/components/responses/NotFound'}
                '412': {$ref: '#/components/responses/PreconditionFailed'}
                '503': {$ref: '#/components/responses/Unavailable'}

        components:
          securitySchemes:
            apiKey:
              type: http
              scheme: bearer
              description: |
                An API key: `Authorization: Bearer parley_…`. Scopes: `emit`, `read`, `manage` (the app's resources), `admin`
                (all of it, and the app's keys). Or a token of a user (`POST /v1/tokens`), in the same place. Never in a URL.
            session:
              type: apiKey
              in: cookie
              name: parley
              description: |
                From `POST /v1/session`, for pages of this gateway: `__Host-parley` where the way is encrypted. Whatever changes
                something has to come from such a page (403 `foreign_origin`).
            ticket:
              type: apiKey
              in: query
              name: ticket
              description: From `POST /v1/stream-tickets`, for clients that cannot send header fields.

          parameters:
            userPath: {name: user, in: path, required: true, description: A user's id., schema: {$ref: '#/components/schemas/UserName'}}
            otherUser: {name: other, in: path, required: true, description: The user who is blocked., schema: {$ref: '#/components/schemas/UserName'}}
            group: {name: group, in: path, required: true, description: The group's name., schema: {type: string, minLength: 1, maxLength: 92}}
            actor:
              name: by
              in: query
              description: Who does this, where the credential may name somebody and the body does not.
              schema: {$ref: '#/components/schemas/Actor'}
            leaveReason: {name: reason, in: query, description: Why; shown in the event., schema: {type: string, maxLength: 2048}}
            recordFilter:
              name: filter
              in: query
              description: |
                A condition over fields: `name LIKE 'An*' && custom.floor > 3`. Operators `== != < > <= >= LIKE`, `&& || !`,
                parentheses; a field left, a text, number, `true`, `false` or `null` right. `LIKE` ignores case, `*` is any text.
              schema: {type: string}
            recordSort:
              name: sort
              in: query
              description: "A field with `:asc` or `:desc`; may be repeated, the first counts most. `id` and `updated` are fields too."
              schema: {type: array, maxItems: 4, items: {type: string}}
            recordTotal: {name: total, in: query, description: Count all that match., schema: {type: boolean, default: false}}
            channel:
              name: channel
              in: path
              required: true
              description: Percent-encoded where needed; `%2F` stays inside the name.
              schema: {$ref: '#/components/schemas/ChannelName'}
            occupant:
              name: user
              in: path
              required: true
              description: The user. Percent-encoded where needed.
              schema: {type: string, minLength: 1, maxLength: 92}
            id: {name: id, in: path, required: true, schema: {type: string}}
            message:
              name: timetoken
              in: path
              required: true
              description: The message's timetoken.
              schema: {$ref: '#/components/schemas/Timetoken'}
            reaction:
              name: value
              in: path
              required: true
              description: A key or an emoji.
              schema: {type: string, minLength: 1, maxLength: 128}
            action:
              name: action
              in: path
              required: true
              description: The action's timetoken.
              schema: {$ref: '#/components/schemas/Timetoken'}
            key: {name: key, in: path, required: true, schema: {type: string, minLength: 1, maxLength: 128}}
            whose:
              name: user
              in: query
              description: Whose it is, where the credential is not a user's own.
              schema: {$ref: '#/components/schemas/UserName'}
            eventType: {name: type, in: path, required: true, description: The name of an event type., schema: {type: string}}
            dryRun:
              name: dry_run
              in: query
              description: Say what would happen, with status 200, and store nothing.
              schema: {type: boolean, default: false}
            idempotencyKey:
              name: Idempotency-Key
              in: header
              description: |
                Makes the request repeatable for 24 hours: the same key with the same request is answered alike, with
                `Idempotency-Replayed: true`; with another request it is 422, while the first still runs 409. Bare, or quoted
                as a structured-field string.
              schema: {type: string, minLength: 1, maxLength: 255}
            ifMatch:
              name: If-Match
              in: header
              description: Change it only at this version.
              schema: {type: string}
            ifNoneMatch:
              name: If-None-Match
              in: header
              description: Versions the client has.
              schema: {type: string}
            channels:
              name: channel
              in: query
              description: Names and patterns; may be repeated. None means every channel the credential reaches.
              schema: {type: array, maxItems: 500, items: {$ref: '#/components/schemas/Pattern'}}
            filter:
              name: filter
              in: query
              description: 'An expression over the envelope, such as `data.amount > 100`.'
              schema: {type: string}
            streamCursor:
              name: cursor
              in: query
              description: 'Where to continue: a cursor of an earlier answer, `earliest` or `latest`.'
              schema: {type: string}
            groups:
              name: group
              in: query
              description: |
                Channel groups to follow, as far as the credential reaches their channels; may be repeated. A stream follows what
                becomes of them (`stream.changed`), a held poll is answered when one changes.
              schema: {type: array, maxItems: 10, items: {type: string, minLength: 1, maxLength: 92}}
            presence:
              name: presence
              in: query
              description: The user is present on the channels heard, while a stream lasts and for a grace after it broke; by a poll, also for `limits.presence_seconds` after its answer.
              schema: {type: boolean, default: false}
            listener:
              name: user
              in: query
              description: Listen as this user. A credential of a user's own names nobody else.
              schema: {$ref: '#/components/schemas/UserName'}
            device:
              name: device
              in: query
              description: |
                The user's device that listens, in words of its own. It is spared what it did itself, where requests name it in
                the header `X-Device-Id`.
              schema: {type: string, minLength: 1, maxLength: 128}
            lastEventID:
              name: Last-Event-ID
              in: header
              description: |
                The same, as a reconnecting EventSource sends it. Goes before `cursor`. What is no cursor of this gateway's is a gap,
                after which the stream goes on from now; as `cursor` it is refused.
              schema: {type: string}
            types:
              name: type
              in: query
              description: Type patterns; may be repeated.
              schema: {type: array, items: {$ref: '#/components/schemas/Pattern'}}
            user: {name: user, in: query, description: Events of this user only., schema: {type: string}}
            by:
              name: by
              in: query
              description: Who does it, where the credential is not a user's own.
              schema: {$ref: '#/components/schemas/UserName'}
            after: {name: after, in: query, description: Exclusive., schema: {$ref: '#/components/schemas/Timetoken'}}
            before: {name: before, in: query, description: Exclusive., schema: {$ref: '#/components/schemas/Timetoken'}}
            order: {name: order, in: query, schema: {type: string, enum: [asc, desc], default: asc}}
            limit: {name: limit, in: query, schema: {type: integer, minimum: 1, maximum: 250, default: 50}}
            pageCursor:
              name: cursor
              in: query
              description: From the page before; opaque. The other parameters stay the same.
              schema: {type: string}

          headers:
            Link: {description: 'The next page, and the one before (RFC 8288).', schema: {type: string}}
            Location: {description: Where it can be read., schema: {type: string}}
            ETag: {description: The version of what is shown., schema: {type: string}}
            GatewayCursor: {description: Where the answer really starts., schema: {type: string}}
            RetryAfter: {description: Seconds., schema: {type: integer}}
            IdempotencyReplayed: {description: 'There, and `true`, when this is an earlier answer.', schema: {type: string}}

          responses:
            Session:
              description: Who is signed in
              headers: {Set-Cookie: {description: 'When signing in.', schema: {type: string}}}
              content: {application/json: {schema: {$ref: '#/components/schemas/Session'}}}
            User:
              description: The user
              headers:
                ETag: {$ref: '#/components/headers/ETag'}
                Location: {$ref: '#/components/headers/Location'}
              content: {application/json: {schema: {$ref: '#/components/schemas/User'}}}
            Channel:
              description: The channel
              headers:
                ETag: {$ref: '#/components/headers/ETag'}
                Location: {$ref: '#/components/headers/Location'}
              content: {application/json: {schema: {$ref: '#/components/schemas/Channel'}}}
            Membership:
              description: The membership
              headers:
                ETag: {$ref: '#/components/headers/ETag'}
                Location: {$ref: '#/components/headers/Location'}
              content: {application/json: {schema: {$ref: '#/components/schemas/Membership'}}}
            ChannelGroup:
              description: The group
              headers:
                ETag: {$ref: '#/components/headers/ETag'}
                Location: {$ref: '#/components/headers/Location'}
              content: {application/json: {schema: {$ref: '#/components/schemas/ChannelGroup'}}}
            Block:
              description: The block
              headers: {Location: {$ref: '#/components/headers/Location'}}
              content: {application/json: {schema: {$ref: '#/components/schemas/Block'}}}
            Emitted:
              description: Stored
              headers: {Idempotency-Replayed: {$ref: '#/components/headers/IdempotencyReplayed'}}
              content: {application/json: {schema: {$ref: '#/components/schemas/Emitted'}}}
            Forecast:
              description: What would happen; the answer to a dry run
              content: {application/json: {schema: {$ref: '#/components/schemas/Forecast'}}}
            Forecasts:
              description: What would happen; the answer to a dry run
              content:
                application/json:
                  schema: {oneOf: [{$ref: '#/components/schemas/Forecast'}, {$ref: '#/components/schemas/ForecastList'}]}
            Message:
              description: The message
              headers: {ETag: {$ref: '#/components/headers/ETag'}}
              content: {application/json: {schema: {$ref: '#/components/schemas/Message'}}}
            Action:
              description: What is attached
              headers: {Location: {$ref: '#/components/headers/Location'}}
              content: {application/json: {schema: {$ref: '#/components/schemas/MessageAction'}}}
            Webhook:
              description: The webhook
              headers: {ETag: {$ref: '#/components/headers/ETag'}}
              content: {application/json: {schema: {$ref: '#/components/schemas/Webhook'}}}
            Source:
              description: The source
              headers:
                ETag: {$ref: '#/components/headers/ETag'}
                Location: {$ref: '#/components/headers/Location'}
              content: {application/json: {schema: {$ref: '#/components/schemas/Source'}}}
            EventType:
              description: The event type
              headers:
                ETag: {$ref: '#/components/headers/ETag'}
                Location: {$ref: '#/components/headers/Location'}
              content: {application/json: {schema: {$ref: '#/components/schemas/EventType'}}}
            SchemaVersion:
              description: The version, without its schema
              headers: {Location: {$ref: '#/components/headers/Location'}}
              content: {application/json: {schema: {$ref: '#/components/schemas/SchemaVersion'}}}
            Candidate:
              description: The schema on trial, and its counts
              content: {application/json: {schema: {$ref: '#/components/schemas/Candidate'}}}
            Healthy:
              description: All is well
              content:
                application/json:
                  schema: {type: object, required: [status], properties: {status: {type: string}}}
            Restriction:
              description: The restriction
              headers: {ETag: {$ref: '#/components/headers/ETag'}}
              content: {application/json: {schema: {$ref: '#/components/schemas/Restriction'}}}
            BadRequest:
              description: It cannot be understood
              content: {application/problem+json: {schema: {$ref: '#/components/schemas/Problem'}}}
            Unauthorized:
              description: No credential, or one that does not hold
              headers: {WWW-Authenticate: {schema: {type: string}}}
              content: {application/problem+json: {schema: {$ref: '#/components/schemas/Problem'}}}
            Forbidden:
              description: The credential does not allow it
              content: {application/problem+json: {schema: {$ref: '#/components/schemas/Problem'}}}
            NotFound:
              description: No such thing, or none this credential may know of
              content: {application/problem+json: {schema: {$ref: '#/components/schemas/Problem'}}}
            NotAcceptable:
              description: None of the accepted formats can be given
              content: {application/problem+json: {schema: {$ref: '#/components/schemas/Problem'}}}
            Conflict:
              description: The present state does not allow it
              headers: {Retry-After: {$ref: '#/components/headers/RetryAfter'}}
              content: {application/problem+json: {schema: {$ref: '#/components/schemas/Problem'}}}
            IncompatibleSchema:
              description: |
                It breaks an earlier version, or it cannot be proved that it does not. The errors are the breaking places in the
                new schema; `witness` is a payload that one version accepts and the other refuses.
              content:
                application/problem+json:
                  schema: {$ref: '#/components/schemas/Problem'}
                  example:
                    type: https://gw.example/problems/incompatible-schema
                    title: The schema breaks an earlier version
                    status: 409
                    code: incompatible_schema
                    detail: >-
                      version 2 of 'order.paid' would not be backward compatible with version 1: #/required: 'shop' is required
                      now
                    instance: /v1/requests/req_01HF7YAT00
                    request_id: req_01HF7YAT00
                    retryable: false
                    event_type: order.paid
                    compatibility: backward
                    compared_with: 1
                    witness: {amount: 1, currency: EUR}
                    errors: [{pointer: '#/required', keyword: backward, detail: '''shop'' is required now'}]
            Deleted:
              description: The message is deleted
              content: {application/problem+json: {schema: {$ref: '#/components/schemas/Problem'}}}
            PreconditionFailed:
              description: It has changed since it was read
              content: {application/problem+json: {schema: {$ref: '#/components/schemas/Problem'}}}
            TooLarge:
              description: Over a size limit
              content: {application/problem+json: {schema: {$ref: '#/components/schemas/Problem'}}}
            UnsupportedMediaType:
              description: Data of a kind that cannot be kept as JSON
              content: {application/problem+json: {schema: {$ref: '#/components/schemas/Problem'}}}
            Unprocessable:
              description: |
                Understood, and refused for its meaning. Of an emit: `schema_violation` when `data` does not match the newest
                schema of its type, with errors that point into `data`; `undeclared_type` where the app takes declared types
                only.
              content:
                application/problem+json:
                  schema: {$ref: '#/components/schemas/Problem'}
                  example:
                    type: https://gw.example/problems/schema-violation
                    title: The payload does not match the schema of its event type
                    status: 422
                    code: schema_violation
                    detail: "data does not match version 1 of 'order.paid': #/amount: expected integer, got string"
                    instance: /v1/requests/req_01HF7YAT00
                    request_id: req_01HF7YAT00
                    retryable: false
                    event_type: order.paid
                    schema_version: 1
                    errors:
                      - pointer: '#/amount'
                        keyword: type
                        detail: expected integer, got string
                        expected: integer
                        schema: '#/properties/amount/type'
            TooMany:
              description: Over a rate or a count
              headers: {Retry-After: {$ref: '#/components/headers/RetryAfter'}}
              content: {application/problem+json: {schema: {$ref: '#/components/schemas/Problem'}}}
            Unavailable:
              description: |
                Overloaded, or the store is away: nothing was stored. With code `outcome_unknown` it may have been; repeat with
                the same `Idempotency-Key`.
              headers: {Retry-After: {$ref: '#/components/headers/RetryAfter'}}
              content: {application/problem+json: {schema: {$ref: '#/components/schemas/Problem'}}}

          schemas:
            UserName: {type: string, minLength: 1, maxLength: 92, description: 'No `,`, no control character.'}
            Actor:
              type: string
              description: |
                Who does this. A user's own credential says it by itself; one with the scope `emit` must name somebody, who is held
                to their rights; one with `manage` may name somebody and may do everything.
            NewUser:
              type: object
              properties:
                name: {type: [string, 'null'], maxLength: 2048}
                profile_url: {type: [string, 'null'], maxLength: 2048}
                email: {type: [string, 'null'], maxLength: 2048}
                external_id: {type: [string, 'null'], maxLength: 2048, description: The user's id in another system.}
                type: {type: [string, 'null'], maxLength: 2048, description: 'A kind, in the app''s own words.'}
                status: {type: [string, 'null'], maxLength: 2048, description: 'A state, in the app''s own words.'}
                custom: {type: [object, 'null'], description: 'Values of the app''s own, kept byte for byte; 16 KiB.'}
                metadata: {type: [object, 'null'], additionalProperties: {type: string}, description: Texts by key.}
                auto_accepts_invites: {type: [boolean, 'null'], description: Invitations make the user a member at once.}
                by: {$ref: '#/components/schemas/Actor'}
            User:
              type: object
              required: [id, name, profile_url, email, external_id, type, status, custom, metadata, auto_accepts_invites, created_timetoken, etag, updated_at]
              properties:
                id: {$ref: '#/components/schemas/UserName'}
                name: {type: [string, 'null']}
                profile_url: {type: [string, 'null']}
                email: {type: [string, 'null']}
                external_id: {type: [string, 'null']}
                type: {type: [string, 'null']}
                status: {type: [string, 'null']}
                custom: {type: [object, 'null']}
                metadata: {type: object, additionalProperties: {type: string}}
                auto_accepts_invites: {type: boolean}
                created_timetoken: {$ref: '#/components/schemas/Timetoken'}
                etag: {type: string, description: For `If-Match`.}
                updated_at: {$ref: '#/components/schemas/Timestamp'}
            Block:
              type: object
              required: [user, blocked, since_timetoken]
              properties:
                user: {$ref: '#/components/schemas/UserName'}
                blocked: {$ref: '#/components/schemas/UserName'}
                since_timetoken: {$ref: '#/components/schemas/Timetoken'}
            ChannelKind:
              enum: [direct, group, public, open]
              description: |
                `direct` is between two users; `group` has members by invitation; `public` has members and anyone may join; `open`
                has none, users enter and exit it.
            ChannelChange:
              type: object
              properties:
                name: {type: [string, 'null'], maxLength: 2048}
                description: {type: [string, 'null'], maxLength: 2048}
                custom_type: {type: [string, 'null'], maxLength: 2048, description: A label for grouping channels.}
                cover_url: {type: [string, 'null'], maxLength: 2048}
                type: {type: [string, 'null'], maxLength: 2048, description: 'A kind, in the app''s own words.'}
                status: {type: [string, 'null'], maxLength: 2048, description: 'A state, in the app''s own words.'}
                data: {description: 'Whatever the app keeps with the channel, byte for byte; 16 KiB.'}
                custom: {type: [object, 'null'], description: 'Values of the app''s own, kept byte for byte; 16 KiB.'}
                by: {$ref: '#/components/schemas/Actor'}
            NewChannel:
              allOf: [{$ref: '#/components/schemas/ChannelChange'}]
              type: object
              required: [kind]
              properties: {kind: {$ref: '#/components/schemas/ChannelKind'}}
            FirstChannel:
              allOf: [{$ref: '#/components/schemas/NewChannel'}]
              type: object
              properties:
                id:
                  description: Made up when left out; a direct channel's is made of its two users.
                  $ref: '#/components/schemas/ChannelName'
                users:
                  type: array
                  maxItems: 100
                  items: {$ref: '#/components/schemas/UserName'}
                  description: The first members; of a direct channel its two, or the one beside `by`.
            Channel:
              type: object
              required: [id, kind, name, description, custom_type, cover_url, type, status, data, custom, frozen, operators, pinned_timetoken, created_by, created_timetoken, etag, updated_at]
              properties:
                id: {$ref: '#/components/schemas/ChannelName'}
                kind: {$ref: '#/components/schemas/ChannelKind'}
                name: {type: [string, 'null']}
                description: {type: [string, 'null']}
                custom_type: {type: [string, 'null']}
                cover_url: {type: [string, 'null']}
                type: {type: [string, 'null']}
                status: {type: [string, 'null']}
                data: {description: Whatever the app keeps with the channel.}
                custom: {type: [object, 'null']}
                frozen: {type: boolean, description: Only operators may write.}
                operators: {type: array, items: {$ref: '#/components/schemas/UserName'}}
                pair: {type: array, items: {$ref: '#/components/schemas/UserName'}, description: The two of a direct channel.}
                pinned_timetoken: {anyOf: [{$ref: '#/components/schemas/Timetoken'}, {type: 'null'}]}
                created_by: {type: [string, 'null']}
                created_timetoken: {$ref: '#/components/schemas/Timetoken'}
                member_count: {type: integer, description: Invited and joined members; absent for open channels.}
                joined_member_count: {type: integer, description: Joined members; absent for open channels.}
                etag: {type: string, description: 'For `If-Match`; the counts are not part of the version.'}
                updated_at: {$ref: '#/components/schemas/Timestamp'}
            NewMembership:
              type: object
              properties:
                type: {type: [string, 'null'], maxLength: 2048}
                status: {type: [string, 'null'], maxLength: 2048}
                custom: {type: [object, 'null'], description: 'Values of the app''s own, kept byte for byte; 16 KiB.'}
                role: {enum: [operator, none], description: For operators to set.}
                by: {$ref: '#/components/schemas/Actor'}
            Membership:
              type: object
              required: [user, channel, state, role, inviter, invited_timetoken, joined_timetoken, type, status, custom, read_timetoken, delivered_timetoken, hidden, etag, updated_at]
              properties:
                user: {$ref: '#/components/schemas/UserName'}
                channel: {$ref: '#/components/schemas/ChannelName'}
                state: {enum: [invited, joined]}
                role: {enum: [operator, none]}
                inviter: {type: [string, 'null']}
                invited_timetoken: {anyOf: [{$ref: '#/components/schemas/Timetoken'}, {type: 'null'}]}
                joined_timetoken: {anyOf: [{$ref: '#/components/schemas/Timetoken'}, {type: 'null'}]}
                type: {type: [string, 'null']}
                status: {type: [string, 'null']}
                custom: {type: [object, 'null']}
                read_timetoken: {anyOf: [{$ref: '#/components/schemas/Timetoken'}, {type: 'null'}]}
                delivered_timetoken: {anyOf: [{$ref: '#/components/schemas/Timetoken'}, {type: 'null'}]}
                hidden:
                  description: "`null` unless the member hides the channel."
                  type: [object, 'null']
                  properties:
                    since_timetoken: {$ref: '#/components/schemas/Timetoken'}
                    hide_previous_messages: {type: boolean}
                    allow_auto_unhide: {type: boolean}
                etag: {type: string, description: For `If-Match`.}
                updated_at: {$ref: '#/components/schemas/Timestamp'}
            Hiding:
              type: object
              properties:
                hide_previous_messages: {type: boolean, default: false}
                allow_auto_unhide: {type: boolean, default: true, description: The next message shows the channel again.}
                by: {$ref: '#/components/schemas/Actor'}
            Invitation:
              type: object
              required: [users]
              properties:
                users: {type: array, minItems: 1, maxItems: 100, items: {$ref: '#/components/schemas/UserName'}}
                by: {$ref: '#/components/schemas/Actor'}
            ChannelNames:
              type: object
              required: [channels]
              properties: {channels: {type: array, maxItems: 2000, items: {$ref: '#/components/schemas/ChannelName'}}}
            ChannelGroupChange:
              type: object
              properties:
                add: {type: array, items: {$ref: '#/components/schemas/ChannelName'}}
                remove: {type: array, items: {$ref: '#/components/schemas/ChannelName'}}
            ChannelGroupEntry:
              type: object
              required: [id, channel_count, etag, updated_at]
              properties:
                id: {type: string}
                channel_count: {type: integer}
                etag: {type: string}
                updated_at: {$ref: '#/components/schemas/Timestamp'}
            ChannelGroup:
              type: object
              required: [id, channels, etag, updated_at]
              properties:
                id: {type: string}
                channels: {type: array, items: {$ref: '#/components/schemas/ChannelName'}, description: In the order they were added.}
                etag: {type: string}
                updated_at: {$ref: '#/components/schemas/Timestamp'}
            ChannelName:
              type: string
              minLength: 1
              maxLength: 255
              description: No `,`, no `*`, no control character.
            TypeName:
              type: string
              pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$'
              description: Not built in, and not beginning with a reserved subject such as `message.`.
            Pattern: {type: string, description: 'A name, `a.b.*` for everything below, or `*`.'}
            Timetoken: {type: string, pattern: '^[0-9]{1,19}$', description: 100 ns ticks since 1970; 17 digits.}
            EventID: {type: string, pattern: '^evt_[0-9]+$'}
            Timestamp: {type: string, format: date-time, description: RFC 3339 in UTC.}

            Event:
              type: object
              required: [id, type, timestamp, timetoken, channel, data]
              properties:
                id: {$ref: '#/components/schemas/EventID'}
                type: {type: string}
                timestamp: {$ref: '#/components/schemas/Timestamp'}
                timetoken: {$ref: '#/components/schemas/Timetoken'}
                channel: {type: string}
                user: {type: string, description: Who caused it; absent when the gateway or an operator did.}
                data: {description: 'The payload, byte for byte as it was sent.'}
                meta: {description: The publisher's metadata; absent if none.}
                custom_type: {type: string, description: A label on a built-in type; absent if none.}
                schema:
                  type: object
                  description: The declared schema that accepted the event.
                  required: [type, version]
                  properties: {type: {type: string}, version: {type: integer}}
                cause: {type: string, description: 'Shared by all events of one call; of a post to a source, `in/<source>/<request>`.'}
                ephemeral: {type: boolean, description: True when it never enters history; absent otherwise.}

            EventPage:
              type: object
              required: [data, next_cursor, prev_cursor, has_more, cursor]
              properties:
                data: {type: array, items: {$ref: '#/components/schemas/Event'}}
                next_cursor: {type: [string, 'null']}
                prev_cursor: {type: [string, 'null']}
                has_more: {type: boolean}
                total: {type: integer, description: 'How many there are in all, where that is told.'}
                cursor: {$ref: '#/components/schemas/Timetoken', description: Where a stream continues from here.}

            Listing:
              type: object
              required: [data, next_cursor, has_more]
              properties:
                data: {type: array}
                next_cursor: {type: [string, 'null']}
                has_more: {type: boolean}
                total: {type: integer, description: 'How many there are in all, where that is told.'}

            Occupant:
              type: object
              required: [user, state]
              properties:
                user: {type: string}
                state: {type: [object, 'null'], description: What the user shows there.}
            SignOfLife:
              type: object
              additionalProperties: false
              properties:
                ttl_seconds:
                  type: [integer, 'null']
                  minimum: 2
                  maximum: 86400
                  description: How long it is good for; 300 unless the gateway is set otherwise.
                state: {type: [object, 'null'], description: 'What the user shows from now on; left out, it stays.'}
            Entrance:
              type: object
              required: [user, channel, participant_count]
              properties:
                user: {type: string}
                channel: {$ref: '#/components/schemas/ChannelName'}
                participant_count: {type: integer, minimum: 0}

            Deed:
              type: object
              required: [timetoken, by]
              properties:
                timetoken: {$ref: '#/components/schemas/Timetoken'}
                by: {type: [string, 'null'], description: Null for an operator of the app.}

            Message:
              type: object
              required: [id, timetoken, timestamp, channel, user, data, meta, custom_type, edited, deleted, thread_of, thread, reactions, etag]
              properties:
                id: {$ref: '#/components/schemas/EventID'}
                timetoken: {$ref: '#/components/schemas/Timetoken'}
                timestamp: {$ref: '#/components/schemas/Timestamp'}
                channel: {type: string}
                user: {type: [string, 'null']}
                data: {description: 'What it says now; null once it is deleted.'}
                meta: {description: What was sent with it.}
                custom_type: {type: [string, 'null']}
                edited: {description: The newest edit., anyOf: [{$ref: '#/components/schemas/Deed'}, {type: 'null'}]}
                deleted: {anyOf: [{$ref: '#/components/schemas/Deed'}, {type: 'null'}]}
                thread_of: {type: [string, 'null'], description: The message it replies to.}
                thread:
                  description: The replies to it; null without any.
                  anyOf:
                    - type: 'null'
                    - type: object
                      required: [reply_count, authors, last_reply_timetoken]
                      properties:
                        reply_count: {type: integer, minimum: 0}
                        authors:
                          type: array
                          maxItems: 20
                          description: Most replies first.
                          items:
                            type: object
                            required: [user, replies]
                            properties: {user: {type: string}, replies: {type: integer}}
                        last_reply_timetoken: {type: [string, 'null']}
                        root: {type: [string, 'null'], description: Who wrote the message.}
                        channel: {type: [string, 'null'], description: The channel that holds replies, if one does.}
                reactions: {type: object, description: How many users share each., additionalProperties: {type: integer}}
                etag: {type: string}

            MessagePage:
              type: object
              required: [data, next_cursor, prev_cursor, has_more, cursor]
              properties:
                data: {type: array, items: {$ref: '#/components/schemas/Message'}}
                next_cursor: {type: [string, 'null']}
                prev_cursor: {type: [string, 'null']}
                has_more: {type: boolean}
                cursor: {$ref: '#/components/schemas/Timetoken', description: Where a stream continues from here.}

            MessageList:
              allOf: [{$ref: '#/components/schemas/Listing'}]
              properties: {data: {type: array, items: {$ref: '#/components/schemas/Message'}}}

            MessageEdit:
              type: object
              description: Either `text` or `data`.
              additionalProperties: false
              properties:
                text: {type: string}
                data: {description: The whole payload.}
                by: {$ref: '#/components/schemas/UserName'}

            Forwarding:
              type: object
              required: [channel]
              additionalProperties: false
              properties:
                channel: {$ref: '#/components/schemas/ChannelName'}
                by: {$ref: '#/components/schemas/UserName'}

            Report:
              type: object
              required: [reason]
              additionalProperties: false
              properties:
                reason: {type: string, minLength: 1, maxLength: 1000}
                by: {$ref: '#/components/schemas/UserName'}

            NewAction:
              type: object
              required: [type, value]
              additionalProperties: false
              properties:
                type: {type: string, minLength: 1, maxLength: 50}
                value: {type: string, minLength: 1, maxLength: 4096}
                user: {$ref: '#/components/schemas/UserName'}

            MessageAction:
              type: object
              required: [channel, message_timetoken, type, value, user, action_timetoken]
              properties:
                channel: {type: string}
                message_timetoken: {$ref: '#/components/schemas/Timetoken'}
                type: {type: string, description: '`reactions` for reactions.'}
                value: {type: string}
                user: {type: string}
                action_timetoken: {$ref: '#/components/schemas/Timetoken'}

            ActionList:
              allOf: [{$ref: '#/components/schemas/Listing'}]
              properties: {data: {type: array, items: {$ref: '#/components/schemas/MessageAction'}}}

            Metadata:
              type: object
              required: [metadata]
              properties:
                metadata: {type: object, maxProperties: 100, propertyNames: {minLength: 1, maxLength: 128}, additionalProperties: {type: string, maxLength: 190}}

            NewMetadata:
              type: object
              required: [metadata]
              additionalProperties: false
              properties:
                metadata: {type: object, maxProperties: 100, propertyNames: {minLength: 1, maxLength: 128}, additionalProperties: {type: string, maxLength: 190}}
                by: {$ref: '#/components/schemas/UserName'}

            MetadataChange:
              type: object
              required: [metadata]
              additionalProperties: false
              properties:
                metadata: {type: object, maxProperties: 100, propertyNames: {minLength: 1, maxLength: 128}, additionalProperties: {type: string, maxLength: 190}}
                upsert: {type: boolean, default: false, description: Add the keys that are not there.}
                by: {$ref: '#/components/schemas/UserName'}

            MetadataValue:
              type: object
              required: [value]
              additionalProperties: false
              properties:
                value: {type: string, maxLength: 190}
                by: {$ref: '#/components/schemas/UserName'}

            Metacounters:
              type: object
              required: [metacounters]
              properties:
                metacounters: {type: object, maxProperties: 100, propertyNames: {minLength: 1, maxLength: 128}, additionalProperties: {type: integer, format: int64}}

            NewMetacounters:
              type: object
              required: [metacounters]
              additionalProperties: false
              properties:
                metacounters: {type: object, maxProperties: 100, propertyNames: {minLength: 1, maxLength: 128}, additionalProperties: {type: integer, format: int64}}
                by: {$ref: '#/components/schemas/UserName'}

            MetacountersChange:
              type: object
              required: [metacounters]
              additionalProperties: false
              properties:
                metacounters: {type: object, maxProperties: 100, propertyNames: {minLength: 1, maxLength: 128}, additionalProperties: {type: integer, format: int64}}
                mode: {enum: [set, inc, dec], default: set}
                upsert: {type: boolean, default: false, description: Add the keys that are not there.}
                by: {$ref: '#/components/schemas/UserName'}

            MetacounterValue:
              type: object
              required: [value]
              additionalProperties: false
              properties:
                value: {type: integer, format: int64}
                by: {$ref: '#/components/schemas/UserName'}

            NewMessage:
              type: object
              description: |
                Either `data`, or `text` and `files`. What a message is tied to stands in its `meta`, which must be an object
                then: `quotedMessage`, `mentionedUsers`, `mentionType`, `threadOf`.
              additionalProperties: false
              properties:
                text: {type: string, description: 'Becomes `{"text": …}`.'}
                files:
                  type: array
                  minItems: 1
                  maxItems: 10
                  description: What lies elsewhere; becomes the member `files` of `data`.
                  items:
                    type: object
                    required: [url]
                    additionalProperties: false
                    properties:
                      url: {type: string, format: uri, maxLength: 2048}
                      name: {type: string, maxLength: 255}
                      type: {type: string, maxLength: 255, description: The media type.}
                      size: {type: integer, minimum: 0, description: Bytes.}
                quote: {$ref: '#/components/schemas/Timetoken', description: The message this one quotes.}
                thread_of:
                  $ref: '#/components/schemas/Timetoken'
                  description: The message this one replies to, which is no reply itself. Becomes `thread.updated` too.
                mentions:
                  description: |
                    Users, or `channel` for everybody. The first ten become `user.mentioned` on their own channels, in a channel
                    with members as far as they are some, in an open one as far as they are inside.
                  oneOf:
                    - {type: array, items: {$ref: '#/components/schemas/UserName'}, maxItems: 100, uniqueItems: true}
                    - {const: channel}
                data: {description: Any JSON up to 64 KiB.}
                user: {$ref: '#/components/schemas/UserName'}
                meta: {description: Any JSON up to 8 KiB.}
                custom_type: {type: string, minLength: 1, maxLength: 64}
                store: {type: boolean, default: true, description: False makes it ephemeral.}
                ttl_hours: {type: integer, minimum: 1, maximum: 876000, description: Shortens the app's retention.}

            NewEvent:
              type: object
              required: [data]
              additionalProperties: false
              properties:
                type: {$ref: '#/components/schemas/TypeName', default: custom}
                data: {description: Any JSON up to 64 KiB.}
                user: {$ref: '#/components/schemas/UserName'}
                meta: {description: Any JSON up to 8 KiB.}
                store: {type: boolean, default: true, description: False makes it ephemeral.}
                ttl_hours: {type: integer, minimum: 1, maximum: 876000, description: Shortens the app's retention.}

            FiredEvent:
              type: object
              required: [data]
              additionalProperties: false
              properties:
                type: {$ref: '#/components/schemas/TypeName', default: custom}
                data: {description: Any JSON up to 64 KiB.}
                user: {$ref: '#/components/schemas/UserName'}
                meta: {description: Any JSON up to 8 KiB.}

            NewSignal:
              type: object
              required: [data]
              additionalProperties: false
              properties:
                data: {description: Any JSON up to 64 bytes.}
                user: {$ref: '#/components/schemas/UserName'}
                custom_type: {type: string, minLength: 1, maxLength: 64}

            BatchEvent:
              type: object
              required: [channel, data]
              additionalProperties: false
              properties:
                channel: {$ref: '#/components/schemas/ChannelName'}
                type: {$ref: '#/components/schemas/TypeName', default: custom}
                data: {description: Any JSON up to 64 KiB.}
                user: {$ref: '#/components/schemas/UserName'}
                meta: {description: Any JSON up to 8 KiB.}
                store: {type: boolean, default: true, description: False makes it ephemeral.}
                ttl_hours: {type: integer, minimum: 1, maximum: 876000, description: Shortens the app's retention.}

            AddressedEvent:
              type: object
              description: Either `channel` or `channels`.
              required: [data]
              additionalProperties: false
              properties:
                channel: {$ref: '#/components/schemas/ChannelName'}
                channels:
                  type: array
                  minItems: 1
                  maxItems: 500
                  uniqueItems: true
                  items: {$ref: '#/components/schemas/ChannelName'}
                type: {$ref: '#/components/schemas/TypeName', default: custom}
                data: {description: Any JSON up to 64 KiB.}
                user: {$ref: '#/components/schemas/UserName'}
                meta: {description: Any JSON up to 8 KiB.}
                store: {type: boolean, default: true, description: False makes it ephemeral.}
                ttl_hours: {type: integer, minimum: 1, maximum: 876000, description: Shortens the app's retention.}

            CloudEvent:
              type: object
              description: CloudEvents 1.0; further attributes are kept in `meta.cloudevent`.
              required: [specversion, id, source, type]
              properties:
                specversion: {type: string, const: '1.0'}
                id: {type: string, minLength: 1}
                source: {type: string, minLength: 1}
                type: {$ref: '#/components/schemas/TypeName'}
                subject: {$ref: '#/components/schemas/ChannelName'}
                time: {type: string, format: date-time}
                datacontenttype: {type: string, description: JSON, or a type of text or XML; in binary mode the Content-Type.}
                data: {description: 'Any JSON up to 64 KiB; a string when `datacontenttype` is not JSON.'}
                data_base64: {type: string, description: In the place of `data`; JSON or text.}

            Batch:
              type: object
              required: [events]
              additionalProperties: false
              properties:
                mode:
                  type: string
                  enum: [atomic, each]
                  default: atomic
                  description: All or nothing, or every event that is acceptable.
                events: {type: array, minItems: 1, maxItems: 500, items: {$ref: '#/components/schemas/BatchEvent'}}

            Emitted:
              type: object
              required: [id, timetoken, channel, type, duplicate]
              properties:
                id: {$ref: '#/components/schemas/EventID'}
                timetoken: {$ref: '#/components/schemas/Timetoken'}
                channel: {type: string}
                type: {type: string}
                duplicate: {type: boolean, description: True when this is an earlier event with the same deduplication key.}

            EmittedList:
              type: object
              required: [events]
              properties: {events: {type: array, items: {$ref: '#/components/schemas/Emitted'}}}

            BatchResults:
              type: object
              required: [results]
              properties:
                results:
                  type: array
                  items:
                    type: object
                    required: [status]
                    properties:
                      status: {type: integer, description: 201 or that of the problem.}
                      id: {$ref: '#/components/schemas/EventID'}
                      timetoken: {$ref: '#/components/schemas/Timetoken'}
                      channel: {type: string}
                      type: {type: string}
                      duplicate: {type: boolean}
                      problem: {$ref: '#/components/schemas/Problem'}

            Import:
              type: object
              required: [records]
              additionalProperties: false
              properties:
                replace:
                  type: boolean
                  default: false
                  description: Whether users, channels, memberships and restrictions that are here take on what is sent.
                records: {type: array, minItems: 1, maxItems: 500, items: {$ref: '#/components/schemas/ImportRecord'}}

            ImportRecord:
              type: object
              required: [record]
              description: |
                What it is stands in `record`. A user, a channel (with `kind`, `public` unless said otherwise), a membership
                (`user`, `channel`) and a restriction (`user`, `channel`) have the members of the calls that write such a record,
                but for `by`; a group has `id` and the `channels` it takes in.
              properties:
                record: {type: string, enum: [user, channel, membership, group, restriction, message]}
                channel: {type: string}
                timetoken: {$ref: '#/components/schemas/Timetoken'}
                type:
                  type: string
                  description: Of a message; `message.created` unless said otherwise. A type of the app's own, or one of those that
                    people's words have.
                user: {type: string}
                data: {description: 'Of a message: any JSON. It is kept byte for byte.'}
                meta: {description: Any JSON.}
                custom_type: {type: string, maxLength: 64}
                wire: {description: What readers of the PubNub wire get in place of `data`.}
                file: {type: boolean, description: Whether the message announces a file.}
                actions:
                  type: array
                  maxItems: 1000
                  description: What was attached to a message. The types `edited`, `deleted` and `threadRootId` do what they say.
                  items:
                    type: object
                    required: [type, value, user, timetoken]
                    additionalProperties: false
                    properties:
                      type: {type: string, minLength: 1, maxLength: 50}
                      value: {type: string, minLength: 1, maxLength: 4096}
                      user: {type: string}
                      timetoken: {$ref: '#/components/schemas/Timetoken'}

            ImportResults:
              type: object
              required: [results]
              properties:
                results:
                  type: array
                  items:
                    type: object
                    required: [status]
                    properties:
                      status: {type: integer, description: '201: taken in. 200: it was here. Else that of the problem.'}
                      timetoken: {$ref: '#/components/schemas/Timetoken'}
                      attached: {type: integer, description: How much was attached to a message by this.}
                      problem: {$ref: '#/components/schemas/Problem'}

            Forecast:
              type: object
              required: [valid, type, version, errors, would_reach]
              properties:
                valid: {type: boolean}
                type: {type: [string, 'null'], description: Null when the event cannot be read.}
                version:
                  type: [integer, 'null']
                  description: The version of the schema it was held against; null when there is none to hold it against.
                errors:
                  type: array
                  description: Why it would be refused; of a valid event, what a schema in mode `warn` has against it.
                  items: {$ref: '#/components/schemas/Fault'}
                would_reach: {$ref: '#/components/schemas/Reach'}

            ForecastList:
              type: object
              required: [results]
              properties: {results: {type: array, items: {$ref: '#/components/schemas/Forecast'}}}

            Reach:
              type: object
              required: [streams]
              properties:
                webhooks:
                  description: Named only to credentials with the scope `manage`.
                  type: array
                  items:
                    type: object
                    required: [id, match, why]
                    properties: {id: {type: string}, match: {type: boolean}, why: {type: string}}
                streams: {type: integer}

            Explanation:
              type: object
              required: [event, kept, type, schema, origin, validation, would_reach, deliveries, webhooks]
              properties:
                event: {$ref: '#/components/schemas/EventID'}
                kept: {type: boolean, description: Whether the event itself is still there.}
                type: {type: string}
                origin:
                  type: [object, 'null']
                  description: The post to a source it came in by; null when it came otherwise.
                  required: [kind, source, request]
                  properties:
                    kind: {type: string, enum: [source]}
                    source: {type: string}
                    request: {type: string, description: 'Of the source''s log, which keeps the latest posts only.'}
                schema:
                  type: [object, 'null']
                  description: The declared schema that accepted it; null when none did.
                  required: [type, version]
                  properties: {type: {type: string}, version: {type: integer}}
                validation:
                  description: What the newest schema of its type says of it now; null when its type is not declared.
                  oneOf: [{$ref: '#/components/schemas/Validation'}, {type: 'null'}]
                would_reach: {$ref: '#/components/schemas/Reach'}
                deliveries: {type: array, items: {$ref: '#/components/schemas/Delivery'}}
                webhooks:
                  description: |
                    For every webhook whether it was told of the event or, by its settings as they are now, is; why or why not, and what
                    became of it. Of an event that is kept no more only those that were told.
                  type: array
                  items:
                    type: object
                    required: [webhook, match, why, delivery]
                    properties:
                      webhook: {type: string}
                      match: {type: boolean}
                      why: {type: string}
                      delivery: {oneOf: [{$ref: '#/components/schemas/Delivery'}, {type: 'null'}]}

            HistoryQuery:
              type: object
              required: [channels]
              additionalProperties: false
              properties:
                channels:
                  type: array
                  minItems: 1
                  maxItems: 500
                  uniqueItems: true
                  items: {$ref: '#/components/schemas/ChannelName'}
                types: {type: array, items: {$ref: '#/components/schemas/Pattern'}}
                user: {type: string}
                after: {$ref: '#/components/schemas/Timetoken'}
                before: {$ref: '#/components/schemas/Timetoken'}
                order: {type: string, enum: [asc, desc], default: asc}
                limit: {type: integer, minimum: 1, maximum: 250, description: Per channel.}

            PollBatch:
              type: object
              required: [data, cursor]
              properties:
                data: {type: array, items: {$ref: '#/components/schemas/Event'}}
                cursor: {$ref: '#/components/schemas/Timetoken', description: Where the next poll continues.}
                gap:
                  type: object
                  description: There when events may be missing before the first one.
                  required: [requested, resumed_from, missed]
                  properties:
                    requested: {type: string}
                    resumed_from: {$ref: '#/components/schemas/Timetoken'}
                    missed: {type: [string, integer]}

            Stream:
              type: object
              required: [id, channels, types, key, format, state, opened_at, cursor, lag_bytes, bytes_sent, remote]
              properties:
                id: {type: string}
                channels: {type: array, items: {$ref: '#/components/schemas/Pattern'}}
                types: {type: array, items: {$ref: '#/components/schemas/Pattern'}}
                filter: {type: string}
                user: {type: string}
                device: {type: string, description: The user's device it was opened for.}
                key: {type: string, description: The id of the API key it belongs to.}
                format: {type: string, enum: [sse, ndjson]}
                state: {type: string, enum: [catching_up, live]}
                opened_at: {$ref: '#/components/schemas/Timestamp'}
                cursor: {type: [string, 'null'], description: Handed to its connection up to here.}
                lag_bytes: {type: integer, description: Waiting to be sent.}
                bytes_sent: {type: integer}
                remote: {type: string}

            DeviceSession:
              type: object
              required: [id, device, state, attempt, streams, opened_at, lost_at, expires_at]
              properties:
                id: {type: string}
                device: {type: string}
                state: {type: string, enum: [open, reconnecting]}
                attempt: {type: integer, minimum: 0, description: How often it was resumed.}
                streams: {type: integer, minimum: 0, description: The live streams of the device.}
                opened_at: {$ref: '#/components/schemas/Timestamp'}
                lost_at:
                  anyOf: [{$ref: '#/components/schemas/Timestamp'}, {type: 'null'}]
                expires_at:
                  description: Until when it can be resumed.
                  anyOf: [{$ref: '#/components/schemas/Timestamp'}, {type: 'null'}]

            StreamPatch:
              type: object
              additionalProperties: false
              properties:
                channels: {type: array, minItems: 1, maxItems: 500, items: {$ref: '#/components/schemas/Pattern'}}
                types: {type: array, minItems: 1, items: {$ref: '#/components/schemas/Pattern'}}

            NewTicket:
              type: object
              additionalProperties: false
              properties:
                channels: {type: array, minItems: 1, maxItems: 500, items: {$ref: '#/components/schemas/Pattern'}}
                types: {type: array, minItems: 1, items: {$ref: '#/components/schemas/Pattern'}}
                user: {$ref: '#/components/schemas/UserName'}

            Ticket:
              type: object
              required: [ticket, expires_at]
              properties:
                ticket: {type: string}
                expires_at: {$ref: '#/components/schemas/Timestamp'}

            Scope: {type: string, enum: [emit, read, manage, admin]}

            NewKey:
              type: object
              required: [scopes]
              additionalProperties: false
              properties:
                name: {type: string, maxLength: 200}
                scopes: {type: array, minItems: 1, items: {$ref: '#/components/schemas/Scope'}}
                channels: {type: array, minItems: 1, items: {$ref: '#/components/schemas/Pattern'}, default: ['*']}
                types: {type: array, minItems: 1, items: {$ref: '#/components/schemas/Pattern'}, default: ['*']}
                expires_at: {type: [string, 'null'], format: date-time}
                rate_limit: {$ref: '#/components/schemas/RateLimit'}
                event_quota: {$ref: '#/components/schemas/EventQuota'}
                jwt: {$ref: '#/components/schemas/SigningKey'}

            SigningKey:
              type: object
              required: [alg, public_key]
              additionalProperties: false
              description: The public half of a key pair; what its private half signs are tokens of users.
              properties:
                alg: {type: string, enum: [RS256, ES256, EdDSA]}
                public_key: {type: string, maxLength: 8192, description: 'PEM, `-----BEGIN PUBLIC KEY-----`; RSA with 2048 bits or more.'}

            NewToken:
              type: object
              required: [user]
              additionalProperties: false
              properties:
                user: {$ref: '#/components/schemas/UserName'}
                scopes: {type: array, minItems: 1, items: {type: string, enum: [read, emit]}, default: [read]}
                channels: {type: array, minItems: 1, items: {$ref: '#/components/schemas/Pattern'}, description: 'Left out: all that the key reaches.'}
                types: {type: array, minItems: 1, items: {$ref: '#/components/schemas/Pattern'}, description: 'Left out: all that the key reaches.'}
                expires_in_seconds: {type: integer, minimum: 1, maximum: 2592000, default: 3600}

            Token:
              type: object
              required: [token, expires_at]
              properties:
                token: {type: string}
                expires_at: {type: string, format: date-time}

            RatePolicy:
              type: object
              required: [quantity, window_seconds]
              additionalProperties: false
              properties:
                quantity: {type: integer, minimum: 1, maximum: 1000000000000}
                window_seconds: {type: integer, minimum: 1, maximum: 2678400}

            RateLimit:
              description: |
                How many requests a window allows, at once or spread over it; past it 429 `quota_exceeded`. Null: the gateway's
                default, which is none unless it is set. What is left is said by `RateLimit` in every answer, and begins anew when
                the gateway does.
              oneOf: [{$ref: '#/components/schemas/RatePolicy'}, {type: 'null'}]

            EventQuota:
              description: The same for events emitted, each of a batch counted.
              oneOf: [{$ref: '#/components/schemas/RatePolicy'}, {type: 'null'}]

            Rates:
              type: object
              additionalProperties: false
              properties:
                rate_limit: {$ref: '#/components/schemas/RateLimit'}
                event_quota: {$ref: '#/components/schemas/EventQuota'}

            ByWhom:
              type: object
              additionalProperties: false
              properties: {by: {type: [string, 'null'], description: 'Who does this, where the credential may name somebody.'}}

            NewRestriction:
              type: object
              additionalProperties: false
              description: A ban, a mute, or both.
              properties:
                ban: {type: [boolean, 'null'], default: false}
                mute: {type: [boolean, 'null'], default: false}
                reason: {type: [string, 'null'], maxLength: 2048}
                until: {type: [string, 'null'], format: date-time, description: 'Left out: until it is lifted.'}
                by: {type: [string, 'null'], description: 'Who does this, where the credential may name somebody.'}

            Restriction:
              type: object
              required: [user, channel, ban, mute, reason, moderator, since_timetoken, until_timetoken, etag, updated_at]
              properties:
                user: {$ref: '#/components/schemas/UserName'}
                channel: {$ref: '#/components/schemas/ChannelName'}
                ban: {type: boolean}
                mute: {type: boolean}
                reason: {type: [string, 'null']}
                moderator: {type: [string, 'null'], description: Null for an operator of the app.}
                since_timetoken: {$ref: '#/components/schemas/Timetoken'}
                until_timetoken: {type: [string, 'null'], description: Null for one that lasts until it is lifted.}
                etag: {type: string}
                updated_at: {$ref: '#/components/schemas/Timestamp'}

            NewMark:
              type: object
              additionalProperties: false
              properties:
                timetoken: {type: [string, 'null'], description: 'The message; left out: the newest of the channel.'}
                by: {type: [string, 'null'], description: 'Who does this, where the credential may name somebody.'}

            Marks:
              type: object
              required: [user, channel, read_timetoken, delivered_timetoken]
              properties:
                user: {$ref: '#/components/schemas/UserName'}
                channel: {$ref: '#/components/schemas/ChannelName'}
                read_timetoken: {type: [string, 'null']}
                delivered_timetoken: {type: [string, 'null']}

            Unread:
              type: object
              required: [unread_count, by_custom_type]
              properties:
                unread_count: {type: integer, minimum: 0}
                by_custom_type: {type: object, additionalProperties: {type: integer, minimum: 0}}

            NewReadAll:
              type: object
              additionalProperties: false
              properties:
                channels: {type: [array, 'null'], minItems: 1, maxItems: 500, items: {$ref: '#/components/schemas/ChannelName'}}
                by: {type: [string, 'null'], description: 'Who does this, where the credential may name somebody.'}

            NewSession:
              type: object
              required: [key]
              additionalProperties: false
              properties: {key: {type: string, description: An API key.}}

            Session:
              type: object
              required: [app, credential, name, scopes, channels, types, user, operator, expires_at]
              properties:
                app:
                  type: object
                  required: [id, name]
                  properties: {id: {type: string}, name: {type: string}}
                credential: {type: string, description: The id of the API key.}
                name: {type: [string, 'null'], description: What the key is called.}
                scopes: {type: array, items: {$ref: '#/components/schemas/Scope'}}
                channels: {type: array, items: {$ref: '#/components/schemas/Pattern'}}
                types: {type: array, items: {$ref: '#/components/schemas/Pattern'}}
                user: {type: [string, 'null'], description: Whose credential it is; null for one that is no user's own.}
                operator: {type: boolean, description: Whether it sees all apps.}
                expires_at: {type: [string, 'null'], format: date-time}

            Key:
              type: object
              required: [id, name, scopes, channels, types, expires_at, rate_limit, event_quota, created_at]
              properties:
                id: {type: string}
                name: {type: string}
                scopes: {type: array, items: {$ref: '#/components/schemas/Scope'}}
                channels: {type: array, items: {$ref: '#/components/schemas/Pattern'}}
                types: {type: array, items: {$ref: '#/components/schemas/Pattern'}}
                expires_at: {type: [string, 'null'], format: date-time}
                rate_limit: {$ref: '#/components/schemas/RateLimit'}
                event_quota: {$ref: '#/components/schemas/EventQuota'}
                created_at: {$ref: '#/components/schemas/Timestamp'}
                jwt: {$ref: '#/components/schemas/SigningKey'}

            IssuedKey:
              allOf: [{$ref: '#/components/schemas/Key'}]
              properties: {key: {type: string, description: 'Shown once; not there for a key with `jwt`.'}}

            AuditEntry:
              type: object
              required: [id, at, timetoken, action, actor, user, address, resource, code, request_id, result]
              properties:
                id: {type: string}
                at: {$ref: '#/components/schemas/Timestamp'}
                timetoken: {$ref: '#/components/schemas/Timetoken'}
                action: {type: string, description: 'A subject, a dot, a verb: `key.create`. Or `sign_in`.'}
                actor: {type: [string, 'null'], description: 'The id of the credential; null for one that does not hold.'}
                user: {type: [string, 'null'], description: The user the credential speaks for.}
                address: {type: [string, 'null'], description: Where the request came from. Behind a proxy this is the proxy.}
                resource: {type: [string, 'null']}
                code: {type: [string, 'null'], description: Why it was refused.}
                request_id: {type: [string, 'null']}
                result: {enum: [done, refused]}

            NewApp:
              type: object
              required: [name]
              additionalProperties: false
              properties:
                name: {type: string, minLength: 1, maxLength: 200}
                retention_hours: {type: [integer, 'null'], minimum: 1, maximum: 876000, description: Null is for ever.}

            App:
              type: object
              required: [id, name, retention_hours, require_declared_types, demand_tokens, rate_limit, event_quota, created_at]
              properties:
                id: {type: string}
                name: {type: string}
                retention_hours: {type: [integer, 'null']}
                require_declared_types: {type: boolean, description: Events of types that are not declared are refused.}
                demand_tokens: {type: boolean, description: PubNub's clients need an access token or a signature.}
                rate_limit: {$ref: '#/components/schemas/RateLimit'}
                event_quota: {$ref: '#/components/schemas/EventQuota'}
                created_at: {$ref: '#/components/schemas/Timestamp'}

            AppPatch:
              type: object
              additionalProperties: false
              properties:
                require_declared_types:
                  type: boolean
                  description: Refuse events of types that are not declared, with 422 `undeclared_type`.
                retention_hours:
                  type: [integer, 'null']
                  minimum: 1
                  maximum: 876000
                  description: |
                    How long events stay: older ones are hidden at once, and removed soon after. Null is for ever; what was hidden
                    stays so.
                demand_tokens:
                  type: boolean
                  description: Have PubNub's clients show an access token, or sign, for whatever they do.
                rate_limit: {$ref: '#/components/schemas/RateLimit'}
                event_quota: {$ref: '#/components/schemas/EventQuota'}

            AppWithKeys:
              allOf: [{$ref: '#/components/schemas/App'}]
              properties:
                publish_key: {type: string}
                subscribe_key: {type: string}
                secret_key: {type: string}

            IssuedApp:
              allOf: [{$ref: '#/components/schemas/AppWithKeys'}]
              required: [publish_key, subscribe_key, secret_key, admin_key]
              properties: {admin_key: {type: string, description: Shown once.}}

            Fault:
              type: object
              required: [pointer, keyword, detail]
              properties:
                pointer: {type: string, description: 'A JSON Pointer (RFC 6901) with `#` in front.'}
                keyword: {type: string}
                detail: {type: string}
                expected: {type: string, description: 'What would pass, where that is short.'}
                schema: {type: string, description: Where in the schema the keyword stands.}

            Problem:
              type: object
              description: RFC 9457. Members beyond these belong to the code.
              required: [type, title, status, code, instance, request_id, retryable]
              properties:
                type: {type: string}
                title: {type: string}
                status: {type: integer}
                code: {type: string, description: Short and stable.}
                detail: {type: string}
                instance: {type: string}
                request_id: {type: string}
                retryable: {type: boolean, description: Whether the same request may succeed later.}
                errors: {type: array, items: {$ref: '#/components/schemas/Fault'}}
                line: {type: integer, description: Where JSON could not be read.}
                column: {type: integer}
                limit_bytes: {type: integer}
                violated-policies:
                  type: array
                  items: {type: string}
                  description: Which rates were exceeded, by their names in `RateLimit-Policy`.
                event_type: {type: string, description: 'The event type whose schema is spoken of.'}
                schema_version: {type: integer, description: The version the payload was held against.}
                compatibility: {type: string, description: What the new version had to be.}
                compared_with: {type: integer, description: The earlier version it breaks.}
                witness: {description: A payload that one of two versions accepts and the other refuses.}

            WebhookSettings:
              type: object
              required: [url]
              properties:
                url: {type: string, format: uri, description: '`https`, or what the deployment permits.'}
                types:
                  type: array
                  items: {$ref: '#/components/schemas/Pattern'}
                  default: ['*']
                  description: '`*` leaves out the chatty types (typing, receipts, presence, counts): name them.'
                channels:
                  type: array
                  items: {$ref: '#/components/schemas/Pattern'}
                  default: ['*']
                  description: '`*` leaves out `$system`: name it.'
                filter: {type: [string, 'null'], description: An expression over the envelope.}
                description: {type: string}
                concurrency: {type: [integer, 'null'], minimum: 1, maximum: 100, description: Deliveries at once.}
                format:
                  type: [string, 'null']
                  enum: [envelope, flat, cloudevents, cloudevents_binary, cloudevents_batch, template, null]
                  default: envelope
                  description: |
                    What a body looks like. `envelope` is the event as everywhere else. `flat` has the members of `data` at the
                    top beside `event_id`, `event_type`, `channel`, `user` and `timetoken`, which win over members of the same
                    name. `template` is made of the member `template`.
                template:
                  description: |
                    Any JSON with references to `event` (the envelope) and `webhook` (its `id`), for the format `template`:
                    `{"text": "{event/type} on {event/channel}", "all": {"$": "event/data"}}`.
                headers:
                  description: |
                    Fields sent with every delivery: an object of texts, where null removes one. Printed as the list of their
                    names, which may be sent back and keeps those it names; the values are never shown.
                  anyOf:
                    - {type: object, additionalProperties: {type: [string, 'null']}}
                    - {type: array, items: {type: string}}
                    - {type: 'null'}
                auth:
                  description: |
                    What receivers are shown: HTTP basic or bearer, or an access token got by OAuth 2.0 client credentials. The
                    secrets are never shown; left out of a patch for the same user, client and token address, they stay.
                  anyOf:
                    - {$ref: '#/components/schemas/WebhookAuth'}
                    - {type: 'null'}
                tls:
                  description: A client certificate, and authorities trusted instead of the system's. Needs an https address.
                  type: [object, 'null']
                  additionalProperties: false
                  properties:
                    certificate: {type: string, description: PEM.}
                    private_key: {type: string, writeOnly: true, description: 'PEM, without a pass phrase.'}
                    ca: {type: string, description: PEM.}
                signatures:
                  type: [array, 'null']
                  minItems: 1
                  items: {type: string, enum: [standard, standard_ed25519, hub_sha256, stripe, rfc9421]}
                  default: [standard]
                  description: |
                    Several at once let a receiver change over. `standard_ed25519` signs with the app's key, whose public half is
                    in `ed25519_public_key` and at `/.well-known/jwks.json?app=…`.
                retry:
                  type: [object, 'null']
                  additionalProperties: false
                  required: [delays_seconds]
                  properties:
                    delays_seconds:
                      type: array
                      maxItems: 30
                      items: {type: number, minimum: 0, maximum: 2592000}
                  description: What follows each failed attempt; null is the schedule of the gateway, ten attempts in three days.
                timeout_seconds: {type: [number, 'null'], minimum: 5, maximum: 30, default: 15, description: For one attempt.}
                rate_per_second: {type: [number, 'null'], minimum: 0.01, maximum: 10000, description: Attempts begun.}
                ordering:
                  type: [string, 'null']
                  enum: [none, per_channel, strict, null]
                  default: none
                  description: A delivery that waits for its retry holds back those behind it, in all or in its channel.
                batch:
                  type: [object, 'null']
                  additionalProperties: false
                  properties:
                    max_events: {type: integer, minimum: 1, maximum: 500}
                    max_bytes: {type: integer, minimum: 1024, maximum: 8388608, default: 1048576}
                  description: Several events in one post, as a JSON array.
                verification:
                  type: [string, 'null']
                  enum: [none, echo, cloudevents, null]
                  description: |
                    Whether the receiver must consent before anything is sent: by repeating a challenge, or by the handshake of
                    CloudEvents. Null is what the gateway demands.

            WebhookAuth:
              type: object
              required: [type]
              additionalProperties: false
              properties:
                type: {type: string, enum: [basic, bearer, oauth2]}
                username: {type: string}
                password: {type: string, writeOnly: true}
                token: {type: string, writeOnly: true}
                token_url: {type: string, format: uri}
                client_id: {type: string}
                client_secret: {type: string, writeOnly: true}
                scope: {type: string}
                audience: {type: string}
                client_auth: {type: string, enum: [basic, body], description: Where id and secret of the client go.}

            WebhookPatch:
              type: object
              additionalProperties: false
              properties:
                url: {type: string, format: uri}
                types: {type: [array, 'null'], items: {$ref: '#/components/schemas/Pattern'}}
                channels: {type: [array, 'null'], items: {$ref: '#/components/schemas/Pattern'}}
                filter: {type: [string, 'null']}
                description: {type: [string, 'null']}
                concurrency: {type: [integer, 'null'], minimum: 1, maximum: 100}
                format: {$ref: '#/components/schemas/WebhookSettings/properties/format'}
                template: {$ref: '#/components/schemas/WebhookSettings/properties/template'}
                headers: {$ref: '#/components/schemas/WebhookSettings/properties/headers'}
                auth: {$ref: '#/components/schemas/WebhookSettings/properties/auth'}
                tls: {$ref: '#/components/schemas/WebhookSettings/properties/tls'}
                signatures: {$ref: '#/components/schemas/WebhookSettings/properties/signatures'}
                retry: {$ref: '#/components/schemas/WebhookSettings/properties/retry'}
                timeout_seconds: {$ref: '#/components/schemas/WebhookSettings/properties/timeout_seconds'}
                rate_per_second: {$ref: '#/components/schemas/WebhookSettings/properties/rate_per_second'}
                ordering: {$ref: '#/components/schemas/WebhookSettings/properties/ordering'}
                batch: {$ref: '#/components/schemas/WebhookSettings/properties/batch'}
                verification: {$ref: '#/components/schemas/WebhookSettings/properties/verification'}

            Webhook:
              type: object
              required: [id, url, types, channels, description, status, created_at, updated_at]
              properties:
                id: {type: string}
                url: {type: string}
                types: {type: array, items: {$ref: '#/components/schemas/Pattern'}}
                channels: {type: array, items: {$ref: '#/components/schemas/Pattern'}}
                filter: {type: [string, 'null']}
                description: {type: string}
                concurrency: {type: [integer, 'null']}
                format: {$ref: '#/components/schemas/WebhookSettings/properties/format'}
                template: {$ref: '#/components/schemas/WebhookSettings/properties/template'}
                headers: {$ref: '#/components/schemas/WebhookSettings/properties/headers'}
                auth: {$ref: '#/components/schemas/WebhookSettings/properties/auth'}
                tls: {$ref: '#/components/schemas/WebhookSettings/properties/tls'}
                signatures: {$ref: '#/components/schemas/WebhookSettings/properties/signatures'}
                retry: {$ref: '#/components/schemas/WebhookSettings/properties/retry'}
                timeout_seconds: {$ref: '#/components/schemas/WebhookSettings/properties/timeout_seconds'}
                rate_per_second: {$ref: '#/components/schemas/WebhookSettings/properties/rate_per_second'}
                ordering: {$ref: '#/components/schemas/WebhookSettings/properties/ordering'}
                batch: {$ref: '#/components/schemas/WebhookSettings/properties/batch'}
                verification: {$ref: '#/components/schemas/WebhookSettings/properties/verification'}
                status:
                  type: string
                  enum: [enabled, disabled, pending_verification, unreadable]
                  description: |
                    `unreadable`: its stored record cannot be read, by this version or without a key it was sealed with. The list says
                    of it what can be read; its deliveries are held.
                status_reason: {type: [string, 'null'], description: Why it is disabled or unreadable.}
                failing_since: {type: [string, 'null'], format: date-time}
                circuit: {$ref: '#/components/schemas/Circuit'}
                open_until: {type: [string, 'null'], format: date-time, description: No attempt is made before.}
                allowed_per_minute: {type: integer, description: As many posts as its receiver has allowed.}
                ed25519_key_id: {type: string, description: The key's `kid`.}
                ed25519_public_key: {type: string, description: '`whpk_…`'}
                previous_ed25519_key_until: {type: string, format: date-time, description: While a rotation of the app's key lasts.}
                previous_secret_until: {type: string, format: date-time, description: While a rotation lasts.}
                created_at: {$ref: '#/components/schemas/Timestamp'}
                updated_at: {$ref: '#/components/schemas/Timestamp'}

            SubscriptionSettings:
              type: object
              properties:
                types:
                  type: [array, 'null']
                  description: "As a webhook's: `*` (the default) leaves out the chatty types."
                  items: {$ref: '#/components/schemas/Pattern'}
                channels:
                  type: [array, 'null']
                  description: "As a webhook's: `*` (the default) leaves out `$system`."
                  items: {$ref: '#/components/schemas/Pattern'}
                filter: {type: [string, 'null']}
                description: {type: [string, 'null']}
                ack_deadline_seconds: {type: [integer, 'null'], minimum: 10, maximum: 600, default: 30}
                max_outstanding:
                  type: [integer, 'null']
                  minimum: 1
                  maximum: 10000
                  default: 1000
                  description: Deliveries that may be out at once. With `strict` ordering one.
                ordering: {type: [string, 'null'], enum: [none, per_channel, strict, null], default: none}
                max_attempts:
                  type: [integer, 'null']
                  minimum: 1
                  maximum: 100
                  default: 10
                  description: Times a delivery is given out; then it is dead.
            Subscription:
              allOf: [{$ref: '#/components/schemas/SubscriptionSettings'}]
              required: [id, types, channels, description, created_at, updated_at]
              properties:
                id: {type: string}
                created_at: {$ref: '#/components/schemas/Timestamp'}
                updated_at: {$ref: '#/components/schemas/Timestamp'}
            Pull:
              type: object
              additionalProperties: false
              properties:
                max: {type: integer, minimum: 1, maximum: 250, default: 100}
                wait_seconds: {type: integer, minimum: 0, maximum: 25, default: 0}
            PulledEvents:
              type: object
              required: [data]
              properties:
                data:
                  type: array
                  items:
                    type: object
                    required: [ack_id, attempt, event]
                    properties:
                      ack_id: {type: string, description: Names this giving-out of the delivery.}
                      attempt: {type: integer, description: 1 for the first time it is given out.}
                      event: {$ref: '#/components/schemas/Event'}
            AckIds:
              type: object
              required: [ack_ids]
              additionalProperties: false
              properties:
                ack_ids: {type: array, minItems: 1, maxItems: 1000, items: {type: string}}
            Nack:
              type: object
              required: [ack_ids]
              additionalProperties: false
              properties:
                ack_ids: {type: array, minItems: 1, maxItems: 1000, items: {type: string}}
                delay_seconds: {type: integer, minimum: 0, maximum: 86400, default: 0}
            Extend:
              type: object
              required: [ack_ids, seconds]
              additionalProperties: false
              properties:
                ack_ids: {type: array, minItems: 1, maxItems: 1000, items: {type: string}}
                seconds: {type: integer, minimum: 10, maximum: 600}
            AckResults:
              type: object
              required: [data]
              properties:
                data:
                  type: array
                  items:
                    type: object
                    required: [ack_id, result]
                    properties:
                      ack_id: {type: string}
                      result: {type: string, enum: [acknowledged, returned, extended, lost]}
            Seek:
              type: object
              required: [to]
              additionalProperties: false
              properties:
                to: {type: string, description: '`earliest`, `latest` or a timetoken.'}
            SeekResult:
              type: object
              required: [skipped, replayed, complete, reached]
              properties:
                skipped: {type: integer, description: Deliveries that no longer wait.}
                replayed: {type: integer, description: Deliveries that are due by it.}
                complete: {type: boolean}
                reached: {$ref: '#/components/schemas/Timetoken'}

            IssuedWebhook:
              allOf: [{$ref: '#/components/schemas/Webhook'}]
              required: [secret]
              properties: {secret: {type: string, description: '`whsec_…`, shown once.'}}

            PostPreview:
              type: object
              required: [method, url, headers, body]
              properties:
                method: {type: string}
                url: {type: string}
                headers:
                  type: array
                  items: {type: array, items: {type: string}, minItems: 2, maxItems: 2}
                  description: In their order; secret values are masked.
                body: {type: string, description: The exact bytes; they are UTF-8.}

            DeliveryStatus: {type: string, enum: [pending, failed, delivered, dead, held]}

            Delivery:
              type: object
              required: [id, webhook, event, type, status, attempts, next_attempt_at]
              properties:
                id: {type: string}
                webhook: {type: string}
                event: {$ref: '#/components/schemas/EventID'}
                type: {type: string}
                channel: {type: string}
                status: {$ref: '#/components/schemas/DeliveryStatus'}
                attempts: {type: integer}
                next_attempt_at: {type: [string, 'null'], format: date-time}
                reason:
                  type: [string, 'null']
                  description: |
                    Why it is dead; null otherwise. `attempts_exhausted`: every attempt failed. `held_too_many`: too many were waiting
                    for the webhook when the event came (`limits.deliveries_held`, ten times as many while it is enabled).
                    `held_too_long`: it waited for longer than deliveries are kept. `event_not_kept`: the event was gone before the
                    first attempt. `webhook_deleted`. `skipped`: given up by hand.

            ReplayOrder:
              type: object
              additionalProperties: false
              properties:
                only: {type: string, enum: [failed, dead, all], default: failed}
                since: {type: string, enum: [last_success], description: 'After the newest event that was delivered, or from where the webhook begins; excludes `after`.'}
                after: {$ref: '#/components/schemas/Timetoken'}
                before: {$ref: '#/components/schemas/Timetoken'}
                types: {type: array, minItems: 1, items: {$ref: '#/components/schemas/Pattern'}}
                channels: {type: array, minItems: 1, items: {$ref: '#/components/schemas/Pattern'}}
                filter: {type: string, description: Over the envelope of the event; one that is no longer kept does not match.}
                rate_per_second: {type: integer, minimum: 1, maximum: 10000, description: Deliveries per second at most.}
                dry_run: {type: boolean, default: false, description: Only count.}

            RedriveOrder:
              type: object
              additionalProperties: false
              properties:
                webhook: {type: string, description: Of this webhook only.}
                only: {type: string, enum: [dead, failed], default: dead}
                after: {$ref: '#/components/schemas/Timetoken'}
                before: {$ref: '#/components/schemas/Timetoken'}
                types: {type: array, minItems: 1, items: {$ref: '#/components/schemas/Pattern'}}
                channels: {type: array, minItems: 1, items: {$ref: '#/components/schemas/Pattern'}}
                filter: {type: string, description: Over the envelope of the event; one that is no longer kept does not match.}
                rate_per_second: {type: integer, minimum: 1, maximum: 10000, description: Deliveries per second at most.}
                dry_run: {type: boolean, default: false, description: Only count.}

            PurgeOrder:
              type: object
              additionalProperties: false
              anyOf:
                - {required: [webhook]}
                - {required: [after]}
                - {required: [before]}
                - {required: [types]}
                - {required: [channels]}
                - {required: [filter]}
                - {required: [all], properties: {all: {const: true}}}
              properties:
                all: {type: boolean, default: false, description: 'All of them, where nothing narrows.'}
                webhook: {type: string, description: Of this webhook only.}
                after: {$ref: '#/components/schemas/Timetoken'}
                before: {$ref: '#/components/schemas/Timetoken'}
                types: {type: array, minItems: 1, items: {$ref: '#/components/schemas/Pattern'}}
                channels: {type: array, minItems: 1, items: {$ref: '#/components/schemas/Pattern'}}
                filter: {type: string, description: Over the envelope of the event; one that is no longer kept does not match.}
                rate_per_second: {type: integer, minimum: 1, maximum: 10000, description: Deliveries per second at most.}
                dry_run: {type: boolean, default: false, description: Only count.}

            JobBegun:
              type: object
              required: [job, count, count_is_exact]
              properties:
                job: {type: [string, 'null'], description: Null for a dry run.}
                count: {type: integer, description: Deliveries, or events of the log, found to do.}
                count_is_exact: {type: boolean, description: 'False: there are more than were counted.'}

            Job:
              type: object
              required: [id, kind, state, webhook, only, after, before, count, count_is_exact, examined, done, skipped, created_at]
              properties:
                id: {type: string}
                kind: {type: string, enum: [replay, redrive, purge]}
                state: {type: string, enum: [running, paused, done, cancelled, failed]}
                reason: {type: [string, 'null'], description: Why it failed.}
                webhook: {type: [string, 'null']}
                only: {type: string, enum: [failed, dead, all]}
                after: {$ref: '#/components/schemas/Timetoken'}
                before: {$ref: '#/components/schemas/Timetoken'}
                types: {type: [array, 'null'], items: {$ref: '#/components/schemas/Pattern'}}
                channels: {type: [array, 'null'], items: {$ref: '#/components/schemas/Pattern'}}
                filter: {type: [string, 'null']}
                rate_per_second: {type: [integer, 'null']}
                count: {type: integer}
                count_is_exact: {type: boolean}
                examined: {type: integer, description: Deliveries or events looked at so far.}
                done: {type: integer, description: Deliveries made due or removed so far.}
                skipped:
                  type: integer
                  description: >-
                    Deliveries left alone so far: under way, waiting already, of a deleted webhook, or of one that holds as many
                    as it may.
                created_at: {$ref: '#/components/schemas/Timestamp'}
                updated_at: {$ref: '#/components/schemas/Timestamp'}
                finished_at: {type: [string, 'null'], format: date-time}

            WebhookStats:
              type: object
              required: [webhook, deliveries, counted_up_to, oldest_waiting, circuit, open_until, windows]
              properties:
                webhook: {type: string}
                deliveries:
                  type: object
                  required: [pending, failed, delivered, dead, held]
                  additionalProperties: {type: integer}
                counted_up_to: {type: integer, description: A count that reaches this is a lower bound.}
                oldest_waiting: {oneOf: [{$ref: '#/components/schemas/Delivery'}, {type: 'null'}]}
                circuit: {$ref: '#/components/schemas/Circuit'}
                open_until: {type: [string, 'null'], format: date-time}
                last_success_at: {type: [string, 'null'], format: date-time, description: Since the gateway's start.}
                last_failure_at: {type: [string, 'null'], format: date-time, description: Since the gateway's start.}
                windows:
                  description: Attempts of the last `5m`, `1h` and `24h`.
                  type: object
                  additionalProperties:
                    type: object
                    required: [attempts, delivered, failed, p50_ms, p95_ms, p99_ms]
                    properties:
                      attempts: {type: integer}
                      delivered: {type: integer}
                      failed: {type: integer}
                      p50_ms: {type: [integer, 'null'], description: To the next power of two.}
                      p95_ms: {type: [integer, 'null']}
                      p99_ms: {type: [integer, 'null']}

            Circuit:
              type: string
              enum: [closed, open, half_open]
              description: |
                `open`: attempts fail on end, so none is made until `open_until`; deliveries that wait lose nothing.
                `half_open`: one attempt at a time, until one ends well.

            DeliveryWithAttempts:
              allOf: [{$ref: '#/components/schemas/Delivery'}]
              required: [attempt_log]
              properties: {attempt_log: {type: array, items: {$ref: '#/components/schemas/Attempt'}}}

            Attempt:
              type: object
              required: [at, status, error, duration_ms]
              properties:
                at: {$ref: '#/components/schemas/Timestamp'}
                status: {type: [integer, 'null'], description: The HTTP status; null when no answer came.}
                error:
                  type: [string, 'null']
                  description: |
                    `dns`, `connect_refused`, `connect_timeout`, `tls`, `blocked_address`, `timeout`, `reset`, `redirect`,
                    `http_status`, `response_invalid` or `cancelled`; null on success.
                message: {type: [string, 'null'], description: The error in a sentence.}
                duration_ms: {type: integer}
                trigger: {type: string, enum: [automatic, manual]}
                response_body: {type: string, description: The first 16 KiB of the latest answer.}
                truncated: {type: boolean}
                details:
                  description: |
                    `address` connected to, `timings_us`, `request_headers` as sent (what the webhook's owner added is masked),
                    `response_headers`, and `batch`, the number of deliveries that went together.
                  type: object

            SourceSettings:
              type: object
              required: [scheme]
              properties:
                scheme:
                  type: string
                  enum: [github, standard, stripe, slack, shopify, twilio, pusher, sendbird, stream, ed25519, rfc9421, generic, token, none]
                  description: How its posts are signed. `none` checks nothing; `token` compares a fixed header.
                scheme_options:
                  type: [object, 'null']
                  description: |
                    What `generic`, `ed25519`, `rfc9421` and `token` leave to their user. Kept as a whole when left out and the
                    scheme is the same. `template` is what is signed, of `{id}`,
                    `{ts}`, `{body}`, `{url}` and `{header:Name}`.
                  properties:
                    header: {type: string, description: The header with the signature or the token.}
                    prefix: {type: string, description: 'What stands before it, such as `sha256=`.'}
                    encoding: {type: string, enum: [hex, base64]}
                    algorithm: {type: string, enum: [sha1, sha256, sha512]}
                    template: {type: string}
                    timestamp_header: {type: string, description: The header with the unix seconds of the signature.}
                    id_header: {type: string, description: 'The header with the delivery''s id, by which a repeat is recognised.'}
                    id_pointer: {type: string, description: Where that id is in the body (JSON Pointer).}
                secrets:
                  type: array
                  maxItems: 10
                  items: {type: string}
                  writeOnly: true
                  description: Any of them may have signed. Kept when left out and the scheme is the same.
                window_seconds:
                  type: [integer, 'null']
                  minimum: 30
                  maximum: 3600
                  description: How far a signed time may be from now. 300 for a new source; kept when left out.
                handshake:
                  type: [string, 'null']
                  enum: [none, slack, meta, x, cloudevents, null]
                  description: |
                    The provider's question that is answered. For a new source `slack` where the scheme is, otherwise `none`. Kept
                    when left out.
                verify_token: {type: [string, 'null'], writeOnly: true, description: For `meta`. Kept when left out.}
                mapping: {$ref: '#/components/schemas/Mapping'}
                description: {type: [string, 'null'], maxLength: 1000, description: Kept when left out.}

            Mapping:
              description: |
                How a post becomes events. One event, a list of them, or a choice between them by a reference:
                `{"$switch": "header/X-Event", "cases": {"push": {…}, "ping": null}, "default": null}`, where `null` gives none.

                References are `body/…` (JSON Pointer), `form/Name`, `header/Name`, `query/name`, `cloudevent/…`, `source`, and
                inside a repetition the element's name. In texts they stand in braces, `{body/user|nobody}`. In values there are
                `{"$": reference, "default": …, "to": text|number|lower|name|json}`, `{"$switch": …}`,
                `{"$each": reference, "as": name, "when": …, "value": …}` and `{"$join": […], "separator": …}`.

                May be left out for CloudEvents: their type, their data, their subject as the channel.
              oneOf:
                - {$ref: '#/components/schemas/EventMapping'}
                - {type: array, minItems: 1, maxItems: 16, items: {$ref: '#/components/schemas/Mapping'}}
                - type: object
                  required: [$switch, cases]
                  properties:
                    $switch: {type: string, description: A reference.}
                    cases: {type: object, additionalProperties: {oneOf: [{$ref: '#/components/schemas/Mapping'}, {type: 'null'}]}}
                    default: {oneOf: [{$ref: '#/components/schemas/Mapping'}, {type: 'null'}]}

            EventMapping:
              type: object
              required: [channel, type, data]
              properties:
                when:
                  description: |
                    Gives no event unless it holds. An object of references and what each must be: a value, a list of values,
                    `{"exists": true}` or `{"not": …}`; or a list of such objects, of which one must hold.
                each: {type: string, description: A reference to an array; one event for each element.}
                as: {type: string, description: The element's name in references.}
                channel: {description: A template that gives a text.}
                type: {description: A template that gives a text.}
                user: {description: A template that gives a text; an empty one is nobody.}
                data: {description: A template.}
                meta: {description: A template.}
                store: {type: boolean, default: true}

            MappingVersion:
              type: object
              required: [version, mapping, created_at, created_by]
              properties:
                version: {type: integer}
                mapping: {$ref: '#/components/schemas/Mapping'}
                created_at: {$ref: '#/components/schemas/Timestamp'}
                created_by: {type: [string, 'null'], description: The key that put it.}

            Source:
              type: object
              required: [id, path, scheme, secret_count, handshake, mapping, mapping_version, created_at, updated_at]
              properties:
                id: {type: string}
                path: {type: string, description: Where its sender posts to.}
                scheme: {type: string}
                scheme_options: {type: object}
                secret_count: {type: integer}
                window_seconds: {type: integer}
                handshake: {type: string}
                mapping: {$ref: '#/components/schemas/Mapping'}
                mapping_version: {type: integer, description: Grows with each change of the mapping.}
                description: {type: string}
                created_at: {$ref: '#/components/schemas/Timestamp'}
                updated_at: {$ref: '#/components/schemas/Timestamp'}

            InboundOutcome:
              type: string
              enum: [accepted, duplicate, dropped, handshake, signature_invalid, rejected, failed]

            InboundRequest:
              type: object
              required:
                - id
                - received_at
                - outcome
                - reason
                - errors
                - events
                - secret
                - mapping_version
                - replay_of
                - method
                - headers
                - query
                - body_bytes
                - truncated
              properties:
                id: {type: string}
                received_at: {$ref: '#/components/schemas/Timestamp'}
                outcome: {$ref: '#/components/schemas/InboundOutcome'}
                reason: {type: [string, 'null'], description: Why it was not taken.}
                errors: {type: array, items: {$ref: '#/components/schemas/Fault'}}
                events: {type: array, items: {$ref: '#/components/schemas/EventID'}}
                secret: {type: [integer, 'null'], description: 'Which of the source''s secrets signed it, from 0.'}
                mapping_version: {type: integer}
                replay_of: {type: [string, 'null'], description: The request it repeats.}
                method: {type: string}
                headers: {type: array, items: {$ref: '#/components/schemas/Field'}}
                query: {type: array, items: {$ref: '#/components/schemas/Field'}}
                body: {type: string, description: 'The first 16 KiB; the whole of what was verified and turned away.'}
                body_base64: {type: string, description: 'The same, where it is no text.'}
                body_bytes: {type: integer}
                truncated: {type: boolean}

            Field:
              type: object
              required: [name, value]
              properties:
                name: {type: string}
                value: {type: string, description: '`***` in the place of a secret.'}

            TrialPost:
              type: object
              properties:
                method: {type: string, enum: [POST, GET, OPTIONS], default: POST}
                headers:
                  oneOf:
                    - {type: object, additionalProperties: {type: string}}
                    - {type: array, items: {$ref: '#/components/schemas/Field'}}
                query:
                  oneOf:
                    - {type: object, additionalProperties: {type: string}}
                    - {type: array, items: {$ref: '#/components/schemas/Field'}}
                body: {type: string, description: The post's body as raw text.}
                body_base64: {type: string}
                mapping: {$ref: '#/components/schemas/Mapping'}
                request: {type: string, description: A request of the log instead of a post.}

            Trial:
              type: object
              required: [verified, secret, mapping_version, events, left_out, dropped, errors]
              properties:
                verified: {type: boolean, description: Whether the signature holds.}
                secret: {type: [integer, 'null'], description: 'Which of the source''s secrets signed it, from 0.'}
                rejection: {type: string, description: Why it does not.}
                handshake:
                  type: object
                  description: The answer, where the post is a provider's question.
                  properties:
                    status: {type: integer}
                    content_type: {type: string}
                    body: {type: string}
                    headers: {type: object, additionalProperties: {type: string}}
                mapping_version: {type: [integer, 'null'], description: Null for a mapping of the request.}
                events:
                  type: array
                  items:
                    type: object
                    required: [channel, type, user, data, valid, schema_version, errors, would_reach]
                    properties:
                      channel: {type: string}
                      type: {type: string}
                      user: {type: [string, 'null']}
                      data: {}
                      meta: {}
                      valid: {type: boolean}
                      schema_version: {type: [integer, 'null']}
                      errors: {type: array, items: {$ref: '#/components/schemas/Fault'}}
                      would_reach: {$ref: '#/components/schemas/Reach'}
                left_out:
                  type: integer
                  description: |
                    Events that are not listed, as all of them would tell of more pairs of event and webhook than
                    `limits.dry_run_matches`. What is wrong with them stands in `errors` all the same.
                dropped: {type: integer, description: Places where the mapping's conditions gave no event.}
                errors: {type: array, items: {$ref: '#/components/schemas/Fault'}}

            Receipt:
              type: object
              required: [accepted, events]
              properties:
                accepted: {type: integer}
                events:
                  type: array
                  items:
                    type: object
                    required: [id, timetoken, duplicate]
                    properties:
                      id: {$ref: '#/components/schemas/EventID'}
                      timetoken: {$ref: '#/components/schemas/Timetoken'}
                      duplicate: {type: boolean, description: True when this delivery had come before.}

            EventTypeSettings:
              type: object
              additionalProperties: false
              properties:
                description: {type: string, maxLength: 4096, default: ''}
                owner: {type: string, maxLength: 200, default: '', description: Whom to ask about it.}
                mode: {$ref: '#/components/schemas/SchemaMode', default: enforce}
                deprecated:
                  type: [string, 'null']
                  maxLength: 4096
                  description: Why nobody should emit it any more; emits still pass.
                compatibility: {$ref: '#/components/schemas/Compatibility', default: backward}
                retention_hours:
                  type: [integer, 'null']
                  minimum: 1
                  maximum: 876000
                  description: |
                    How long events of the type stay that are emitted from now on, if that is shorter than what the app, or the
                    event's own `ttl_hours`, allows. Then they are hidden at once, and removed soon after.

            EventType:
              type: object
              required:
                - type
                - description
                - owner
                - mode
                - deprecated
                - compatibility
                - retention_hours
                - origin
                - built_in
                - latest_version
                - created_at
                - updated_at
              properties:
                type: {type: string}
                description: {type: string}
                owner: {type: string}
                mode: {$ref: '#/components/schemas/SchemaMode'}
                deprecated: {type: [string, 'null']}
                compatibility: {$ref: '#/components/schemas/Compatibility'}
                retention_hours: {type: [integer, 'null']}
                origin:
                  type: string
                  enum: [api, file, built_in]
                  description: Who wrote the settings last, the API or the gateway's `schemas` directory.
                built_in: {type: boolean, description: One of the gateway's own.}
                latest_version: {type: [integer, 'null'], description: Null while it has no schema.}
                created_at: {type: [string, 'null'], format: date-time, description: Null for the gateway's own.}
                updated_at: {type: [string, 'null'], format: date-time, description: Null for the gateway's own.}

            SchemaMode:
              type: string
              enum: [enforce, warn, 'off']
              description: |
                What happens to an event whose `data` the newest schema refuses. `enforce`: it is refused with 422
                `schema_violation`. `warn`: it is stored, and `schema.violated` on `$system` tells of it. `off`: nothing is
                checked.

            Compatibility:
              type: string
              enum:
                - none
                - backward
                - backward_transitive
                - backward_lenient
                - backward_transitive_lenient
                - forward
                - forward_transitive
                - forward_lenient
                - forward_transitive_lenient
                - full
                - full_transitive
                - full_lenient
                - full_transitive_lenient
              description: |
                What a new version must be to the one before, or to all before (`transitive`). `backward`: it accepts whatever
                the old one accepted; `forward`: the reverse; `full`: both. `lenient`: a new optional member is no break
                although an open schema accepted anything under its name.

            Schema:
              type: [object, boolean]
              description: |
                A JSON Schema of at most 256 KiB. Dialects 2020-12 (unless `$schema` says otherwise), 2019-09, 07, 06 and 04;
                references may not leave it.

            ForceReason:
              type: string
              minLength: 1
              maxLength: 1000
              description: Takes the version although it breaks the rule, for this reason, which is kept with it.

            SchemaProposal:
              type: object
              required: [schema]
              additionalProperties: false
              properties:
                schema: {$ref: '#/components/schemas/Schema'}
                examples: {type: array, maxItems: 100, description: Payloads the schema must accept.}
                counter_examples: {type: array, maxItems: 100, description: Payloads the schema must refuse.}
                compatibility:
                  $ref: '#/components/schemas/Compatibility'
                  description: Becomes the type's rule when the version is taken.
                force: {$ref: '#/components/schemas/ForceReason'}

            SchemaVersion:
              type: object
              required: [type, version, compatibility, forced, created_at]
              properties:
                type: {type: string}
                version: {type: integer, description: 'From 1, without gaps.'}
                compatibility: {$ref: '#/components/schemas/Compatibility'}
                forced: {type: [string, 'null'], description: Why it was taken although it broke the rule.}
                created_at: {type: [string, 'null'], format: date-time, description: Null for the gateway's own types.}

            SchemaVersionWithSchema:
              allOf: [{$ref: '#/components/schemas/SchemaVersion'}]
              required: [schema, examples, counter_examples]
              properties:
                schema: {$ref: '#/components/schemas/Schema'}
                examples: {type: array}
                counter_examples: {type: array}

            PayloadToValidate:
              type: object
              required: [data]
              additionalProperties: false
              properties:
                data: {description: Any JSON.}
                version: {type: integer, minimum: 1, description: The newest if left out.}
                output: {type: string, enum: [basic], description: Adds the output of JSON Schema's own form.}

            Validation:
              type: object
              required: [valid, type, version, errors, truncated]
              properties:
                valid: {type: boolean}
                type: {type: string}
                version: {type: [integer, 'null'], description: Null when the type has no schema; then everything is valid.}
                errors: {type: array, items: {$ref: '#/components/schemas/Fault'}}
                truncated: {type: boolean, description: Whether there are more errors than are listed.}
                output:
                  type: object
                  description: The form `basic` of JSON Schema 2020-12, core 12.4.2; there when it was asked for.
                  required: [valid]
                  properties:
                    valid: {type: boolean}
                    errors:
                      type: array
                      items:
                        type: object
                        required: [keywordLocation, absoluteKeywordLocation, instanceLocation, error]
                        properties:
                          keywordLocation: {type: string}
                          absoluteKeywordLocation: {type: string}
                          instanceLocation: {type: string}
                          error: {type: string}

            Candidate:
              type: object
              required: [type, created_at, accepted, refused, undecided, samples, schema]
              properties:
                type: {type: string}
                created_at: {$ref: '#/components/schemas/Timestamp'}
                accepted: {type: integer}
                refused: {type: integer}
                undecided:
                  type: integer
                  description: Checking them was stopped at a limit, or they hold numbers beyond 64 bits.
                samples:
                  type: array
                  description: The first kinds of fault, each with how often it came first and the first such event.
                  items:
                    type: object
                    required: [count, event, error]
                    properties:
                      count: {type: integer}
                      event: {$ref: '#/components/schemas/EventID'}
                      error: {$ref: '#/components/schemas/Fault'}
                schema: {$ref: '#/components/schemas/Schema'}

        """#
}
