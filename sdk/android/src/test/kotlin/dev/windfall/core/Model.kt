package dev.windfall.core

/**
 * What a call meant for a purchase or an attribute. If it is not [isSure], a kill may have cut the call. A report of identify
 * is sure if the server has what [source], the anonymous id, reported: what is reported is kept for identify.
 */
internal class Report<T>(val value: T, var isSure: Boolean, var source: String? = null) {
    fun unsure() {
        isSure = false
        source = null
    }
}

internal sealed class ModelCall {
    data class Identify(val user: String, val value: Long?) : ModelCall()

    data class SetAttributes(val name: String, val value: Long) : ModelCall()

    data object Reset : ModelCall()

    data class AttributePurchase(val id: String, val isObserved: Boolean) : ModelCall()
}

/** How a call ended: in the storage, in memory because the storage refused it, or by a kill. */
internal enum class Ending { STORED, RISKY, CUT }

internal class ModelIdentity(val user: String?, val anonymousId: String)

/** What an app may expect of the SDK: the reports that its calls mean, in order, by user. */
internal class Model(first: ModelIdentity) {
    private class Value(val value: Long, val isSure: Boolean)

    /** Who the calls are for, and what was reported of the anonymous id: all values by name, and whether a purchase is sure. */
    private data class Who(
        val anonymousId: String,
        val user: String? = null,
        val attributes: Map<String, List<Value>> = emptyMap(),
        val purchases: Map<String, Boolean> = emptyMap(),
        val isKept: Boolean = true,
    ) {
        val current get() = user ?: anonymousId
        val source get() = anonymousId.takeIf { isKept }

        fun unsure() = copy(
            isKept = false,
            attributes = attributes.mapValues { (_, all) -> all.map { Value(it.value, false) } },
            purchases = purchases.mapValues { false },
        )
    }

    private class Risk(val call: ModelCall, val made: List<Report<*>>, val before: Who, val ending: Ending) {
        /** A call that a kill cut is made as a whole or not at all: who the user is shows whether a login was made. */
        fun isMade(now: ModelIdentity) =
            ending == Ending.CUT && call is ModelCall.Identify && call.user == now.user && call.user != before.user
    }

    val purchases = HashMap<String, MutableList<Report<String>>>()

    /** By user and name of the attribute. */
    val values = HashMap<String, MutableList<Report<Long>>>()
    val users = HashSet<String>()
    private var who = Who(first.anonymousId)

    /** What a kill may undo since the storage had everything. */
    private var risky = emptyList<Risk>()

    /** No kill so far lost what the storage had refused. */
    private var isPureSoFar = true

    /** Applies a call that ended so. `anonymousId` is the one after it. */
    fun apply(call: ModelCall, anonymousId: String, ending: Ending) {
        val before = who
        val made = make(call, anonymousId, ending != Ending.CUT || call is ModelCall.Identify)
        if (call is ModelCall.Identify && ending == Ending.STORED) users += call.user
        risky = if (ending == Ending.STORED) emptyList() else risky + Risk(call, made, before, ending)
    }

    private fun make(call: ModelCall, anonymousId: String, isSure: Boolean): List<Report<*>> = when (call) {
        is ModelCall.Identify -> identify(call, isSure)

        is ModelCall.AttributePurchase -> attributePurchase(call, isSure)

        is ModelCall.SetAttributes -> setAttributes(call, isSure)

        ModelCall.Reset -> {
            who = Who(anonymousId)
            emptyList()
        }
    }

    private fun setAttributes(call: ModelCall.SetAttributes, isSure: Boolean): List<Report<*>> {
        if (who.user == null) {
            val all = who.attributes[call.name].orEmpty() + Value(call.value, isSure)
            who = who.copy(attributes = who.attributes + (call.name to all))
        }
        return listOf(add(call.value, isSure, who.current, call.name))
    }

