// `ChatModel` is re-exported, so that programs can use timetokens, errors and records without a second import.
@_exported public import ChatModel
