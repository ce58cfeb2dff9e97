package dev.windfall

import android.content.Context
import android.net.ConnectivityManager
import android.net.Network
import android.net.NetworkCapabilities

/**
 * Calls `wake`, on any thread, when there is a network, and when the internet is behind it: after the page of a captive portal.
 * The SDK works without it, where the system refuses, because an app has too many callbacks.
 */
internal fun watchConnection(context: Context, wake: () -> Unit) {
    val connectivity = context.getSystemService(ConnectivityManager::class.java) ?: return
    connectivity.registerDefaultNetworkCallback(object : ConnectivityManager.NetworkCallback() {
        private var isValidated = false

        override fun onAvailable(network: Network) {
            isValidated = false
            wake()
        }

        override fun onCapabilitiesChanged(network: Network, capabilities: NetworkCapabilities) {
            val wasValidated = isValidated
            isValidated = capabilities.hasCapability(NetworkCapabilities.NET_CAPABILITY_VALIDATED)
            if (isValidated && !wasValidated) wake()
        }
    })
}
