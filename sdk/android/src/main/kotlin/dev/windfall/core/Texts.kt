package dev.windfall.core

/** Names and values that describe a user: String, Long, Double, Boolean or null, in the order of their names. */
internal typealias Attributes = Map<String, Any?>

internal const val ANONYMOUS = "\$anon_"

internal fun isAnonymous(user: String): Boolean = user.startsWith(ANONYMOUS)

/** The size of a text in UTF-8. */
internal fun bytesOf(text: String): Int = text.toByteArray().size

/** Whether the server takes this text: 1 to `most` code points, well-formed, without null characters. */
internal fun isText(text: String, most: Int): Boolean =
    text.isNotEmpty() && text.codePointCount(0, text.length) <= most && '\u0000' !in text && isWellFormed(text)

/** Whether each surrogate has its pair. */
private fun isWellFormed(text: String): Boolean {
    var at = 0
    while (at < text.length) {
        val point = text.codePointAt(at)
        if (point in 0xD800..0xDFFF) return false
        at += Character.charCount(point)
    }
    return true
}

private val NOBODY = setOf(
    "no_user", "null", "(null)", "none", "nil", "nan", "undefined", "unidentified", "unknown", "anonymous", "guest",
    "0", "-1", "[]", "{}", "[object object]",
)

/** Whether the server takes this as the id of a user. Anonymous ids are the SDK's own. */
internal fun isUserId(id: String): Boolean =
    isText(id, 256) && id.trim() == id && id.lowercase() !in NOBODY && !isAnonymous(id)

private const val MOST_ATTRIBUTES = 100

/** The attributes of both. The later ones win. */
internal fun merged(attributes: Attributes?, later: Attributes?): Attributes = attributes.orEmpty() + later.orEmpty()

/** Leaves out, one by one, what the server would refuse. */
internal fun cleaned(given: Map<String, Any?>, debug: (String) -> Unit): Attributes {
    val clean = LinkedHashMap<String, Any?>()
    for (name in given.keys.sorted()) {
        val value = plain(given[name])
        if (isText(name, 64) && name != "__proto__" && isValue(value) && clean.size < MOST_ATTRIBUTES) {
            clean[name] = value
        } else {
            debug("attribute ${name.take(64)} was left out")
        }
    }
    return clean
}

private fun isValue(value: Any?): Boolean = when (value) {
    null, "", is Boolean, is Long -> true
    is Double -> !value.isNaN() && !value.isInfinite()
    is String -> isText(value, 1024)
    else -> false
}

/** Numbers have one form, because JSON has one. Texts that can change become Strings. */
internal fun plain(value: Any?): Any? = when (value) {
    is Int, is Short, is Byte -> (value as Number).toLong()
    is Long -> value
    is Number -> value.toDouble().let { if (it == it.toLong().toDouble() && it.isSmall()) it.toLong() else it }
    is CharSequence -> value.toString()
    else -> value
}

/** Whether a Double can tell this whole number from its neighbours. */
private fun Double.isSmall() = this > -9e15 && this < 9e15
