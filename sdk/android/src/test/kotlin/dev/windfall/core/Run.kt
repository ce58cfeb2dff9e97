package dev.windfall.core

/** One run: an install, its network and the server behind it. */
internal class Run {
    val server = ModelServer()
    private val world = World()
    private val model: Model
    private var mode = ModelServer.Mode.OPEN
    private var storage = StorageMode.GOOD

    /** Whether the storage refused a write that has not been written since. */
    private var isFailing = false
    private var calls = 0L
    var kills = 0
        private set

    init {
        world.answer = server::answer
        var random = 1L
        world.random = {
            random = random * 48_271 % 2_147_483_647
            random / 2_147_483_647.0
        }
        start()
        model = Model(identity())
    }

    private fun start() {
        val device = Device(ANDROID, "16", "Pixel 9", "en-US")
        world.process.run {
            it.configure(Options("https://windfall.example.com", null, "com.example.lantern", device, null))
        }
    }

    private fun identity(): ModelIdentity {
        val state = world.process.run { it.snapshot() } ?: throw Failure("the process is dead")
        return ModelIdentity(state.appUserId.takeIf { it != state.anonymousId }, state.anonymousId.orEmpty())
    }

    fun execute(command: Command) {
        when (command) {
            is Command.Call -> make(numbered(command.call))
            is Command.Network -> setNetwork(command.mode)
            is Command.Storage -> setStorage(command.mode)
            is Command.Pass -> world.advance(command.milliseconds)
            is Command.Clock -> world.turnClock(command.milliseconds)
            is Command.Doom -> world.process.doom(command.steps)
            Command.Kill -> restart()
            Command.Flush -> world.process.run { it.flush {} }
        }
        if (world.process.isDead) restart()
    }

    private fun numbered(call: ModelCall): ModelCall {
        calls += 1
        return when (call) {
            is ModelCall.Identify -> call.copy(value = call.value?.let { calls })
            is ModelCall.SetAttributes -> call.copy(value = calls)
            else -> call
        }
    }

    private fun make(call: ModelCall) {
        val process = world.process
        // The identity of the moment when the call ends. Null if a kill cuts it.
        var after: String? = null
        val done = { if (process.engine.isLoaded) after = process.engine.state.anonymousId }
        process.run { make(call, it, done) }
        val anonymousId = after
        if (anonymousId == null) {
            model.apply(call, "", Ending.CUT)
            return restart()
        }
        isFailing = process.isFailing
        model.apply(call, anonymousId, if (isFailing) Ending.RISKY else Ending.STORED)
    }

    private fun make(call: ModelCall, engine: Engine, done: () -> Unit) = when (call) {
        is ModelCall.Identify -> engine.identify(call.user, call.value?.let { mapOf("a" to it) }.orEmpty(), done)
        is ModelCall.SetAttributes -> engine.setAttributes(mapOf(call.name to call.value), done)
        is ModelCall.AttributePurchase -> engine.attributePurchase(Sale.of(call.id, "pro"), call.isObserved, done)
        ModelCall.Reset -> engine.reset(done)
    }

    private fun restart() {
        kills += 1
        val isPure = !isFailing && !world.process.isFailing
        server.mode = ModelServer.Mode.OFFLINE
        world.fault = if (storage == StorageMode.READS_FAIL) storage::fault else StorageMode.GOOD::fault
        world.boot()
        start()
        world.fault = StorageMode.GOOD::fault
        world.process.run { it.wake() }
        isFailing = false
        model.restart(identity(), isPure)
        world.fault = storage::fault
        setNetwork(mode)
        world.process.run { it.wake() }
    }

    /** Answers that were late arrive. */
    private fun setNetwork(next: ModelServer.Mode) {
        mode = next
        server.mode = next
        world.process.release()
    }

    private fun setStorage(next: StorageMode) {
        storage = next
        world.fault = next::fault
    }

    /** Heals everything, waits four days, and compares the server with the model. */
    fun finish() {
        world.process.doom(Int.MAX_VALUE)
        setStorage(StorageMode.GOOD)
        setNetwork(ModelServer.Mode.OPEN)
        world.advance(50 * HOUR)
        world.process.run { it.wake() }
        world.advance(50 * HOUR)
        val state = world.process.run { it.snapshot() } ?: throw Failure("the process is dead")
        if (state.queue.isNotEmpty()) throw Failure("${state.queue.size} items are left")
        if (!state.isStored) throw Failure("the storage does not have everything")
        server.faultIn(model)?.let { throw Failure(it) }
        if (world.stored.size != 1) throw Failure("the storage still has ${world.stored.keys}")
    }
}
