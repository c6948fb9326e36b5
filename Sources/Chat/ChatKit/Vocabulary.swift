// Programs that use the library name timetokens, errors and records without a second import.
@_exported public import ChatModel
