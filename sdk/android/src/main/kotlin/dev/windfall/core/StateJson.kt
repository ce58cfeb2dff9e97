package dev.windfall.core

/** The stored form of the state. */
internal fun State.toJson(): Map<String, Any?> = mapOf(
    "anonymousId" to anonymousId,
    "user" to user,
    "attributes" to attributes,
    "purchases" to purchases.map { it.toJson() },
    "pending" to pending.map { it.toJson() },
    "accepted" to accepted?.toJson(),
    "known" to known.map { mapOf("id" to it.id, "isKnown" to it.isKnown, "user" to it.user) },
    "refused" to refused.map { mapOf("item" to it.item.toJson(), "at" to it.at, "code" to it.code) },
    "waits" to waits.mapValues { (_, kept) -> kept.toJson() },
).filterValues { it != null }

/** Null for what is not a state. Another version may have stored fewer fields. */
internal fun stateOf(text: String?): State? {
    val fields = Json.fields(text)
    val state = State(fields.string("anonymousId") ?: return null)
    state.user = fields.string("user")
    state.attributes = fields.map("attributes")
    state.purchases = fields.list("purchases").mapNotNull { Sale.of(it) }
    state.pending = fields.list("pending").mapNotNull { Item.of(it) }
    state.accepted = Item.of(fields["accepted"])
    state.known = fields.list("known").mapNotNull { knownOf(Fields(it)) }
    state.refused = fields.list("refused").mapNotNull { refusedOf(Fields(it)) }
    for ((lane, kept) in fields.map("waits")) state.waits[lane] = keptOf(Fields(kept))
    return state
}

private fun State.Kept.toJson(): Map<String, Any?> = mapOf(
    "wait" to wait.toJson(),
    "tries" to tries,
    "sequence" to sequence,
    "since" to since,
).filterValues { it != null }

private fun keptOf(fields: Fields) = State.Kept(
    Wait.of(Fields(fields["wait"])),
    fields.long("tries")?.toInt() ?: 0,
    fields.string("sequence"),
    fields.long("since"),
)

private fun knownOf(fields: Fields): State.Known? {
    val id = fields.string("id") ?: return null
    val user = fields.string("user") ?: return null
    return State.Known(id, fields.isTrue("isKnown"), user)
}

private fun refusedOf(fields: Fields): State.Refused? {
    val item = Item.of(fields["item"]) ?: return null
    val at = fields.long("at") ?: return null
    return State.Refused(item, at, fields.string("code").orEmpty())
}
