// An app without a screen, for the tests against a real server: it makes the calls that it reads from its input, one JSON
// object a line, and prints what they lead to. App Attest is on the other side of the pipe.
//
// Arguments: the folder of the storage, `attests` or `plain`, and the seconds that its clock is ahead.
import Foundation
import WindfallCore

let folder = URL(fileURLWithPath: CommandLine.arguments[1])
let ahead = Double(CommandLine.arguments[3])! * 1000
let attester: any Attester = CommandLine.arguments[2] == "attests" ? PipeAttester.shared : NoAttester()

let cells = try FileStorage(folder: folder.appendingPathComponent("device"))
var environment = Environment.standard(
    folder: folder, anonymousId: FileCell(cells, "anonymous"), enrolment: FileCell(cells, "enrolment"),
    attester: attester, warn: { Line.print(["warning": .string($0)]) })
environment.now = { Date().timeIntervalSince1970 * 1000 + ahead }
let core = Core(environment: environment)

while let line = readLine() {
    guard let command = try? JSONDecoder().decode(Command.self, from: Data(line.utf8)) else {
        Line.print(["warning": .string("cannot read \(line)")])
        continue
    }
    command.run(core)
}
