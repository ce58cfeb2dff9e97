package dev.windfall.core

import java.io.File

/** The files of sdk/contract, as an SDK for Android runs them. */
internal object Contract {
    /** What this SDK can do of what a case may require. */
    private val ABILITIES = setOf("google_play", "storage_faults")

    class Case(val name: String, val device: Map<String, Any?>, val options: Map<String, Any?>, val steps: List<Any?>)

    /** The cases that this SDK runs. */
    fun cases(file: String): List<Case> {
        val all = Fields(asAndroid(Json.value(File("../contract/$file").readText())))
        return all.list("cases").map { Fields(it) }
            .filter { one -> ABILITIES.containsAll(one.list("requires")) }
            .map { one ->
                val device = if (one["device"] == null) all.map("device") else one.map("device")
                Case(one.string("name").orEmpty(), device, all.map("options") + one.map("options"), stepsOf(one))
            }
    }

    /** A case of `wire.json` has calls and their requests in place of steps. */
    private fun stepsOf(case: Fields): List<Any?> {
        if (case["steps"] != null) return case.list("steps")
        return listOf(mapOf("call" to "configure")) + case.list("calls") + mapOf("expect" to case["requests"])
    }

    /** Every iOS device is an Android device, and the id of a purchase is given as its purchase token. */
    private fun asAndroid(value: Any?): Any? = when (value) {
        is List<*> -> value.map { asAndroid(it) }
        is Map<*, *> -> value.entries.associate { (name, one) -> name to fieldAsAndroid(name, one) }
        else -> value
    }

    private fun fieldAsAndroid(name: Any?, value: Any?): Any? {
        if (name == "platform" && value == "ios") return ANDROID
        if (name != "purchase" && name != "observe") return asAndroid(value)
        val fields = value as Map<*, *>
        return fields.mapKeys { (field) -> if (field == "originalTransactionId") "purchaseToken" else field }
    }

    /** A value with `{n}` in its texts replaced. */
    fun numbered(value: Any?, number: Long): Any? = when (value) {
        is String -> value.replace("{n}", "$number")
        is List<*> -> value.map { numbered(it, number) }
        is Map<*, *> -> value.mapValues { (_, one) -> numbered(one, number) }
        else -> value
    }
}

/** Compares with an expectation in which `{name}` stands for a value, the same each time. */
internal class Bindings {
    private val bound = HashMap<String, String>()

    fun fits(expected: Any?, actual: Any?, isExact: Boolean): Boolean = when {
        expected is String && expected.startsWith("{") && expected.endsWith("}") -> fitsName(expected, actual)

        expected is List<*> && actual is List<*> ->
            expected.size == actual.size && expected.indices.all { fits(expected[it], actual[it], isExact) }

        expected is Map<*, *> && actual is Map<*, *> -> (!isExact || expected.keys == actual.keys) &&
            expected.keys.all { it in actual && fits(expected[it], actual[it], isExact) }

        else -> expected == actual
    }

    private fun fitsName(name: String, actual: Any?): Boolean {
        val text = actual as? String ?: return false
        bound[name]?.let { return it == text }
        if ("anonymous id" in name && !ID.matches(text)) return false
        if (text in bound.values) return false
        bound[name] = text
        return true
    }

    private companion object {
        val ID = Regex("\\\$anon_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
    }
}
