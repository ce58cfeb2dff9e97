package com.example.lantern

import android.content.Context

/** Who is logged in. */
class Session(context: Context) {
    private val preferences = context.getSharedPreferences("session", Context.MODE_PRIVATE)

    var user: String?
        get() = preferences.getString("user", null)
        set(value) = preferences.edit().putString("user", value).apply()
}
