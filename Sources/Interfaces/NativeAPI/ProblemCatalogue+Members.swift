extension ProblemCatalogue {
    /// Problems about users, channels and their members.
    static let members: [Entry] = [
        Entry(
            code: "bad_sort", status: 400, title: "The sort order cannot be read",
            cause: "The list cannot be sorted by this member or in this way.",
            remedy: "Sort by a member that the list can sort by: 'name', 'name:asc' or 'name:desc'."),
        Entry(
            code: "not_self", status: 403, title: "The record belongs to another user",
            cause: "The record is about another user than the credential's.",
            remedy: "Use that user's credential, or one with the scope 'manage'."),
        Entry(
            code: "not_operator", status: 403, title: "The change needs an operator of the channel",
            cause: "The change is for operators of the channel.",
            remedy: "Use an operator's credential, or one with the scope 'manage'."),
        Entry(
            code: "not_invited", status: 403, title: "The channel is joined by invitation",
            cause: "The channel is joined by invitation, and the user has none.",
            remedy: "Have a member invite the user, or an operator add the user."),
        Entry(
            code: "not_of_pair", status: 403, title: "The user is not one of the direct channel's two",
            cause: "A direct channel is for two users, and the user is neither of them.",
            remedy: "Create a group channel for more users."),
        Entry(
            code: "name_in_use", status: 403, title: "The channel is in use without a record",
            cause: "The channel has events but no record, and the credential may not make one for it.",
            remedy: "Choose another id, or make the record with a credential that has the scope 'manage'."),
        Entry(
            code: "no_such_member", status: 404, title: "The user is not a member",
            cause: "The user has neither a membership nor an invitation.",
            remedy: "Add or invite the user first."),
        Entry(
            code: "already_exists", status: 409, title: "The channel already exists",
            cause: "A channel with this id exists.",
            remedy: "Choose another id, leave it out, or change the channel that is there."),
        Entry(
            code: "already_joined", status: 409, title: "The user has already joined",
            cause: "The user has joined, and an invitation that was accepted cannot be declined.",
            remedy: "Leave the channel instead."),
        Entry(
            code: "kind_fixed", status: 409, title: "The channel's kind cannot change to that one",
            cause:
                "The channel's kind cannot be changed to this one: only 'group' and 'public' can replace each "
                + "other.",
            remedy: "Create another channel."),
        Entry(
            code: "no_members", status: 422, title: "An open channel has no members",
            cause: "An open channel has no members.",
            remedy: "Enter and exit it; whoever is inside is a participant."),
        Entry(
            code: "no_operators", status: 422, title: "A direct channel has no operators",
            cause: "A direct channel has no operators: its two users have the same rights.",
            remedy: "Use a group channel."),
        Entry(
            code: "own_block", status: 422, title: "Nobody can block themselves",
            cause: "A user cannot block itself.",
            remedy: "Name another user."),
        Entry(
            code: "too_many_users", status: 422, title: "Too many users in one call",
            cause: "One call names more users than accepted. 'limit' gives the maximum.",
            remedy: "Send the rest in further calls."),
        Entry(
            code: "too_many_operators", status: 422, title: "The channel has too many operators",
            cause: "The channel has as many operators as it may. 'limit' gives the maximum.",
            remedy: "Remove an operator first."),
        Entry(
            code: "group_full", status: 422, title: "The channel group is full",
            cause: "The channel group has as many channels as it may. 'limit' gives the maximum.",
            remedy: "Create another group; a stream can follow several."),
    ]
}
