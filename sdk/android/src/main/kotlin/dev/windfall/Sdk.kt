package dev.windfall

import android.content.Context
import android.os.Handler
import android.os.Looper
import android.util.Log
import dev.windfall.core.Core
import dev.windfall.core.CoreThread
import dev.windfall.core.Environment
import dev.windfall.core.FileStorage
import dev.windfall.core.HttpNetwork
import dev.windfall.core.Options
import dev.windfall.core.Sale
import dev.windfall.core.plain
import java.io.IOException
import java.util.UUID
import java.util.function.Consumer

/** What [Windfall] does. Tests make one for each start of an app. */
internal class Sdk(private val warn: (String) -> Unit = { Log.w(TAG, it) }) {
    private val main = Handler(Looper.getMainLooper())
    private val thread = CoreThread { warn("a call failed: $it") }

    /** Set by the first `configure`. */
    @Volatile private var context: Context? = null
    private val core = Core(thread, ::environment)

    private fun environment() = Environment(
        now = System::currentTimeMillis,
        random = Math::random,
        uuid = { UUID.randomUUID().toString() },
        storage = FileStorage { folderOf(context ?: throw IOException("configure was not called")) },
        network = HttpNetwork(thread, connectionThreads()),
        timers = thread,
        warn = warn,
    )

    fun configure(given: Context, url: String?, key: String?, bundleId: String?, debug: Consumer<String>?) = safely {
        val context = given.applicationContext ?: given
        if (isFirst(context)) watch(context)
        core.configure(Options(url.orEmpty(), key, bundleId ?: context.packageName, thisDevice(), listener(debug)))
    }

    @Synchronized
    private fun isFirst(context: Context): Boolean {
        val isFirst = this.context == null
        this.context = context
        return isFirst
    }

    private fun watch(context: Context) {
        Foreground(main, core::wake).watch(context)
        // On the thread of the core, because it asks another process.
        thread.run { watchConnection(context, core::wake) }
    }

    fun identify(userId: String?, attributes: Map<String, Any?>?, done: Runnable?) = safely {
        core.identify(userId.orEmpty(), copyOf(attributes), onMain(done))
    }

    fun setAttributes(attributes: Map<String, Any?>?, done: Runnable?) = safely {
        core.setAttributes(copyOf(attributes), onMain(done))
    }

    fun attributePurchase(purchaseToken: String?, productId: String?, isObserved: Boolean, done: Runnable?) = safely {
        core.attributePurchase(Sale.of(purchaseToken.orEmpty(), productId), isObserved, onMain(done))
    }

    /** Java lets the list have anything in it. */
    fun attributePurchase(purchaseToken: String?, products: List<*>?, done: Runnable?) = safely {
        attributePurchase(purchaseToken, products?.firstOrNull() as? String, isObserved = true, done)
    }

    fun reset(done: Runnable?) = safely { core.reset(onMain(done)) }

    fun flush(done: Runnable?) = safely { core.flush(onMain(done)) }

    fun debugState(done: Consumer<DebugState>?) = safely {
        core.snapshot { state -> if (done != null) main.post { done.accept(DebugState(state)) } }
    }

    private fun onMain(done: Runnable?): () -> Unit = { if (done != null) main.post(done) }

    /** The app may change its map and its texts after the call. Java lets it have other keys, too. */
    private fun copyOf(attributes: Map<String, Any?>?): Map<String, Any?> =
        (attributes as Map<*, *>?).orEmpty().entries.mapNotNull { (name, value) ->
            (name as? String)?.to(plain(value))
        }.toMap()

    /** What the app does with a line must not stop the SDK. */
    private fun listener(debug: Consumer<String>?): ((String) -> Unit)? = debug?.let {
        { line ->
            try {
                it.accept(line)
            } catch (error: Throwable) {
                warn("the debug function failed: $error")
            }
        }
    }

    /**
     * Nothing is thrown into the app: neither for null from Java, nor for a map that changes meanwhile, nor for a thread that the
     * system refuses.
     */
    private inline fun safely(work: () -> Unit) = try {
        work()
    } catch (error: Throwable) {
        warn("a call failed: $error")
    }

    private companion object {
        const val TAG = "windfall"
    }
}
