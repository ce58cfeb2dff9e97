package dev.windfall.core

/** JSON in one form: objects in the order of their names, so that equal values have equal texts. */
internal object Json {
    /** The text of null, a Boolean, a number, a String, a List or a Map with String keys. */
    fun text(value: Any?): String = StringBuilder().also { put(it, value) }.toString()

    /** The value of a text: null, Boolean, Long, Double, String, List or Map. Null for what is not JSON. */
    fun value(text: String): Any? = try {
        JsonReader(text).document()
    } catch (_: JsonReader.Invalid) {
        null
    }

    /** The fields of an object. Empty for anything else, such as the page of a captive portal. */
    fun fields(text: String?): Fields = Fields(text?.let { value(it) })

    private fun put(out: StringBuilder, value: Any?) {
        when (value) {
            is String -> putString(out, value)
            is Map<*, *> -> putObject(out, value)
            is List<*> -> putList(out, value)
            else -> out.append(value)
        }
    }

    private fun putObject(out: StringBuilder, map: Map<*, *>) {
        out.append('{')
        map.keys.map { it as String }.sorted().forEachIndexed { index, name ->
            if (index > 0) out.append(',')
            putString(out, name)
            out.append(':')
            put(out, map[name])
        }
        out.append('}')
    }

    private fun putList(out: StringBuilder, list: List<*>) {
        out.append('[')
        list.forEachIndexed { index, value ->
            if (index > 0) out.append(',')
            put(out, value)
        }
        out.append(']')
    }

    private fun putString(out: StringBuilder, text: String) {
        out.append('"')
        for (char in text) {
            when {
                char == '"' || char == '\\' -> out.append('\\').append(char)
                char < ' ' -> out.append("\\u").append(char.code.toString(16).padStart(4, '0'))
                else -> out.append(char)
            }
        }
        out.append('"')
    }
}

/** The fields of a JSON object, or none. A field of another type counts as absent. */
internal class Fields(value: Any?) {
    private val map = value as? Map<*, *> ?: emptyMap<String, Any?>()

    operator fun get(name: String): Any? = map[name]

    fun string(name: String): String? = map[name] as? String

    fun long(name: String): Long? = (map[name] as? Number)?.toLong()

    fun isTrue(name: String): Boolean = map[name] == true

    fun list(name: String): List<Any?> = map[name] as? List<*> ?: emptyList()

    fun map(name: String): Map<String, Any?> =
        (map[name] as? Map<*, *>).orEmpty().entries.associate { (key, value) -> key.toString() to value }
}
