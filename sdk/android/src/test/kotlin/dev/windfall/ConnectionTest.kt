package dev.windfall

import android.net.ConnectivityManager
import android.net.Network
import android.net.NetworkCapabilities
import org.junit.Assert.assertEquals
import org.junit.Before
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.Shadows.shadowOf
import org.robolectric.annotation.Config
import org.robolectric.shadows.ShadowNetwork
import org.robolectric.shadows.ShadowNetworkCapabilities

@RunWith(RobolectricTestRunner::class)
@Config(sdk = [24, 35], manifest = Config.NONE)
class ConnectionTest {
    private val connectivity get() = application.getSystemService(ConnectivityManager::class.java)
    private val network: Network = ShadowNetwork.newInstance(7)
    private var wakes = 0

    @Before
    fun watch() = watchConnection(application) { wakes += 1 }

    private fun callback() = shadowOf(connectivity).networkCallbacks.single()

    private fun capabilities(isValidated: Boolean): NetworkCapabilities {
        val capabilities = ShadowNetworkCapabilities.newInstance()
        if (isValidated) shadowOf(capabilities).addCapability(NetworkCapabilities.NET_CAPABILITY_VALIDATED)
        return capabilities
    }

    @Test
    fun `a network wakes`() {
        callback().onAvailable(network)
        assertEquals(1, wakes)
        callback().onLost(network)
        assertEquals(1, wakes)
        callback().onAvailable(network)
        assertEquals(2, wakes)
    }

    @Test
    fun `the internet behind a captive portal wakes once`() {
        callback().onAvailable(network)
        callback().onCapabilitiesChanged(network, capabilities(isValidated = false))
        assertEquals(1, wakes)
        repeat(3) { callback().onCapabilitiesChanged(network, capabilities(isValidated = true)) }
        assertEquals(2, wakes)
    }
}
