package dev.windfall.core

/** Reads one JSON text (RFC 8259). */
internal class JsonReader(private val text: String) {
    class Invalid : Exception()

    private var at = 0
    private var depth = 0

    /** The value of the whole text. Throws `Invalid`. */
    fun document(): Any? {
        val value = value()
        skipSpace()
        if (at < text.length) throw Invalid()
        return value
    }

    private fun value(): Any? {
        skipSpace()
        return when (peek()) {
            '{' -> nested { entries() }
            '[' -> nested { elements() }
            '"' -> string()
            't' -> word("true", true)
            'f' -> word("false", false)
            'n' -> word("null", null)
            else -> number()
        }
    }

    /** A text that nests deeper than any of ours must not exhaust the stack. */
    private fun <T> nested(read: () -> T): T {
        if (++depth > MOST_DEPTH) throw Invalid()
        return read().also { depth-- }
    }

    private fun entries(): Map<String, Any?> {
        val entries = LinkedHashMap<String, Any?>()
        list('}') {
            skipSpace()
            val name = string()
            skipSpace()
            expect(':')
            entries[name] = value()
        }
        return entries
    }

    private fun elements(): List<Any?> {
        val elements = ArrayList<Any?>()
        list(']') { elements += value() }
        return elements
    }

    /** Reads from the opening bracket to `end`. */
    private fun list(end: Char, element: () -> Unit) {
        at++
        skipSpace()
        if (peek() == end) {
            at++
            return
        }
        while (true) {
            element()
            skipSpace()
            if (peek() == end) break
            expect(',')
        }
        at++
    }

    private fun string(): String {
        expect('"')
        val out = StringBuilder()
        while (true) {
            when (val char = next()) {
                '"' -> return out.toString()
                '\\' -> out.append(escaped())
                else -> if (char < ' ') throw Invalid() else out.append(char)
            }
        }
    }

    private fun escaped(): Char = when (val char = next()) {
        '"', '\\', '/' -> char
        'b' -> '\b'
        'f' -> '\u000c'
        'n' -> '\n'
        'r' -> '\r'
        't' -> '\t'
        'u' -> (1..4).fold(0) { code, _ -> code * 16 + hexDigit() }.toChar()
        else -> throw Invalid()
    }

    /** Only the digits of ASCII, and no sign. */
    private fun hexDigit(): Int = HEX_DIGITS.indexOf(next().lowercaseChar()).also { if (it < 0) throw Invalid() }

    private fun number(): Number {
        // A matcher of Android copies its whole text, which is not to be done for each number.
        val start = at
        while (at < text.length && text[at] in NUMBER_CHARACTERS) at++
        val number = text.substring(start, at)
        if (!NUMBER.matches(number)) throw Invalid()
        return number.toLongOrNull() ?: number.toDouble()
    }

    private fun <T> word(word: String, value: T): T {
        if (!text.startsWith(word, at)) throw Invalid()
        at += word.length
        return value
    }

    private fun skipSpace() {
        while (at < text.length && text[at] in " \t\r\n") at++
    }

    private fun expect(char: Char) {
        if (next() != char) throw Invalid()
    }

    private fun peek(): Char = text.getOrNull(at) ?: throw Invalid()

    private fun next(): Char = peek().also { at++ }

    private companion object {
        const val MOST_DEPTH = 100
        const val HEX_DIGITS = "0123456789abcdef"
        const val NUMBER_CHARACTERS = "+-.0123456789eE"
        val NUMBER = Regex("-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
    }
}
