extension ProblemCatalogue {
    /// What stands in the way of users, channels and their members.
    static let members: [Entry] = [
        Entry(
            code: "bad_sort", status: 400, title: "The order cannot be read",
            meaning: "Sort by a field the list knows: 'name', 'name:asc' or 'name:desc'."),
        Entry(
            code: "not_self", status: 403, title: "It is another user's own affair",
            meaning: "Only the user, or a credential with the scope 'manage', may do this."),
        Entry(
            code: "not_operator", status: 403, title: "It takes an operator of the channel",
            meaning: "An operator of the channel, or a credential with the scope 'manage', may do this."),
        Entry(
            code: "not_invited", status: 403, title: "The channel is joined by invitation",
            meaning: "Have a member invite the user, or an operator let the user in."),
        Entry(
            code: "not_of_pair", status: 403, title: "The user is none of the direct channel's two",
            meaning: "A direct channel is for two users alone. Make a group for more."),
        Entry(
            code: "name_in_use", status: 403, title: "The channel is in use without a record",
            meaning: "Choose another id, or have a credential with the scope 'manage' make the record."),
        Entry(
            code: "no_such_member", status: 404, title: "The user is no member",
            meaning: "There is neither a membership nor an invitation."),
        Entry(
            code: "already_exists", status: 409, title: "The channel exists already",
            meaning: "Choose another id, leave it out, or change the one that is there."),
        Entry(
            code: "already_joined", status: 409, title: "The user has joined already",
            meaning: "Who has joined cannot decline any more, but leave."),
        Entry(
            code: "kind_fixed", status: 409, title: "The channel's kind cannot become that one",
            meaning: "Only 'group' and 'public' take each other's place. Make another channel."),
        Entry(
            code: "no_members", status: 422, title: "An open channel has no members",
            meaning: "Users enter and exit it; whoever is inside is a participant."),
        Entry(
            code: "no_operators", status: 422, title: "A direct channel has no operators",
            meaning: "Its two have the same rights."),
        Entry(
            code: "own_block", status: 422, title: "Nobody can block themselves",
            meaning: "Name another user."),
        Entry(
            code: "too_many_users", status: 422, title: "Too many users in one call",
            meaning: "Send the rest in further calls."),
        Entry(
            code: "too_many_operators", status: 422, title: "The channel has too many operators",
            meaning: "Remove one first."),
        Entry(
            code: "group_full", status: 422, title: "The channel group is full",
            meaning: "Make another group; a stream follows several."),
    ]
}
