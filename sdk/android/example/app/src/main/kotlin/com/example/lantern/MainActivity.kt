package com.example.lantern

import android.os.Bundle
import androidx.activity.ComponentActivity
import androidx.activity.compose.setContent
import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.padding
import androidx.compose.foundation.layout.safeDrawingPadding
import androidx.compose.material3.Button
import androidx.compose.material3.OutlinedTextField
import androidx.compose.material3.Text
import androidx.compose.runtime.Composable
import androidx.compose.runtime.getValue
import androidx.compose.runtime.mutableStateOf
import androidx.compose.runtime.remember
import androidx.compose.runtime.setValue
import androidx.compose.ui.Modifier
import androidx.compose.ui.unit.dp
import com.android.billingclient.api.ProductDetails
import dev.windfall.DebugState
import dev.windfall.Windfall

class MainActivity : ComponentActivity() {
    private var product by mutableStateOf<ProductDetails?>(null)
    private lateinit var store: Store

    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        store = Store(applicationContext) { found -> runOnUiThread { product = found } }
        store.open()
        setContent {
            Column(Modifier.safeDrawingPadding().padding(24.dp)) {
                User(remember { Session(applicationContext) })
                product?.let { found -> Button({ store.buy(this@MainActivity, found) }) { Text(found.name) } }
                Debug()
            }
        }
    }

    override fun onDestroy() {
        store.close()
        super.onDestroy()
    }
}

@Composable
private fun User(session: Session) {
    var user by remember { mutableStateOf(session.user) }
    var name by remember { mutableStateOf("") }
    val current = user
    if (current == null) {
        OutlinedTextField(name, { name = it }, label = { Text("Name") })
        Button({
            session.user = name
            user = name
            Windfall.identify(name, mapOf("source" to "example"))
        }, enabled = name.isNotEmpty()) { Text("Log in") }
    } else {
        Text(current)
        Button({
            session.user = null
            user = null
            Windfall.reset()
        }) { Text("Log out") }
    }
}

@Composable
private fun Debug() {
    var state by remember { mutableStateOf<DebugState?>(null) }
    Button({ Windfall.debugState { state = it } }) { Text("Debug") }
    state?.let {
        Text("Id: ${it.appUserId ?: "none"}")
        Text("Waiting: ${it.queue.size}")
        Text("Last answer: ${it.lastAnswer ?: "none"}")
    }
}
