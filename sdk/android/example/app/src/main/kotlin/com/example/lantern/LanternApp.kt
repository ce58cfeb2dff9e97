package com.example.lantern

import android.app.Application
import android.util.Log
import dev.windfall.Windfall

class LanternApp : Application() {
    override fun onCreate() {
        super.onCreate()
        Windfall.configure(this, "https://windfall.example.com", debug = { Log.d("windfall", it) })
        Session(this).user?.let { Windfall.identify(it) }
    }
}
