package dev.windfall.core

private const val STATE = "s"
private const val QUEUE = "q."

/** Loads what is stored, once. Returns false while the storage cannot be read. */
internal fun Engine.load(): Boolean {
    if (isLoaded) return true
    val names: List<String>
    val stored: State?
    val texts: List<String?>
    try {
        names = store.names().filter { it.startsWith(QUEUE) }.sorted()
        stored = stateOf(store.read(STATE))
        texts = names.map { store.read(it) }
    } catch (_: Exception) {
        debug("the storage cannot be read")
        return false
    }
    state = stored ?: State(newAnonymousId())
    isLoaded = true
    names.forEachIndexed { index, name -> restore(name, texts[index]) }
    if (stored == null) saveState()
    state.prune(now)
    finishChange()
    return true
}

/** What cannot be read as an item is removed. */
private fun Engine.restore(name: String, text: String?) {
    val item = text?.let { Item.of(Json.value(it)) }
    if (item == null) {
        store.erase(name)
        return
    }
    val entry = Entry(name, item, bytesOf(text))
    entries += entry
    last = maxOf(last, entry.sequence.toLongOrNull() ?: 0)
}

internal fun Engine.newAnonymousId(): String = ANONYMOUS + environment.uuid()

/**
 * Stores the state. What the storage has comes back after a kill, if it refuses the change. `isStrict`: it must not come
 * back, because it names an earlier user.
 */
internal fun Engine.saveState(isStrict: Boolean = false) {
    val text = Json.text(state.toJson())
    if (store.write(STATE, text) || !isStrict) return
    store.erase(STATE)
    store.write(STATE, text)
}
