package dev.windfall.core

/** Says who the user is. */
internal fun Engine.identify(user: String, given: Map<String, Any?>, done: () -> Unit) {
    if (!isUserId(user)) return leaveOut("\"${user.take(64)}\" is not a user id", done)
    call({ identify(user, given, it) }, done)
}

/** Sets attributes of the user, or of the anonymous id. */
internal fun Engine.setAttributes(given: Map<String, Any?>, done: () -> Unit) {
    call({ setAttributes(given, it) }, done)
}

/** Makes a new anonymous id. */
internal fun Engine.reset(done: () -> Unit) {
    call({ changeUser(null) { state.anonymousId = newAnonymousId() } }, done)
}

/** Reports a purchase. If it was `observed` and not asked for, it is left out where that would be wrong or change nothing. */
internal fun Engine.attributePurchase(sale: Sale, isObserved: Boolean, done: () -> Unit) {
    if (!isText(sale.id, 2048)) return leaveOut("a purchase without a token", done)
    call({ attributePurchase(sale, isObserved, it) }, done)
}

private fun Engine.leaveOut(what: String, done: () -> Unit) {
    debug("left out: $what")
    done()
}

private fun Engine.identify(user: String, given: Map<String, Any?>, target: Target) {
    val clean = cleaned(given, debug)
    if (state.user != user) {
        val reports = state.purchases.map { purchaseItem(user, target, it) }
        val pending = listOf(identifyItem(user, target, merged(state.attributes, clean))) + reports
        changeUser(user) { state.pending = pending }
        return finishChange()
    }
    val (attributes, device) = expected(user, target)
    val isNew = clean.any { (name, value) -> name !in attributes || attributes[name] != value }
    if (isNew || device != target.device) add(identifyItem(user, target, clean))
}

/** Everything that changes with the user, in one write. */
private fun Engine.changeUser(user: String?, more: () -> Unit) {
    val wasKnown = state.user != null
    more()
    state.user = user
    state.attributes = emptyMap()
    state.purchases = emptyList()
    saveState(isStrict = wasKnown)
}

private fun Engine.setAttributes(given: Map<String, Any?>, target: Target) {
    val clean = cleaned(given, debug)
    if (clean.isEmpty()) return
    // Kept for identify first: a kill between the two must not leave it reported and not kept.
    if (state.user == null) {
        state.attributes = merged(state.attributes, clean)
        saveState()
    }
    add(identifyItem(state.current, target, clean))
}

private fun Engine.attributePurchase(sale: Sale, isObserved: Boolean, target: Target) {
    val item = purchaseItem(state.current, target, sale)
    if (isObserved && isUseless(item, sale)) return
    if (state.user == null) {
        state.keepReported(sale)
        saveState()
    }
    add(item)
}

/**
 * Whether a report that the app did not ask for would change nothing, because this user has or will have the purchase, or
 * would be wrong: for an anonymous id, of a purchase that a known user has or will have. What waits for another destination
 * may wait for ever.
 */
private fun Engine.isUseless(item: Item, sale: Sale): Boolean {
    val user = item.user
    val accepted = state.known.any { it.id == sale.id && (it.user == user || (it.isKnown && isAnonymous(user))) }
    return accepted || entries.map { it.item }.any {
        val isSame = it.user == user && it.lane == item.lane
        it.purchase?.id == sale.id && (isSame || (isAnonymous(user) && !isAnonymous(it.user)))
    }
}

/** Queues what follows from a change of user, also if a kill left that half-done. */
internal fun Engine.finishChange() {
    if (state.pending.isEmpty()) return
    for (item in state.pending) add(item)
    state.pending = emptyList()
    saveState(isStrict = true)
}

/** What the user has, once all that waits is accepted. The device is null if nothing was or will be reported. */
private fun Engine.expected(user: String, target: Target): Pair<Attributes, Device?> {
    val waiting = entries.map { it.item }.filter { it.call == Item.Call.IDENTIFY }
    val reports = (listOfNotNull(state.accepted) + waiting).filter { it.user == user && it.lane == target.lane }
    val attributes = reports.fold(emptyMap()) { all: Attributes, one -> merged(all, one.attributes) }
    return Pair(attributes, reports.lastOrNull()?.device)
}

/** The item of an identify call. Attributes that do not fit into its body are left out. */
private fun Engine.identifyItem(user: String, target: Target, attributes: Attributes): Item {
    var fitting: Attributes = emptyMap()
    for (name in attributes.keys.sorted()) {
        val more = fitting + (name to attributes[name])
        if (bytesOf(Json.text(more)) < MOST_BODY_BYTES) fitting = more else debug("attribute $name does not fit")
    }
    val call = Item.Call.IDENTIFY
    return Item(call, user, target.url, target.bundleId, target.key, now, target.device, fitting)
}

private fun Engine.purchaseItem(user: String, target: Target, sale: Sale) =
    Item(Item.Call.ATTRIBUTE, user, target.url, target.bundleId, target.key, now, purchase = sale)
