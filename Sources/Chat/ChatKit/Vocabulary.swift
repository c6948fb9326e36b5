// Re-exported so that programs can name timetokens, errors and records without a second import.
@_exported public import ChatModel