    private fun identify(call: ModelCall.Identify, isSure: Boolean): List<Report<*>> {
        val made = ArrayList<Report<*>>()
        val old = who
        if (old.user != call.user) who = Who(old.anonymousId, call.user)
        if (old.user == null) {
            for ((name, all) in old.attributes) {
                for (one in lastOf(all)) made += add(one.value, isSure && one.isSure, call.user, name, old.source)
            }
            for ((id, wasSure) in old.purchases) made += report(id, call.user, isSure && wasSure, old.source)
        }
        if (call.value != null) made += add(call.value, isSure, call.user, "a")
        return made
    }

    private fun attributePurchase(call: ModelCall.AttributePurchase, isDone: Boolean): List<Report<*>> {
        val user = who.current
        val reports = purchases[call.id].orEmpty()
        val isOthers = reports.any { !isAnonymous(it.value) && it.isSure }
        if (call.isObserved && isAnonymous(user) && isOthers && isPureSoFar) return emptyList()
        // A report that was not asked for is left out where it changes nothing.
        val isSure = isDone && (!call.isObserved || reports.isEmpty())
        if (who.user == null) {
            who = who.copy(purchases = who.purchases + (call.id to (isSure || who.purchases[call.id] == true)))
        }
        return listOf(report(call.id, user, isSure))
    }

    /** The last sure value and those after it: one of them is the last. */
    private fun lastOf(all: List<Value>) = all.drop(maxOf(0, all.indexOfLast { it.isSure }))

    private fun add(value: Long, isSure: Boolean, user: String, name: String, source: String? = null) =
        Report(value, isSure, source).also { values.getOrPut("$user $name") { ArrayList() } += it }

    private fun report(id: String, user: String, isSure: Boolean, source: String? = null) =
        Report(user, isSure, source).also { purchases.getOrPut(id) { ArrayList() } += it }

    /** After a kill and a restart: what was at risk may be lost, and the identity may be an earlier one. */
    fun restart(now: ModelIdentity, isPure: Boolean) {
        val login = risky.singleOrNull()?.takeIf { isPure && it.isMade(now) }
        if (login == null) for (one in risky) for (report in one.made) report.unsure() else users += now.user.orEmpty()
        // A known user who was left, in a call that ended, does not come back, even if the storage refused to say so.
        val earlier = risky.filter { it.ending == Ending.CUT || it.before.user == null }.map { it.before }.reversed()
        risky = emptyList()
        isPureSoFar = isPureSoFar && isPure
        val found = (listOf(who) + earlier).firstOrNull {
            it.user == now.user && (it.anonymousId == now.anonymousId || now.user != null)
        }
        if (found == null && now.user != null) throw Failure("after a kill the user is ${now.user}")
        who = (found ?: Who("", now.user)).copy(anonymousId = now.anonymousId)
        if (!isPure) who = who.unsure()
    }
}

/** Whether `held`, the users that held a purchase one after another, follows from the reports. */
internal fun follows(held: List<String>, reports: List<Report<String>>): Boolean {
    var reached = setOf(0)
    for (report in reports) reached = reached.flatMap { after(report, held, it) }.toSet()
    return held.size in reached
}

/** How many of `held` may have been reached after a report, from `count`. */
private fun after(report: Report<String>, held: List<String>, count: Int): List<Int> {
    val reached = if (report.isSure) emptyList() else listOf(count)
    if (held.getOrNull(count - 1) == report.value) return reached + count
    return if (held.getOrNull(count) == report.value) reached + (count + 1) else reached
}

/** Whether the values that an attribute had are in the order of the calls, and end at the last sure one or later. */
internal fun isHistory(had: List<Long>, values: List<Report<Long>>): Boolean {
    val places = values.map { it.value }
    var at = -1
    for (one in had.dropLast(1)) {
        at = places.indices.firstOrNull { it > at && places[it] == one } ?: return false
    }
    val last = if (had.isEmpty()) -1 else places.lastIndexOf(had.last())
    return (last > at || had.isEmpty()) && last >= values.indexOfLast { it.isSure }
}
