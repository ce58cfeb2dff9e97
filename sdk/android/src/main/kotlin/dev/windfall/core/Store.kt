package dev.windfall.core

/**
 * The storage as the engine uses it: a write never fails. What the storage refuses stays in memory and is written with the
 * next occasion.
 */
internal class Store(private val storage: Storage) {
    /** What the storage refused. */
    private val writes = HashMap<String, String>()
    private val removals = HashSet<String>()

    val isComplete get() = writes.isEmpty() && removals.isEmpty()

    /** Throws if the storage cannot be read. */
    fun names(): List<String> = storage.names()

    /** Throws if the storage cannot be read. */
    fun read(name: String): String? = storage.read(name)

    /** Returns whether it is in the storage, and not in memory only. */
    fun write(name: String, text: String): Boolean {
        removals -= name
        writes[name] = text
        if (!succeeds { storage.write(name, text) }) return false
        writes -= name
        return true
    }

    /** Returns whether it is gone from the storage. */
    fun erase(name: String): Boolean {
        writes -= name
        removals += name
        if (!succeeds { storage.remove(name) } && !isGone(name)) return false
        removals -= name
        return true
    }

    private fun isGone(name: String): Boolean {
        var found: String? = ""
        return succeeds { found = storage.read(name) } && found == null
    }

    /** Tries again what was refused. Returns whether the storage still has something that was removed. */
    fun retry(): Boolean {
        for (name in writes.keys.sorted()) write(name, writes[name].orEmpty())
        return removals.sorted().filterNot { erase(it) }.isNotEmpty()
    }

    private inline fun succeeds(operation: () -> Unit): Boolean = try {
        operation()
        true
    } catch (_: Exception) {
        false
    }
}
