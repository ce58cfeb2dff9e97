package dev.windfall

import android.app.Activity
import android.app.Application
import android.content.Context
import android.os.Bundle
import android.os.Handler

/** Calls `wake` when the app comes to the foreground. All but `watch` runs on the main thread. */
internal class Foreground(private val main: Handler, private val wake: () -> Unit) :
    Application.ActivityLifecycleCallbacks {
    private var started = 0
    private var isInForeground = false
    private val leave = Runnable { isInForeground = false }

    fun watch(context: Context) {
        (context as? Application)?.registerActivityLifecycleCallbacks(this)
    }

    override fun onActivityStarted(activity: Activity) {
        started += 1
        main.removeCallbacks(leave)
        if (isInForeground) return
        isInForeground = true
        wake()
    }

    override fun onActivityStopped(activity: Activity) {
        // An activity that started before configure was not counted.
        started = maxOf(0, started - 1)
        // A rotation stops the activity and starts another. So does a step to another one, which may take a moment.
        if (started == 0 && !activity.isChangingConfigurations) main.postDelayed(leave, LEAVE_MS)
    }

    override fun onActivityCreated(activity: Activity, savedInstanceState: Bundle?) = Unit

    override fun onActivityResumed(activity: Activity) = Unit

    override fun onActivityPaused(activity: Activity) = Unit

    override fun onActivitySaveInstanceState(activity: Activity, outState: Bundle) = Unit

    override fun onActivityDestroyed(activity: Activity) = Unit

    private companion object {
        /** As long as ProcessLifecycleOwner of AndroidX waits. */
        const val LEAVE_MS = 700L
    }
}
