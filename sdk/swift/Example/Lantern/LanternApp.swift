import SwiftUI
import Windfall

@main
struct LanternApp: App {
    init() {
        Windfall.configure(url: "https://windfall.example.com", debug: { print($0) })
        if let user = UserDefaults.standard.string(forKey: "user"), !user.isEmpty { Windfall.identify(user) }
    }

    var body: some Scene {
        WindowGroup { ContentView() }
    }
}
