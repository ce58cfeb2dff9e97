import StoreKit
import SwiftUI
import Windfall

struct ContentView: View {
    @StateObject private var store = Store()
    @AppStorage("user") private var user = ""
    @State private var name = ""
    @State private var state: DebugState?

    var body: some View {
        Form {
            Section("User") {
                if user.isEmpty {
                    TextField("Name", text: $name)
                    Button("Log in") { logIn() }.disabled(name.isEmpty)
                } else {
                    Text(user)
                    Button("Log out") { logOut() }
                }
            }
            Section("Pro") {
                ForEach(store.products) { product in
                    Button("\(product.displayName), \(product.displayPrice)") {
                        Task { await store.buy(product) }
                    }
                }
                Text(store.message)
            }
            Section("Debug") {
                Button("Refresh") { Task { state = await Windfall.debugState() } }
                if let state {
                    Text("Id: \(state.appUserId ?? "none")")
                    Text("Waiting: \(state.queue.count)")
                    Text("Last answer: \(state.lastAnswer ?? "none")")
                }
            }
        }
        .task {
            await store.load()
        }
    }

    private func logIn() {
        user = name
        Windfall.identify(user, attributes: ["source": "example"])
    }

    private func logOut() {
        user = ""
        Windfall.reset()
    }
}
