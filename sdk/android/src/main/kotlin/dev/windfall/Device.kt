package dev.windfall

import android.content.Context
import android.net.TrafficStats
import android.os.Build
import dev.windfall.core.ANDROID
import dev.windfall.core.Device
import java.io.File
import java.io.IOException
import java.util.Locale
import java.util.concurrent.Executor
import java.util.concurrent.Executors

/** What describes this device. */
internal fun thisDevice() = Device(ANDROID, Build.VERSION.RELEASE, Build.MODEL, Locale.getDefault().toLanguageTag())

/**
 * The folder of this process. It is not in backups, because a queue is of no use on another device. Two processes of an app
 * must not send the same queue, so each has its own.
 */
internal fun folderOf(context: Context, process: String? = processName()): File {
    val folder = File(context.noBackupFilesDir, "windfall")
    val isMain = process == null || process == context.applicationInfo.processName
    return File(folder, if (isMain) "queue" else "queue-" + process.replace(Regex("[^A-Za-z0-9._-]"), "_"))
}

/** `Application.getProcessName` is of Android 9. */
private fun processName(): String? = try {
    File("/proc/self/cmdline").readText().substringBefore('\u0000').trim().ifEmpty { null }
} catch (_: IOException) {
    null
}

/** Threads for what blocks. Their sockets have a tag, which StrictMode asks for. */
internal fun connectionThreads(): Executor = Executors.newCachedThreadPool { work ->
    val tagged = Runnable {
        TrafficStats.setThreadStatsTag(TRAFFIC_TAG)
        work.run()
    }
    Thread(tagged, "windfall connection").apply { isDaemon = true }
}

/** Any number: "WIND" in ASCII. */
private const val TRAFFIC_TAG = 0x57494E44
