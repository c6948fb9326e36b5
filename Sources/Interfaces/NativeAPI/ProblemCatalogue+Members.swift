extension ProblemCatalogue {
    /// Problems about users, channels and their members.
    static let members: [Entry] = [
        Entry(
            code: "bad_sort", status: 400, title: "The sort order cannot be read",
            cause: "The list cannot be sorted by a member that 'sort' names, or the direction is not 'asc' or 'desc'.",
            remedy: "Name a member that the list can be sorted by, such as 'name', 'name:asc' or 'name:desc'."),
        Entry(
            code: "not_self", status: 403, title: "The record belongs to another user",
            cause:
                "Only the user to whom the record belongs may make this request. The credential belongs to another user.",
            remedy: "Use the credential of that user, or one with the scope 'manage'."),
        Entry(
            code: "not_operator", status: 403, title: "The request needs an operator of the channel",
            cause: "Only an operator of the channel may make this request.",
            remedy: "Use an operator's credential, or one with the scope 'manage'."),
        Entry(
            code: "not_invited", status: 403, title: "The channel can be joined by invitation only",
            cause: "The channel can be joined by invitation only, and the user is not invited.",
            remedy: "Ask a member to invite the user, or an operator to add the user."),
        Entry(
            code: "not_of_pair", status: 403, title: "The user is not one of the direct channel's two users",
            cause: "A direct channel has exactly two users, and this user is not one of them.",
            remedy: "Create a group channel for more users."),
        Entry(
            code: "name_in_use", status: 403, title: "The channel has events but no record",
            cause: "The channel has events but no record, and this credential may not create the record.",
            remedy: "Choose another id, or create the record with a credential that has the scope 'manage'."),
        Entry(
            code: "no_such_member", status: 404, title: "The user is not a member",
            cause: "The user is not a member of the channel and is not invited.",
            remedy: "Add or invite the user first."),
        Entry(
            code: "already_exists", status: 409, title: "The channel already exists",
            cause: "A channel with this id exists.",
            remedy: "Choose another id, leave the id out, or change the existing channel."),
        Entry(
            code: "already_joined", status: 409, title: "The user has already joined",
            cause: "The user has already joined the channel, so the invitation can no longer be declined.",
            remedy: "Leave the channel instead."),
        Entry(
            code: "kind_fixed", status: 409, title: "The channel's kind cannot be changed as requested",
            cause:
                "The channel's kind cannot be changed as requested: only 'group' and 'public' can replace each "
                + "other.",
            remedy: "Create another channel."),
        Entry(
            code: "no_members", status: 422, title: "An open channel has no members",
            cause: "An open channel has no members.",
            remedy: "Let the user enter the channel instead: PUT /v1/channels/{channel}/participants/{user}."),
        Entry(
            code: "no_operators", status: 422, title: "A direct channel has no operators",
            cause: "A direct channel has no operators: its two users have the same rights.",
            remedy: "Use a group channel."),
        Entry(
            code: "own_block", status: 422, title: "Nobody can block themselves",
            cause: "The request names the same user as the blocking and the blocked user.",
            remedy: "Name another user to block."),
        Entry(
            code: "too_many_users", status: 422, title: "Too many users in one request",
            cause: "The request names more users than are allowed in one request. 'limit' gives the maximum.",
            remedy: "Send the remaining users in further requests."),
        Entry(
            code: "too_many_operators", status: 422, title: "The channel has too many operators",
            cause: "The channel has reached its maximum number of operators. 'limit' gives the maximum.",
            remedy: "Remove an operator first."),
        Entry(
            code: "group_full", status: 422, title: "The channel group is full",
            cause: "The channel group has reached its maximum number of channels. 'limit' gives the maximum.",
            remedy: "Create another group; a stream can follow several groups."),
    ]
}
