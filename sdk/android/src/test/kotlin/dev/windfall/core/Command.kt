package dev.windfall.core

internal const val HOUR = 3_600_000L

internal enum class StorageMode(private val operations: Set<Operation>, private val kind: Fault) {
    GOOD(emptySet(), Fault.NO),
    FULL(setOf(Operation.WRITE), Fault.BEFORE),
    WRITES_FAIL_LATE(setOf(Operation.WRITE), Fault.AFTER),
    REMOVES_FAIL(setOf(Operation.REMOVE), Fault.BEFORE),
    REMOVES_FAIL_LATE(setOf(Operation.REMOVE), Fault.AFTER),
    READS_FAIL(setOf(Operation.READ, Operation.NAMES), Fault.BEFORE),
    ;

    fun fault(operation: Operation): Fault = if (operation in operations) kind else Fault.NO
}

/** A step of a run. */
internal sealed class Command {
    data class Call(val call: ModelCall) : Command()

    data class Network(val mode: ModelServer.Mode) : Command()

    data class Storage(val mode: StorageMode) : Command()

    data class Pass(val milliseconds: Long) : Command()

    data class Clock(val milliseconds: Long) : Command()

    data object Kill : Command()

    data object Flush : Command()

    /** Kills the process this many half operations later, most often in the middle of a call. */
    data class Doom(val steps: Int) : Command()
}

/** The commands of a run. Each call gets a value of its own when it runs. */
internal fun randomCommands(seed: Long): List<Command> {
    val source = SplitMix(seed)
    return List(1 + source.below(26)) { command(source) }
}

private fun command(source: SplitMix): Command = when (source.below(20)) {
    in 0..<8 -> Command.Call(call(source))

    in 8..<11 -> Command.Network(
        if (source.isEven()) ModelServer.Mode.OPEN else source.oneOf(ModelServer.Mode.values().toList()),
    )

    11 -> Command.Storage(source.oneOf(StorageMode.values().toList()))

    12, 13 -> Command.Pass(source.oneOf(500, 5000, 60_000, HOUR, 26 * HOUR))

    14 -> Command.Clock(source.oneOf(-400 * 24 * HOUR, -HOUR, HOUR, 5 * 24 * HOUR))

    15 -> Command.Kill

    16 -> Command.Flush

    else -> Command.Doom(1 + source.below(60))
}

private fun call(source: SplitMix): ModelCall = when (source.below(4)) {
    0 -> ModelCall.Identify(source.oneOf("ann", "bob"), if (source.isEven()) 0 else null)
    1 -> ModelCall.SetAttributes(source.oneOf("a", "b"), 0)
    2 -> ModelCall.Reset
    else -> ModelCall.AttributePurchase(source.oneOf("1", "2", "3"), source.isEven())
}
