import SwiftUI
import Windfall

@main
struct LanternApp: App {
    init() {
        Windfall.configure(url: "https://windfall.example.com", debug: { print($0) })
    }

    var body: some Scene {
        WindowGroup { ContentView() }
    }
}
