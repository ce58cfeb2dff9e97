package dev.windfall.core

import org.junit.Assert.assertEquals
import org.junit.Assert.assertNotNull
import org.junit.Assert.assertNull
import org.junit.Assert.assertTrue
import org.junit.Test

/** The JSON of the storage and of requests and answers. What it accepts and refuses is what JSON.parse does. */
internal class JsonTest {
    private val refused = words() + texts() + listsAndObjects() + around()

    private fun words() = listOf("", "  ", "nul", "nulll", "True", "NaN", "Infinity", "-Infinity", "undefined") +
        listOf("01", "-01", "1.", ".5", "+1", "1e", "1e+", "0x10", "1_000", "--1", "- 1", "1 2", "1;", "\u0663") +
        listOf("1-2", "1.2.3", "1e2e3", "1e2.3", "-", "e1")

    private fun texts() = listOf("\"a", "a\"", "\"\n\"", "\"\t\"", "\"\u0000\"", "'a'", "\"a\"b\"", "\"\\\"", "\"\\") +
        listOf("x41", "a", "u12", "u12g4", "u+123", "u-001", "u\uff11\uff12\uff13\uff14").map { "\"\\$it\"" }

    private fun listsAndObjects() = listOf("[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "]", "[1]]") +
        listOf("{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{,}", "{a:1}", "{\"a\" 1}", "{1:1}") +
        listOf("{\"a\":1 \"b\":2}", "}", "{} {}", "true false")

    private fun around() =
        listOf("\ufeff{}", "\u00a0{}", "\u00a01", "\u000b1", "\u000c1", "// a\n1", "/* */1", "<html>")

    private val accepted = mapOf(
        "\"\"" to "",
        "\"a\"" to "a",
        "\"\\u0041\\u00e9\\u00E9\"" to "Aéé",
        "\"\\uD83D\\uDE00\"" to "\uD83D\uDE00",
        "\"\\ud800\"" to "\uD800",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"" to "\"\\/\b\u000c\n\r\t",
        "\"\u2028\u007f\"" to "\u2028\u007f",
        "0" to 0L,
        "-1" to -1L,
        "1.5" to 1.5,
        "1e3" to 1000.0,
        "1E+3" to 1000.0,
        "-1e-3" to -0.001,
        "9007199254740993" to 9_007_199_254_740_993L,
        "9223372036854775808" to 9.223372036854775808e18,
        "123456789012345678901234567890" to 1.2345678901234568e29,
        "1e400" to Double.POSITIVE_INFINITY,
        "true" to true,
        "false" to false,
        " \t\r\n[ ] " to emptyList<Any>(),
        "{}" to emptyMap<String, Any>(),
        "[[],{}]" to listOf(emptyList<Any>(), emptyMap<String, Any>()),
        "{\"a\" : [ 1 , null ]}" to mapOf("a" to listOf(1L, null)),
        "{\"a\":1,\"a\":2,\"\":3}" to mapOf("a" to 2L, "" to 3L),
    )

    @Test
    fun `texts that are not JSON are refused`() {
        for (text in refused) assertNull(text, Json.value(text))
    }

    @Test
    fun `texts that are JSON are read`() {
        for ((text, value) in accepted) {
            assertEquals(text, value, Json.value(text))
            assertEquals(text, mapOf("a" to listOf(value)), Json.value("{\"a\":[$text]}"))
        }
        assertEquals(listOf(null), Json.value("[null]"))
    }

    @Test
    fun `a text that is cut anywhere is refused`() {
        val text = Json.text(mapOf("a" to listOf(1L, -2.5, "x\\\"\u0001é", null), "b" to mapOf("c" to true, "d" to "")))
        assertNotNull(Json.value(text))
        for (length in text.indices) assertNull(text.take(length), Json.value(text.take(length)))
    }

    @Test
    fun `each character is written so that it is read again`() {
        for (char in '\u0000'..'\uffff') {
            val text = Json.text("<$char>")
            if ("<$char>" != Json.value(text)) throw AssertionError("character ${char.code}: $text")
            assertTrue(text, text.none { it < ' ' })
        }
    }

    @Test
    fun `values are the same after a round trip, whatever they are`() {
        for (seed in 1L..2000) {
            val value = SplitMix(seed).value(4)
            assertEquals("seed $seed", listOf(value), Json.value(Json.text(listOf(value))))
        }
    }

    @Test
    fun `texts of any characters are read or refused, and throw nothing`() {
        for (seed in 1L..5000) {
            val source = SplitMix(seed)
            val text = String(CharArray(source.below(12)) { source.oneOf("{}[]\",:\\u0eE+-.1a \u0000\ud800".toList()) })
            Json.value(text)
            Json.fields(text).string("a")
        }
    }

    @Test
    fun `equal objects have equal texts`() {
        val names = listOf("b", "a", "", "\uD83D\uDE00", "é", "B", "a.b")
        val one = names.associateWith { 1 }
        val other = names.reversed().associateWith { 1 }
        assertEquals(Json.text(one), Json.text(other))
        assertEquals("{\"a\":[1,true,null],\"b\":\"c\"}", Json.text(mapOf("b" to "c", "a" to listOf(1, true, null))))
    }

    @Test
    fun `numbers keep their value`() {
        val numbers = listOf(
            0L, -1L, Long.MAX_VALUE, Long.MIN_VALUE, 0.1, -0.1, 1e16, 1e-9, 1.5e300, Double.MIN_VALUE, Double.MAX_VALUE,
            9.007199254740993e15,
        )
        for (number in numbers) assertEquals(number, Json.value(Json.text(number)))
    }

    @Test
    fun `a text that nests deeply is refused, and does not exhaust the stack`() {
        fun nested(depth: Int) = "[".repeat(depth) + "]".repeat(depth)
        assertNotNull(Json.value(nested(100)))
        assertNull(Json.value(nested(101)))
        assertNull(Json.value(nested(1_000_000)))
        assertNull(Json.value("{\"a\":".repeat(1_000_000)))
        // What was closed does not count.
        assertNotNull(Json.value("[" + "[],".repeat(1000) + "[]]"))
    }

    @Test
    fun `a field of another type counts as absent`() {
        val fields = Json.fields("{\"text\":\"a\",\"number\":1.5,\"list\":[1],\"map\":{\"b\":null},\"yes\":true}")
        assertEquals("a", fields.string("text"))
        assertNull(fields.string("number"))
        assertEquals(1L, fields.long("number"))
        assertNull(fields.long("text"))
        assertEquals(emptyList<Any?>(), fields.list("map"))
        assertEquals(mapOf("b" to null), fields.map("map"))
        assertEquals(emptyMap<String, Any?>(), fields.map("list"))
        assertEquals(listOf(true, false), listOf("yes", "text").map { fields.isTrue(it) })
        for (text in listOf(null, "", "[1]", "\"a\"", "<html>", "null")) assertNull(text, Json.fields(text)["a"])
    }
}

/** A random value of JSON. */
private fun SplitMix.value(depth: Int): Any? = when (below(if (depth == 0) 6 else 8)) {
    0 -> null
    1 -> isEven()
    2 -> next() shr below(64)
    3 -> java.lang.Double.longBitsToDouble(next()).takeIf { !it.isNaN() && !it.isInfinite() }
    4, 5 -> text()
    6 -> List(below(5)) { value(depth - 1) }
    else -> List(below(5)) { text() }.associateWith { value(depth - 1) }
}

private fun SplitMix.text() = String(CharArray(below(8)) { char() })

private fun SplitMix.char() = if (isEven()) '\u0000' + below(0x10000) else 'a' + below(26)
